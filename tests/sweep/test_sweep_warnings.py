"""What a table warns of is what the results of its runs warn of, in stores of today and of before."""

import contextlib
import pickle
import sqlite3

import numpy as np
import pytest

import faultsim as fs
from faultsim.sweep.kinds import JOB_RUNS
from faultsim.sweep.merge import merge
from helpers.deciders import ByHand, easy

#: Two rows of four cubes, wired: a slice of three is at the beginning of a row, and one of four may be at the end.
POD = fs.Pod((1, 2, 4), (2, 2, 2), 4, "static")
SAID = "got a larger slice than the shape asked for"


def jobs(seed=1, n=30):
    """Shapes of a cube, of three and of a part of one, and some that are open."""
    rng = np.random.default_rng(seed)
    shape = rng.choice(["2x2x2", "2x2x6", "1x2x2", ""], n)
    size = np.select([shape == "2x2x2", shape == "2x2x6", shape == "1x2x2"], [4, 12, 2], rng.integers(1, 12, n))
    return fs.Workload(np.sort(rng.integers(0, 60, n)), rng.integers(5, 40, n), size, columns={"shape": shape})


def failures(seed=1):
    return fs.synthetic.exponential_failures(32, 400, 300, downtime=60.0, rng=seed)


def grown(result):
    """The number of jobs that a result warns of."""
    said = [text for text in result.warnings if SAID in text]
    return int(said[0].split()[0].replace(",", "")) if said else 0


def sweep(**options):
    machines = [POD, fs.Pod((1, 2, 4), (2, 2, 2), 4)]
    base = fs.Run(jobs(), POD, failures=failures())
    return fs.Sweep(base, {"machine": machines, "start_delay": [0.0, 3.0, 9.0]}, **options)


def results(kind=fs.EasyBackfill):
    runs = [fs.Run(jobs(), POD, scheduler=kind(), failures=failures(), start_delay=delay) for delay in (0.0, 3.0, 9.0)]
    return [run.simulate() for run in runs]


def test_a_table_says_of_slices_what_its_results_say(tmp_path):
    counts = [grown(result) for result in results()]
    assert max(counts) > 1
    rows = sum(count > 0 for count in counts)
    expected = (f"in {rows} of 6 rows jobs {SAID}: up to {max(counts)} jobs a row",)
    table = sweep().run()
    assert table.warnings == expected
    assert "larger_slices" not in list(table)
    assert sweep().run(tmp_path / "a.db", workers=2).warnings == expected
    assert fs.load_sweep(tmp_path / "a.db").warnings == expected
    merge(tmp_path / "b.db", [tmp_path / "a.db"])
    assert fs.load_sweep(tmp_path / "b.db").warnings == expected
    assert pickle.loads(pickle.dumps(table)).warnings == expected
    for place, count in enumerate(counts):
        said = table.select(machine=str(POD))[place : place + 1].warnings
        assert bool(said) == (count > 0)
        assert f"up to {count} job" in said[0] if count else True
    assert table[3:].warnings == ()


def test_with_metrics_of_ones_own():
    assert sweep(metrics={"longest": lambda result: result.jobs["wait"].max()}).run().warnings == sweep().run().warnings
    with pytest.raises(fs.OptionError, match="the table has a column 'larger_slices' already"):
        sweep(metrics={"larger_slices": lambda result: 1.0})


def test_a_store_of_before_is_read_and_goes_on(tmp_path, monkeypatch):
    store = tmp_path / "old.db"
    with monkeypatch.context() as before:
        before.setattr(type(JOB_RUNS), "notes", ())
        before.setattr(type(JOB_RUNS), "noted", lambda self, execution: [])
        sweep().run(store, shard="1/2")
    with contextlib.closing(sqlite3.connect(store)) as db:
        db.execute("DROP VIEW results")
        db.execute("ALTER TABLE run DROP COLUMN larger_slices")
        db.commit()
    with pytest.raises(sqlite3.OperationalError), contextlib.closing(sqlite3.connect(store)) as db:
        db.execute("SELECT larger_slices FROM run")
    assert fs.load_sweep(store).warnings == ()  # nobody has counted
    assert fs.load_sweep(store).n_rows == 3
    whole, table = sweep().run(store), sweep().run()
    assert whole.n_rows == 6
    for name in table.metrics:
        np.testing.assert_array_equal(whole[name], table[name])


def test_nobody_says_why_where_a_scheduler_of_ones_own_decides():
    """It may have wanted the larger slice."""
    (told,) = [text for text in results(lambda: ByHand(easy))[0].warnings if SAID in text]
    assert f"{SAID}: the first is job" in told
    assert any(f"{SAID}, as all slices" in text for text in results()[0].warnings)
