"""The folder of reference counts and specs beside the repository, for the tests that compare with it."""

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def shared() -> Path:
    folder = Path(__file__).resolve().parents[2] / "shared"
    if not (folder / "truth").is_dir():
        pytest.skip("no folder `shared` with reference counts beside the repository")
    return folder
