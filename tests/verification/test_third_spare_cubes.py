"""Reservations and drained hosts on pods that hold cubes back: by hand, by trial of every second, on both engines."""

import math
import random
from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest
from third_pods import Slices

import faultsim as fs

ENGINES = pytest.mark.parametrize("engine", ["core", "reference"])
#: No run of a test is that long.
LATEST = 400
#: Three of four cubes of two hosts are for jobs.
FOUR = fs.Pod((1, 1, 4), (2, 2, 2), 2, spares=1)


def starts(log: fs.Workload, engine: Any, *given: fs.Reservation, **options: Any) -> list[float]:
    result = fs.simulate(log, FOUR, engine=engine, reservations=list(given), record=True, **options)
    found: list[float] = result.jobs["start"].tolist()
    return found


@ENGINES
@pytest.mark.parametrize("scheduler", ["fcfs", "easy"])
def test_maintenance_of_a_cube_takes_the_place_of_the_spare_one(engine: str, scheduler: str) -> None:
    log = fs.Workload(submit=[0, 1, 2, 3], runtime=[50, 50, 50, 50], size=[2, 2, 2, 2])
    one, two = fs.Reservation([0], 0, 30), fs.Reservation([0, 2], 0, 30)
    assert starts(log, engine, scheduler=scheduler) == [0, 1, 2, 50]
    assert starts(log, engine, one, scheduler=scheduler) == [0, 1, 2, 50]
    assert starts(log, engine, two, scheduler=scheduler) == [0, 1, 30, 50]


@ENGINES
def test_users_find_what_is_reserved_for_them(engine: str) -> None:
    """The reserved cube counts as in use for others, and their jobs have two; its users' job starts in it at once."""
    log = fs.Workload(submit=[0, 1, 2, 3], runtime=[50, 50, 50, 20], size=[2, 2, 2, 2], user=[1, 1, 1, 7])
    room = fs.Reservation([0, 1], 0, 40, users=7)
    assert starts(log, engine, room, scheduler="fcfs") == [0, 1, 40, 50]
    assert starts(log, engine, room, scheduler="easy") == [0, 1, 40, 3]


@ENGINES
def test_drained_hosts_take_the_place_of_the_spare_cube(engine: Any) -> None:
    log = fs.Workload(submit=[0, 10, 10, 10], runtime=[5, 50, 50, 50], size=[2, 2, 2, 2])
    found = []
    for drained in ([7], [5, 7]):
        sim = fs.Simulation(log, FOUR, engine=engine, record=True, scheduler="fcfs")
        sim.advance(until=7)
        for host in drained:
            sim.drain(host)
        sim.advance(until=80)
        for host in drained:
            sim.resume(host)
        sim.advance()
        found.append(sim.result().jobs["start"].tolist())
    assert found == [[0, 10, 10, 10], [0, 10, 10, 60]]


@ENGINES
def test_a_caller_cannot_take_what_users_need(engine: Any) -> None:
    log = fs.Workload(submit=[0, 0, 0], runtime=[50, 50, 50], size=[2, 2, 2], user=[1, 1, 1])
    room = fs.Reservation([0, 1], 0, 40, users=7)
    sim = fs.Simulation(log, FOUR, engine=engine, reservations=room, scheduler=fs.External())
    decision = sim.advance()
    assert decision is not None
    decision.start(0, cubes=[2])
    decision.start(1, cubes=[1])
    assert not decision.fits(2)
    with pytest.raises(fs.DecisionError, match="it would use cubes that are held back"):
        decision.start(2, cubes=[3])


# -- by trial of every second


class Pass:
    """A pod at a second: its jobs, and what is closed to them."""

    def __init__(self, jobs: list[Any], windows: list[Any], slices: Slices, spares: int) -> None:
        self.jobs, self.windows, self.slices = jobs, windows, slices
        self.limit = len(slices.whole) - spares
        self.queue: list[int] = []
        self.held: dict[int, frozenset[int]] = {}
        self.start: dict[int, int] = {}
        self.all = frozenset().union(*slices.whole)

    def closed(self, job: int, begin: int) -> tuple[set[int], set[int]]:
        """Nodes that are closed to a job, and those of them that users keep."""
        _, runtime, _, user = self.jobs[job]
        shut: set[int] = set()
        kept: set[int] = set()
        for first, last, nodes, users in self.windows:
            if user not in users and first < max(begin + 1, begin + runtime) and last > begin:
                shut |= nodes
                kept |= nodes if users else set()
        return shut, kept

    def held_at(self, second: int) -> dict[int, frozenset[int]]:
        """Without jobs that end then."""
        return {job: nodes for job, nodes in self.held.items() if self.start[job] + self.jobs[job][1] > second}

    def free(self, job: int, second: int, size: int, holders: Iterable[frozenset[int]]) -> list[frozenset[int]]:
        """The slices of so many hosts that a job could have at a second, beside these."""
        holders = list(holders)
        shut, kept = self.closed(job, second)
        found = []
        for nodes in self.slices.free_boxes(self.all.difference(*holders), size):
            used = nodes.union(kept, *holders)
            if not nodes & shut and sum(bool(cube & used) for cube in self.slices.whole) <= self.limit:
                found.append(nodes)
        return found

    def places(self, job: int, second: int, holders: Iterable[frozenset[int]]) -> list[frozenset[int]]:
        """Those of the smallest size that has any."""
        sizes = (size for size in self.slices.sizes if size >= self.jobs[job][2])
        holders = list(holders)
        return next((found for size in sizes if (found := self.free(job, second, size, holders))), [])

    def beside(self, job: int, second: int, head: int, T: int | None) -> list[frozenset[int]]:
        """Those of its own size that leave the head one at T."""
        size = min(size for size in self.slices.sizes if size >= self.jobs[job][2])
        found = self.free(job, second, size, self.held.values())
        if T is None or second + self.jobs[job][1] <= T:
            return found
        return [nodes for nodes in found if self.places(head, T, [*self.held_at(T).values(), nodes])]

    def take(self, job: int, second: int, nodes: frozenset[int]) -> None:
        self.start[job], self.held[job] = second, nodes
        self.queue.remove(job)

    def one_pass(self, second: int, backfills: bool) -> bool:
        """Whether a job of no length starts."""
        self.held = self.held_at(second)
        before = set(self.queue)
        while self.queue and (found := self.places(self.queue[0], second, self.held.values())):
            self.take(self.queue[0], second, found[0])
        if self.queue and backfills:
            head = self.queue[0]
            T = next((t for t in range(second, LATEST) if self.places(head, t, self.held_at(t).values())), None)
            for job in self.queue[1:]:
                found = self.beside(job, second, head, T)
                if found:
                    self.take(job, second, found[0])
        return any(self.jobs[job][1] == 0 for job in before - set(self.queue))


def tried(jobs: list[Any], windows: list[Any], pod: fs.Pod, backfills: bool) -> list[float]:
    """When each job starts; infinite: never."""
    slices = Slices(pod.cubes, pod.cube[0], pod.hosts, pod.wiring, pod.aligned, pod.n_cubes - pod.spares)
    now = Pass(jobs, windows, slices, pod.spares)
    for second in range(LATEST):
        now.queue += [i for i, job in enumerate(jobs) if job[0] == second]
        started = True
        while started:  # jobs of no length make room at once
            started = now.one_pass(second, backfills)
    return [now.start.get(job, math.inf) for job in range(len(jobs))]


def drawn(rng: random.Random) -> tuple[fs.Pod, list[Any], list[Any]]:
    wiring = rng.choice(["ocs", "ocs", "static"])
    cubes, hosts = rng.choice([(1, 1, 4), (1, 2, 2), (1, 2, 3)]), rng.choice([1, 2, 4, 16])
    edge, aligned = 4 if hosts == 16 else 2, wiring == "ocs" or rng.random() < 0.5
    pod = fs.Pod(cubes, (edge, edge, edge), hosts, wiring, spares=rng.randint(1, 2), aligned=aligned)
    sizes = sorted({rng.randint(1, pod.largest_job) for _ in range(3)})
    jobs = sorted(
        (rng.randint(0, 20), rng.choice([0, 1, 3, 8, 20]), rng.choice(sizes), rng.randint(0, 2))
        for _ in range(rng.randint(2, 12))
    )
    windows = []
    for _ in range(rng.randint(1, 3)):
        begin = rng.randint(0, 40)
        users = rng.choice([set(), set(), {0}, {0, 1}])
        if rng.random() < 0.5:
            some = set(rng.sample(range(pod.nodes), rng.randint(1, pod.nodes)))
        else:  # whole cubes
            few = rng.sample(range(pod.n_cubes), rng.randint(1, 2))
            some = {cube * hosts + host for cube in few for host in range(hosts)}
        windows.append((begin, begin + rng.choice([1, 4, 15]), frozenset(some), users))
    return pod, jobs, windows


def given(windows: list[Any]) -> list[fs.Reservation]:
    return [fs.Reservation(sorted(nodes), a, b, users=sorted(users) or None) for a, b, nodes, users in windows]


@ENGINES
@pytest.mark.parametrize("scheduler", ["fcfs", "easy:max_growth=0"])
def test_jobs_start_when_trial_of_every_second_says(scheduler: str, engine: Any) -> None:
    for seed in range(200 if engine == "core" else 60):
        pod, jobs, windows = drawn(random.Random(f"{scheduler} {seed}"))
        submit, runtime, size, user = (list(column) for column in zip(*jobs, strict=True))
        log = fs.Workload(submit=submit, runtime=runtime, size=size, user=user)
        expected = tried(jobs, windows, pod, scheduler != "fcfs")
        result = fs.simulate(log, pod, scheduler=scheduler, reservations=given(windows), engine=engine)
        assert result.jobs["start"].tolist() == expected, seed


# -- both engines, with everything else


def run_of(seed: int, engine: Any) -> tuple[fs.Result, list[object]]:
    """A run with failures, reservations, drained hosts, and sometimes moves or a caller that decides."""
    rng = random.Random(seed)
    pod, jobs, windows = drawn(rng)
    submit, runtime, size, user = (list(column) for column in zip(*jobs, strict=True))
    estimate = [max(0, each + rng.choice([-3, 0, 0, 5])) for each in runtime]
    columns = {}
    if pod.wiring == "static" and rng.random() < 0.5:
        asked = [rng.choice(pod.slices) if rng.random() < 0.5 else None for _ in jobs]
        size = [each if slice_ is None else slice_.hosts for each, slice_ in zip(size, asked, strict=True)]
        columns["shape"] = ["" if slice_ is None else "x".join(map(str, slice_.shape)) for slice_ in asked]
    log = fs.Workload(submit=submit, runtime=runtime, size=size, user=user, estimate=estimate, columns=columns)
    options: dict[str, Any] = {"reservations": given(windows), "record": True}
    if rng.random() < 0.6:
        count = rng.randint(1, 6)
        node = [rng.randrange(pod.nodes) for _ in range(count)]
        downtime = [rng.choice([0, 5, 30]) for _ in range(count)]
        options["failures"] = fs.FailureTrace(
            sorted(rng.randint(0, 60) for _ in range(count)), node, downtime, span=200
        )
        options["recovery"] = rng.choice(["requeue", "hold"])
        if rng.random() < 0.4:
            options["predictor"] = fs.Perfect()
            options["rescheduling"] = fs.Fars(7, fs.JobFailureRate())
    if rng.random() < 0.2:
        options["start_delay"] = 2
    decides = rng.random() < 0.25 and "rescheduling" not in options
    repairs = rng.choice(["known", "unknown"])
    options["scheduler"] = fs.External() if decides else rng.choice(["fcfs", f"easy:max_growth=2,repairs={repairs}"])
    sim = fs.Simulation(log, pod, engine=engine, **options)
    seen: list[object] = []
    drained: set[int] = set()
    for until in sorted(submit[0] + rng.randint(0, 60) for _ in range(rng.randint(0, 4))):
        go_on(sim, until, decides, seen)
        for host in rng.sample(range(pod.nodes), rng.randint(1, 3)):
            (sim.resume if host in drained else sim.drain)(host)
            drained ^= {host}
    go_on(sim, submit[0] + 100, decides, seen)
    for host in sorted(drained):
        sim.resume(host)
    go_on(sim, None, decides, seen)
    sim.verify()
    return sim.result(), seen


def go_on(sim: fs.Simulation, until: float | None, decides: bool, seen: list[object]) -> None:
    while (decision := sim.advance(until=until)) is not None and decides and decision.kind == "schedule":
        queue = decision.queue.tolist()
        for job in queue[1:]:
            seen.append((decision.shadow(queue[0]), decision.fits(job), decision.may_backfill(job, queue[0])))
            decision.backfill(job, queue[0])
        if queue and decision.fits(queue[0]):
            decision.start(queue[0])
    if decision is not None:
        queue, running = decision.queue.tolist(), decision.running.tolist()
        reasons = [sim.why(job) for job in queue]
        assert decides or all(reason.cause != fs.Cause.NEXT_PASS for reason in reasons)
        seen.append((list(map(str, reasons)), queue, running))


@pytest.mark.parametrize("part", range(3))
def test_both_engines_agree(part: int) -> None:
    for seed in range(part * 100, part * 100 + 100):
        (core, seen), (plain, expected) = run_of(seed, "core"), run_of(seed, "reference")
        assert seen == expected, seed
        for name in ("start", "finish", "allocated", "backfilled", "restarts", "moves"):
            np.testing.assert_array_equal(core.jobs[name], plain.jobs[name], err_msg=f"{seed} {name}")
        for name in core.allocations:
            np.testing.assert_array_equal(core.allocations[name], plain.allocations[name], err_msg=f"{seed} {name}")
        assert core.ledger == pytest.approx(plain.ledger, rel=1e-9, abs=1e-6), seed
