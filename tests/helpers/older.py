"""Stores, saved results and pickles as older versions wrote them, before results had a model revision."""

import contextlib
import sqlite3
from pathlib import Path
from typing import Any

from faultsim.sweep.row_digests import digests
from helpers.damage import facts_of, members, packed, with_facts

#: The tables of layout 2; those of a run's numbers are added.
_SCHEMA = """
CREATE TABLE sweep (
    id TEXT PRIMARY KEY, name TEXT, axes TEXT, replicates INTEGER, tasks INTEGER, created TEXT, command TEXT,
    document TEXT, digest INTEGER);
CREATE TABLE run (
    id TEXT PRIMARY KEY, status TEXT, error TEXT, environment TEXT, {numbers}, digest INTEGER) WITHOUT ROWID;
CREATE TABLE task (
    sweep TEXT, task INTEGER, replicate INTEGER, seed INTEGER, axes TEXT, run TEXT, digest INTEGER,
    PRIMARY KEY (sweep, task)) WITHOUT ROWID;
CREATE TABLE timing (run TEXT PRIMARY KEY, elapsed REAL, ended REAL, digest INTEGER) WITHOUT ROWID;
CREATE TABLE environment (id TEXT PRIMARY KEY, versions TEXT, digest INTEGER) WITHOUT ROWID;
CREATE TABLE whole (sweep TEXT PRIMARY KEY, content TEXT, digest INTEGER) WITHOUT ROWID;
CREATE TABLE own (run TEXT PRIMARY KEY, numbers TEXT, digest INTEGER) WITHOUT ROWID;
CREATE VIEW results AS
    SELECT sweep.name AS sweep_name, task.sweep, task.task, task.replicate, task.seed, task.axes, run.*
    FROM task JOIN run ON run.id = task.run JOIN sweep ON sweep.id = task.sweep;
PRAGMA application_id = 1718383731;
PRAGMA user_version = 2;
"""
TABLES = ("sweep", "run", "task", "timing", "environment", "whole", "own")


def older_store(store: Path, path: Path, *, digests: bool = True) -> Path:
    """The rows of a store in one of layout 2, or without digests of layout 1."""
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("ATTACH ? AS new", [str(store)])
        columns = [row[1] for row in db.execute("PRAGMA new.table_info(run)")][4:-1]
        db.executescript(_SCHEMA.format(numbers=", ".join(f'"{name}" REAL' for name in columns)))
        for table in TABLES:
            db.execute(f"INSERT INTO main.{table} SELECT * FROM new.{table}")
            if not digests:
                db.execute(f"ALTER TABLE main.{table} DROP COLUMN digest")
        if not digests:
            db.execute("PRAGMA user_version = 1")
    return path


def with_revision(store: Path, revision: Any) -> Path:
    """The store as one of another model revision."""
    with contextlib.closing(sqlite3.connect(store)) as db, db:
        db.execute("UPDATE model SET revision = ?, digest = ?", [revision, *digests("model", [(revision,)])])
    return store


def older_result(path: Path, *keys: str, revision: Any = None) -> Path:
    """A saved result without a model revision, or with another one; `keys` are where its facts have it."""
    arrays = members(path.read_bytes())
    facts = facts_of(arrays)
    place = facts
    for key in keys:
        place = place[key]
    del place["model_revision"]
    if revision is not None:
        place["model_revision"] = revision
    path.write_bytes(packed(with_facts(arrays, facts, signed=True)))
    return path
