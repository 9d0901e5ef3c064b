"""Plots of sweeps: what is drawn, that it is the same each time, and that many points do not make a large file."""

import re
import sys
import xml.etree.ElementTree as ElementTree

import numpy
import pytest

import paramcount as pc
from paramcount.cli.main import main
from paramcount.errors import printable

pytest.importorskip("matplotlib", reason="needs matplotlib")
from paramcount.sweeps.plot import MOST, THINNED, Cloud, Plot

SWEEP = ["sweep", "mobilenet_v2", "width=0.5:1.4:0.1", "resolution=96,160,224"]
GRID = {"width": [round(0.5 + 0.1 * step, 1) for step in range(10)], "resolution": [96, 160, 224]}


def texts(path):
    """The texts of a picture, which must be well-formed."""
    root = ElementTree.parse(path).getroot()
    return [" ".join(each.itertext()).strip() for each in root.iter("{http://www.w3.org/2000/svg}text")]


def test_a_plot_says_what_it_shows(capsys, tmp_path):
    path = tmp_path / "out.svg"
    assert main([*SWEEP, "--where", "macs < 300e6", "--pareto", "params,-macs", "--plot", str(path)]) == 0
    kept = len(pc.sweep("mobilenet_v2", where="macs < 300e6", **GRID))
    shown = texts(path)
    assert "MobileNet-v2" in shown and f"30 variants, {kept} where macs < 300e6" in shown
    assert "parameters" in shown and "MACs per example" in shown
    assert "Pareto front: lower params, higher macs" in shown
    assert capsys.readouterr().err == f"wrote {printable(str(path))}, {kept} points\n"


def test_a_front_of_one_point_is_drawn_only_where_it_was_asked_for(capsys, tmp_path):
    """The narrowest network of the smallest pictures beats all others in both columns."""
    path = tmp_path / "out.svg"
    for options, drawn in (
        ([], False),
        (["--sort", "params", "--ascending"], False),
        (["--pareto", "params,macs"], True),
    ):
        assert main([*SWEEP, *options, "--plot", str(path)]) == 0
        shown = texts(path)
        assert ("variants" in shown, "Pareto front: lower params, lower macs" in shown) == (drawn, drawn)


@pytest.mark.parametrize("kind, start", [("svg", b"<?xml"), ("png", b"\x89PNG"), ("pdf", b"%PDF")])
def test_a_file_is_the_same_each_time(capsys, tmp_path, kind, start):
    paths = [tmp_path / f"{name}.{kind}" for name in ("one", "two")]
    for path in paths:
        assert main([*SWEEP, "--plot", str(path)]) == 0
    one, two = (path.read_bytes() for path in paths)
    assert one == two and one.startswith(start)


@pytest.mark.parametrize(
    ("options", "labels", "front"),
    [
        (["--pareto", "activations,-params"], ["elements of activations per example", "parameters"], "higher params"),
        (["--sort", "params"], ["MACs per example", "parameters"], "lower macs, higher params"),
        (["--sort", "activations"], ["parameters", "elements of activations per example"], "higher activations"),
        (["--sort", "width"], ["parameters", "width"], "lower params, higher width"),
    ],
)
def test_the_axes_are_those_that_rows_are_chosen_by(capsys, tmp_path, options, labels, front):
    path = tmp_path / "out.svg"
    assert main([*SWEEP, *options, "--plot", str(path)]) == 0
    shown = texts(path)
    assert [text for text in shown if text in labels] == labels
    assert any(front in text for text in shown)


def test_the_points_and_the_front_are_where_they_belong():
    """Dots of the same row lie at the same place of the axes, and the front is that of all rows."""
    found = pc.sweep("mobilenet_v2", **GRID)
    plot = Plot("out.svg", "params", "-macs", "name")
    for rows in (slice(0, 11), slice(11, 30)):
        plot.append(found.take(rows))
    axes = plot.figure("").axes[0]
    assert axes.collections[0].get_offsets().tolist() == [
        [params, macs]
        for params, macs in zip(found.columns["params"].tolist(), found.columns["macs"].tolist(), strict=True)
    ]
    front = found.pareto("params", "-macs")
    assert axes.lines[0].get_xdata().tolist() == front.columns["params"].tolist()
    assert axes.lines[0].get_ydata().tolist() == front.columns["macs"].tolist()
    assert (axes.get_xscale(), axes.get_yscale()) == ("linear", "log")  # params grow fourfold, MACs forty times


def test_invalid_networks_are_left_out_and_reported(tmp_path):
    found = pc.sweep("vit", heads=[5, 7, 12], depth=[1, 2, 3])
    found.plot(str(tmp_path / "out.svg"))
    assert "9 variants, 6 left out: not valid networks" in texts(tmp_path / "out.svg")
    plot = Plot("out.svg", "params", "macs", "name")
    plot.append(found)
    assert plot.cloud.x.tolist() == found.columns["params"][found.valid].tolist()


def test_many_points_make_a_small_file(tmp_path):
    found = pc.sweep("mobilenet_v2", width=numpy.linspace(0.5, 1.4, 200), resolution=range(96, 196))
    found.plot(str(tmp_path / "out.svg"))
    text = (tmp_path / "out.svg").read_text()
    assert len(found) == 20_000 and len(text) < 400_000
    assert "<image" in text and len(re.findall("<use", text)) < 2000


def test_a_cloud_keeps_its_outline_in_bounded_memory():
    """A million random points on a disc: those that are left cover it, to a pixel."""
    generator, cloud = numpy.random.default_rng(3), Cloud()
    for _ in range(10):
        angle, radius = generator.uniform(0, 2 * numpy.pi, 100_000), numpy.sqrt(generator.uniform(0, 1, 100_000))
        cloud.add(radius * numpy.cos(angle), radius * numpy.sin(angle))
        assert len(cloud.x) <= MOST
    cloud.thin()
    assert cloud.added == 10**6 and 1000 < len(cloud.x) <= THINNED
    squares = {(int(x * 20 + 20), int(y * 20 + 20)) for x, y in zip(cloud.x.tolist(), cloud.y.tolist(), strict=True)}
    inside = {
        (i, j) for i in range(40) for j in range(40) if (abs(i - 19.5) + 0.5) ** 2 + (abs(j - 19.5) + 0.5) ** 2 < 400
    }
    assert inside <= squares


def test_points_in_one_place():
    cloud = Cloud()
    cloud.add(numpy.full(MOST + 1, 7), numpy.full(MOST + 1, 9))
    assert (cloud.x.tolist(), cloud.y.tolist()) == ([7.0], [9.0])


def test_names_are_no_formulas(tmp_path):
    path = tmp_path / "spec.yaml"
    path.write_text("{name: 'a $x^2$ & <b>', input: {features: 4}, vars: {n: 1}, layers: [dense: n]}")
    pc.sweep(str(path), n=[1, 2]).plot(str(tmp_path / "out.svg"))
    assert "a $x^2$ & <b>" in texts(tmp_path / "out.svg")


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("out.jpg", "`out.jpg` cannot be a plot\nhint: a name must end in .svg, .png or .pdf"),
        ("out", "`out` cannot be a plot\nhint: a name must end in .svg, .png or .pdf"),
        ("no/such/out.svg", "cannot be written"),
    ],
)
def test_wrong_files(capsys, tmp_path, monkeypatch, path, message):
    monkeypatch.chdir(tmp_path)
    assert main([*SWEEP, "--plot", path]) == 2
    out, err = capsys.readouterr()
    assert out == "" and message in err


def test_a_column_of_words_cannot_be_an_axis(capsys, tmp_path):
    path = str(tmp_path / "out.svg")
    assert main(["sweep", "vgg", "norm=none,batch_norm", "--pareto", "norm,params", "--plot", path]) == 2
    assert "no numeric column `norm`" in capsys.readouterr().err


def test_without_matplotlib(capsys, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.delitem(sys.modules, "matplotlib.figure", raising=False)
    assert main([*SWEEP, "--plot", str(tmp_path / "out.svg")]) == 2
    assert "pip install matplotlib\n" in capsys.readouterr().err
