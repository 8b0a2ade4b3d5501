"""A complete store is known to be complete without making its tasks again, and only then."""

import contextlib
import sqlite3

import numpy as np
import pytest

import faultsim as fs
from faultsim.sweep.merge import merge
from faultsim.sweep.tasks import Maker

LOG = fs.Workload(submit=[0, 1, 2], runtime=[10, 5, 4], size=[2, 2, 1])
DELAYS = {"start_delay": [0.0, 1.0, 2.0, 3.0]}


@pytest.fixture
def made(monkeypatch):
    """How many tasks were made since it was last set to 0."""
    count = [0]
    task = Maker.task

    def counting(*args):
        count[0] += 1
        return task(*args)

    monkeypatch.setattr(Maker, "task", counting)
    return count


def delayed(**options):
    return fs.Sweep(fs.Run(LOG, fs.Cluster(2)), DELAYS, replicates=50, **options)


def test_work_resuming_a_complete_store_makes_one_task(made, tmp_path):
    first = delayed().fill(tmp_path / "a.db", workers=1)
    assert (first.made, first.done, made[0] > 200) == (4, 200, True)
    made[0] = 0
    told = []
    again = delayed().fill(tmp_path / "a.db", workers=1, progress=lambda *seen: told.append(seen[:2]))
    assert (again.made, again.done, again.total, again.failed) == (0, 200, 200, 0)
    assert made[0] == 1  # the first, for the id
    assert told == [(200, 200)]
    table = delayed().run(tmp_path / "a.db")
    np.testing.assert_array_equal(np.unique(table["start_delay"]), DELAYS["start_delay"])


def test_a_base_that_the_first_cell_replaces_matters(made, tmp_path):
    cells = [{"scheduler": fs.Fcfs()}, {"start_delay": 5.0}]
    sweeps = [
        fs.Sweep({"log": LOG, "machine": fs.Cluster(2), "scheduler": scheduler}, cells=cells)
        for scheduler in (fs.EasyBackfill(), fs.ConservativeBackfill())
    ]
    assert sweeps[0].id == sweeps[1].id
    for made_now, sweep in zip((2, 1, 0), (*sweeps, sweeps[0]), strict=True):
        assert sweep.fill(tmp_path / "a.db").made == made_now
        ids = [task.id for task in sweep.tasks()]
        assert sweep.run(tmp_path / "a.db")["run"].tolist() == ids


def test_what_is_merged_is_looked_at(made, tmp_path):
    delayed().fill(tmp_path / "a.db")
    delayed().fill(tmp_path / "b.db", shard=(1, 2))
    merge(tmp_path / "a.db", [tmp_path / "b.db"])
    made[0] = 0
    assert delayed().fill(tmp_path / "a.db").done == 200
    assert made[0] > 200


@pytest.mark.parametrize("change", ["DELETE FROM task WHERE task = 7", "DROP TABLE whole", "DELETE FROM run"])
def test_what_is_missing_is_made(change, made, tmp_path):
    before = delayed().run(tmp_path / "a.db")
    with contextlib.closing(sqlite3.connect(tmp_path / "a.db")) as db, db:
        db.execute(change)
    made[0] = 0
    after = delayed().run(tmp_path / "a.db")
    assert made[0] > 200
    for name in before:
        np.testing.assert_array_equal(after[name], before[name], name)


def test_inputs_of_factories_are_drawn_again(made, tmp_path):
    def fill(seed):
        base = {"log": lambda rng: fs.synthetic.nasa_like(20, rng=rng), "machine": fs.Cluster(128), "seed": seed}
        return fs.Sweep(base, replicates=3).fill(tmp_path / "a.db")

    assert [fill(0).made, fill(0).made, fill(1).made] == [3, 0, 3]
    assert made[0] > 9


def test_failed_runs_are_tried_again_if_asked(made, tmp_path):
    sweep = fs.Sweep({"log": LOG}, {"machine": [fs.Cluster(1), fs.Cluster(2)]})
    assert sweep.fill(tmp_path / "a.db").failed == 1
    made[0] = 0
    assert sweep.fill(tmp_path / "a.db").failed == 1
    assert made[0] == 1
    assert sweep.fill(tmp_path / "a.db", retry=True).made == 1
