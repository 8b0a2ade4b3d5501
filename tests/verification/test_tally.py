"""What a run of the tests says of itself is what it did, in one process or several."""

import json

import pytest

from helpers.scripts import CHECKOUT, environment, python

CONFTEST = """
from helpers.tally import Tally

def pytest_configure(config):
    config.pluginmanager.register(Tally(), "tally")
"""
SUITE = """
import pytest
from hypothesis import given, settings, strategies as st

@pytest.mark.parametrize("n", range(3))
def test_three(n):
    pass

@settings(max_examples=7, derandomize=True, database=None)
@given(st.integers())
def test_seven(n):
    pass

def test_skipped():
    pytest.skip("here")

@pytest.mark.slow
def test_slow():
    pass
"""


@pytest.mark.parametrize("processes", ["0", "2"])
def test_the_tally_of_a_small_suite(tmp_path, processes):
    (tmp_path / "suite").mkdir()
    (tmp_path / "suite" / "test_it.py").write_text(SUITE)
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "pytest.ini").write_text(
        "[pytest]\ntestpaths = suite\naddopts = -m 'not slow and not soak'\nmarkers =\n    slow: s\n    soak: s\n"
    )
    env = environment(CHECKOUT / "tests") | {"FAULTSIM_COUNTS": str(tmp_path / "kept")}
    env.pop("PYTEST_XDIST_WORKER", None)
    command = ("-m", "pytest", "-q", "-n", processes, "-p", "no:cacheprovider")
    done = python(*command, cwd=tmp_path, env=env)
    assert done.returncode == 0, done.stdout + done.stderr
    kept = json.loads((tmp_path / "kept" / "quick-tests.json").read_text())
    assert list(kept["numbers"].values()) == [4, 1, 2, 3, 7]
    (tmp_path / "kept" / "quick-tests.json").unlink()
    for narrowed in (["suite/test_it.py"], ["-k", "three"]):
        assert python(*command, *narrowed, cwd=tmp_path, env=env).returncode == 0
        assert not list((tmp_path / "kept").iterdir())
