"""A pass of the main loop (model.md#slurm-passes)."""

from __future__ import annotations

from dataclasses import dataclass, field

from faultsim.reference.slurm.limits import Limits
from faultsim.reference.slurm.preemption import choose_with_victims, grace_of, victims_for
from faultsim.reference.slurm.queue import queue_of, reserved_away
from faultsim.reference.slurm.selection import Selection, placed
from faultsim.reference.slurm.state import Room, Running, State, Waiting


@dataclass
class Decisions:
    """What a pass or a cycle decides.

    Parameters
    ----------
    started : list of Running
        Jobs that start, in order.
    preempted : list of tuple of (Running, int)
        Jobs that end, and for which job.
    reasons : dict of tuple of (int, str) to str
        Why a job waits in a partition, of those that were looked at.
    """

    started: list[Running] = field(default_factory=list)
    preempted: list[tuple[Running, int]] = field(default_factory=list)
    reasons: dict[tuple[int, str], str] = field(default_factory=dict)


def main_pass(state: State, now: float, *, full: bool, limits: Limits | None = None) -> Decisions:
    """One pass; only the sort keys of `state` change.

    Parameters
    ----------
    state : State
        The state before it.
    now : float
        Seconds.
    full : bool
        Whether it walks the whole queue, or only ``default_queue_depth`` of it.
    limits : Limits, optional
        Those of the site.
    """
    return _Pass(state, now, limits or Limits(state.site)).run(full=full)


class _Pass:
    def __init__(self, state: State, now: float, limits: Limits) -> None:
        self._state, self._site, self._now, self._limits = state, state.site, now, limits
        self._selection = Selection(state.keys)
        self._running = list(state.running)
        self._room = Room(state.site, self._running)
        self._usable = set(state.up)
        self._cleaning = set(state.cleaning)
        self._closed: set[str] = set()
        self._closed_reservations: set[str] = set()
        self._done = Decisions()

    def run(self, *, full: bool) -> Decisions:
        """Walk the queue."""
        settings = self._site.conf.settings
        depth, of_partition = int(settings["default_queue_depth"]), int(settings["partition_job_depth"])
        left = {job.job: job.left for job in self._state.waiting}
        free = {job.job: job.free for job in self._state.waiting}
        refused: set[tuple[int, str, str]] = set()
        counts: dict[str, int] = {}
        count = 0
        for job, partition in queue_of(self._state, self._now):
            if not left[job.job] or job.preempting:
                continue
            where = (job.array, partition, job.reservation)
            while left[job.job]:
                if job.array and where in refused:
                    break
                if not free[job.job]:
                    self._done.reasons[job.job, partition] = "JobArrayTaskLimit"
                    break
                counts[partition] = counts.get(partition, 0) + 1
                if of_partition and counts[partition] > of_partition:
                    break
                if not full:
                    if count > depth:
                        return self._done
                    count += 1
                if not self._test(job, partition):
                    refused.add(where)
                    break
                left[job.job] -= 1
                free[job.job] -= free[job.job] > 0
        return self._done

    def _test(self, job: Waiting, partition: str) -> bool:
        """Test a record; whether its job starts."""
        if job.reservation and job.reservation in self._closed_reservations:
            return False
        if partition in self._closed:
            self._done.reasons[job.job, partition] = "Priority"
            return False
        reason = self._limits.before(job, partition, self._running)
        if reason:
            self._done.reasons[job.job, partition] = reason
            return False
        nodes = self._site.nodes_of[partition]
        least = max(1, job.ask.min_nodes)
        if sum(node in self._usable for node in nodes) < least:
            self._refuse(job, partition, "Resources")
            return False
        return self._select(job, partition, nodes, least)

    def _select(self, job: Waiting, partition: str, nodes: list[int], least: int) -> bool:
        """Test node selection and what depends on it."""
        site, part = self._site, self._site.partitions[partition]
        features = site.features_of(job.ask.features)
        away, own = reserved_away(self._state.reservations, job, self._now, self._now + 60.0 * job.limit)
        self._state.reset_keys([node for node in nodes if features[node]])
        offered = [node for node in nodes if node in self._usable and (own is None or node in own.nodes)]
        if own is not None and len([node for node in own.nodes if node not in away]) < least:
            self._usable -= own.nodes
            self._done.reasons[job.job, partition] = "Reservation"
            return False
        usable = [node for node in offered if node not in away]
        candidates = [node for node in usable if node not in self._cleaning]
        victims = [] if job.no_victims else victims_for(site, job, partition, self._running, self._now)
        found, ended = choose_with_victims(self._selection, job, partition, candidates, self._room, victims)
        run = None if found is None else placed(job, found, part, self._room, self._now)
        amounts = job.amounts if run is None else run.amounts()
        reason = self._limits.after(job, partition, amounts, [] if run is None else run.nodes, self._state,
                                    self._running)  # fmt: skip
        if reason:
            self._done.reasons[job.job, partition] = reason
            if site.conf.settings["assoc_limit_stop"]:
                self._close(job, partition)
            return False
        if run is None:
            if self._busy(job, partition, usable, features, least):
                self._refuse(job, partition, "Resources")
            else:
                self._done.reasons[job.job, partition] = "ReqNodeNotAvail"
            return False
        if ended:
            for each in ended:
                self._done.preempted.append((each, job.job))
                if not grace_of(site, each):
                    self._running.remove(each)
                    self._room.give(each)
                    self._cleaning |= set(each.nodes)
            self._refuse(job, partition, "Resources")
            return False
        self._room.take(run)
        self._running.append(run)
        self._done.started.append(run)
        return True

    def _busy(self, job: Waiting, partition: str, usable: list[int], features: list[bool], least: int) -> bool:
        """Whether a job that found no nodes would find some if its usable nodes were empty.

        The test is made in any case, as Slurm makes it: it leaves its marks in the keys of nodes.
        """
        site, part = self._site, self._site.partitions[partition]
        nodes = [node for node in usable if features[node]]
        found = len(nodes) >= least and self._selection.choose(job.ask, nodes, Room(site), part) is not None
        held = not site.preempts and any(self._room.exclusive[node] for node in nodes)
        return found or held or any(node in self._cleaning for node in nodes)

    def _refuse(self, job: Waiting, partition: str, reason: str) -> None:
        self._done.reasons[job.job, partition] = reason
        settings = self._site.conf.settings
        young = settings["bf_min_age_reserve"] and self._now - job.submit < settings["bf_min_age_reserve"]
        low = settings["bf_min_prio_reserve"] and job.priority_in(partition) < settings["bf_min_prio_reserve"]
        if not young and not low:
            self._close(job, partition)

    def _close(self, job: Waiting, partition: str) -> None:
        """Let no later job of a partition, or of a reservation, start in this pass."""
        if job.reservation:
            self._closed_reservations.add(job.reservation)
        elif job.ask.required:
            self._usable -= job.ask.required
        else:
            self._closed.add(partition)
            self._usable -= set(self._site.nodes_of[partition])
