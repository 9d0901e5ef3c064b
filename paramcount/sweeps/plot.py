"""The rows of a sweep as a scatter plot of two columns with their Pareto front: SVG, PNG or PDF, by the file's name."""

from __future__ import annotations

import os
import warnings
from io import BytesIO
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from paramcount.cost.figures import FIGURES
from paramcount.errors import ArgumentError, needs, printable, quote
from paramcount.numbers.units import grouped, number_of
from paramcount.render.replacement import write

if TYPE_CHECKING:
    from paramcount.sweeps.result import Sweep

METADATA = {"svg": {"Date": None}, "png": {"Software": None}, "pdf": {"CreationDate": None}}  # no date
PLOTS = tuple(f".{each}" for each in METADATA)  # the endings of files
MOST = 2**18  # points held at most; beyond, points that overlap are held once
THINNED = 2**16  # points at most that are left then
CELLS = 2**11  # across the plot, at first: several for each of its pixels
FEW = 60  # points of a front below which its markers are large
VECTORS = 4000  # points drawn one by one at most; more are drawn as a bitmap
WIDE = 20  # the largest value over the smallest, from which an axis is logarithmic
STYLE = {"font.size": 10, "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "grid.alpha": 0.25}
STYLE |= {"svg.hashsalt": "paramcount", "svg.fonttype": "none"}


class Plot:
    """A plot to which parts of a sweep are appended, in bounded memory; `draw` writes it.

    Smaller values of a column are better, or larger ones with `-` before its name. A front of a single point is left
    out unless `always` is set. Raises ArgumentError if the file cannot be written or has another extension, and
    MissingPackageError if matplotlib is not installed.
    """

    def __init__(self, path: str, first: str, second: str, name: str, always: bool = False) -> None:
        self.path, self.signed, self.name, self.always = path, (first, second), name, always
        self.format = os.path.splitext(path)[1].removeprefix(".").lower()
        if self.format not in METADATA:
            raise ArgumentError(f"{quote(path)} cannot be a plot", hint="a name must end in .svg, .png or .pdf")
        with needs(path):
            import matplotlib.figure  # noqa: F401
        folder = os.path.dirname(path) or "."
        if not os.path.isdir(folder) or os.path.isdir(path):
            raise ArgumentError(f"{quote(path)} cannot be written", hint="check the path")
        self.cloud = Cloud()
        self.front: Sweep | None = None

    def append(self, part: Sweep) -> None:
        """Add the valid rows of a part; raises ArgumentError if a column is not numeric."""
        self.cloud.add(*(part.column(name.removeprefix("-"))[part.valid] for name in self.signed))
        best = part.pareto(*self.signed)
        self.front = best if self.front is None else self.front.joined(best).pareto(*self.signed)

    def draw(self, points: int, invalid: int, where: str | None) -> None:
        """Write the file; `points` counts all variants, `invalid` those that are not valid networks."""
        import matplotlib

        lines = [number_of(points, "variant"), f"{grouped(self.cloud.added)} where {where}" if where else ""]
        lines += [f"{grouped(invalid)} left out: not valid networks" if invalid else ""]
        lines += ["drawn once where they overlap" if self.cloud.thinned else ""]
        with matplotlib.rc_context(), warnings.catch_warnings(action="ignore"):  # about letters not in the font
            matplotlib.rcdefaults()
            for name, value in STYLE.items():
                matplotlib.rcParams[name] = value  # type: ignore[index]
            figure, content = self.figure(", ".join(filter(None, lines))), BytesIO()
            figure.savefig(content, format=self.format, metadata=METADATA[self.format], dpi=160)
        write(self.path, content.getbuffer())

    def figure(self, subtitle: str) -> Any:
        from matplotlib.figure import Figure

        figure = Figure(figsize=(8, 5.5), layout="constrained")
        axes = figure.add_subplot()
        lines = [printable(self.name), *wrap(printable(subtitle), 100)]
        axes.set_title("\n".join(lines), loc="left", fontsize=10, parse_math=False)
        names = [name.removeprefix("-") for name in self.signed]
        scales = zip((axes.xaxis, axes.yaxis), names, (self.cloud.x, self.cloud.y), strict=True)
        for axis, name, values in scales:
            scale(axis, values, name in FIGURES)
            axis.set_label_text(FIGURES[name].axis if name in FIGURES else name, parse_math=False)
        color, many = "#8da2bd", len(self.cloud.x) > VECTORS
        points = self.cloud.x, self.cloud.y
        axes.scatter(
            *points, s=3 if many else 14, color=color, linewidths=0, rasterized=many, zorder=2, label="variants"
        )
        if self.front is not None and len(self.front) >= (1 if self.always else 2):
            first, second = (self.front.columns[name] for name in names)
            better = [
                f"{'higher' if each.startswith('-') else 'lower'} {each.removeprefix('-')}" for each in self.signed
            ]
            dots = {"marker": "o", "markersize": 4 if len(first) < FEW else 2}
            label = f"Pareto front: {', '.join(better)}"
            many = len(first) > VECTORS
            axes.plot(first, second, color="#b4441f", linewidth=1, label=label, rasterized=many, zorder=3, **dots)
            figure.legend(loc="outside lower center", ncols=2, frameon=False, markerscale=1.5)
        return figure


def scale(axis: Any, values: Any, counts: bool) -> None:
    """Make an axis logarithmic if its values span a wide range, and show counts in k, M and G."""
    from matplotlib.ticker import EngFormatter, LogLocator, NullFormatter

    if logarithmic(values):
        axis.axes.set(**{f"{axis.axis_name}scale": "log"})
        decades = values.max() / values.min()
        axis.set_major_locator(LogLocator(subs=(1, 2, 5) if decades < 10**4 else (1,)))
        axis.set_minor_formatter(NullFormatter())
    if counts:
        axis.set_major_formatter(EngFormatter())


def logarithmic(values: Any) -> bool:
    return bool(len(values)) and values.min() > 0 and values.max() / values.min() >= WIDE


class Cloud:
    """Points of a plot. If there are too many, only one is held in each cell, which is smaller than a pixel."""

    def __init__(self) -> None:
        import numpy

        self.x, self.y = numpy.empty(0), numpy.empty(0)
        self.added, self.thinned = 0, False

    def add(self, x: Any, y: Any) -> None:
        import numpy

        self.added += len(x)
        self.x, self.y = numpy.concatenate([self.x, x]), numpy.concatenate([self.y, y])
        if len(self.x) > MOST:
            self.thin()

    def thin(self) -> None:
        import numpy

        self.thinned = True
        cells = CELLS
        while True:
            keys = cell(self.x, cells) * cells + cell(self.y, cells)
            held = numpy.sort(numpy.unique(keys, return_index=True)[1])
            self.x, self.y = self.x[held], self.y[held]
            if len(held) <= THINNED:
                return
            cells //= 2


def cell(values: Any, cells: int) -> Any:
    """The index of each value's cell, from the smallest value to the largest."""
    import numpy

    values = numpy.log(values) if logarithmic(values) else values
    least = values.min()
    return ((values - least) * ((cells - 1) / (numpy.ptp(values) or 1))).astype(numpy.int64)
