"""Both engines agree on random runs with listed shapes and failures (model.md#slurm-torus)."""

import pytest
from verification import listed_shapes


@pytest.mark.parametrize("runs", [30, pytest.param(20_000, marks=pytest.mark.slow)])
def test_engines_agree_on_many_runs_with_failures(runs):
    found = listed_shapes.compare(runs, 1_000_000)
    assert found["random runs with failures"] == runs
    assert found["with jobs in segments"] > runs // 5
    assert found["runs that differ"] == 0
