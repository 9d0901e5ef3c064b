"""What a neural network costs, exactly, before anyone builds it.

Public names are found when they are first used, so that importing the package imports nothing else: functions
and structural forms (`load`, `count`, `Network`, `Residual`, ...), every kind of layer and every shipped block by its
CamelCase name (`BatchNorm`, `LSTM`, `Bottleneck`), and modules: `data`, `losses`, `metrics`, and `layers` for authors
of layers. Editors read the same names in `__init__.pyi`, which docs/make_stub.py writes.
"""

__version__ = "0.4.0"

HOMES = {  # the public names by the module that defines them
    "backend.measure.measure": "measure",
    "backend.measure.result": "Measurement Measurements",
    "backend.prove.verification": "Verification",
    "backend.prove.verify": "verify",
    "backend.trace.rules": "register_rule",
    "backend.trace.trace": "trace",
    "backend.train.result": "Epoch Training",
    "backend.train.start": "load_checkpoint",
    "backend.train.train": "train",
    "cost.compare.comparison": "Comparison compare",
    "cost.count": "count",
    "cost.counted": "Counted",
    "cost.expect": "check",
    "cost.figures": "Figures Row",
    "cost.memory": "Memory memory_of",
    "cost.report": "Report",
    "cost.traced": "Trace",
    "cost.zoo": "Shipped Zoo zoo",
    "errors": "ArgumentError CheckError ManyErrors MissingPackageError ParamcountError ShapeError SpecError Undecided",
    "graph.block": "Block",
    "graph.bodies": "Each Moe Scan",
    "graph.items": "Do From Gate Let Pop Residual",
    "graph.loops": "Repeat",
    "graph.modifiers": "With",
    "graph.network": "Network",
    "language.information": "Information info",
    "language.load": "load loads",
    "layers.layer": "Contraction Item Layer Param Shape Work",
    "numbers.column": "Column",
    "sweeps.result": "Sweep",
    "sweeps.solve": "Solution solve",
    "sweeps.sweep": "sweep",
}
NAMES = {name: home for home, names in HOMES.items() for name in names.split()}
MODULES = {"data": "backend.data", "losses": "backend.losses", "metrics": "backend.metrics", "layers": "layers"}
MOVED = {  # names that were flat before 0.2.0, with the module that has them now
    "Batches": "data",
    "read_data": "data",
    "torch_batches": "data",
    "ctc_loss": "losses",
    "softmax_cross_entropy": "losses",
    "accuracy": "metrics",
    "auc": "metrics",
    "top_k_accuracy": "metrics",
}
SPELLED = {  # parts of names that the field does not write as `Capitalized`; both spellings are found
    "alibi": "ALiBi",
    "elu": "ELU",
    "ffn": "FFN",
    "gelu": "GELU",
    "gru": "GRU",
    "lstm": "LSTM",
    "prelu": "PReLU",
    "relu": "ReLU",
    "relu6": "ReLU6",
    "rms": "RMS",
    "rnn": "RNN",
    "rope": "RoPE",
    "selu": "SELU",
    "silu": "SiLU",
}


def __getattr__(name: str) -> object:
    """A public name, from where it is defined."""
    if name == "__all__":
        return public()
    from importlib import import_module

    if name in NAMES or name in MODULES or name in MOVED:
        from paramcount.errors import MissingImportError, MissingNameError, needs

        with needs(name, MissingImportError if by_import() else MissingNameError):
            if name in MOVED:
                return moved(name)
            if name in MODULES:
                found = import_module(f"paramcount.{MODULES[name]}")
            else:
                found = getattr(import_module(f"paramcount.{NAMES[name]}"), name)
    elif name[:1].isupper() and name in kinds():
        from paramcount.layers import find

        found = find(kinds()[name])
    elif name[:1].isupper() and name in blocks():
        from paramcount.language.shipped import block_class

        found = block_class(blocks()[name])
    else:
        raise AttributeError(f"module 'paramcount' has no attribute {name!r}{hint(name)}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*(name for name in globals() if name.startswith("__")), *public()})


def public() -> list[str]:
    """All public names."""
    return sorted({*NAMES, *MODULES, *kinds(), *blocks()})


def kinds() -> dict[str, str]:
    """The kinds of layers by their public names."""
    from paramcount.layers import MODULES as kinds_modules

    return {name: kind for kind in kinds_modules for name in spellings(kind)}


def blocks() -> dict[str, str]:
    """The shipped blocks by their public names."""
    from paramcount.language.vocabulary import shipped

    return {name: block for block in shipped() for name in spellings(block)}


def spellings(name: str) -> dict[str, None]:
    """The public names of a kind, the usual one last: `batch_norm` is `BatchNorm`, `lstm` is `Lstm` and `LSTM`."""
    parts = name.split("_")
    usual = "".join(SPELLED.get(part, part.capitalize()) for part in parts)
    return dict.fromkeys(("".join(part.capitalize() for part in parts), usual))


def by_import() -> bool:
    """Whether the name is asked for by `from paramcount import name`, which would hide an AttributeError's hint."""
    import sys

    return sys._getframe(2).f_code.co_name == "_handle_fromlist"


def moved(name: str) -> object:
    """A name that has moved into a module, with a warning that names the module."""
    from importlib import import_module
    from warnings import warn

    module = MOVED[name]
    found = getattr(import_module(f"paramcount.{MODULES[module]}"), name)
    warn(f"`pc.{name}` is now `pc.{module}.{name}`", DeprecationWarning, stacklevel=3)
    return found


def hint(name: str) -> str:
    """The public name that a framework's or a misspelled one most likely stands for, as a hint on a line of its own."""
    if name.startswith("_"):
        return ""
    from paramcount.errors.suggest import kind_for

    words = {each.lower(): each for each in (*NAMES, *MODULES)}
    words |= {kind: each for each, kind in (*blocks().items(), *kinds().items())}
    guess = kind_for(name, words)
    return f"\nhint: did you mean `{words[guess]}`?" if guess else ""
