"""Sweeps in processes of their own, and what their stores hold."""

import contextlib
import sqlite3
import time
from pathlib import Path

from helpers import sweep_victim
from helpers.scripts import begun

VICTIM = Path(sweep_victim.__file__)


def begin(store, *arguments, **options):
    process = begun(VICTIM, store, *arguments, folders=[VICTIM.parents[1]], **options)
    assert process.stdout.readline() == "begun\n"
    return process


def rows(store):
    """All that a store holds but the times, as SQLite has it."""
    with contextlib.closing(sqlite3.connect(store)) as db:
        found = [
            db.execute("SELECT * FROM run ORDER BY id").fetchall(),
            db.execute("SELECT * FROM task ORDER BY sweep, task").fetchall(),
            db.execute("SELECT id, name, axes, replicates, tasks, document FROM sweep ORDER BY id").fetchall(),
        ]
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    return found


def count(store):
    """The runs in a store; the journal of a killed process is taken back, which a reader by `mode=ro` cannot do."""
    try:
        with contextlib.closing(sqlite3.connect(f"file:{store}?mode=rw", uri=True)) as db:
            return db.execute("SELECT count(*) FROM run").fetchone()[0]
    except sqlite3.OperationalError:
        return 0


def until(condition, seconds=60.0, pause=0.01):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(pause)
