"""The command line."""

COMMANDS = {  # each a module of this folder with the functions `run` and `parser`; without one, a spec is counted
    "count": "count what a network costs; this word may be left out",
    "info": "show what a spec says of itself: description, input, variables",
    "list": "list the shipped specs and their variants",
    "new": "write a spec to begin with",
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
    "help": "show the options of a command, with examples",
}
