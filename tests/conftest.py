"""What all tests share: hypothesis profiles, and the folder of real logs."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from helpers import selection, thresholds
from helpers.tally import Tally

os.environ.setdefault("MPLBACKEND", "Agg")  # figures without a screen

# The same examples on every run; `--hypothesis-profile=slow` looks further, `explore` at random.
_common = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile(
    "default", derandomize=True, max_examples=25, stateful_step_count=30, database=None, **_common
)
settings.register_profile("slow", derandomize=True, max_examples=1000, database=None, **_common)
settings.register_profile("explore", max_examples=1000, **_common)
# Of plain `pytest`: enough to touch each strategy.
settings.register_profile("quick", derandomize=True, max_examples=8, stateful_step_count=15, database=None, **_common)
settings.register_profile("few", derandomize=True, max_examples=15, database=None, **_common)  # to count lines
settings.load_profile("default")

thresholds.from_environment()

CHECKOUT = Path(__file__).resolve().parents[1]


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Tally(), "tally")
    if config.option.record_durations:
        config.pluginmanager.register(selection.Recorder(), "recorder")
    if selection.kind_of(config) == "quick" and not config.getoption("hypothesis_profile", None):
        settings.load_profile("quick")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    selection.select(config, items)


@pytest.fixture(scope="module", autouse=True)
def thresholds_of_work(request: pytest.FixtureRequest) -> Iterator[None]:
    """How work grows is the business of the default thresholds, also where FAULTSIM_THRESHOLDS sets others."""
    if request.path.name.startswith("test_work_"):
        with thresholds.default():
            yield
    else:
        yield


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder of public logs: FAULTSIM_DATA, else ../shared/data beside the checkout; skips when there is none."""
    named = os.environ.get("FAULTSIM_DATA")
    folder = Path(named) if named else CHECKOUT.parent / "shared" / "data"
    if not (folder / "swf").is_dir():
        where = "FAULTSIM_DATA" if named else "../shared/data beside the checkout"
        pytest.skip(f"no public logs: {where} has no folder swf (set FAULTSIM_DATA to a folder that has)")
    return folder
