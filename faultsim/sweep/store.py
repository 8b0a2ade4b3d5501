"""The store: one SQLite file that keeps the rows of any number of sweeps, whatever happens to the writing process.

Tables (read them with any tool that knows SQLite; the view ``results`` joins them):

``run``
    One row per run of jobs or of workflows, named by its content: status, error, versions, a column for each metric,
    ledger account and counter; empty are those that only the other kind has.
``task``
    Which run belongs at which place of which sweep, with its axes as JSON.
``sweep``
    The sweeps.
``timing``
    When a run ended and how long it took: the only columns that differ between machines.
``own``
    Metrics of the caller's own, as JSON.
``whole``
    Sweeps whose tasks are those of a definition with this content hash, so that nobody has to make them again to know
    what is missing.  It goes with the first task that is entered or merged.

``model``
    The model revision of all its rows (model.md#revisions).

Rows are only added, and only of the store's own revision.  A run that failed may be tried again, and its row replaced.
Each row has a digest of its other columns, and is not read if it has changed since it was written.

Stores of layouts 1 and 2 have no revision, those of layout 1 no digests either.  They are only read, and only where
older results are allowed.
"""

import contextlib
import json
import os
import re
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from pathlib import Path
from typing import Any, cast
from urllib.parse import quote

from faultsim import checks
from faultsim.data.whole_files import check_name
from faultsim.errors import StoreError
from faultsim.results.revision import check_revision, in_words, is_revision
from faultsim.sweep.row_digests import TABLES, digests
from faultsim.sweep.row_schema import ALL_COLUMNS, COLUMNS
from faultsim.sweep.sweep_rows import SweepDocument, SweepEntry, SweepRow
from faultsim.version import MODEL_REVISION

#: Version of the layout of the file (``PRAGMA user_version``).
LAYOUT = 3
#: The layout before there were digests.
_WITHOUT_DIGESTS = 1
#: Tables that a store may lack: they are made when it is next written to.
_LATER = ("own", "whole")
#: Bytes up to which a store is checked whole when it is opened: some tens of milliseconds.
CHECKED = 1 << 20
#: ``PRAGMA application_id``: "flts".
APPLICATION = 0x666C7473
#: Seconds to wait for another process that writes.
PATIENCE = 60.0
#: Columns of the primary keys: a row takes the place of one with the same, or gives way to it, and of no other.
_KEYS = {
    "sweep": ["id"], "run": ["id"], "task": ["sweep", "task"], "timing": ["run"], "own": ["run"], "whole": ["sweep"],
    "model": ["revision"], "environment": ["id"],
}  # fmt: skip
#: What may refuse, change or replace a row, and stands in no statement of a store.
_CONSTRAINTS = re.compile(
    r"\b(CHECK|UNIQUE|NOT\s+NULL|REFERENCES|DEFAULT|GENERATED|AS|COLLATE|CONFLICT|STRICT|VIRTUAL)\b", re.IGNORECASE
)
#: Most values in a statement that every SQLite accepts, rounded down.
MOST_VALUES = 900

_RESULTS = """CREATE VIEW results AS
    SELECT sweep.name AS sweep_name, task.sweep, task.task, task.replicate, task.seed, task.axes, run.*
    FROM task JOIN run ON run.id = task.run JOIN sweep ON sweep.id = task.sweep"""
_SCHEMA = f"""
CREATE TABLE sweep (
    id TEXT PRIMARY KEY, name TEXT, axes TEXT, replicates INTEGER, tasks INTEGER, created TEXT, command TEXT,
    document TEXT, digest INTEGER);
CREATE TABLE run (
    id TEXT PRIMARY KEY, status TEXT, error TEXT, environment TEXT,
    {", ".join(f'"{name}" REAL' for name in ALL_COLUMNS)}, digest INTEGER) WITHOUT ROWID;
CREATE TABLE task (
    sweep TEXT, task INTEGER, replicate INTEGER, seed INTEGER, axes TEXT, run TEXT, digest INTEGER,
    PRIMARY KEY (sweep, task)) WITHOUT ROWID;
CREATE TABLE timing (run TEXT PRIMARY KEY, elapsed REAL, ended REAL, digest INTEGER) WITHOUT ROWID;
CREATE TABLE model (revision INTEGER PRIMARY KEY, digest INTEGER);
CREATE TABLE environment (id TEXT PRIMARY KEY, versions TEXT, digest INTEGER) WITHOUT ROWID;
{_RESULTS};
PRAGMA application_id = {APPLICATION};
PRAGMA user_version = {LAYOUT};
"""


class ReadOnlyError(StoreError):
    """A store cannot be written, and perhaps can be read."""


def open_store(path: str | os.PathLike[str]) -> "Store":
    """A store to be written to; one that can only be read is opened for that: it may have every run that is wanted.

    Raises
    ------
    StoreError
        As `Store`.
    """
    try:
        return Store(path)
    except ReadOnlyError as error:
        if not os.path.isfile(path):
            raise
        try:
            return Store(path, write=False)
        except StoreError:
            raise error from None


class Store:
    """Open a store.

    Parameters
    ----------
    path : str or path
        The file; ":memory:" keeps rows as long as the object lives.
    write : bool, default True
        Whether rows will be added; the file is created if needed.
    check : bool, optional
        Whether the whole file is checked, all its rows too; by default up to 1 MiB.  Rows that are read always are.
    allow_older_results : bool, default False
        Whether a store of an older model revision is read.
    revision : int
        Of the rows that are written.

    Raises
    ------
    StoreError
        If the file cannot be opened or written, is not a store, is damaged, is of a later version, or is of another
        model revision.

    Examples
    --------
    >>> with Store(":memory:") as store:
    ...     store.sweeps()
    []
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        write: bool = True,
        check: bool | None = None,
        allow_older_results: bool = False,
        revision: int = MODEL_REVISION,
    ) -> None:
        self.path = checks.file_name(path)
        check_name(self.path)
        self.writable = write
        #: Model revision of its rows; None if it is not recorded.
        self.revision: int | None = revision
        #: Whether rows have digests.
        self.digests = True
        #: Device and number of the file; None of a store in memory, or where the path leads to no file.
        self._place: tuple[int, int] | None = None
        if not self.path or self.path.startswith("file:"):
            raise StoreError(f"{self.path!r:.60}: expected the name of a file (./file:x, if it begins so)")
        if not write and not os.path.exists(self.path):
            raise StoreError(f"{self.path}: no such store")
        if os.path.isdir(self.path):
            raise StoreError(f"{self.path}: a folder, expected a file")
        if write and self.path != ":memory:" and not os.path.isdir(os.path.dirname(os.path.abspath(self.path))):
            raise StoreError(f"{self.path}: its folder does not exist")
        with self._explained():
            self._db = self._opened()
            try:
                self._db.execute("PRAGMA trusted_schema = OFF")
                self._db.execute("PRAGMA cell_size_check = ON")
                if write:
                    self._prepare(revision)
                else:
                    self._check()
                    again = "make its runs again in a new store"
                    allow = allow_older_results
                    check_revision(self.path, self.revision, again, allow_older_results=allow, error=StoreError)
                if check or (check is None and self.size <= CHECKED):
                    self.check()
                self._place = self._place_now()
            except BaseException:
                self._db.close()
                raise

    def _opened(self) -> sqlite3.Connection:
        if self.path == ":memory:":
            return sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        if self.writable:
            # An absolute path: SQLite may take another for a URI.
            place = os.path.abspath(self.path)
            return sqlite3.connect(place, timeout=PATIENCE, isolation_level=None, check_same_thread=False)
        uri = "file:" + quote(os.fsencode(os.path.abspath(self.path)))
        if self._is_left_alone():
            return sqlite3.connect(uri + "?mode=ro&immutable=1", uri=True, check_same_thread=False)
        db = sqlite3.connect(uri + "?mode=ro", uri=True, timeout=PATIENCE, check_same_thread=False)
        try:
            db.execute("SELECT count(*) FROM sqlite_master").fetchone()
        except sqlite3.OperationalError:
            # A read-only folder cannot hold the file by which readers of a log coordinate; nobody writes.
            db.close()
            log = Path(self.path + "-wal")
            if log.exists() and log.stat().st_size:
                raise StoreError(
                    f"{self.path}: some of its rows are in {log.name}, which cannot be read in a folder that may not "
                    "be written; copy both files to one that may"
                ) from None
            db = sqlite3.connect(uri + "?mode=ro&immutable=1", uri=True, check_same_thread=False)
        except BaseException:
            db.close()
            raise
        return db

    def _is_left_alone(self) -> bool:
        """Whether the file expects a log beside it, and has none: SQLite would make one in order to read it."""
        try:
            with open(self.path, "rb") as file:
                return file.read(20)[18:] == b"\2\2" and not os.path.exists(self.path + "-wal")
        except OSError:
            return False

    def _prepare(self, revision: int) -> None:
        db = self._db
        if self.path != ":memory:":
            db.execute("PRAGMA journal_mode = WAL")
        # A killed process loses nothing that was committed; a machine that loses power may lose the last second.
        db.execute("PRAGMA synchronous = NORMAL")
        db.execute("BEGIN IMMEDIATE")  # two processes may open a new file at once
        try:
            if not db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                for statement in _SCHEMA.split(";"):
                    db.execute(statement)
                self._insert("INSERT", "model", [(revision,)])
            self._check()
            if self.revision != revision:
                again = "name another store for new runs"
                check_revision(self.path, self.revision, again, error=StoreError)
                raise StoreError(f"{self.path}: {in_words(self.revision)}: {again}")
            end = "digest INTEGER) WITHOUT ROWID"
            db.execute(f"CREATE TABLE IF NOT EXISTS whole (sweep TEXT PRIMARY KEY, content TEXT, {end}")
            db.execute(f"CREATE TABLE IF NOT EXISTS own (run TEXT PRIMARY KEY, numbers TEXT, {end}")
            there = self.columns("run")
            for name in ALL_COLUMNS:
                if name not in there:
                    db.execute(f'ALTER TABLE run ADD COLUMN "{name}" REAL')
        except BaseException:
            db.execute("ROLLBACK")
            raise
        db.execute("COMMIT")

    def _check(self) -> None:
        if self._db.execute("PRAGMA application_id").fetchone()[0] != APPLICATION:
            raise StoreError(f"{self.path}: an SQLite file, but not a sweep store")
        layout = self._db.execute("PRAGMA user_version").fetchone()[0]
        if layout not in range(1, LAYOUT + 1):
            raise StoreError(f"{self.path}: a store of layout {layout}, this version knows layouts 1 to {LAYOUT}")
        self.digests = layout != _WITHOUT_DIGESTS
        objects = dict(self._db.execute("SELECT name, type FROM sqlite_master"))
        self._check_schema()
        for name in TABLES:
            may_lack = name in _LATER or (name == "model" and layout < LAYOUT)
            if objects.get(name, "table" if may_lack else "") != "table":
                raise StoreError(f"{self.path}: damaged: it has no table {name}")
            if name in objects and ("digest" in self.columns(name)) != self.digests:
                raise StoreError(f"{self.path}: damaged: of layout {layout}, but for its table {name}")
            # A column whose name is damaged would be missing, as in an older store, and its numbers with it.
            if more := [column for column in self.columns(name) if column not in (*TABLES[name].columns, "digest")]:
                said = f"the column {more[0]!r:.40}, which no store has"
                raise StoreError(f"{self.path}: its table {name} has {said}; it is not opened")
        self.revision = None
        if layout == LAYOUT:
            found = [row[0] for part in self.parts("model") for row in part]
            if len(found) != 1 or not is_revision(found[0]):
                raise StoreError(f"{self.path}: damaged: its model revision is {found!r:.40}")
            self.revision = found[0]

    def _check_schema(self) -> None:
        """Refuse what another program has added and what could drop, change or replace rows."""
        query = "SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_master"
        for kind, name, table, sql in list(self._db.execute(query)):
            if kind == "trigger" or (kind == "index" and sql and table in TABLES):
                raise StoreError(f"{self.path}: has the {kind} {name!r:.40}, which no store has; it is not opened")
            if kind == "view" and name == "results" and " ".join(sql.split()) != " ".join(_RESULTS.split()):
                raise StoreError(f"{self.path}: its view 'results' is not that of a store; it is not opened")
            if kind != "table" or name not in TABLES:
                continue
            unquoted = re.sub(r'"[^"]*"', "", sql)
            if found := _CONSTRAINTS.search(unquoted):
                said = f"the constraint {found[0].upper()}"
                raise StoreError(f"{self.path}: its table {name} has {said}, which no store has; it is not opened")
            info = self._db.execute(f"PRAGMA table_info({name})").fetchall()
            key = [column for _, column in sorted((row[5], row[1]) for row in info if row[5])]
            if key != _KEYS[name]:
                said = f"the primary key ({', '.join(key)}), expected ({', '.join(_KEYS[name])})"
                raise StoreError(f"{self.path}: its table {name} has {said}; it is not opened")

    def columns(self, table: str) -> list[str]:
        """Names of the columns that a table has."""
        return [row[1] for row in self.read(f"PRAGMA table_info({table})")]

    def check(self) -> None:
        """Check the whole file: SQLite's own check, the digest of each row, and that every task has its run.

        Raises
        ------
        StoreError
            Naming what is damaged.
        """
        (found,) = next(iter(self.read("PRAGMA integrity_check(1)")), ("nothing",))
        if found != "ok":
            raise StoreError(f"{self.path}: damaged: {' '.join(str(found).split()):.120}")
        for table in TABLES:
            for _ in self.parts(table):
                pass
        query = "SELECT task.run FROM task LEFT JOIN run ON run.id = task.run WHERE run.id IS NULL LIMIT 1"
        for (run,) in self.read(query) if not self.writable else ():  # else it is made again
            raise StoreError(f"{self.path}: damaged: a task is done by the run {run!r:.40}, which it does not have")

    @contextmanager
    def believed(self) -> Iterator[None]:
        """What Python says of rows that are none, as `StoreError`."""
        try:
            yield
        except (ValueError, TypeError, LookupError, ArithmeticError, RecursionError, AttributeError) as error:
            raise StoreError(f"{self.path}: damaged: a row cannot be read ({error!s:.100})") from error

    def changed(self, table: str, row: Sequence[object]) -> StoreError:
        """The error for a row whose digest is not that of what it holds."""
        said = ", ".join(map(str, row[: 2 if table == "task" else 1]))
        return StoreError(f"{self.path}: damaged: row {said:.80} of {table} is not the one that was written")

    def parts(self, table: str, where: str = "", values: Sequence[object] = ()) -> Iterator[list[tuple[Any, ...]]]:
        """Rows of a table, 1,000 at a time, checked; numbers that it has no column for are None."""
        there = set(self.columns(table))
        if not there:
            return
        kinds = TABLES[table]
        asked = ", ".join(f'"{name}"' if name in there else "NULL" for name in kinds.columns)
        for part in _parts(self.read(f"SELECT {asked}{', digest' * self.digests} FROM {table} {where}", values)):
            if self.digests:
                with self.believed():
                    made = digests(table, part)
                for row, digest in zip(part, made, strict=True):
                    if row[-1] != digest:
                        raise self.changed(table, row)
                yield [row[:-1] for row in part]
            else:
                yield part

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """SQLite's errors as `StoreError`, with what to do."""
        try:
            yield
        except UnicodeDecodeError as error:  # of a name
            raise StoreError(f"{self.path}: damaged: {error!s:.100}") from error
        except MemoryError as error:  # of a row whose length is said to be that of 2^56 bytes, for example
            raise StoreError(f"{self.path}: damaged, or too large: there is not the memory that it asks for") from error
        except sqlite3.Error as error:
            name = getattr(error, "sqlite_errorname", "")
            said = {
                "SQLITE_FULL": "no space left; what was written before is safe: make room and run again",
                "SQLITE_READONLY": "is read-only",
                "SQLITE_CANTOPEN": "cannot be opened: does the folder exist, and is it writable?",
                "SQLITE_NOTADB": "not a sweep store (not an SQLite file)",
                "SQLITE_CORRUPT": "corrupt: SQLite cannot read it",
                "SQLITE_BUSY": "another process is writing to it and does not finish",
            }
            key = next((k for k in said if name.startswith(k)), "")
            if name.startswith("SQLITE_IOERR"):
                text = f"cannot be read or written ({error}); is the disk full? What was written before is safe"
            else:
                text = said.get(key, str(error))
            kind = ReadOnlyError if name.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN")) else StoreError
            raise kind(f"{self.path}: {text}") from error

    # -- writing

    def add_sweep(self, row: SweepRow) -> None:
        """Enter a sweep, unless it is already there."""
        self.enter("INSERT OR IGNORE", "sweep", [tuple(_text(dict(row)[name]) for name in TABLES["sweep"].columns)])

    def add_environment(self, name: str, versions: str) -> None:
        """Enter the versions of the software."""
        self.enter("INSERT OR IGNORE", "environment", [(name, versions)])

    def add(
        self,
        runs: Sequence[tuple[object, ...]],
        tasks: Sequence[tuple[object, ...]],
        timing: Sequence[tuple[str, float]],
        *,
        own: Sequence[tuple[str, str]] = (),
        retry: bool = False,
        columns: tuple[str, ...] = COLUMNS,
    ) -> None:
        """Add rows in one transaction: all of them or none.

        Parameters
        ----------
        runs : sequence of (id, status, error, environment, *numbers)
        tasks : sequence of (sweep, task, replicate, seed, axes, run)
        timing : sequence of (run, elapsed)
        own : sequence of (run, JSON of its own metrics)
        retry : bool
            Whether runs that failed before are replaced; a finished one never is.
        columns : tuple of str
            Names of the numbers.
        """
        if not self.writable:
            raise StoreError(f"{self.path}: is read-only, and lacks runs of this sweep")
        ended = round(time.time(), 3)
        with self._explained(), self.transaction():
            db = self._db
            if runs:
                if retry:
                    db.executemany("DELETE FROM run WHERE id = ? AND status = 'error'", [(row[0],) for row in runs])
                self._insert("INSERT OR IGNORE", "run", runs, columns)
                self._insert("INSERT OR REPLACE", "timing", [(*row, ended) for row in timing])
            self._insert("INSERT OR REPLACE", "own", own)
            for sweep in {row[0] for row in tasks}:
                db.execute("DELETE FROM whole WHERE sweep = ?", (sweep,))
            self._insert("INSERT OR REPLACE", "task", tasks)

    def set_whole(self, sweep: str, content: str) -> None:
        """All tasks of the definition with this content are entered."""
        self.enter("INSERT OR REPLACE", "whole", [(sweep, content)])

    def enter(self, verb: str, table: str, rows: Sequence[tuple[object, ...]]) -> None:
        """Add rows, in one transaction; one that can only be read has them already, or `add` says what it lacks."""
        if rows and self.writable:
            with self._explained(), self.transaction():
                self._insert(verb, table, rows)

    def _insert(
        self, verb: str, table: str, rows: Sequence[tuple[object, ...]], numbers: tuple[str, ...] | None = None
    ) -> None:
        """Insert rows, many per statement: for each statement, SQLite releases the lock that workers wait for."""
        if not rows:
            return
        numbers = TABLES[table].numbers if numbers is None else numbers
        head = f"{verb} INTO {table} ({_quoted((*TABLES[table].plain, *numbers, 'digest'))})"
        rows = [(*row, digest) for row, digest in zip(rows, digests(table, rows, numbers), strict=True)]
        width = len(rows[0])
        marks = "(" + ", ".join("?" * width) + ")"
        many = max(1, MOST_VALUES // width)
        full = len(rows) - len(rows) % many
        together = f"{head} VALUES {', '.join([marks] * many)}"
        for begin in range(0, full, many):
            self._db.execute(together, tuple(chain.from_iterable(rows[begin : begin + many])))
        self._db.executemany(f"{head} VALUES {marks}", rows[full:])

    def _place_now(self) -> tuple[int, int] | None:
        if self.path == ":memory:":
            return None
        try:
            found = os.stat(self.path)
        except OSError:
            return None
        return found.st_dev, found.st_ino

    def check_place(self) -> None:
        """Check that the path still leads to the file that rows are written to.

        Raises
        ------
        StoreError
            If that file was removed, renamed or replaced, or its folder was.
        """
        if self.path != ":memory:" and (self._place is None or self._place_now() != self._place):
            state = "is another file now" if os.path.exists(self.path) else "is not there any more"
            raise StoreError(
                f"{self.path}: {state}: it was removed, renamed or replaced while rows were written to it; what it "
                "held has gone with it. Put it back, or run again to make what is missing"
            )

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing."""
        self.check_place()
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._db.execute("COMMIT")
            self.check_place()
        except BaseException:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise

    def close(self) -> None:
        """Put everything into the one file, and close it."""
        if self.writable and self.path != ":memory:":
            # If others hold it, or the disk is full, the log next to the file keeps the rows.
            with contextlib.suppress(sqlite3.Error):
                self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
                # One who only reads it then needs no files beside it.
                self._db.execute("PRAGMA busy_timeout = 0")
                self._db.execute("PRAGMA journal_mode = DELETE")
        self._db.close()

    def check_rows(self, sweep: str, written: int) -> None:
        """Check that a sweep has as many rows as were written, or more.

        Raises
        ------
        StoreError
            If another program has removed some.
        """
        there = self.outcome(sweep)[0]
        if there < written:
            raise StoreError(
                f"{self.path}: has {there:,} of the {written:,} runs that were written to it: another program has "
                "changed it. Run again to make what is missing"
            )

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def write(self, statement: str, rows: Sequence[Sequence[object]]) -> None:
        """Run a statement for each of some rows, in one transaction."""
        if rows:
            with self._explained(), self.transaction():
                self._db.executemany(statement, rows)

    # -- reading

    def is_whole(self, sweep: str, content: str) -> bool:
        """Whether the tasks of a sweep are known to be those of the definition with this content."""
        return any(row[1] == content for part in self.parts("whole", "WHERE sweep = ?", [sweep]) for row in part)

    def document(self, sweep: str) -> SweepDocument:
        """What a sweep consists of: ``base``, ``axes``, ``warmup``, ``drain``, the names of its own ``metrics``, and
        ``kind``, if it is of workflows."""
        with self.believed():
            (row,) = [row for part in self.parts("sweep", "WHERE id = ?", [sweep]) for row in part]
            document: SweepDocument = json.loads(str(row[-1] or "{}"))
            return document

    def own(self, sweep: str) -> tuple[list[str], dict[str, str]]:
        """Names of a sweep's own metrics, and their numbers as JSON by run."""
        names = list(self.document(sweep).get("metrics", ()))
        where = "WHERE run IN (SELECT run FROM task WHERE sweep = ?)"
        return names, {run: said for part in self.parts("own", where, [sweep]) for run, said in part} if names else {}

    def outcome(self, sweep: str) -> tuple[int, int]:
        """How many tasks of a sweep are done, and how many of these failed."""
        query = (
            "SELECT count(*), coalesce(sum(run.status = 'error'), 0) "
            "FROM task JOIN run ON run.id = task.run WHERE task.sweep = ?"
        )
        done, failed = next(iter(self.read(query, [sweep])))
        return int(done), int(failed)

    def count(self, table: str) -> int:
        """Number of rows of a table."""
        return int(next(iter(self.read(f"SELECT count(*) FROM {table}")))[0])

    def read(self, query: str, values: Sequence[object] = ()) -> Iterator[tuple[Any, ...]]:
        """Rows of a query, one at a time."""
        with self._explained():
            # `yield from` would close a cursor that closing the store has closed.
            for row in self._db.execute(query, values):  # noqa: UP028
                yield row

    def known(self, ids: Iterable[str]) -> dict[str, str]:
        """Status of those of `ids` that are in the store."""
        wanted = list(ids)
        found: dict[str, str] = {}
        for begin in range(0, len(wanted), 500):
            part = wanted[begin : begin + 500]
            marks = ", ".join("?" * len(part))
            found.update(self.read(f"SELECT id, status FROM run WHERE id IN ({marks})", part))
        return found

    def linked(self, sweep: str, tasks: Sequence[int]) -> dict[int, str]:
        """Which runs are entered for some tasks of a sweep."""
        found: dict[int, str] = {}
        for begin in range(0, len(tasks), 500):
            part = tasks[begin : begin + 500]
            marks = ", ".join("?" * len(part))
            rows = self.read(f"SELECT task, run FROM task WHERE sweep = ? AND task IN ({marks})", [sweep, *part])
            found.update(rows)
        return found

    def sweeps(self) -> list[SweepEntry]:
        """The sweeps with their counts of tasks done and failed, in the order in which they began.

        Returns
        -------
        list of dict
            id, name, axes, replicates, tasks, created, command, done, failed, elapsed (s of the runs), last (Unix time
            of the last row, or None).
        """
        names = ("done", "failed", "elapsed", "last")
        query = """
            SELECT s.id, count(run.id), coalesce(sum(run.status = 'error'), 0), coalesce(sum(timing.elapsed), 0),
                   max(timing.ended)
            FROM sweep AS s LEFT JOIN task ON task.sweep = s.id LEFT JOIN run ON run.id = task.run
                 LEFT JOIN timing ON timing.run = run.id
            GROUP BY s.id ORDER BY s.rowid"""
        with self.believed():
            counted = {row[0]: dict(zip(names, row[1:], strict=True)) for row in self.read(query)}
            rows = [row for part in self.parts("sweep", "ORDER BY rowid") for row in part]
            return [cast(SweepEntry, _sweep(row) | counted[row[0]]) for row in rows]

    @property
    def size(self) -> int:
        """Bytes on disk."""
        return sum(Path(self.path + end).stat().st_size for end in ("", "-wal") if os.path.exists(self.path + end))


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)


def _parts(rows: Iterable[tuple[object, ...]]) -> Iterator[list[tuple[object, ...]]]:
    """A thousand at a time."""
    remaining = iter(rows)
    while part := list(islice(remaining, 1000)):
        yield part


def _sweep(row: tuple[Any, ...]) -> dict[str, object]:
    """A sweep as `Store.sweeps` describes it, but for its counts; `ValueError` for what no sweep is."""
    found = dict(zip(TABLES["sweep"].columns, row, strict=True))
    del found["document"]
    found["axes"] = json.loads(found["axes"])
    kinds = {"name": str, "axes": list, "replicates": int, "tasks": int}
    if not all(isinstance(found[name], kind) for name, kind in kinds.items()):
        raise ValueError(f"sweep {row[0]!s:.40}")
    if not all(isinstance(axis, str) for axis in found["axes"]):
        raise ValueError(f"axes of sweep {row[0]!s:.40}")
    return found


def _text(value: object) -> object:
    """Text that UTF-8 can hold: a command may name files whose names are none."""
    return value.encode("utf-8", "backslashreplace").decode("utf-8") if isinstance(value, str) else value
