"""What a neural network costs, exactly, before anyone builds it.

Public names are found when they are first used, so that importing the package imports nothing else: functions
and structural forms (`load`, `count`, `Network`, `Residual`, ...), every kind of layer and every shipped block by its
CamelCase name (`BatchNorm`, `Bottleneck`).
"""

__version__ = "0.1.0"

TYPE_CHECKING = False
# ruff: noqa: F401
if TYPE_CHECKING:  # for editors
    from typing import Any

    from paramcount.backend.measure import measure
    from paramcount.backend.rules import register_rule
    from paramcount.backend.trace import trace
    from paramcount.backend.training.auc import auc
    from paramcount.backend.training.ctc import ctc_loss
    from paramcount.backend.training.data import Batches, read_data
    from paramcount.backend.training.loader import torch_batches
    from paramcount.backend.training.losses import softmax_cross_entropy
    from paramcount.backend.training.metrics import accuracy, top_k_accuracy
    from paramcount.backend.training.result import Epoch, Training
    from paramcount.backend.training.start import load_checkpoint
    from paramcount.backend.training.train import train
    from paramcount.backend.verify import verify
    from paramcount.column import Column
    from paramcount.errors import (
        ArgumentError,
        CheckError,
        ManyErrors,
        MissingPackageError,
        ParamcountError,
        ShapeError,
        SpecError,
        Undecided,
    )
    from paramcount.expect import check
    from paramcount.figures import Figures, Row
    from paramcount.graph.block import Block
    from paramcount.graph.bodies import Each, Moe, Scan
    from paramcount.graph.items import (
        Add,
        Concat,
        Do,
        From,
        Gate,
        Let,
        Multiply,
        Pop,
        Residual,
        Subtract,
    )
    from paramcount.graph.loops import Repeat
    from paramcount.graph.modifiers import With
    from paramcount.graph.network import Network
    from paramcount.layer import Contraction, Item, Layer, Param, Shape, Work
    from paramcount.measured import Measurement, Measurements
    from paramcount.memory import Memory, memory_of
    from paramcount.report import Report, count
    from paramcount.shipped import Shipped, zoo
    from paramcount.solving import Solution, solve
    from paramcount.spec.load import load, loads
    from paramcount.sweeping import sweep
    from paramcount.swept import Sweep
    from paramcount.traced import Trace

HOMES = {
    "backend.measure": "measure",
    "backend.rules": "register_rule",
    "backend.trace": "trace",
    "backend.training.auc": "auc",
    "backend.training.ctc": "ctc_loss",
    "backend.training.data": "Batches read_data",
    "backend.training.loader": "torch_batches",
    "backend.training.losses": "softmax_cross_entropy",
    "backend.training.metrics": "accuracy top_k_accuracy",
    "backend.training.result": "Epoch Training",
    "backend.training.start": "load_checkpoint",
    "backend.training.train": "train",
    "backend.verify": "verify",
    "column": "Column",
    "expect": "check",
    "errors": "ArgumentError CheckError ManyErrors MissingPackageError ParamcountError ShapeError SpecError Undecided",
    "figures": "Figures Row",
    "graph.block": "Block",
    "graph.bodies": "Each Moe Scan",
    "graph.items": "Add Concat Do From Gate Let Multiply Pop Residual Subtract",
    "graph.loops": "Repeat",
    "graph.modifiers": "With",
    "graph.network": "Network",
    "layer": "Contraction Item Layer Param Shape Work",
    "measured": "Measurement Measurements",
    "memory": "Memory memory_of",
    "report": "Report count",
    "shipped": "Shipped zoo",
    "solving": "Solution solve",
    "spec.load": "load loads",
    "sweeping": "sweep",
    "swept": "Sweep",
    "traced": "Trace",
}
NAMES = {name: home for home, names in HOMES.items() for name in names.split()}


def __getattr__(name: str) -> "Any":
    """A public name, from where it is defined."""
    if name == "__all__":
        return sorted({*NAMES, *kinds(), *blocks()})
    from importlib import import_module

    if name in NAMES:
        from paramcount.errors import needs

        with needs(name):
            found = getattr(import_module(f"paramcount.{NAMES[name]}"), name)
    elif name[:1].isupper() and name in kinds():
        from paramcount.layers import find

        found = find(kinds()[name])
    elif name[:1].isupper() and name in blocks():
        from paramcount.spec.blocks import block_class

        found = block_class(blocks()[name])
    else:
        raise AttributeError(f"module 'paramcount' has no attribute {name!r}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*(name for name in globals() if name.startswith("__")), *__getattr__("__all__")})


def kinds() -> dict[str, str]:
    """The kinds of layers by their public names; structural forms stand before kinds of the same name."""
    from paramcount.layers import MODULES

    return {camel(kind): kind for kind in MODULES if camel(kind) not in NAMES}


def blocks() -> dict[str, str]:
    """The shipped blocks by their public names."""
    from paramcount.spec.blocks import shipped

    return {camel(name): name for name in shipped()}


def camel(name: str) -> str:
    """The name of a class: `batch_norm` is `BatchNorm`."""
    return "".join(part.capitalize() for part in name.split("_"))
