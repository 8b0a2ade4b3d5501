"""What a sweep survives: SIGKILL, Ctrl-C, a full disk, a store that may not be written."""

import contextlib
import os
import random
import resource
import shutil
import signal
import sqlite3
import tempfile
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import pytest

import faultsim as fs
from faultsim.sweep.executors import Processes
from faultsim.sweep.merge import merge
from faultsim.sweep.row_schema import COLUMNS
from faultsim.sweep.store import Store
from faultsim.sweep.sweep import load_sweep
from helpers import sweep_victim
from helpers.refusals import refused
from helpers.scripts import begun, python
from helpers.stores import begin, count, rows, until


def test_twenty_kills_lose_nothing_but_what_was_under_way(tmp_path):
    size = (40, 300, 40)
    sweep_victim.sweep(*size).run(tmp_path / "whole.db", workers=2)
    undisturbed = rows(tmp_path / "whole.db")
    store = tmp_path / "killed.db"
    chance = random.Random(1)
    total, seen = len(undisturbed[0]), [0]
    for kill in range(20):
        process = begin(store, "threads", *size)
        # At any moment: while the file is made or looked through, else when it has come on, between two commits.
        if kill % 4 == 0:
            time.sleep(0.02 * chance.random())
        else:
            wanted = min(seen[-1] + chance.randrange(1, 12), total)
            until(lambda: count(store) >= wanted, pause=0.001)  # noqa: B023
            time.sleep(0.01 * chance.random())
        there = count(store)
        process.kill()
        process.communicate()
        seen.append(count(store))
        assert seen[-1] >= max(there, seen[-2]), "rows that were there are gone"
    assert len(set(seen)) > 10, f"too few of the kills were in the middle: {seen}"
    filled = sweep_victim.sweep(*size).fill(store, workers=2)
    assert filled.made == total - seen[-1] > 0, "resuming makes exactly the rest"
    assert rows(store) == undisturbed


def test_the_same_store_on_threads_processes_and_any_executor(tmp_path, undisturbed):
    sweep = sweep_victim.sweep()
    with ThreadPoolExecutor(3) as threads, ProcessPoolExecutor(2) as processes:
        executors = {"one": None, "processes": "processes", "own": threads, "fork": processes}
        for name, executor in executors.items():
            store = tmp_path / f"{name}.db"
            sweep.run(store, executor=executor, workers=1 if name == "one" else None)
            assert rows(store) == undisturbed, name


def test_two_processes_may_fill_one_store_at_once(tmp_path, undisturbed):
    store = tmp_path / "shared.db"
    for process in [begin(store), begin(store)]:
        out, err = process.communicate(timeout=60)
        assert (process.returncode, out) == (0, "done\n"), err
    assert rows(store) == undisturbed


def test_a_merge_that_is_broken_off_goes_on(tmp_path, monkeypatch, undisturbed):
    parts = [tmp_path / f"{i}.db" for i in (1, 2)]
    for i, part in enumerate(parts, 1):
        sweep_victim.sweep().run(part, shard=(i, 2))
    plain, left = Store.transaction, [0]

    def transaction(self):
        left[0] -= 1
        if not left[0]:
            raise KeyboardInterrupt
        return plain(self)

    monkeypatch.setattr(Store, "transaction", transaction)
    left[0] = -1
    whole = merge(tmp_path / "all.db", parts)
    assert (whole.runs, whole.tasks) == (200, 200)
    writes = -1 - left[0]
    seen = set()
    for broken in range(1, writes + 1):
        store = tmp_path / f"{broken}-of-{writes}.db"
        left[0] = broken
        with pytest.raises(KeyboardInterrupt):
            merge(store, parts)
        seen.add(count(store))
        merge(store, parts)
        assert rows(store) == undisturbed
    assert len(seen) > 2


# -- Ctrl-C


@pytest.mark.parametrize("executor", ["threads", "processes"])
@pytest.mark.parametrize("number", [signal.SIGINT])
def test_ctrl_c_ends_within_a_second_and_keeps_what_is_done(tmp_path, executor, number):
    store = tmp_path / "a.db"
    process = begin(store, executor, 40, 4000)
    until(lambda: count(store) >= 5)
    begun = time.monotonic()
    process.send_signal(number)
    out, err = process.communicate(timeout=30)
    took = time.monotonic() - begun
    assert process.returncode == 130, err
    done = count(store)
    assert f"interrupted: {done:,} of 200 runs are kept in {store}; rerun the same to continue" in out
    assert took < (1.0 if os.getloadavg()[0] < 2 else 5.0)
    assert 5 <= done < 200


def test_ctrl_c_while_processes_start_leaves_no_thread_behind(monkeypatch):
    """A thread that waits for a pipe which nobody reads would keep Python from ending."""
    complaints = []
    monkeypatch.setattr(threading, "excepthook", complaints.append)
    tasks = [task for task, _ in zip(sweep_victim.sweep(40, 4000).tasks(), range(32), strict=False)]
    for wait in (0.0, 0.1, 0.2):
        pool = Processes(2)
        futures = [pool.submit(tasks[begin : begin + 4], (0.0, 0.0)) for begin in range(0, 32, 4)]
        thread = pool._executor._executor_manager_thread
        time.sleep(wait)
        pool.stop(futures)
        del pool
        thread.join(20)
        assert not thread.is_alive()
        assert not complaints
        assert all(future.done() for future in futures)


def test_what_ctrl_c_says_is_kept_is_what_the_store_has(tmp_path):
    log = fs.Workload(submit=[0], runtime=[1], size=[1])
    sweep = fs.Sweep(fs.Run(log, fs.Cluster(1)), {"start_delay": list(range(100))})
    sweep.run(tmp_path / "a.db")

    def stop(*_):
        raise KeyboardInterrupt

    refused(KeyboardInterrupt, "100 of 100 runs are kept", sweep.run, tmp_path / "a.db", progress=stop)


def test_the_command_ends_likewise_and_says_how_to_go_on(tmp_path):
    spec = tmp_path / "s.toml"
    spec.write_text(
        "replicates = 200\n[base]\nlog = { synthetic = 'nasa_like', jobs = 4000 }\nmachine = 'torus:4x4x8'\n"
    )
    for number in (signal.SIGINT, signal.SIGTERM):
        process = begun("-m", "faultsim", "sweep", spec)
        before = count(tmp_path / "s.db")
        until(lambda: count(tmp_path / "s.db") >= before + 3)  # noqa: B023
        process.send_signal(number)
        out, err = process.communicate(timeout=30)
        assert (process.returncode, out) == (130, "")
        assert err.startswith("faultsim: interrupted: ")
        assert err.endswith("of 200 runs are kept in " + str(tmp_path / "s.db") + "; rerun the same to continue\n")
    assert load_sweep(tmp_path / "s.db").n_rows == count(tmp_path / "s.db")


# -- orphans


def children(pid):
    """The processes below a process, and what they are called."""
    found, rest = {}, [pid]
    while rest:
        for part in Path(f"/proc/{rest.pop()}/task").glob("*/children"):
            with contextlib.suppress(OSError):
                below = part.read_text().split()
                rest += below
                found |= {int(child): Path(f"/proc/{child}/cmdline").read_bytes() for child in below}
    return found


def lives(pid, command):
    """Whether it is still that process, and more than a name that its parent has not asked about."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        return state != "Z" and Path(f"/proc/{pid}/cmdline").read_bytes() == command
    except OSError:
        return False


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="the processes are read from /proc")
@pytest.mark.parametrize("when", [0, 5])
def test_the_workers_of_a_killed_sweep_end_with_it(tmp_path, when):
    store = tmp_path / "a.db"
    process = begin(store, "processes", 40, 4000)
    until(lambda: count(store) >= when and len(children(process.pid)) >= 3)  # two workers, and who counts semaphores
    below = children(process.pid)
    process.kill()
    process.wait()
    process.stdout.close()
    process.stderr.close()
    try:
        # A worker that is still starting ends when it has started, which takes its time on a loaded machine.
        seconds = 5.0 if os.getloadavg()[0] < 2 else 30.0
        until(lambda: not any(lives(*child) for child in below.items()), seconds=seconds)
    finally:
        for child, command in below.items():
            if lives(child, command):
                os.kill(child, signal.SIGKILL)


# -- the disk


def test_a_full_disk_is_a_clear_error_and_the_store_stays_readable(tmp_path, undisturbed):
    store = tmp_path / "full.db"

    def small():
        # A write beyond this fails, as on a full disk.
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (150_000, 150_000))

    process = begin(store, preexec_fn=small)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 2, err
    assert out.startswith(f"StoreError: {store}: ")
    assert "is the disk full? What was written before is safe" in out or "no space left" in out
    assert "Traceback" not in err
    kept = fs.load_sweep(store)
    assert kept.n_rows == count(store) > 0
    sweep_victim.sweep().run(store)
    assert rows(store) == undisturbed


def test_sqlite_that_is_full_is_said(tmp_path):
    store = Store(tmp_path / "a.db")
    store._db.execute("PRAGMA max_page_count = 20")
    rows = [(f"{number:032}", "ok", None, "e", *[0.0] * len(COLUMNS)) for number in range(1000)]
    store.add(rows[:10], [], [])
    refused(fs.StoreError, r"a\.db: no space left; what was written before is safe", store.add, rows[10:], [], [])
    assert store.count("run") == 10
    store.close()
    with Store(tmp_path / "a.db", write=False) as store:
        assert store.count("run") == 10


READ_ONLY = """
import os, sys, faultsim as fs
store = sys.argv[1]
log = fs.Workload(submit=[0], runtime=[1], size=[1])
sweep = fs.Sweep(fs.Run(log, fs.Cluster(1)))
sweep.run()
if os.getuid() == 0:  # who may write everything
    os.setegid(65534)
    os.seteuid(65534)
print(fs.load_sweep(store).n_rows)
try:
    sweep.run(store)
except fs.StoreError as error:
    print(error)
print(fs.Sweep(fs.Run(fs.Workload(submit=[0, 1], runtime=[10, 5], size=[2, 2]), fs.Cluster(2)),
               {"runtime_factor": [1.0, 2.0]}).run(store).n_rows)
"""


@pytest.mark.parametrize("locked", ["file", "folder"])
def test_a_read_only_store_can_be_read_and_says_so(locked):
    with tempfile.TemporaryDirectory() as folder:  # one of pytest's may only be entered by its owner
        store = Path(folder) / "a.db"
        log = fs.Workload(submit=[0, 1], runtime=[10, 5], size=[2, 2])
        fs.Sweep(fs.Run(log, fs.Cluster(2)), {"runtime_factor": [1.0, 2.0]}).run(store)
        store.chmod(0o444)
        Path(folder).chmod(0o555 if locked == "folder" else 0o777)
        done = python("-c", READ_ONLY, store)
        Path(folder).chmod(0o755)
    assert done.stdout.splitlines() == ["2", f"{store}: is read-only, and lacks runs of this sweep", "2"], done.stderr


def test_rows_that_a_killed_process_left_are_not_passed_over(tmp_path):
    with tempfile.TemporaryDirectory() as folder, Store(tmp_path / "a.db") as open_store:
        open_store.add([(f"{number:032}", "ok", None, "e", *[0.0] * len(COLUMNS)) for number in range(10)], [], [])
        for name in ("a.db", "a.db-wal"):
            shutil.copy(tmp_path / name, folder)
        Path(folder).chmod(0o555)
        done = python("-c", READ_ONLY, Path(folder) / "a.db")
        Path(folder).chmod(0o755)
    assert "a.db: some of its rows are in a.db-wal, which cannot be read" in done.stderr.splitlines()[-1]


def test_what_is_no_store_is_refused(tmp_path):
    (tmp_path / "text.db").write_text("not a database, but long enough to be taken for one " * 40)
    refused(fs.StoreError, r"text.db: not a sweep store", fs.load_sweep, tmp_path / "text.db")
    with contextlib.closing(sqlite3.connect(tmp_path / "other.db")) as db, db:
        db.execute("CREATE TABLE x (y)")
    refused(fs.StoreError, r"other.db: an SQLite file, but not a sweep store", Store, tmp_path / "other.db")
    refused(fs.StoreError, "a folder", fs.load_sweep, tmp_path)
    Store(tmp_path / "later.db").close()
    with contextlib.closing(sqlite3.connect(tmp_path / "later.db")) as db:
        db.execute("PRAGMA user_version = 99")
    refused(fs.StoreError, "layout 99, this version knows layouts 1 to 3", fs.load_sweep, tmp_path / "later.db")
