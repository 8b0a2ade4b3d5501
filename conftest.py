"""Examples of docstrings write files: `pytest --doctest-modules faultsim` runs each in a temporary folder."""

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def folder_of_examples(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The working directory of an example is a folder of its own; that of other tests stays."""
    if isinstance(request.node, pytest.DoctestItem):
        folder: Path = request.getfixturevalue("tmp_path")
        monkeypatch.chdir(folder)
