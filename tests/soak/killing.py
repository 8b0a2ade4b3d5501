"""Kill a sweep at random moments, again and again, and look what is left: of its processes, and in its store.

python killing.py EXECUTOR KILLS FOLDER: threads, processes, dask (workers of this machine) or command.
"""

import contextlib
import ctypes
import os
import random
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from helpers import sweep_victim
from helpers.scripts import environment
from helpers.stores import count, rows

#: Cells, jobs, replicates.
SIZE = (20, 100, 10)
#: Seconds until all processes of a killed sweep have ended; on a loaded machine those that start take their time.
SOON, LATER = 5.0, 60.0
SPEC = """
name = "killed"
replicates = 20
[base]
log = { synthetic = "nasa_like", jobs = 100 }
machine = "torus:4x4x8"
[grid]
load = [0.6, 0.7, 0.8, 0.9]
scheduler = ["fcfs", "easy"]
"""
GATHER_ORPHANS = 36  # PR_SET_CHILD_SUBREAPER


def filled(store, executor):
    """Fill a store, in this process."""
    if executor == "dask":
        from faultsim.sweep.dask_executor import open_client

        with open_client("local", 2) as client:
            sweep_victim.sweep(*SIZE).run(store, executor=client)
    else:
        sweep_victim.sweep(*SIZE).run(store, executor=executor, workers=2)


def begun(store, executor, folder):
    """A process that fills a store: one that knows all modules already, but for the command."""
    if executor == "command":
        spec = folder / "killed.toml"
        spec.write_text(SPEC)
        command = [sys.executable, "-m", "faultsim", "sweep", str(spec), "--store", str(store), "--workers", "2"]
        silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "env": environment()}
        return subprocess.Popen(command, **silent).pid
    if pid := os.fork():
        return pid
    with contextlib.suppress(BaseException):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        if not os.environ.get("FAULTSIM_TRACE"):
            os.dup2(nowhere, 2)
        filled(store, executor)
    os._exit(0)


def ended(seconds):
    """Wait for all processes below this one, orphans too; those that are still there after so long."""
    end = time.monotonic() + seconds
    while True:
        try:
            if os.waitpid(-1, os.WNOHANG)[0]:
                continue
        except ChildProcessError:
            return []
        if time.monotonic() > end:
            return Path("/proc/self/task", str(os.getpid()), "children").read_text().split()
        time.sleep(0.002)


def wait(pid, seconds, store, wanted):
    """Until a moment: so many seconds after the start, or with so many rows, if it does not end before."""
    if not wanted:
        time.sleep(seconds)
    while count(store) < wanted and not os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
        time.sleep(0.005)


def took(store, executor, folder):
    """Seconds of a sweep that nobody kills."""
    begin = time.monotonic()
    os.waitpid(begun(store, executor, folder), 0)
    taken = time.monotonic() - begin
    ended(LATER)
    return taken


def main():
    """All kills."""
    warnings.simplefilter("ignore")
    executor, kills, folder = sys.argv[1], int(sys.argv[2]), Path(sys.argv[3])
    if executor == "dask":
        import distributed  # noqa: F401 - once, and not in each process that is killed
    assert ctypes.CDLL(None).prctl(GATHER_ORPHANS, 1, 0, 0, 0) == 0
    usual = took(folder / "whole.db", executor, folder)
    whole = rows(folder / "whole.db")
    total, chance = len(whole[0]), random.Random(1)
    store, before, finished, amid, slowest = folder / "0.db", 0, 0, 0, 0.0
    for kill in range(kills):
        print(f"kill {kill} of {executor}: {before} of {total} rows", file=sys.stderr, flush=True)
        pid = begun(store, executor, folder)
        wait(pid, usual * chance.random(), store, before + chance.randrange(1, 40) if kill % 2 else 0)
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        at = time.monotonic()
        patience = SOON if os.getloadavg()[0] < 2 else LATER
        if left := ended(patience):
            for orphan in left:
                print(orphan, Path(f"/proc/{orphan}/cmdline").read_bytes().replace(b"\0", b" "), file=sys.stderr)
                os.kill(int(orphan), signal.SIGKILL)
            sys.exit(f"{len(left)} processes are left {patience} s after kill {kill}")
        slowest = max(slowest, time.monotonic() - at)
        there = count(store)
        assert there >= before, "rows that were there are gone"
        amid += before < there < total
        before = there
        if there == total or kill == kills - 1:
            took(store, executor, folder)
            assert rows(store) == whole, f"{store.name} is not what it would be"
            store.unlink()
            finished += 1
            store, before = folder / f"{finished}.db", 0
    print(f"{kills} kills, {amid} amid rows, {finished} stores, {slowest:.1f} s to the end of the last process")


if __name__ == "__main__":
    main()
