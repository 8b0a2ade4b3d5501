"""Random runs with deep queues, on every machine and under every scheduler, in the compiled engine and the reference.

`python tests/verification/deep_cases.py --runs 10000 --seed 1` is a soak.  Other random runs of the tests have a dozen
jobs; these have 30 to 80, which arrive at few instants, so that queues are longer than what the core compares at once
(32 jobs, or a word of 64) and jobs compete for the same nodes at the same times.  Each run is made once in the
reference and twice in the core, with the thresholds of its shortcuts at their defaults and at their least.
"""

import argparse
import sys
import time
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np

import faultsim as fs

if __name__ == "__main__":
    sys.path.append(str(Path(__file__).resolve().parents[1]))

from helpers import thresholds

KINDS = ("cluster", "torus", "pod")
SCHEDULERS = ("fcfs", "easy", "backfill", "conservative", "preemptive")
#: Columns and counts that are sums of seconds; the engines may add them in another order.
SUMS = ("lost_work", "checkpoint_time", "restart_time", "failure_wait", "slowed_time")
CLUSTERS = (1, 2, 5, 16, 64, 65, 100, 200)
TORI = ((1, 1, 8), (1, 4, 4), (2, 2, 4), (2, 3, 3), (2, 4, 4), (3, 3, 3), (4, 4, 4))
PODS = (
    ((1, 1, 3), 4, "ocs"), ((1, 2, 2), 2, "ocs"), ((2, 1, 3), 1, "ocs"), ((2, 2, 2), 2, "ocs"),
    ((1, 2, 2), 4, "static"), ((2, 1, 3), 2, "static"), ((2, 2, 2), 2, "static"), ((1, 2, 4), 1, "static"),
)  # fmt: skip


def draw(
    rng: np.random.Generator, kind: str = "", scheduler: str = "", least_jobs: int = 30, most_jobs: int = 80
) -> fs.Run:
    """A run of `kind` under `scheduler`; what is not named is drawn."""
    kind = kind or str(rng.choice(KINDS))
    allowed = [name for name in SCHEDULERS if kind == "cluster" or name != "preemptive"]
    scheduler = scheduler if scheduler in allowed else str(rng.choice(allowed))
    machine = draw_machine(rng, kind, scheduler)
    longest = float(rng.choice([10, 100, 5000]))
    log = draw_log(rng, machine, int(rng.integers(least_jobs, most_jobs + 1)), longest)
    more: dict[str, Any] = draw_failures(rng, machine, longest) if rng.random() < 0.5 else {}
    if kind == "torus" and rng.random() < 0.1:
        more["migration"] = fs.Defragment(cost=float(rng.choice([0, 1, 5])), min_free=0.0, max_concentration=1.0)
    if kind == "cluster" and more and not isinstance(more["recovery"], fs.HotSpares) and rng.random() < 0.1:
        more["migration"] = fs.LeastFailuresMigration(threshold=0, cost=float(rng.choice([0, 1, 5])))
    return fs.Run(
        log,
        machine,
        scheduler=draw_scheduler(rng, scheduler, machine),
        placement=draw_placement(rng, machine),
        estimates=rng.choice([None, None, None, 0.1, 3.0, 50.0]) or "requested",
        overrun=str(rng.choice(["extend", "extend", "kill"])),
        start_delay=float(rng.choice([0, 0, 0, 1, 2.5, longest])),
        record=bool(rng.random() < 0.5),
        **more,
    )


def draw_machine(rng: np.random.Generator, kind: str, scheduler: str) -> Any:
    if kind == "torus":
        shape = TORI[int(rng.integers(len(TORI)))]
        return fs.Torus(*shape, wrap=bool(rng.random() < 0.7))
    if kind == "cluster":
        nodes = int(rng.choice(CLUSTERS))
        return fs.Cluster(nodes, shape=(4, 4, 4)) if nodes == 64 and rng.random() < 0.5 else fs.Cluster(nodes)
    plans = scheduler in ("backfill", "conservative")
    # The reference tries all 255 sets of 8 switched cubes at each time of a plan, which takes 10 s.
    pods = [pod for pod in PODS if not (plans and pod[0] == (2, 2, 2) and pod[2] == "ocs")]
    cubes, hosts, wiring = pods[int(rng.integers(len(pods)))]
    spares = 0 if plans else int(rng.choice([0, 0, 1]))
    return fs.Pod(cubes, (2, 2, 2), hosts, wiring, aligned=wiring == "ocs" or bool(rng.random() < 0.5), spares=spares)


def draw_log(rng: np.random.Generator, machine: Any, n: int, longest: float) -> fs.Workload:
    """Few instants of arrival, zero lengths, early ends, estimates equal to run times and far above and below them."""
    most = machine.most_hosts if isinstance(machine, fs.Pod) else machine.nodes
    instants = int(rng.choice([1, 1, 2, 5, n]))
    submit = np.sort(rng.choice(np.floor(rng.uniform(0, longest * rng.choice([0.1, 1, 5]), instants)), n))
    runtime = np.ceil(np.exp(rng.uniform(0, np.log(longest), n)))
    if rng.random() < 0.2:
        runtime += np.round(rng.random(n), 3)
    if rng.random() < 0.3:
        runtime = rng.choice(runtime[: max(1, n // 20)], n)
    runtime[rng.random(n) < rng.choice([0, 0.05, 0.3])] = 0.0
    factors = ([1.0], [1.0, 2.0], [1.0, 1.5, 10.0, 1000.0], [0.5, 1.0, 2.0], [0.01, 0.9, 1.0])
    estimate = runtime * rng.choice(factors[int(rng.integers(len(factors)))], n)
    if rng.random() < 0.7:
        estimate = np.ceil(estimate)
    small = np.minimum(np.ceil(rng.exponential(rng.choice([1.5, 5, 0.1 * most + 1]), n)), most)
    special = rng.choice([1, max(1, most // 2), max(1, most - 1), most], n)
    size = np.where(rng.random(n) < rng.choice([0, 0.05, 0.2, 0.5]), special, small).astype(int)
    log = fs.Workload(submit=submit, runtime=runtime, size=size, estimate=estimate)
    return log.with_columns(rank=rng.choice([0.0, 1.0, 1.0, 5.0], n))


def draw_scheduler(rng: np.random.Generator, name: str, machine: Any) -> fs.Scheduler:
    orders = (
        fs.ArrivalOrder(), fs.ArrivalOrder(), fs.ArrivalOrder(), fs.ShortestFirst(), fs.LargestFirst(), fs.Wfp3(),
        fs.Unicef(), fs.Key("rank - wait / 10"), fs.Key("rank"), fs.Key("restarts * 100 - size"),
    )  # fmt: skip
    order = orders[int(rng.integers(len(orders)))]
    repairs = str(rng.choice(["known", "known", "unknown"]))
    places: dict[str, Any] = {}
    if not isinstance(machine, fs.Cluster):
        places["max_growth"] = int(rng.choice([0, 1, 2, 8]))
        if name in ("easy", "backfill"):
            holds_back = isinstance(machine, fs.Pod) and machine.spares > 0
            places["reservation"] = "any" if holds_back else str(rng.choice(["any", "fixed"]))
    match name:
        case "fcfs":
            return fs.Fcfs(order=order)
        case "easy":
            return fs.EasyBackfill(order=order, repairs=repairs, **places)
        case "backfill":
            depth: Any = rng.choice([1, 2, 3, 10, 0])
            return fs.Backfill(depth=int(depth) or "unlimited", order=order, repairs=repairs, **places)
        case "conservative":
            return fs.ConservativeBackfill(order=order, repairs=repairs, **places)
    return fs.Preemptive(str(rng.choice(["rank + 0", "size + 0", "-size"])), bool(rng.random() < 0.7), repairs)


def draw_placement(rng: np.random.Generator, machine: Any) -> fs.Placement | None:
    if rng.random() < 0.6:
        return None
    if isinstance(machine, fs.Torus):
        return (fs.FirstFit(), fs.MaxFreePartition(), fs.MostCubic())[int(rng.integers(3))]
    if isinstance(machine, fs.Cluster) and machine.shape is not None:
        return fs.CurveBestFit(str(rng.choice(["snake", "hilbert"])))
    return fs.FirstFit()


def draw_failures(rng: np.random.Generator, machine: Any, longest: float) -> dict[str, Any]:
    """Failures, many of them at one instant or at the instant of a repair, and what jobs do about them."""
    k, nodes, kind = int(rng.integers(1, 40)), machine.nodes, machine.name
    when = np.sort(np.floor(rng.uniform(0, longest * rng.choice([1, 10, 50]), k)))
    if rng.random() < 0.3:
        when = np.sort(rng.choice(when[: max(1, k // 4)], k))
    down = np.floor(rng.choice([0, 0, 1, 10, longest / 3, longest], k))
    given: dict[str, Any] = {"failures": fs.FailureTrace(when, rng.integers(0, nodes, k), down, span=1e9)}
    cost = float(rng.choice([0, 0, 1, 5]))
    recoveries = [fs.Requeue("arrival", cost), fs.Requeue("tail", cost), fs.Hold(cost), fs.Hold(cost)]
    if kind == "cluster" and nodes >= 16:
        recoveries.append(fs.HotSpares(1, int(rng.choice([0, 4]))))
        given["oversized"] = "drop"
    given["recovery"] = recoveries[int(rng.integers(len(recoveries)))]
    interval = float(rng.choice([longest / 20, longest / 10, longest / 4]))
    saves = (
        None, None, None, fs.Periodic(interval, min(1.0, interval)), fs.Periodic(interval, 0.0),
        fs.Young(1.0, mtbf=50 * longest, any_rate=True), fs.BeforeFailure(float(rng.choice([0, 1, 3]))),
    )  # fmt: skip
    given["checkpointing"] = saves[int(rng.integers(len(saves)))]
    if rng.random() < 0.15 and not isinstance(given["recovery"], fs.HotSpares):
        given["predictor"] = fs.Perfect()
        given["rescheduling"] = fs.Fars(
            max(2.0, longest / 5), fs.JobFailureRate(), checkpoint_cost=1.0, restart_cost=1.0
        )
    return given


def outcome(run: fs.Run, engine: str) -> fs.Result | str:
    """The result, or the message of a deadlock."""
    try:
        return run.simulate(engine=engine)
    except fs.DecisionError as error:
        return str(error)
    except fs.EngineError as error:
        return str(error)


def differs(one: fs.Result | str, other: fs.Result | str) -> str:
    """What differs between two results; "" if nothing does."""
    if isinstance(one, str) or isinstance(other, str):
        same = isinstance(one, str) and isinstance(other, str) and "deadlock" in one and "deadlock" in other
        return "" if same else f"{shown(one)} against {shown(other)}"
    latest = float(other.jobs["finish"].max())
    for name, mine, theirs, close in compared(one, other, 1e-9 * (1.0 + latest)):
        if len(mine) != len(theirs):
            return f"{name} has {len(mine)} rows against {len(theirs)}"
        same = mine == theirs if mine.dtype.kind in "Ub" else np.abs(mine.astype(float) - theirs) <= close
        if not np.all(same):
            first = int(np.flatnonzero(~same)[0])
            return f"{name} of {int((~same).sum())} rows, first {first}: {mine[first]} against {theirs[first]}"
    if one.counters != other.counters:
        return f"counters {one.counters} against {other.counters}"
    most = 1e-9 * sum(other.ledger.values()) + 1e-9
    for account, theirs in other.ledger.items():
        if abs(one.ledger[account] - theirs) > most:
            return f"ledger {account}: {one.ledger[account]} against {theirs}"
    return ""


def shown(result: fs.Result | str) -> str:
    return result if isinstance(result, str) else "it ends"


def compared(one: fs.Result, other: fs.Result, close: float) -> Iterator[tuple[str, np.ndarray, np.ndarray, Any]]:
    """Name, both columns and the allowed difference, of all tables."""
    tables = ("events", "allocations") if one.settings["record"] else ()
    for table in ("jobs", *tables):
        for name, theirs in getattr(other, table).items():
            weight = other.jobs["allocated"] if name == "lost_work" else 1
            mine = getattr(one, table)[name]
            yield f"{table}.{name}", np.asarray(mine), np.asarray(theirs), close * weight if name in SUMS else 0


def difference(run: fs.Run, values: tuple[str, ...] = ("default", "least")) -> str:
    """What differs between the core, at these values of its thresholds, and the reference; "" if nothing does."""
    plain = outcome(run, "reference")
    for value in values:
        with thresholds.least() if value == "least" else nullcontext():
            what = differs(outcome(run, "core"), plain)
        if what:
            return f"thresholds {value}: {what}"
    return ""


def named(run: fs.Run) -> str:
    policies = [run.scheduler, run.placement, run.migration, run.recovery, run.checkpointing, run.rescheduling]
    return f"{len(run.log)} jobs on {run.machine!r}, " + ", ".join(repr(each) for each in policies if each is not None)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--machine", choices=KINDS, default="", help="default: all")
    parser.add_argument("--scheduler", choices=SCHEDULERS, default="", help="default: all that the machine has")
    parser.add_argument("--least-jobs", type=int, default=30)
    parser.add_argument("--jobs", type=int, default=80, help="at most so many in a run")
    parser.add_argument("--stop", type=int, default=10, help="after so many differences")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="at most; the runs so far are printed")
    given = parser.parse_args()
    found, done, began = 0, 0, time.monotonic()
    while done < given.runs and found < given.stop and time.monotonic() - began < given.seconds:
        rng = np.random.default_rng([given.seed, done])
        run = draw(rng, given.machine, given.scheduler, given.least_jobs, given.jobs)
        what = difference(run)
        if what:
            found += 1
            print(f"run {done}: {named(run)}: {what}", flush=True)
        done += 1
    print(f"{done} runs, each at default and least thresholds, {found} differences, {time.monotonic() - began:.0f} s")
    return min(found, 1)


if __name__ == "__main__":
    sys.exit(main())
