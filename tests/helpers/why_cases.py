"""Random runs with queues, for explanations: every kind of machine and scheduler, with failures and holds."""

import copy
from collections.abc import Iterator
from contextlib import suppress

import numpy as np

import faultsim as fs
from faultsim.errors import DecisionError
from faultsim.reference.engine import scheduling_pass
from faultsim.reference.state import State

MACHINES = {
    "counted": fs.Cluster(11),
    "named": fs.Cluster(12, shape=(2, 2, 3)),
    "torus": fs.Torus(3, 3, 2),
    "mesh": fs.Torus(2, 4, 3, wrap=False),
    "switched pod": fs.Pod((1, 2, 3), (2, 2, 2), 2, "ocs"),
    "wired pod": fs.Pod((2, 2, 2), (2, 2, 2), 2, "static"),
    "pod with spare cubes": fs.Pod((1, 2, 3), (2, 2, 2), 2, "ocs", spares=1),
}
ORDERS = ("arrival", "shortest", "largest", "wfp3")
SCHEDULERS = ("fcfs", "easy", "backfill", "conservative", "preemptive", "python")


class SmallestFits(fs.Scheduler):
    """Starts the smallest job that fits, and leaves others waiting although they fit."""

    def schedule(self, d):
        sizes = zip(d.queue.size.tolist(), d.queue.tolist(), strict=True)
        fitting = [job for _, job in sorted(sizes) if d.fits(job)]
        if fitting:
            d.start(fitting[0])


def case(machine: str, scheduler: str, seed: int) -> fs.Run | None:
    """A random run; None if there is no such scheduler on the machine."""
    rng = np.random.default_rng([seed, sorted(MACHINES).index(machine), SCHEDULERS.index(scheduler)])
    kind = MACHINES[machine]
    placed = not isinstance(kind, fs.Cluster)
    spares = getattr(kind, "spares", 0)
    rule = policy_of(rng, scheduler, placed, spares)
    if rule is None:
        return None
    n = int(rng.integers(8, 30))
    most = kind.most_hosts if isinstance(kind, fs.Pod) else kind.nodes
    runtime = rng.integers(0, 20, n)
    late = rng.integers(-3, 6, n)
    failures = recovery = None
    if rng.random() < 0.5:
        count = int(rng.integers(1, 6))
        down = rng.choice([0.0, 3.0, 25.0], count)
        times, nodes = np.sort(rng.integers(0, 60, count)), rng.integers(0, kind.nodes, count)
        failures = fs.FailureTrace(times, nodes, down, span=99)
        recovery = [fs.Requeue(), fs.Requeue("tail", 2), fs.Hold(1)][rng.integers(3)]
    static = None
    if machine == "named" and rng.random() < 0.3:
        static = fs.Fars(7, fs.ServiceUnitLoss(), spares=fs.Static(2))
    moves = isinstance(kind, fs.Torus) and scheduler != "python" and rng.random() < 0.3
    return fs.Run(
        fs.Workload(
            np.sort(rng.integers(0, 40, n)),
            runtime,
            rng.integers(1, (most - (2 if static else 0)) // (1 if rng.random() < 0.4 else 2) + 1, n),
            estimate=np.maximum(runtime + late, 0),
            id=rng.permutation(n) + 100,
        ),
        kind,
        scheduler=rule,
        placement="max_free_partition" if isinstance(kind, fs.Torus) and rng.random() < 0.5 else None,
        migration=fs.Defragment() if moves else None,
        start_delay=float(rng.choice([0.0, 0.0, 1.5])),
        failures=failures,
        recovery=recovery,
        predictor=None if static is None else fs.Blind(),
        rescheduling=static,
        record=machine == "named",
    )


def policy_of(rng: np.random.Generator, scheduler: str, placed: bool, spares: int) -> fs.Scheduler | None:
    """A scheduler with random options."""
    order = str(rng.choice(ORDERS))
    fixed = placed and not spares and rng.random() < 0.5
    options = {"repairs": str(rng.choice(["known", "unknown"])), "order": order}
    if placed:
        options["max_growth"] = int(rng.integers(0, 4))
    reservation = {"reservation": "fixed"} if fixed else {}
    if scheduler == "python":
        return SmallestFits()
    if scheduler == "fcfs":
        return fs.Fcfs(order=order)
    if scheduler == "easy":
        return fs.EasyBackfill(**options, **reservation)
    if scheduler == "preemptive":
        if placed:
            return None
        return fs.Preemptive(order=str(rng.choice(["shortest", "largest"])), backfill=bool(rng.random() < 0.6))
    if spares:
        return None
    if scheduler == "backfill":
        depth = [1, 2, 4, "unlimited"][rng.integers(4)]
        return fs.Backfill(depth=depth, **options, **reservation)
    return fs.ConservativeBackfill(**options)


def instants(run: fs.Run) -> Iterator[tuple[fs.Simulation, fs.Simulation]]:
    """The same run on both engines, after each instant."""
    options = {name: getattr(run, name) for name in OPTIONS}
    fast = fs.Simulation(run.log, run.machine, **options)
    plain = fs.Simulation(run.log, run.machine, engine="reference", **options)
    with suppress(DecisionError):  # a deadlock, if nodes do not return
        while fast.step():
            plain.advance(until=fast.now)
            yield fast, plain


OPTIONS = (
    "scheduler", "placement", "migration", "failures", "recovery", "predictor", "rescheduling", "start_delay", "record",
)  # fmt: skip


def copied(state: State) -> State:
    """An independent copy of a state of the reference engine."""
    shared = (state.world, state.settings, state.rules, state.table, state.ask, state.engine)
    return copy.deepcopy(state, {id(part): part for part in shared})


def started_by_a_pass(state: State) -> set[int]:
    """The jobs that a pass as of now would start, by number."""
    other = copied(state)
    waiting = {job.index for job in other.queue}
    scheduling_pass(other)
    return waiting & {job.index for job in other.running}
