"""A cycle of the backfill loop (model.md#slurm-backfill)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

from faultsim.reference.slurm.limits import Limits
from faultsim.reference.slurm.main_pass import Decisions
from faultsim.reference.slurm.node_space import NodeSpace
from faultsim.reference.slurm.preemption import choose_with_victims, grace_of, victims_for
from faultsim.reference.slurm.queue import queue_of, reserved_away
from faultsim.reference.slurm.selection import Selection, is_exclusive, memory_asked, placed
from faultsim.reference.slurm.state import Reserved, Room, Running, State, Waiting
from faultsim.reference.slurm.will_run import will_run

#: Seconds by which a job is put off that a limit refuses, if nothing says when to try again (``assoc_limit_stop``).
PUT_OFF = 500.0
#: Times that maintenance may move the start of a job in one attempt.
MOVES = 10


@dataclass
class Planned:
    """A job that is to start later.

    Parameters
    ----------
    job : int
        Its id.
    partition : str
        In which.
    start, end : float
        Seconds; the end is that of its limit.
    nodes : list of int
        Indices of the nodes, rising.
    """

    job: int
    partition: str
    start: float
    end: float
    nodes: list[int]


@dataclass
class CycleDecisions(Decisions):
    """What a cycle decides: also the plans, in their order."""

    plans: list[Planned] = field(default_factory=list)


Clock = Callable[[Waiting, str], float]


def backfill_cycle(
    state: State, now: float, *, limits: Limits | None = None, clock: Clock | None = None
) -> CycleDecisions:
    """One cycle; only the sort keys of `state` change.

    Parameters
    ----------
    state : State
        The state before it.
    now : float
        Seconds, at its begin.
    limits : Limits, optional
        Those of the site.
    clock : callable, optional
        The second at which a job is looked at in a partition; by default `now`: a cycle takes no time.
    """
    return _Cycle(state, now, limits or Limits(state.site), clock or (lambda job, partition: now)).run()


class _Stop(Exception):
    """The cycle ends before the end of the queue."""


@dataclass
class _Attempt:
    """What is offered to a job from a time on: nodes, and when to try again."""

    candidates: list[int]
    later: float
    start: float


class _Cycle:
    def __init__(self, state: State, begin: float, limits: Limits, clock: Clock) -> None:
        self._state, self._site, self._begin, self._limits, self._clock = state, state.site, begin, limits, clock
        settings = state.site.conf.settings
        self._settings = settings
        self._resolution = max(1.0, float(settings["bf_resolution"]))
        self._window_end = begin + 60.0 * settings["bf_window"]
        size = settings["bf_node_space_size"]
        self._most_records = int(settings["bf_max_job_test"] if size is None else size)
        self._space = NodeSpace(self._rounded(begin), self._rounded(self._window_end), frozenset(state.up))
        self._selection = Selection(state.keys)
        self._running = list(state.running)
        self._room = Room(state.site, self._running)
        self._cleaning = set(state.cleaning)
        self._done = CycleDecisions()
        self._counts: dict[tuple[str, ...], int] = {}
        self._planned: set[int] = set()
        self._again = False  # whether the job in question has a plan in another partition
        self._preempting: set[int] = set()
        self._not_before: dict[str, float] = {}
        self._tested = 0  # jobs, and elements of arrays, in a partition

    def _rounded(self, time: float) -> float:
        return time // self._resolution * self._resolution

    def run(self) -> CycleDecisions:
        """Walk the queue."""
        left = {job.job: job.left for job in self._state.waiting}
        free = {job.job: job.free for job in self._state.waiting}
        try:
            for job, partition in queue_of(self._state, self._begin):
                if not left[job.job] or job.preempting or job.job in self._preempting:
                    continue
                if self._tested >= self._settings["bf_max_job_test"]:
                    break
                if not self._settings["assoc_limit_stop"]:
                    reason = self._limits.before(job, partition, self._running)
                    if reason:
                        self._done.reasons[job.job, partition] = reason
                        continue
                plans, self._again = 0, job.job in self._planned
                while left[job.job] and free[job.job] and not self._too_many(job, partition):
                    started = self._place(job, partition)
                    if started is None:
                        break
                    if not started:
                        plans += 1
                        self._planned.add(job.job)
                        if not job.array or plans >= min(left[job.job], self._settings["bf_max_job_array_resv"]):
                            break
                        continue
                    left[job.job] -= 1
                    free[job.job] -= free[job.job] > 0
        except _Stop:
            pass
        return self._done

    def _too_many(self, job: Waiting, partition: str) -> bool:
        """Whether enough jobs of its user, partition or association have been looked at; else count it."""
        settings = self._settings
        kinds = (
            ("bf_max_job_part", ("part", partition)),
            ("bf_max_job_user", ("user", job.user)),
            ("bf_max_job_assoc", ("assoc", job.account, job.user)),
            ("bf_max_job_user_part", ("user_part", job.user, partition)),
        )
        for name, key in kinds:
            most = settings[name]
            if not most:
                continue
            if self._counts.get(key, 0) >= most:
                return True
            self._counts[key] = self._counts.get(key, 0) + 1
        return False

    def _no_plan(self, job: Waiting, partition: str, now: float) -> bool:
        """Whether a job only starts now, or not at all."""
        settings = self._settings
        young = settings["bf_min_age_reserve"] and now - job.submit < settings["bf_min_age_reserve"]
        low = settings["bf_min_prio_reserve"] and job.priority_in(partition) < settings["bf_min_prio_reserve"]
        return bool(young or low)

    def _place(self, job: Waiting, partition: str) -> bool | None:
        """Start a job (True), plan it (False), or neither (None)."""
        now = self._clock(job, partition)
        limit = self._limit(job, partition)
        no_plan, tested = self._no_plan(job, partition, now), False
        start = max(now, self._not_before.get(job.qos, now))
        while True:
            attempt = self._offered(job, partition, start, limit)
            if attempt is None:
                return None
            start, later = attempt.start, attempt.later
            found = None
            if self._narrow(job, partition, attempt):
                self._tested += not tested
                tested = True
                found = will_run(
                    self._selection, job, partition, attempt.candidates, self._room, self._running, now
                )  # fmt: skip
            if found is None:
                if later and not no_plan:
                    start = later
                    continue
                return None
            at, nodes = max(found[0], start), found[1]
            if at <= now and not self._cleaning.isdisjoint(nodes):
                at, later = now + 1, 0.0
            counted = True
            if at <= now:
                outcome, at, later, counted = self._start(job, partition, attempt, now)
                if outcome is not None:
                    return outcome or None
            if no_plan:
                return None
            if later and at > later:
                start = later
                continue
            if at > self._window_end:
                return None
            begin, end = self._rounded(at), self._rounded(at + limit)
            if self._space.collides(begin, end, set(nodes)):
                start = at
                continue
            if counted and self._refused(job, partition, nodes, now):
                return None
            self._done.plans.append(Planned(job.job, partition, at, end, sorted(nodes)))
            if not (self._settings["bf_one_resv_per_job"] and self._again):
                if self._space.records >= self._most_records:
                    raise _Stop
                self._space.add(begin, end, set(nodes), self._resolution)
            return False

    def _limit(self, job: Waiting, partition: str) -> float:
        """Seconds for which a job is planned."""
        most = self._site.partitions[partition].max_time
        limit = 60.0 * job.limit
        return limit if most is None else min(limit, most)

    def _offered(self, job: Waiting, partition: str, start: float, limit: float) -> _Attempt | None:
        """Nodes that are free of plans for a job from a time on; None if it is given up."""
        part_nodes = set(self._site.nodes_of[partition])
        start_moved = self._after_maintenance(job, part_nodes, start, limit)
        if start_moved is None:
            return None
        start = start_moved
        end = start + limit
        away, own = reserved_away(self._state.reservations, job, start, end)
        if own is not None and start >= own.end:
            return None
        usable = (part_nodes & self._state.up) - away
        if own is not None:
            usable &= own.nodes
        free, later = set(usable), 0.0
        slots = list(self._space)
        for at, slot in enumerate(slots):
            if slot.end <= start:
                continue
            if not later and at + 1 < len(slots) and not slots[at + 1].nodes & usable <= slot.nodes:
                later = slot.end
            if slot.begin > end:
                break
            free &= slot.nodes
        if self._others_overlap(own, part_nodes, start, end):
            ends = [each.end for each in self._state.reservations if each.end >= start]
            if ends and min(ends) < math.inf:
                again = math.ceil(min(ends) / self._resolution) * self._resolution + 1
                if again < self._window_end and (not later or again < later):
                    later = again
        return _Attempt(sorted(free), later, start)

    def _others_overlap(self, own: Reserved | None, nodes: set[int], start: float, end: float) -> bool:
        """Whether a reservation of others meets the run of a job on nodes of its partition, or of its reservation."""
        for each in self._state.reservations:
            if each is own or not each.meets(start, end):
                continue
            if not each.nodes.isdisjoint(nodes if own is None else own.nodes) and not (own and each.maintenance):
                return True
        return False

    def _after_maintenance(self, job: Waiting, nodes: set[int], start: float, limit: float) -> float | None:
        """The start, moved behind maintenance that takes all nodes of the partition."""
        if job.reservation:
            own = next((each for each in self._state.reservations if each.name == job.reservation), None)
            return None if own is None else max(start, own.start)
        for _ in range(MOVES):
            found = [
                each for each in self._state.reservations
                if (each.maintenance or each.all_nodes) and nodes <= each.nodes and each.meets(start, start + limit)
            ]  # fmt: skip
            if not found:
                return start
            start = max(each.end for each in found)
        return None

    def _narrow(self, job: Waiting, partition: str, attempt: _Attempt) -> bool:
        """Leave out nodes that the job could not use even if they were empty; whether enough are left."""
        ask, site = job.ask, self._site
        least = max(1, ask.min_nodes)
        nodes = [node for node in attempt.candidates if node not in ask.excluded]
        if len(nodes) < least or not ask.required <= set(nodes):
            return False
        features = site.features_of(ask.features)
        memory, per_cpu = memory_asked(ask, site.partitions[partition], site)
        attempt.candidates = [
            node for node in nodes
            if features[node] and site.cores[node] >= ask.cpus_per_task
            and (per_cpu or not site.manages_memory or site.memory[node] >= memory)
        ]  # fmt: skip
        return len(attempt.candidates) >= least

    def _refused(self, job: Waiting, partition: str, nodes: dict[int, int], now: float) -> bool:
        """Whether limits would refuse a job with the nodes of its plan."""
        if self._settings["assoc_limit_stop"]:
            return False
        run = placed(job, nodes, self._site.partitions[partition], self._room, now)
        amounts = run.amounts()
        amounts["gres/gpu"] = float(job.ask.gpus * len(nodes))  # others may hold them now
        reason = self._limits.after(
            job, partition, amounts, run.nodes, self._state, self._running
        )  # fmt: skip
        if reason:
            self._done.reasons[job.job, partition] = reason
        return bool(reason)

    def _start(
        self, job: Waiting, partition: str, attempt: _Attempt, now: float
    ) -> tuple[bool | None, float, float, bool]:
        """Start a job by a real selection.

        Returns
        -------
        outcome : bool or None
            True: it started; False: it is skipped; None: it is planned.
        start, later : float
            Of the plan.
        counted : bool
            Whether limits are tested for the plan.
        """
        site, part = self._site, self._site.partitions[partition]
        stop = self._settings["assoc_limit_stop"]
        if stop and (reason := self._limits.before(job, partition, self._running)):
            return (None, *self._put_off(job, reason, attempt.later, now), False)
        candidates = [node for node in attempt.candidates if node not in self._cleaning]
        self._state.reset_keys(candidates)
        victims = [] if job.no_victims else victims_for(site, job, partition, self._running, now)
        found, ended = choose_with_victims(self._selection, job, partition, candidates, self._room, victims)
        run = None if found is None else placed(job, found, part, self._room, now)
        amounts = job.amounts if run is None else run.amounts()
        reason = self._limits.after(
            job, partition, amounts, [] if run is None else run.nodes, self._state, self._running
        )  # fmt: skip
        if reason:
            self._done.reasons[job.job, partition] = reason
            if stop:
                return (None, *self._put_off(job, reason, attempt.later, now), False)
            return False, now, 0.0, False
        if run is None or ended:
            self._preempting.add(job.job)
            for each in ended:
                self._end_victim(each, job.job)
            return None, now, 0.0, True
        self._room.take(run)
        self._running.append(run)
        self._done.started.append(run)
        if is_exclusive(job.ask, part):
            self._space.add(self._rounded(now), self._rounded(now + self._limit(job, partition)), set(run.nodes),
                            self._resolution)  # fmt: skip
        most = self._settings["bf_max_job_start"]
        if most and len(self._done.started) >= most:
            raise _Stop
        return True, now, 0.0, True

    def _put_off(self, job: Waiting, reason: str, later: float, now: float) -> tuple[float, float]:
        """When a job that a limit refuses is planned (``assoc_limit_stop``)."""
        self._done.reasons.setdefault((job.job, ""), reason)
        start = later or now + PUT_OFF
        if reason.startswith("QOSGrp"):
            self._not_before[job.qos] = start
        return start, later

    def _end_victim(self, victim: Running, by: int) -> None:
        self._done.preempted.append((victim, by))
        if not grace_of(self._site, victim):
            self._running.remove(victim)
            self._room.give(victim)
            self._cleaning |= set(victim.nodes)
