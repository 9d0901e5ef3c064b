"""What a built wheel contains."""

import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
pytest.importorskip("build", reason="building a wheel needs build and hatchling")
pytest.importorskip("hatchling", reason="building a wheel needs build and hatchling")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> zipfile.ZipFile:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    (built,) = folder.iterdir()
    return zipfile.ZipFile(built)


def test_every_file_of_the_package_is_in_it(wheel):
    expected = {
        str(path.relative_to(ROOT))
        for path in (ROOT / "paramcount").rglob("*")
        if path.suffix in (".py", ".pyi", ".yaml") or path.name == "py.typed"
    }
    configs = {f"paramcount/{path.relative_to(ROOT).as_posix()}" for path in (ROOT / "configs").rglob("*.yaml")}
    inside = {name for name in wheel.namelist() if not name.startswith("paramcount-")}
    assert {"paramcount/py.typed", "paramcount/language/blocks/bottleneck.yaml"} <= expected
    assert "paramcount/configs/mobilenet_v2.yaml" in configs
    assert inside == expected | configs


def test_the_specs_are_those_of_the_checkout(wheel):
    for path in (ROOT / "configs").rglob("*.yaml"):
        assert wheel.read(f"paramcount/{path.relative_to(ROOT).as_posix()}") == path.read_bytes()


def test_command_extras_and_license(wheel):
    (info,) = {name.split("/")[0] for name in wheel.namelist() if name.startswith("paramcount-")}
    assert "paramcount = paramcount.cli.main:main" in wheel.read(f"{info}/entry_points.txt").decode()
    metadata = wheel.read(f"{info}/METADATA").decode()
    needed = [line.split(":")[1].strip() for line in metadata.splitlines() if line.startswith("Requires-Dist:")]
    assert sorted(re.split("[>=]", name)[0] for name in needed if ";" not in name) == ["numpy", "pyyaml", "tabulate"]
    extras = {"jax", "train", "parquet", "plot", "dask", "test", "peers", "dev"}
    assert set(re.findall(r"^Provides-Extra: (\w+)$", metadata, re.M)) == extras
    assert "MIT License" in wheel.read(f"{info}/licenses/LICENSE").decode()
