"""Merges several stores into one: the shards of a job array, or the runs of colleagues."""

import os
from collections.abc import Sequence
from typing import Any, NamedTuple

from faultsim.errors import StoreError
from faultsim.sweep.row_digests import TABLES
from faultsim.sweep.store import Store


class Merged(NamedTuple):
    """How many rows were added, and how many runs have different numbers in two stores."""

    runs: int
    tasks: int
    differing: int


def merge(target: str | os.PathLike[str], sources: Sequence[str | os.PathLike[str]]) -> Merged:
    """Add the rows of stores to a store, which is created if needed. The others are unchanged.

    A run already in the store is kept, unless it failed there and not here. If a run has different numbers in two
    stores, it was made on machines whose arithmetic differs, and the first one is kept.

    Raises
    ------
    StoreError
        If one cannot be read, or the target is among the sources.

    Examples
    --------
    >>> import tempfile, faultsim as fs
    >>> log = fs.Workload(submit=[0, 1], runtime=[10, 5], size=[2, 2])
    >>> sweep = fs.Sweep(fs.Run(log, fs.Cluster(2)), {"runtime_factor": [1.0, 2.0]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     parts = [f"{folder}/{i}.db" for i in (1, 2)]
    ...     for i, part in enumerate(parts, 1):
    ...         _ = sweep.run(part, shard=(i, 2))
    ...     merge(f"{folder}/all.db", parts)
    ...     fs.load_sweep(f"{folder}/all.db")["mean_wait"]
    Merged(runs=2, tasks=2, differing=0)
    array([4.5, 9.5])
    """
    place = os.path.realpath(target)
    for source in sources:
        if os.path.realpath(source) == place:
            raise StoreError(f"{os.fspath(source)}: is the store that the others are merged into")
        with Store(source, write=False):
            pass  # rejected by name, before anything is written
    runs = tasks = differing = 0
    with Store(target) as store:
        for source in sources:
            one = _add(store, source)
            runs, tasks, differing = runs + one.runs, tasks + one.tasks, differing + one.differing
    return Merged(runs, tasks, differing)


def _add(store: Store, source: str | os.PathLike[str]) -> Merged:
    with Store(source, write=False, check=False) as other:  # it was, before anything was written
        shared = set(other.columns("run"))
        columns = ", ".join(f'"{name}"' if name in shared else "NULL" for name in TABLES["run"].columns)
        runs = tasks = differing = 0
        for table in ("environment", "sweep"):
            for part in other.parts(table):
                store.enter("INSERT OR IGNORE", table, part)
        for part in other.parts("run"):
            known = store.known(row[0] for row in part)
            twice = [row for row in part if known.get(row[0]) == "ok" and row[1] == "ok"]
            differing += _differing(store, columns, twice)
            new = [row for row in part if known.get(row[0]) is None or (known[row[0]] == "error" and row[1] == "ok")]
            store.enter("INSERT OR REPLACE", "run", new)
            runs += len(new)
        for table in ("own", "timing"):
            for part in other.parts(table):
                store.enter("INSERT OR IGNORE", table, part)
        store.write("DELETE FROM whole WHERE sweep = ?", list(other.read("SELECT id FROM sweep")))
        before = store.count("task")
        for part in other.parts("task"):
            store.enter("INSERT OR IGNORE", "task", part)
        tasks = store.count("task") - before
    return Merged(runs, tasks, differing)


def _differing(store: Store, columns: str, rows: list[tuple[Any, ...]]) -> int:
    """How many of these runs have different numbers in the store."""
    found = 0
    for row in rows:
        mine = next(iter(store.read(f"SELECT {columns} FROM run WHERE id = ?", [row[0]])))
        found += mine[4:] != row[4:]
    return found
