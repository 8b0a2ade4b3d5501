"""Merges several stores into one: the shards of a job array, or the runs of colleagues."""

import os
from collections.abc import Sequence
from typing import NamedTuple

from faultsim import checks
from faultsim.data.whole_files import check_name
from faultsim.errors import StoreError
from faultsim.results.revision import in_words
from faultsim.sweep.row_digests import TABLES
from faultsim.sweep.store import Store
from faultsim.version import MODEL_REVISION


class Merged(NamedTuple):
    """How many rows were added, and how many runs have different numbers in two stores."""

    runs: int
    tasks: int
    differing: int


def merge(
    target: str | os.PathLike[str], sources: Sequence[str | os.PathLike[str]], *, allow_older_results: bool = False
) -> Merged:
    """Add the rows of stores to a store, which is created if needed. The others are unchanged.

    A run already in the store is kept, unless it failed there and not here. If a run has different numbers in two
    stores, it was made on machines whose arithmetic differs, and the first one is kept.

    Parameters
    ----------
    target : str or path
    sources : sequence of str or path
    allow_older_results : bool, default False
        Whether stores of one older model revision are merged, into a store of that revision.

    Raises
    ------
    StoreError
        If one cannot be read, or the target is among the sources; if they are of more than one model revision, or of an
        older one that is not allowed.

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
    for path in (target, *sources):
        check_name(checks.file_name(path))
    place = os.path.realpath(checks.file_name(target))
    for source in sources:
        if os.path.realpath(checks.file_name(source)) == place:
            raise StoreError(f"{checks.file_name(source)}: is the store that the others are merged into")
    revision = _one_revision(target, sources, allow_older_results)
    runs = tasks = differing = 0
    with Store(target, revision=revision) as store:
        for source in sources:
            one = _add(store, source)
            runs, tasks, differing = runs + one.runs, tasks + one.tasks, differing + one.differing
    return Merged(runs, tasks, differing)


def _one_revision(
    target: str | os.PathLike[str], sources: Sequence[str | os.PathLike[str]], allow_older_results: bool
) -> int:
    """The model revision of all of them; others are rejected by name, before anything is written."""
    found: dict[str, int | None] = {}
    paths = [*sources, target] if os.path.exists(target) and os.path.getsize(target) else list(sources)
    for path in paths:
        with Store(path, write=False, check=path != target or None, allow_older_results=True) as store:
            found[checks.file_name(path)] = store.revision
    first = next(iter(found), "")
    for path, revision in found.items():
        if revision != found[first]:
            raise StoreError(
                f"{path}: {in_words(revision)}, and {first}: {in_words(found[first])}; numbers of two revisions are "
                f"not joined: make the older runs again"
            )
    if len(found) > 1 and found[first] is None:
        raise StoreError(
            f"{first}: {in_words(None)}, so that its numbers and those of {[*found][1]} may be of two revisions, which "
            f"are not joined: make the runs again"
        )
    if not allow_older_results:
        for path in paths:
            with Store(path, write=False, check=False):
                pass
    kept = found.get(first, MODEL_REVISION)
    if kept is None:
        raise StoreError(f"{first}: {in_words(None)}; such a store is read as it is, and not merged: copy the file")
    return kept


def _add(store: Store, source: str | os.PathLike[str]) -> Merged:
    # It was checked before anything was written.
    with Store(source, write=False, check=False, allow_older_results=True) as other:
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


def _differing(store: Store, columns: str, rows: list[tuple[object, ...]]) -> int:
    """How many of these runs have different numbers in the store."""
    found = 0
    for row in rows:
        mine = next(iter(store.read(f"SELECT {columns} FROM run WHERE id = ?", [row[0]])))
        found += mine[4:] != row[4:]
    return found
