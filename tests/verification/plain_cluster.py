"""Runs the third program for clusters, plain_cluster.c, and draws the cases that it is compared on.

`python tests/verification/plain_cluster.py --runs 100000` is a soak: random cases under every scheduler that the third
program has, with and without failures.  With FAULTSIM_THRESHOLDS=least the thresholds of the core are at their least.
"""

import argparse
import ctypes
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np

import faultsim as fs

SOURCE = Path(__file__).with_suffix(".c")
SCHEDULERS = ("fcfs", "easy", "backfill", "conservative")
RECOVERIES = ("arrival", "tail", "hold")
#: Columns that are the same to the bit, and sums, which may be added in another order.
EXACT = ("start", "finish", "restarts", "backfilled", "first_start")
SUMS = ("failure_wait", "lost_work", "restart_time")


def compiler() -> list[str] | None:
    """The C compiler that builds the package; None if there is none."""
    words = shlex.split(os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc")
    return words if shutil.which(words[0]) else None


@cache
def library() -> ctypes.CDLL:
    command = compiler()
    if command is None:
        raise RuntimeError("the third program for clusters needs a C compiler")
    with tempfile.TemporaryDirectory() as folder:
        built = str(Path(folder) / "plain_cluster.so")
        options = ["-O2", "-shared", "-fPIC", "-ffp-contract=off", "-o", built, str(SOURCE), "-lm"]
        subprocess.run([*command, *options], check=True)
        return ctypes.CDLL(built)


@dataclass(frozen=True)
class Case:
    """One run that the third program can make: columns in order of arrival, failures in order of time."""

    nodes: int
    submit: np.ndarray
    runtime: np.ndarray
    estimate: np.ndarray
    size: np.ndarray
    scheduler: str = "conservative"
    depth: int = 1
    delay: float = 0.0
    overrun: str = "extend"
    repairs: str = "known"
    failures: tuple = ((), (), ())
    recovery: str = "arrival"
    restart_cost: float = 0.0

    def fails(self) -> bool:
        return len(self.failures[0]) > 0

    def log(self) -> fs.Workload:
        return fs.Workload(submit=self.submit, runtime=self.runtime, size=self.size, estimate=self.estimate)

    def policy(self) -> fs.Scheduler:
        if self.scheduler == "fcfs":
            return fs.Fcfs()
        if self.scheduler == "easy":
            return fs.EasyBackfill(repairs=self.repairs)
        if self.scheduler == "backfill":
            return fs.Backfill(depth=self.depth if self.depth < 10**6 else "unlimited", repairs=self.repairs)
        return fs.ConservativeBackfill(repairs=self.repairs)

    def simulated(self, engine: str = "core") -> dict:
        """The columns that the third program has, by faultsim; {"stuck": ...} if jobs wait for ever."""
        more = {}
        if self.fails():
            more["failures"] = fs.FailureTrace(*self.failures, span=1e9)
            hold = self.recovery == "hold"
            more["recovery"] = fs.Hold(self.restart_cost) if hold else fs.Requeue(self.recovery, self.restart_cost)
        try:
            result = fs.simulate(
                self.log(),
                fs.Cluster(self.nodes),
                scheduler=self.policy(),
                overrun=self.overrun,
                start_delay=self.delay,
                engine=engine,
                **more,
            )
        except fs.EngineError as error:
            return {"stuck": str(error)}
        return {name: np.asarray(result.jobs[name]) for name in EXACT + SUMS}

    def plainly(self) -> dict:
        """The same by the third program."""
        doubles = [np.ascontiguousarray(c, np.float64) for c in (self.submit, self.runtime, self.estimate)]
        size = np.ascontiguousarray(self.size, np.int32)
        when, where, down = self.failures
        when, down = np.ascontiguousarray(when, np.float64), np.ascontiguousarray(down, np.float64)
        where = np.ascontiguousarray(where, np.int32)
        n = len(size)
        out = {
            "start": np.empty(n),
            "finish": np.empty(n),
            "restarts": np.empty(n, np.int32),
            "backfilled": np.empty(n, np.int32),
            **{name: np.empty(n) for name in ("first_start", *SUMS)},
        }
        stuck = library().run_cluster(
            ctypes.c_int(self.nodes),
            ctypes.c_int(SCHEDULERS.index(self.scheduler)),
            ctypes.c_long(self.depth),
            ctypes.c_double(self.delay),
            ctypes.c_int(self.overrun == "kill"),
            ctypes.c_int(self.repairs == "known"),
            ctypes.c_int(RECOVERIES.index(self.recovery)),
            ctypes.c_double(self.restart_cost),
            ctypes.c_int(n),
            *(ctypes.c_void_p(c.ctypes.data) for c in (*doubles, size)),
            ctypes.c_int(len(when)),
            *(ctypes.c_void_p(c.ctypes.data) for c in (when, where, down)),
            *(ctypes.c_void_p(c.ctypes.data) for c in out.values()),
        )
        return {"stuck": "jobs wait for ever"} if stuck else out


def difference(case: Case, engine: str = "core") -> str:
    """What differs between faultsim and the third program; "" if nothing does."""
    ours, plain = case.simulated(engine), case.plainly()
    if set(ours) != set(plain):
        return f"{ours.get('stuck', 'it ends')} against {plain.get('stuck', 'it ends')}"
    if "stuck" in ours:
        return ""
    for name, values in plain.items():
        close = 1e-9 * (1.0 + plain["finish"].max()) if name in SUMS else 0.0
        close = close * case.size if name == "lost_work" else close
        differs = np.flatnonzero(~(np.abs(np.asarray(ours[name], float) - values) <= close))
        if len(differs):
            first = int(differs[0])
            return f"{name} of {len(differs)} jobs, first {first}: {ours[name][first]} against {values[first]}"
    return ""


def draw(rng: np.random.Generator, most_jobs: int = 400, least_jobs: int = 2, *, delayed: bool = False) -> Case:
    """A case with deep queues: few instants of arrival, few sizes, early ends, estimates near and far, zero lengths.

    `delayed` cases have start delays and many failures: in the delays, again while jobs are held, and at the instants
    of repairs; half of them with Hold.
    """
    nodes = int(rng.choice([1, 2, 5, 16, 64, 100, 128, 1000]))
    n = int(np.exp(rng.uniform(np.log(least_jobs), np.log(most_jobs + 1))))
    instants = int(rng.choice([1, 1, 2, 5, n]))
    longest = float(rng.choice([10, 100, 5000, 100000]))
    submit = np.sort(rng.choice(np.floor(rng.uniform(0, longest * rng.choice([0.1, 1, 5]), instants)), n))
    runtime = np.ceil(np.exp(rng.uniform(0, np.log(longest), n)))
    if rng.random() < 0.3:
        runtime += np.round(rng.random(n), 3)
    few = rng.random()
    if few < 0.3:
        runtime = rng.choice(runtime[: max(1, n // 20)], n)
    runtime[rng.random(n) < rng.choice([0, 0.05, 0.3])] = 0.0
    factors = ([1.0], [1.0, 2.0], [1.0, 1.5, 10.0], [0.5, 1.0, 2.0], [0.9, 1.0], [0.01, 1.0, 1000.0])
    factor = rng.choice(factors[int(rng.integers(len(factors)))], n)
    estimate = np.ceil(runtime * factor) if rng.random() < 0.5 else runtime * factor
    small = np.minimum(np.ceil(rng.exponential(rng.choice([1.5, 5, 0.1 * nodes + 1]), n)), nodes)
    special = rng.choice([1, max(1, nodes // 2), max(1, nodes - 1), nodes], n)
    size = np.where(rng.random(n) < rng.choice([0, 0.05, 0.2]), special, small).astype(int)
    failures: tuple = ((), (), ())
    if delayed or rng.random() < 0.4:
        k = int(rng.integers(1, 100 if delayed else 30))
        when = np.sort(np.floor(rng.uniform(0, longest * rng.choice([1, 10, 50]), k)))
        failures = (when, rng.integers(0, nodes, k), np.floor(rng.choice([0, 0, 1, 10, longest / 3, longest], k)))
        if delayed:
            failures = at_repairs(rng, *failures)
    case = Case(
        nodes,
        submit,
        runtime,
        estimate,
        size,
        scheduler=str(rng.choice(SCHEDULERS, p=[0.05, 0.15, 0.2, 0.6])),
        depth=int(rng.choice([1, 2, 3, 10, 10**6])),
        delay=float(rng.choice([0, 0, 0, 1, 2.5])),
        overrun=str(rng.choice(["extend", "extend", "kill"])),
        repairs=str(rng.choice(["known", "unknown"])) if len(failures[0]) else "known",
        failures=failures,
        recovery=str(rng.choice(RECOVERIES, p=[0.3, 0.2, 0.5])),
        restart_cost=float(rng.choice([0, 0, 1, 7.5])),
    )
    return replace(case, delay=float(rng.choice([1, 2.5, longest / 3, longest]))) if delayed else case


def at_repairs(rng: np.random.Generator, when: np.ndarray, where: np.ndarray, down: np.ndarray) -> tuple:
    """These failures, a third of them at the instant of a repair, or while it is awaited, often of a node near it."""
    k = len(when)
    other = rng.integers(0, k, k)
    moved = rng.random(k) < 1 / 3
    when = np.where(moved, when[other] + np.floor(down[other] * rng.choice([0.5, 1.0, 1.0], k)), when)
    near = moved & (rng.random(k) < 0.7)
    where = np.where(near, np.minimum(where[other] + rng.integers(0, 2, k), where.max()), where)
    order = np.argsort(when, kind="stable")
    return when[order], where[order], down[order]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=400, help="at most so many in a case")
    parser.add_argument("--least-jobs", type=int, default=2)
    parser.add_argument("--delayed", action="store_true", help="start delays and many failures, half with Hold")
    parser.add_argument("--engine", choices=("core", "reference"), default="core")
    parser.add_argument("--stop", type=int, default=10, help="after so many differences")
    given = parser.parse_args()
    sys.path.append(str(Path(__file__).resolve().parents[1]))
    from helpers import thresholds

    thresholds.from_environment()
    found, large, began = 0, 0, time.monotonic()
    for run in range(given.runs):
        case = draw(np.random.default_rng([given.seed, run]), given.jobs, given.least_jobs, delayed=given.delayed)
        large += len(case.size) > 150
        what = difference(case, given.engine)
        if what:
            found += 1
            print(f"run {run}: {case.scheduler}, {len(case.size)} jobs on {case.nodes} nodes: {what}", flush=True)
            if found == given.stop:
                break
    spent = time.monotonic() - began
    print(f"{run + 1} cases, {large} of more than 150 jobs, {found} differences, {spent:.0f} s")
    return min(found, 1)


if __name__ == "__main__":
    sys.exit(main())
