"""Values of a `QueueState` that mean nothing are refused by name."""

from decimal import Decimal

import numpy as np
import pytest

import faultsim as fs

JOBS = fs.Workload([0, 540], [3600, 7200], [4, 2], estimate=[3600, 7200])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"elapsed": np.array(["x", "y"])}, "elapsed of a QueueState must be numbers"),
        ({"elapsed": np.array([[1, 2], [3, 4]])}, "elapsed of a QueueState must be numbers"),
        ({"elapsed": np.array([500, None])}, "elapsed of a QueueState must be numbers"),
        ({"held": np.array(5)}, "held: expected one dimension"),
        ({"held": np.array(["x", "y"])}, "held, row 0: 'x'"),
        ({"order": np.array(["x", "y"])}, "order, row 0: 'x' is not a number"),
        ({"order": np.array([None, 1])}, "order, row 0: None is not a number"),
        ({"order": np.array([np.nan])}, "order, row 0: nan is not a finite number"),
        ({"jobs": [1, 2]}, "jobs of a QueueState must be a Workload"),
    ],
)
def test_refused(given, message):
    with pytest.raises(fs.InputError, match=message) as caught:
        fs.QueueState(**{"jobs": JOBS, "elapsed": np.array([500, np.nan]), "now": 600, **given})
    assert "\n" not in str(caught.value)


def test_a_moment_may_be_any_number():
    log = fs.Workload([0, 0, 50], [100, 100, 10], [1, 1, 1], recorded_wait=[0, 100, 60])
    assert len(fs.QueueState.of_log(log, Decimal(60))) == 3
    with pytest.raises(fs.OptionError, match="t must be a number"):
        fs.QueueState.of_log(log, "x")


def test_sizes_and_numbers_of_nodes(tmp_path):
    run = fs.Run(JOBS, fs.Cluster(8))
    assert run.refused_sizes(np.array([3, 9])).tolist() == [False, True]
    with pytest.raises(fs.InputError, match="size, row 0: None is not a number"):
        run.refused_sizes(np.array([None, 1]))
    path = tmp_path / "failures.csv"
    path.write_text("time,node,downtime\n1,0,1\n")
    assert fs.read_failures(path, nodes=np.int64(4)).of.nodes == 4
    with pytest.raises(fs.FaultsimError):
        fs.read_failures(path, nodes=np.array([]))
