"""The command line."""

COMMANDS = {  # each a module of this folder with a function `run`; without a command, a spec is counted
    "compare": "show what changes between networks, row by row",
    "verify": "build a network in JAX, and compare it with its count",
    "check": "check specs against what they expect, and against budgets",
    "measure": "time a network on this machine",
    "trace": "count a JAX function",
    "train": "train a network on a data set",
    "zoo": "list the shipped specs, and what each costs",
    "kinds": "describe every kind of layer, and all else that a spec can write",
    "sweep": "count many variants at once",
    "solve": "find the largest network within a budget",
}
