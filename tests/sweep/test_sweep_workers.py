"""Processes as workers: those that die are replaced, and policies of one's own reach them or are refused by name."""

import os
import signal
import sys
from pathlib import Path

import numpy as np
import pytest

import faultsim as fs
from helpers import own_policies
from helpers.results import random_log
from helpers.scripts import python


class Deadly(fs.QueueOrder):
    """Kills its process, the first time that a file is not there."""

    def __init__(self, path, always=False):
        self.path, self.always = str(path), always

    def keys(self, queue, now):
        if self.always or not os.path.exists(self.path):
            Path(self.path).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return queue.submit


def deadly(path, always=False):
    log = fs.synthetic.nasa_like(30, rng=0)
    order = {"order": [fs.ShortestFirst(), Deadly(path, always)]}
    return fs.Sweep(
        {"log": log, "machine": fs.Cluster(128)},
        {"start_delay": [0.0, 1.0, 2.0], "scheduler": [fs.Fcfs(order=o) for o in order["order"]]},
    )


def test_a_process_that_dies_is_replaced(tmp_path):
    table = deadly(tmp_path / "died").run(tmp_path / "a.db", executor="processes", workers=2)
    assert (table["status"] == "ok").all()
    assert table.complete


def test_a_run_that_always_kills_is_named_and_the_others_are_kept(tmp_path):
    with pytest.raises(fs.WorkerError, match=r"a worker died 4 times on a batch with the run start_delay="):
        deadly(tmp_path / "died", always=True).run(tmp_path / "a.db", executor="processes", workers=1)
    fs.load_sweep(tmp_path / "a.db")


def test_a_policy_that_cannot_travel_is_said(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "cloudpickle", None)

    class Local(fs.QueueOrder):
        def keys(self, queue, now):
            return queue.submit

    run = fs.Run(fs.synthetic.nasa_like(30, rng=0), fs.Cluster(128), scheduler=fs.Fcfs(order=Local()))
    with pytest.raises(fs.WorkerError, match=r"a policy cannot be sent to other processes.* 'test_a_policy"):
        fs.Sweep(run).run(tmp_path / "a.db", executor="processes", workers=1)


SOME = random_log(40, 90)
FAILING = fs.FailureTrace(np.linspace(10, 3000, 30), np.arange(30) % 128, 60.0, span=1e6)


def test_own_policies_of_a_module_run_in_processes(tmp_path):
    """All kinds that users write in Python, and keys, give the same rows as on threads."""
    failing = {"failures": FAILING, "predictor": own_policies.Every(), "checkpointing": own_policies.EveryMinute()}
    base = {"log": SOME.with_columns(level=np.arange(40) % 3), "machine": fs.Cluster(128), **failing}
    schedulers = {
        "own": own_policies.Easy("shortest"),
        "both": own_policies.Easy(own_policies.Widest()),
        "key": fs.EasyBackfill(order=fs.Key("size * estimate - level * wait")),
        "order": fs.Fcfs(order=own_policies.Widest()),
    }
    sweep = fs.Sweep({**base, "placement": fs.SafestFirst()}, {"scheduler": schedulers, "start_delay": [0.0, 5.0]})
    ours, theirs = sweep.run(executor="processes", workers=2), sweep.run(executor="threads")
    assert (ours["status"] == "ok").all()
    assert len(set(ours["mean_wait"].tolist())) > 4
    for name in ("mean_wait", "mean_response", "service_unit_loss", "ledger_checkpoint", "backfilled", "passes"):
        np.testing.assert_array_equal(ours[name], theirs[name], name)


BELOW = """
import sys
import faultsim as fs

sys.modules["cloudpickle"] = None

class Above(fs.QueueOrder):
    def keys(self, queue, now):
        return -queue.size

def run(order):
    run = fs.Run(fs.synthetic.nasa_like(30, rng=0), fs.Cluster(128), scheduler=fs.Fcfs(order=order))
    return fs.Sweep(run).run(executor="processes", workers=1)

if __name__ == "__main__":
    class Below(Above):
        pass

    print(run(Above())["mean_wait"].tolist() == run(fs.LargestFirst())["mean_wait"].tolist())
    run(Below())
"""


def test_a_policy_of_the_script_itself(tmp_path):
    (tmp_path / "script.py").write_text(BELOW)
    done = python(tmp_path / "script.py")
    assert done.stdout == "True\n"
    said = "WorkerError: a policy needs Below, which other processes do not find: other processes import the script "
    assert said + "without what is below if __name__" in done.stderr
    assert "A process in the process pool" not in done.stderr


def test_a_policy_of_a_session():
    done = python("-c", BELOW)
    said = "WorkerError: a policy needs Above, which other processes do not find: other processes cannot import an "
    assert said + "interactive session" in done.stderr


@pytest.mark.parametrize(
    ("option", "base"),
    [
        ("scheduler", own_policies.Easy),
        ("predictor", own_policies.Every),
        ("checkpointing", own_policies.EveryMinute),
        ("placement", fs.Placement),
    ],
)
def test_a_class_that_cannot_travel_is_named(option, base, monkeypatch):
    monkeypatch.setitem(sys.modules, "cloudpickle", None)

    class Local(base):
        def choose_nodes(self, job, free, state):
            return free[: job.size]

    made = Local("arrival") if option == "scheduler" else Local()
    sweep = fs.Sweep({"log": SOME, "machine": fs.Cluster(128), "failures": FAILING, option: made})
    with pytest.raises(fs.WorkerError, match=r"a policy cannot be sent to other processes.*test_a_class.*Local"):
        sweep.run(executor="processes", workers=1)


NO_GUARD = """
import faultsim as fs
fs.Sweep(fs.Run(fs.synthetic.nasa_like(30, rng=0), fs.Cluster(128))).run(executor="processes", workers=1)
"""


def test_a_script_without_its_guard_is_told_of_it(tmp_path):
    (tmp_path / "script.py").write_text(NO_GUARD)
    done = python(tmp_path / "script.py")
    assert "does the script start its work below if __name__ == '__main__':" in done.stderr
