"""What a sweep survives: SIGKILL, Ctrl-C, a full disk, a store that may not be written, workers that die."""

import contextlib
import os
import pickle
import random
import resource
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import faultsim as fs
from faultsim.sweep.executors import Processes
from faultsim.sweep.merge import merge
from faultsim.sweep.row_schema import COLUMNS
from faultsim.sweep.store import Store
from faultsim.sweep.sweep import load_sweep
from faultsim.sweep.wanted import Wanted
from helpers import own_policies, sweep_victim
from helpers.refusals import refused
from helpers.results import random_log
from helpers.scripts import begun, environment, python

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
    try:
        with contextlib.closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as db:
            return db.execute("SELECT count(*) FROM run").fetchone()[0]
    except sqlite3.OperationalError:
        return 0


def until(condition, seconds=60.0, pause=0.01):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(pause)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    store = tmp_path_factory.mktemp("sweep") / "whole.db"
    sweep_victim.sweep().run(store, workers=2)
    return rows(store)


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
    plain, left = Store.write, [0]

    def write(self, *rest):
        left[0] -= 1
        if not left[0]:
            raise KeyboardInterrupt
        plain(self, *rest)

    monkeypatch.setattr(Store, "write", write)
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
    assert done.stdout.splitlines() == ["2", f"{store}: is read-only"], done.stderr


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
    refused(fs.StoreError, "layout 99, this version knows layouts 1 to 2", fs.load_sweep, tmp_path / "later.db")


# -- workers that die


class Deadly(fs.QueueOrder):
    """Kills its process, the first time that a file is not there."""

    def __init__(self, path, always=False):
        self.path, self.always = str(path), always

    def keys(self, queue, now):
        if self.always or not os.path.exists(self.path):
            Path(self.path).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return queue.submit


def deadly(path, always=False):
    log = fs.synthetic.nasa_like(30, rng=0)
    order = {"order": [fs.ShortestFirst(), Deadly(path, always)]}
    return fs.Sweep(
        {"log": log, "machine": fs.Cluster(128)},
        {"start_delay": [0.0, 1.0, 2.0], "scheduler": [fs.Fcfs(order=o) for o in order["order"]]},
    )


def test_a_process_that_dies_is_replaced(tmp_path):
    table = deadly(tmp_path / "died").run(tmp_path / "a.db", executor="processes", workers=2)
    assert (table["status"] == "ok").all()
    assert table.complete


def test_a_run_that_always_kills_is_named_and_the_others_are_kept(tmp_path):
    with pytest.raises(fs.WorkerError, match=r"a worker died 4 times on a batch with the run start_delay="):
        deadly(tmp_path / "died", always=True).run(tmp_path / "a.db", executor="processes", workers=1)
    fs.load_sweep(tmp_path / "a.db")


def test_a_policy_that_cannot_travel_is_said(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "cloudpickle", None)

    class Local(fs.QueueOrder):
        def keys(self, queue, now):
            return queue.submit

    run = fs.Run(fs.synthetic.nasa_like(30, rng=0), fs.Cluster(128), scheduler=fs.Fcfs(order=Local()))
    with pytest.raises(fs.WorkerError, match=r"a policy cannot be sent to other processes.* 'test_a_policy"):
        fs.Sweep(run).run(tmp_path / "a.db", executor="processes", workers=1)


SOME = random_log(40, 90)
FAILING = fs.FailureTrace(np.linspace(10, 3000, 30), np.arange(30) % 128, 60.0, span=1e6)


def test_own_policies_of_a_module_run_in_processes(tmp_path):
    """All kinds that users write in Python, and keys, give the same rows as on threads."""
    failing = {"failures": FAILING, "predictor": own_policies.Every(), "checkpointing": own_policies.EveryMinute()}
    base = {"log": SOME.with_columns(level=np.arange(40) % 3), "machine": fs.Cluster(128), **failing}
    schedulers = {
        "own": own_policies.Easy("shortest"),
        "both": own_policies.Easy(own_policies.Widest()),
        "key": fs.EasyBackfill(order=fs.Key("size * estimate - level * wait")),
        "order": fs.Fcfs(order=own_policies.Widest()),
    }
    sweep = fs.Sweep({**base, "placement": fs.SafestFirst()}, {"scheduler": schedulers, "start_delay": [0.0, 5.0]})
    ours, theirs = sweep.run(executor="processes", workers=2), sweep.run(executor="threads")
    assert (ours["status"] == "ok").all()
    assert len(set(ours["mean_wait"].tolist())) > 4
    for name in ("mean_wait", "mean_response", "service_unit_loss", "ledger_checkpoint", "backfilled", "passes"):
        np.testing.assert_array_equal(ours[name], theirs[name], name)


BELOW = """
import sys
import faultsim as fs

sys.modules["cloudpickle"] = None

class Above(fs.QueueOrder):
    def keys(self, queue, now):
        return -queue.size

def run(order):
    run = fs.Run(fs.synthetic.nasa_like(30, rng=0), fs.Cluster(128), scheduler=fs.Fcfs(order=order))
    return fs.Sweep(run).run(executor="processes", workers=1)

if __name__ == "__main__":
    class Below(Above):
        pass

    print(run(Above())["mean_wait"].tolist() == run(fs.LargestFirst())["mean_wait"].tolist())
    run(Below())
"""


def test_a_policy_of_the_script_itself(tmp_path):
    (tmp_path / "script.py").write_text(BELOW)
    done = python(tmp_path / "script.py")
    assert done.stdout == "True\n"
    said = "WorkerError: a policy needs Below, which other processes do not find: other processes import the script "
    assert said + "without what is below if __name__" in done.stderr
    assert "A process in the process pool" not in done.stderr


def test_a_policy_of_a_session():
    done = python("-c", BELOW)
    said = "WorkerError: a policy needs Above, which other processes do not find: other processes cannot import an "
    assert said + "interactive session" in done.stderr


@pytest.mark.parametrize(
    ("option", "base"),
    [
        ("scheduler", own_policies.Easy),
        ("predictor", own_policies.Every),
        ("checkpointing", own_policies.EveryMinute),
        ("placement", fs.Placement),
    ],
)
def test_a_class_that_cannot_travel_is_named(option, base, monkeypatch):
    monkeypatch.setitem(sys.modules, "cloudpickle", None)

    class Local(base):
        def choose_nodes(self, job, free, state):
            return free[: job.size]

    made = Local("arrival") if option == "scheduler" else Local()
    sweep = fs.Sweep({"log": SOME, "machine": fs.Cluster(128), "failures": FAILING, option: made})
    with pytest.raises(fs.WorkerError, match=r"a policy cannot be sent to other processes.*test_a_class.*Local"):
        sweep.run(executor="processes", workers=1)


NO_GUARD = """
import faultsim as fs
fs.Sweep(fs.Run(fs.synthetic.nasa_like(30, rng=0), fs.Cluster(128))).run(executor="processes", workers=1)
"""


def test_a_script_without_its_guard_is_told_of_it(tmp_path):
    (tmp_path / "script.py").write_text(NO_GUARD)
    done = python(tmp_path / "script.py")
    assert "does the script start its work below if __name__ == '__main__':" in done.stderr


# -- Dask


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


@pytest.fixture(scope="module")
def cluster():
    """A scheduler and two worker processes on loopback, as in a shell."""
    distributed = pytest.importorskip("distributed")
    port = free_port()
    address = f"tcp://127.0.0.1:{port}"
    dask = [sys.executable, "-W", "ignore", "-m", "dask"]
    dask_environment = {**environment(VICTIM.parents[1]), "DASK_DISTRIBUTED__ADMIN__TICK__LIMIT": "1h"}
    where = {"env": dask_environment, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    scheduler = subprocess.Popen(
        [*dask, "scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-dashboard"], **where
    )
    worker = [*dask, "worker", address, "--nworkers", "1", "--nthreads", "1", "--no-dashboard", "--no-nanny"]
    workers = [subprocess.Popen(worker, **where) for _ in range(2)]
    client = None
    try:
        client = distributed.Client(address, timeout=60)
        client.wait_for_workers(2, timeout=60)
        yield client, workers, worker, where
    finally:
        if client is not None:
            client.close()
        for process in [*workers, scheduler]:
            process.kill()
            process.wait()


@pytest.mark.filterwarnings("ignore")
def test_dask_gives_the_same_store_and_the_command_finds_it(cluster, tmp_path, undisturbed):
    client, *_ = cluster
    sweep_victim.sweep().run(tmp_path / "dask.db", executor=client)
    assert rows(tmp_path / "dask.db") == undisturbed
    spec = tmp_path / "s.toml"
    spec.write_text("replicates = 9\n[base]\nlog = { synthetic = 'nasa_like', jobs = 50 }\nmachine = 'torus:4x4x8'\n")
    done = python("-m", "faultsim", "sweep", spec, "--dask", client.scheduler.address)
    assert done.returncode == 0, done.stderr
    assert "9 runs made" in done.stdout


@pytest.mark.filterwarnings("ignore")
def test_an_input_that_runs_share_is_sent_once(cluster, monkeypatch):
    client, *_ = cluster
    sent, plain = [], client.submit
    monkeypatch.setattr(client, "submit", lambda task, *rest, **more: sent.append(task) or plain(task, *rest, **more))
    run = fs.Run(fs.synthetic.nasa_like(4000, rng=0), fs.Cluster(128))
    assert fs.Sweep(run, {"start_delay": list(range(40))}).run(executor=client).complete
    assert sent.count(pickle.loads) == 1
    assert len(sent) > 2


@pytest.mark.filterwarnings("ignore")
def test_dask_workers_that_are_killed_lose_nothing(cluster, tmp_path):
    """One in the middle, then both of those that are left, with all inputs that they held."""
    client, workers, command, where = cluster
    sweep = sweep_victim.sweep(40, 2500)  # logs above the size from which inputs are sent on their own
    sweep.run(tmp_path / "threads.db")
    killed = []

    def kill(done, total, seconds):
        if done >= 20 and not killed:
            killed.append(workers[0])
            workers[0].kill()
        elif done >= 100 and len(killed) == 1:
            killed.append(workers[1])
            workers[1].kill()
            workers.append(subprocess.Popen(command, **where))

    table = sweep.run(tmp_path / "dask.db", executor=client, progress=kill)
    assert len(killed) == 2
    assert table.complete
    assert rows(tmp_path / "dask.db") == rows(tmp_path / "threads.db")


def test_a_worker_of_another_version_is_refused():
    from faultsim.sweep.dask_executor import do_packed, pack

    blob, inputs = pack([], Wanted())
    with pytest.raises(fs.WorkerError, match=r"this worker has faultsim .*, the sweep is one of faultsim 0\.0"):
        do_packed(blob, inputs, "0.0")
