"""A store that disappears, that another program has altered, or that can only be read."""

import contextlib
import os
import shutil
import sqlite3

import pytest

import faultsim as fs
from faultsim.cli.app import main
from faultsim.sweep.store import Store
from helpers.refusals import refused

LOG = fs.Workload(submit=[0, 1], runtime=[10, 5], size=[2, 2])


def sweep(n=40):
    return fs.Sweep(fs.Run(LOG, fs.Cluster(2)), {"runtime_factor": [1.0 + 0.1 * k for k in range(n)]}, name="many")


def unlink(path):
    path.unlink()


def rename(path):
    path.rename(path.with_name("other.db"))


def rename_folder(path):
    path.parent.rename(path.parent.with_name("elsewhere"))


def remove_folder(path):
    shutil.rmtree(path.parent)


def replace(path):
    shutil.copy(path, path.with_name("copy.db"))
    os.replace(path.with_name("copy.db"), path)


@pytest.mark.parametrize("trouble", [unlink, rename, rename_folder, remove_folder, replace])
@pytest.mark.parametrize("when", [0, 20, 39])
def test_a_store_that_disappears_is_said(tmp_path, trouble, when):
    (tmp_path / "folder").mkdir()
    path = tmp_path / "folder" / "a.db"

    def progress(done, total, seconds):
        if done >= when and not progress.happened:
            progress.happened = True
            trouble(path)

    progress.happened = False
    state = "is another file now" if trouble is replace else "is not there any more"
    refused(fs.StoreError, f"a.db: {state}: it was removed", sweep().run, path, workers=1, progress=progress)


def test_the_command_line_ends_with_2_when_its_store_disappears(tmp_path, capsys, monkeypatch):
    (tmp_path / "a.toml").write_text(
        '[base]\nmachine = "torus:4x4x8"\nlog = { synthetic = "nasa_like", jobs = 20 }\n'
        "[grid]\nruntime_factor = [1.0, 2.0, 3.0]\n"
    )
    written = Store.add

    def add(store, *args, **options):
        os.unlink(store.path)
        written(store, *args, **options)

    monkeypatch.setattr(Store, "add", add)
    code = main(["sweep", str(tmp_path / "a.toml"), "--quiet"])
    assert (code, "is not there any more" in capsys.readouterr().err) == (2, True)


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("CREATE UNIQUE INDEX once ON task (run)", "has the index 'once'"),
        ("CREATE INDEX plain ON run (status)", "has the index 'plain'"),
        ("CREATE TRIGGER t AFTER INSERT ON run BEGIN DELETE FROM run; END", "has the trigger 't'"),
        ("DROP VIEW results; CREATE VIEW results AS SELECT 1 AS x", "its view 'results' is not that of a store"),
        (
            "DROP TABLE timing; CREATE TABLE timing (run TEXT PRIMARY KEY, elapsed REAL CHECK (elapsed > 9), "
            "ended REAL, digest INTEGER) WITHOUT ROWID",
            "its table timing has the constraint CHECK",
        ),
        (
            "DROP TABLE timing; CREATE TABLE timing (run TEXT PRIMARY KEY, elapsed REAL, ended REAL UNIQUE, "
            "digest INTEGER) WITHOUT ROWID",
            "its table timing has the constraint UNIQUE",
        ),
        (
            "DROP TABLE timing; CREATE TABLE timing (run TEXT, elapsed REAL, ended REAL PRIMARY KEY, "
            "digest INTEGER) WITHOUT ROWID",
            r"its table timing has the primary key \(ended\), expected \(run\)",
        ),
    ],
)
def test_a_store_that_was_altered_is_refused_by_name(tmp_path, statement, said):
    path = tmp_path / "a.db"
    sweep(3).run(path)
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.executescript(statement)
    refused(fs.StoreError, said, sweep(4).run, path)
    refused(fs.StoreError, said, fs.load_sweep, path)


def test_tables_and_views_of_other_programs_may_stand_beside(tmp_path):
    path = tmp_path / "a.db"
    sweep(3).run(path)
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.executescript("CREATE TABLE notes (x UNIQUE); CREATE VIEW waits AS SELECT mean_wait FROM results")
    assert sweep(4).run(path).n_rows == 4


def test_rows_that_another_program_removes_are_missed_at_the_end(tmp_path):
    path = tmp_path / "a.db"

    def progress(done, total, seconds):
        if done >= 20 and not progress.happened:
            progress.happened = True
            with contextlib.closing(sqlite3.connect(path)) as db, db:
                db.execute("DELETE FROM task WHERE task < 5")

    progress.happened = False
    refused(fs.StoreError, r"a.db: has 35 of the 40 runs", sweep().run, path, workers=1, progress=progress)
    assert sweep().run(path).n_rows == 40


def test_reading_a_store_leaves_no_files_beside_it(tmp_path):
    path = tmp_path / "a.db"
    sweep(3).run(path)
    assert fs.load_sweep(path).n_rows == 3
    assert os.listdir(tmp_path) == ["a.db"]
    with contextlib.closing(sqlite3.connect(path)) as db:  # as versions before left it
        db.execute("PRAGMA journal_mode = WAL")
    assert fs.load_sweep(path).n_rows == 3
    assert os.listdir(tmp_path) == ["a.db"]
    with Store(path) as writing:
        assert fs.load_sweep(path).n_rows == 3
        writing.add_environment("x", "{}")
    assert os.listdir(tmp_path) == ["a.db"]
