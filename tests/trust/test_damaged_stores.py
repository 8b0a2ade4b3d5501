"""Stores from strangers, and from disks that forget: every changed value is told; those of before still open."""

import contextlib
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import faultsim as fs
from faultsim.sweep import store as store_module
from faultsim.sweep.merge import merge
from faultsim.sweep.store import Store
from helpers.damage import flipped
from helpers.older import older_store
from helpers.refusals import refused

FLIPS, MANY_FLIPS = 300, 10_000


def sweep(**options: Any) -> fs.Sweep:
    base = {"log": lambda rng: fs.synthetic.nasa_like(20, rng=rng), "machine": fs.Cluster(128)}
    axes = {"load": [0.7, 0.9], "scheduler": [fs.Fcfs(), fs.EasyBackfill()]}
    return fs.Sweep(base, axes, replicates=3, name="flipped", metrics=["p95_wait"], **options)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("store") / "good.db"
    sweep().run(path, workers=1)
    return path


def everything(path: Path, **options: Any) -> tuple[Any, ...]:
    """All that a store says."""
    table = fs.load_sweep(path, **options)
    with Store(path, write=False, **options) as opened:
        said = opened.sweeps()
    return {name: table[name].tolist() for name in table}, table.axes, table.name, table.errors, table.command, said


def same(one: object, other: object) -> bool:
    return repr(one) == repr(other)  # NaN is itself


def untold(count: int, store: Path, path: Path) -> list[int]:
    """The flips of a byte after which a store says something else."""
    content, expected, wrong = store.read_bytes(), everything(store), []
    for seed in range(count):
        path.write_bytes(flipped(content, seed))
        try:
            if not same(everything(path), expected):
                wrong.append(seed)
        except (fs.StoreError, fs.OptionError):
            pass
    return wrong


def test_every_value_that_changes_is_told(store: Path, tmp_path: Path) -> None:
    assert untold(FLIPS, store, tmp_path / "bad.db") == []


@pytest.mark.slow
def test_every_value_that_changes_is_told_ten_thousand_times(store: Path, tmp_path: Path) -> None:
    assert untold(MANY_FLIPS, store, tmp_path / "bad.db") == []


def changed(store: Path, tmp_path: Path, *statements: str) -> Path:
    path = tmp_path / "changed.db"
    shutil.copy(store, path)
    with contextlib.closing(sqlite3.connect(path)) as db, db:
        for statement in statements:
            db.execute(statement)
    return path


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("UPDATE run SET mean_wait = mean_wait + 1", "row .* of run is not the one"),
        ("UPDATE run SET mean_wait = NULL", "row .* of run is not the one"),
        ("UPDATE run SET status = 'error'", "row .* of run is not the one"),
        ("UPDATE task SET axes = '{}' WHERE task = 2", "row .*, 2 of task is not the one"),
        ("UPDATE task SET seed = 7 WHERE task = 0", "row .*, 0 of task is not the one"),
        ("UPDATE own SET numbers = '{\"p95_wait\": 3}'", "row .* of own is not the one"),
        ("UPDATE sweep SET name = 'another'", "row .* of sweep is not the one"),
        ("UPDATE timing SET elapsed = 1e9", "row .* of timing is not the one"),
        ("UPDATE run SET digest = NULL", "row .* of run is not the one"),
        ("DELETE FROM run WHERE id IN (SELECT run FROM task WHERE task = 1)", "a task is done by the run"),
        ("PRAGMA user_version = 1", "damaged: of layout 1, but for its table"),
        ("CREATE TRIGGER t AFTER INSERT ON run BEGIN DELETE FROM task; END", "has the trigger 't', which no store has"),
        ("DROP TABLE timing", "it has no table timing"),
        ("ALTER TABLE run RENAME COLUMN utilization TO utilizatiMn", "has the column 'utilizatiMn', which no"),
        ("ALTER TABLE task ADD COLUMN note TEXT", "its table task has the column 'note', which no store has"),
    ],
)  # fmt: skip
def test_what_is_changed_is_told_by_name(statement: str, said: str, store: Path, tmp_path: Path) -> None:
    path = changed(store, tmp_path, statement)
    refused(fs.StoreError, said, fs.load_sweep, path)
    refused(fs.StoreError, "changed.db", merge, tmp_path / "merged.db", [path])
    if not statement.startswith("DELETE"):  # what is missing is made again
        refused(fs.StoreError, "changed.db", Store, path)


def test_a_view_instead_of_a_table_is_refused(store: Path, tmp_path: Path) -> None:
    endless = "CREATE VIEW timing AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x FROM n) SELECT x AS run FROM n"
    path = changed(store, tmp_path, "DROP TABLE timing", endless)
    refused(fs.StoreError, "it has no table timing", fs.load_sweep, path)


def test_rows_that_are_read_are_checked_in_large_stores_too(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_module, "CHECKED", 0)
    assert fs.load_sweep(store).complete
    for statement in ("UPDATE run SET mean_wait = 1", "UPDATE task SET seed = 7", "UPDATE sweep SET tasks = 3"):
        refused(fs.StoreError, "is not the one", fs.load_sweep, changed(store, tmp_path, statement))
    path = changed(store, tmp_path, "UPDATE timing SET elapsed = 1e9")
    assert fs.load_sweep(path).complete
    refused(fs.StoreError, "of timing is not the one", Store, path, write=False, check=True)


def test_stores_of_before_there_were_digests_are_read_as_they_are(store: Path, tmp_path: Path) -> None:
    old = older_store(store, tmp_path / "old.db", digests=False)
    assert same(everything(old, allow_older_results=True), everything(store))
    with Store(old, write=False, allow_older_results=True) as opened:
        assert not opened.digests
    refused(fs.StoreError, "of an older version", sweep().fill, old, workers=1)


def test_rows_of_an_old_store_that_are_none_are_told(store: Path, tmp_path: Path) -> None:
    old = older_store(store, tmp_path / "old.db", digests=False)
    for statement in (
        "UPDATE task SET axes = '[' WHERE task = 1",
        "UPDATE task SET axes = '{}' WHERE task = 1",
        "UPDATE task SET seed = 'x' WHERE task = 1",
        "UPDATE task SET replicate = 1e300 WHERE task = 1",
        "UPDATE run SET mean_wait = 'much'",
        "UPDATE sweep SET axes = '[[[['",
        "UPDATE sweep SET axes = '7'",
        "UPDATE sweep SET document = '7'",
        "UPDATE sweep SET tasks = 'many'",
        "UPDATE own SET numbers = 'none'",
    ):
        path = changed(old, tmp_path, statement)
        refused(fs.StoreError, "damaged", fs.load_sweep, path, allow_older_results=True)


@pytest.mark.parametrize("name", ["", "file::memory:", "file:a.db?mode=memory"])
def test_names_that_are_no_files_are_refused(name: str) -> None:
    refused(fs.StoreError, "expected the name of a file", Store, name)
    refused(fs.StoreError, "expected the name of a file", fs.load_sweep, name)


def test_digests_see_each_kind_of_change() -> None:
    from faultsim.sweep.row_digests import digests, number_digests

    rows = [
        ("a", 1, 0, 5, "{}", "b"),
        ("a", 1, 0, "5", "{}", "b"),
        ("a", 10, 5, "", "{}", "b"),
        ("a", 1, 0, 5, "{}", None),
    ]
    assert len(set(digests("task", rows))) == len(rows)
    values = np.array([[0.0, 1.0], [1.0, 0.0], [np.nan, 1.0], [0.0, np.nan], [-0.0, 1.0]])
    made = number_digests(("a", "b"), values).tolist()
    assert made[0] == made[4]
    assert len(set(made)) == 4
