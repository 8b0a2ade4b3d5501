"""The options of the suite; and a temporary folder for each example of `pytest --doctest-modules faultsim`."""

from pathlib import Path

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("faultsim")
    group.addoption("--everything", action="store_true", help="all tests; plain pytest runs a quick selection of them")
    group.addoption("--rest", action="store_true", help="what plain pytest leaves out")
    group.addoption("--record-durations", action="store_true", help="write tests/helpers/durations.json")


@pytest.fixture(autouse=True)
def folder_of_examples(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The working directory of an example is a folder of its own; that of other tests stays."""
    if isinstance(request.node, pytest.DoctestItem):
        folder: Path = request.getfixturevalue("tmp_path")
        monkeypatch.chdir(folder)
