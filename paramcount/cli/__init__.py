"""The command line."""

COMMANDS = {  # each a module of this folder with the functions `run` and `parser`; without one, a spec is counted
    "count": "count what a network costs; this word may be left out",
    "info": "show the description, variants and variables of a spec",
    "list": "list the shipped specs and their variants",
    "new": "write a small spec to start from",
    "compare": "show what changes between networks, row by row",
    "verify": "build a network in JAX and compare it with its count",
    "check": "check specs against their `expect` and against budgets",
    "measure": "time a network on this machine",
    "trace": "count a JAX function",
    "train": "train a network on a data set",
    "zoo": "show what each shipped spec costs",
    "kinds": "describe the layers, forms, modifiers and blocks of specs",
    "sweep": "count many variants at once",
    "solve": "find the largest network within a budget",
    "help": "show the options of a command, with examples",
}
