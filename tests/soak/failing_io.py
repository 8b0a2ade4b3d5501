"""Write and read files while one call after the other fails; a line for each case, and what went wrong.

python failing_io.py MOST [CASE ...]: calls of a case that fail, evenly; 0: all.  Under LD_PRELOAD of failing_io.c.
"""

import ctypes
import errno
import faulthandler
import gc
import os
import shutil
import sqlite3
import sys
import tempfile
import warnings
from collections import Counter
from pathlib import Path

import numpy as np

import faultsim as fs
from faultsim import plot
from faultsim.report import report_run, report_sweep
from faultsim.sweep.merge import merge

sys.path.insert(0, str(Path(__file__).parents[1]))
from helpers.stores import rows

LIBRARY = ctypes.CDLL(None)
LIBRARY.fail.argtypes = [ctypes.c_long, ctypes.c_int, ctypes.c_int, ctypes.c_int]
LIBRARY.fail.restype = LIBRARY.fail_below.restype = None
LIBRARY.fail_asked.restype = LIBRARY.fail_failed.restype = ctypes.c_long

OPENING, WRITING, SYNCING, CUTTING, RENAMING, CLOSING, READING = (1 << bit for bit in range(7))
CHANGING = OPENING | WRITING | SYNCING | CUTTING | RENAMING | CLOSING
#: What goes wrong -> with which calls, the error's number (0: half of the bytes), and whether it lasts.
FAULTS = {
    "no space": (CHANGING, errno.ENOSPC, True),
    "no space for once": (CHANGING, errno.ENOSPC, False),
    "a broken disk": (CHANGING | READING, errno.EIO, True),
    "an error": (CHANGING | READING, errno.EIO, False),
    "a signal": (OPENING | WRITING | CUTTING | READING, errno.EINTR, False),
    "a signal during a sync": (SYNCING, errno.EINTR, False),
    "a short write": (WRITING, 0, False),
    "short writes": (WRITING, 0, True),
    "short reads": (READING, 0, True),
}

LOG = fs.synthetic.nasa_like(300, rng=1)
TRACE = fs.FailureTrace(np.arange(200.0) * 60 + 1, np.arange(200) % 128, 60.0, span=10**6)
RESULT = fs.simulate(LOG, fs.Cluster(128), failures=TRACE, record=True)
FLOW = fs.Workflow([3.0, 4.0, 5.0], edges=[(0, 1, 1.0), (0, 2, 1.0)])
FLOWS = fs.simulate_workflows([FLOW] * 40, fs.Resources(4))


def sweep(replicates=3):
    base = {"log": lambda rng: fs.synthetic.nasa_like(20, rng=rng), "machine": fs.Cluster(128)}
    return fs.Sweep(base, {"load": [0.7, 0.9], "scheduler": [fs.Fcfs(), fs.EasyBackfill()]}, replicates=replicates,
                    name="failing", metrics=["p95_wait"])  # fmt: skip


def writers():
    """What writes a file: name of the file -> call, which is given its path."""
    table = sweep().run(workers=1)
    found = {
        "result.npz": RESULT.save,
        "workflows.npz": FLOWS.save,
        "log.swf": LOG.write_swf,
        "log.swf.gz": LOG.write_swf,
        "log.csv": LOG.write_csv,
        "log.csv.xz": LOG.write_csv,
        "log.parquet": LOG.write_parquet,
        "trace.csv": TRACE.write_csv,
        "schedule.swf": RESULT.write_swf,
        "jobs.csv": RESULT.write_batsim,
        "workflows.csv": FLOWS.write_csv,
        "workflows.parquet": FLOWS.write_parquet,
        "sweep.csv": table.write_csv,
        "sweep.parquet": table.write_parquet,
        "run.html": report_run(RESULT).write,
        "sweep.html": report_sweep(table).write,
    }
    figure = plot.new_figure(1.0, 1.0, constrained=False)
    figure.add_subplot().plot(RESULT.jobs["wait"])
    found |= {f"queue.{kind}": lambda path: plot.save(figure, path) for kind in ("png", "jpg", "tif", "pdf", "svg")}
    on_torus = fs.simulate(LOG[:9], fs.Torus(4, 4, 8), record=True)
    return found | {"torus.gif": lambda path: plot.animate_occupancy(on_torus, path, frames=2)}


def readers(folder):
    """What reads a file: its name -> call, which says what was read."""
    LOG.write_swf(folder / "log.swf")
    LOG.write_swf(folder / "log.swf.gz")
    LOG.write_csv(folder / "log.csv")
    TRACE.write_csv(folder / "trace.csv")
    RESULT.save(folder / "run.npz")
    FLOWS.save(folder / "flows.npz")
    sweep().run(folder / "sweep.db", workers=1)
    (folder / "sweep.toml").write_text("[base]\nlog = { synthetic = 'nasa_like', jobs = 9 }\nmachine = 'cluster:128'\n")
    return {
        "log.swf": lambda path: fs.read_swf(path).submit.tobytes(),
        "log.swf.gz": lambda path: fs.read_swf(path).submit.tobytes(),
        "log.csv": lambda path: fs.read_jobs(path).submit.tobytes(),
        "trace.csv": lambda path: fs.read_failures(path).time.tobytes(),
        "run.npz": lambda path: str(fs.load_result(path)),
        "flows.npz": lambda path: str(fs.load_workflow_result(path)),
        "sweep.db": lambda path: str(fs.load_sweep(path)),
        "sweep.toml": lambda path: str(fs.read_sweep(path)),
    }


class Broken(AssertionError):
    """What should not be."""


def names(error, case):
    """Whether an error is one of faultsim, in one line, or of the system, and names the file."""
    if isinstance(error, fs.FaultsimError):
        known = [case.path.name, *(path.name for path in case.read_too)]
        return any(name in str(error) for name in known) and "\n" not in str(error)
    return isinstance(error, OSError) and str(error.filename) == str(case.path)


class Writing:
    """A file is written, where there was none or over another one."""

    read_too = ()

    def __init__(self, write, name, before):
        self.write, self.name, self.before = write, name, before

    def begin(self, folder):
        self.path = folder / self.name
        if self.before is not None:
            self.path.write_bytes(self.before)

    def act(self):
        self.write(self.path)

    def content(self):
        there = [path.name for path in self.path.parent.iterdir()]
        if set(there) - {self.name}:
            raise Broken(f"left behind: {there}")
        return self.path.read_bytes() if there else None

    def whole(self):
        return self.content()

    def check(self, error, whole):
        found = self.content()
        if found != (whole if error is None else self.before):
            raise Broken(f"{'broken' if error is None else 'changed'}: {found if found is None else len(found)} bytes")


class Reading:
    """A file is read."""

    read_too = ()

    def __init__(self, read, path):
        self.read, self.source = read, path

    def begin(self, folder):
        self.path = folder / self.source.name
        shutil.copy(self.source, self.path)

    def act(self):
        self.found = self.read(self.path)

    def whole(self):
        return self.found

    def check(self, error, whole):
        if error is None and self.found != whole:
            raise Broken("something else was read")
        for end in ("-wal", "-shm"):
            Path(f"{self.path}{end}").unlink(missing_ok=True)


class Filling:
    """A store is filled: a new one, or one that has something; afterwards the same is done again."""

    def __init__(self, fill, before=()):
        self.fill, self.before, self.read_too = fill, before, before

    def begin(self, folder):
        self.path = folder / "store.db"
        for path in self.before:
            shutil.copy(path, folder / path.name)

    def act(self):
        self.fill(self.path)

    def whole(self):
        found = rows(self.path)
        self.least = set(rows(self.path.with_name(self.before[0].name))[0]) if self.before else set()
        return found

    def check(self, error, whole):
        kept = set()
        if self.path.exists() and self.path.stat().st_size:
            with sqlite3.connect(self.path) as db:
                if db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                    kept = set(rows(self.path)[0])
            db.close()
        if not kept <= set(whole[0]):
            raise Broken("rows that should not be")
        if error is None and rows(self.path) != whole:
            raise Broken("rows are missing, and nothing was said")
        self.fill(self.path)
        if rows(self.path) != whole:
            raise Broken("not the same when done again")
        # Readers of a store leave the two files of its log, which are empty.
        known = {f"{path.name}{end}" for path in self.before for end in ("", "-wal", "-shm")} | {"store.db"}
        left = {path.name for path in self.path.parent.iterdir()} - known
        if left:
            raise Broken(f"left behind: {left}")


def cases(folder):
    """Name -> case."""
    found = {}
    for name, write in writers().items():
        found[f"new {name}"] = Writing(write, name, None)
        found[f"over {name}"] = Writing(write, name, b"what was there before")
    for name, read in readers(folder).items():
        found[f"read {name}"] = Reading(read, folder / name)
    parts = [folder / f"part{i}.db" for i in (1, 2)]
    for i, part in enumerate(parts, 1):
        sweep().run(part, shard=(i, 2), workers=1)
    old = folder / "store.db"
    sweep(1).run(old, workers=1)
    found["new store"] = Filling(lambda path: sweep().fill(path, workers=1))
    found["old store"] = Filling(lambda path: sweep().fill(path, workers=1), [old])
    found["merged store"] = Filling(lambda path: merge(path, [path.with_name(part.name) for part in parts]), parts)
    return found


def attempt(case, folder, nth, kinds, number, lasts):
    """What was raised, by a case in an empty folder; how many calls there were, and how many failed."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    case.begin(folder)
    LIBRARY.fail_below(os.fsencode(folder) + b"/")
    LIBRARY.fail(nth, kinds, number, lasts)
    try:
        case.act()
        error = None
    except Exception as raised:
        error = raised
    gc.collect()
    counts = LIBRARY.fail_asked(), LIBRARY.fail_failed()
    LIBRARY.fail(0, 0, 0, 0)
    return error, *counts


def check(case, folder, most, complaints, label):
    """How often a case was tried, and ended in an error."""
    tried, told = Counter(), Counter()
    for fault, (kinds, number, lasts) in FAULTS.items():
        error, asked, _ = attempt(case, folder, 0, kinds, number, lasts)
        if error is not None:
            raise error
        whole = case.whole()
        for nth in range(1, asked + 1, max(1, -(-asked // most)) if most else 1):
            error, _, failed = attempt(case, folder, nth, kinds, number, lasts)
            tried[fault] += bool(failed)
            told[fault] += error is not None
            try:
                if error is not None and not names(error, case):
                    raise Broken(f"does not name the file: {type(error).__name__}: {error}") from error
                # SQLite tells of a sync that failed, and tries no second one: it might say that all is on the disk.
                if error is not None and number in (0, errno.EINTR) and kinds != SYNCING:
                    raise Broken(f"is no reason to end: {error}") from error
                case.check(error, whole)
            except Exception as wrong:
                complaints.append(f"{label}: {fault} at call {nth} of {asked}: {type(wrong).__name__}: {wrong}"[:400])
    return tried, told


def main():
    """All cases."""
    faulthandler.enable()
    warnings.simplefilter("ignore", ResourceWarning)  # of descriptors whose closing failed
    most, wanted, wrong = int(sys.argv[1]), sys.argv[2:], 0
    tried, told = Counter(), Counter()
    with tempfile.TemporaryDirectory() as scratch:
        given, folder = Path(scratch).resolve() / "given", Path(scratch).resolve() / "tried"
        given.mkdir()
        found = cases(given)
        for label, case in found.items():
            if wanted and label not in wanted:
                continue
            complaints = []
            counts = check(case, folder, most, complaints, label)
            tried, told, wrong = tried + counts[0], told + counts[1], wrong + len(complaints)
            print(label, counts[0].total(), counts[1].total(), flush=True)
            print(*complaints[:8], sep="\n", end="\n" if complaints else "", flush=True)
    print(*(f"{fault}: {tried[fault]} calls, {told[fault]} errors" for fault in FAULTS), sep="\n")
    print(f"{len(found)} cases, {tried.total()} failed calls, {told.total()} errors, {wrong} wrong")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
