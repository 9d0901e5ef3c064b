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

    from paramcount.backend.data.data import Batches, read_data
    from paramcount.backend.data.loader import torch_batches
    from paramcount.backend.loss.auc import auc
    from paramcount.backend.loss.ctc import ctc_loss
    from paramcount.backend.loss.losses import softmax_cross_entropy
    from paramcount.backend.loss.metrics import accuracy, top_k_accuracy
    from paramcount.backend.measure.measure import measure
    from paramcount.backend.measure.result import Measurement, Measurements
    from paramcount.backend.prove.verify import verify
    from paramcount.backend.trace.rules import register_rule
    from paramcount.backend.trace.trace import trace
    from paramcount.backend.train.result import Epoch, Training
    from paramcount.backend.train.start import load_checkpoint
    from paramcount.backend.train.train import train
    from paramcount.cost.count import count
    from paramcount.cost.counted import Counted
    from paramcount.cost.expect import check
    from paramcount.cost.figures import Figures, Row
    from paramcount.cost.memory import Memory, memory_of
    from paramcount.cost.report import Report
    from paramcount.cost.traced import Trace
    from paramcount.cost.zoo import Shipped, zoo
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
    from paramcount.language.load import load, loads
    from paramcount.layers.layer import Contraction, Item, Layer, Param, Shape, Work
    from paramcount.numbers.column import Column
    from paramcount.sweeps.result import Sweep
    from paramcount.sweeps.solve import Solution, solve
    from paramcount.sweeps.sweep import sweep

HOMES = {
    "backend.measure.measure": "measure",
    "backend.trace.rules": "register_rule",
    "backend.trace.trace": "trace",
    "backend.loss.auc": "auc",
    "backend.loss.ctc": "ctc_loss",
    "backend.data.data": "Batches read_data",
    "backend.data.loader": "torch_batches",
    "backend.loss.losses": "softmax_cross_entropy",
    "backend.loss.metrics": "accuracy top_k_accuracy",
    "backend.train.result": "Epoch Training",
    "backend.train.start": "load_checkpoint",
    "backend.train.train": "train",
    "backend.prove.verify": "verify",
    "numbers.column": "Column",
    "cost.expect": "check",
    "errors": "ArgumentError CheckError ManyErrors MissingPackageError ParamcountError ShapeError SpecError Undecided",
    "cost.figures": "Figures Row",
    "graph.block": "Block",
    "graph.bodies": "Each Moe Scan",
    "graph.items": "Add Concat Do From Gate Let Multiply Pop Residual Subtract",
    "graph.loops": "Repeat",
    "graph.modifiers": "With",
    "graph.network": "Network",
    "layers.layer": "Contraction Item Layer Param Shape Work",
    "backend.measure.result": "Measurement Measurements",
    "cost.memory": "Memory memory_of",
    "cost.count": "count",
    "cost.counted": "Counted",
    "cost.report": "Report",
    "cost.zoo": "Shipped zoo",
    "sweeps.solve": "Solution solve",
    "language.load": "load loads",
    "sweeps.sweep": "sweep",
    "sweeps.result": "Sweep",
    "cost.traced": "Trace",
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
        from paramcount.language.blocks import block_class

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
    from paramcount.language.blocks import shipped

    return {camel(name): name for name in shipped()}


def camel(name: str) -> str:
    """The name of a class: `batch_norm` is `BatchNorm`."""
    return "".join(part.capitalize() for part in name.split("_"))
