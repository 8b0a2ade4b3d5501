"""Nodes that are reserved at known times, and closed then to most jobs (model.md#absences).

A set of nodes is a Python integer, as in `faultsim.reference.torus.boxes`.
"""

import math
from typing import NamedTuple

import numpy as np

from faultsim.data.world import AbsenceRows
from faultsim.reference.job import Job


class Absence(NamedTuple):
    """Nodes that are absent for most jobs in [begin, end), and every `every` seconds after that (0: only once)."""

    begin: float
    end: float
    every: float
    nodes: int
    kills: bool

    def last_begun(self, t: float) -> int:
        """The number of the last occurrence that has begun by t; below 0: none has."""
        if self.every == 0.0:
            return 0 if self.begin <= t else -1
        if t < self.begin:
            return -1
        k = math.floor((t - self.begin) / self.every)
        while self.begin_of(k) > t:
            k -= 1
        while self.begin_of(k + 1) <= t:
            k += 1
        return k

    def begin_of(self, k: int) -> float:
        """When an occurrence begins; infinite if there is no such one."""
        if self.every == 0.0:
            return self.begin if k == 0 else math.inf
        return self.begin + k * self.every

    def end_of(self, k: int) -> float:
        """When an occurrence ends; infinite if there is no such one."""
        if self.every == 0.0:
            return self.end if k == 0 else math.inf
        return self.end + k * self.every

    def is_active(self, t: float) -> bool:
        """Whether an occurrence has begun by t and not ended."""
        k = self.last_begun(t)
        return k >= 0 and t < self.end_of(k)

    def meets(self, begin: float, end: float) -> bool:
        """ "meets a stay from t to e if it is active at t, or begins after t and before e" (model.md#absences)."""
        return self.is_active(begin) or self.begin_of(self.last_begun(begin) + 1) < end

    def next_end(self, t: float) -> float:
        """The first end after t."""
        k = self.last_begun(t)
        return self.end_of(k) if k >= 0 and t < self.end_of(k) else self.end_of(k + 1)

    def next_edge(self, t: float) -> float:
        """The first begin or end after t."""
        return min(self.begin_of(self.last_begun(t) + 1), self.next_end(t))


class Absences:
    """All of a run."""

    def __init__(self, rows: AbsenceRows) -> None:
        self.all = [
            Absence(
                float(rows.begin[i]),
                float(rows.end[i]),
                float(rows.every[i]),
                sum(1 << node for node in rows.node[rows.first[i] : rows.first[i + 1]].tolist()),
                bool(rows.kills[i]),
            )
            for i in range(len(rows.begin))
        ]
        self.drained = 0
        self.names = rows.names
        self._rows = rows

    def is_open_to(self, i: int, job: Job) -> bool:
        """Whether a job is one of the users' of absence i."""
        return bool(self._rows.permits[job.user_group, i])

    def closed(self, job: Job, begin: float, end: float) -> int:
        """The nodes that a job may not hold from `begin` to `end`."""
        nodes = self.drained
        for i, each in enumerate(self.all):
            if not self.is_open_to(i, job) and each.meets(begin, end):
                nodes |= each.nodes
        return nodes

    def claimed(self, job: Job, begin: float, end: float) -> int:
        """Of `closed`, the nodes that users of a reservation may hold, and that are not drained."""
        nodes = 0
        for i, each in enumerate(self.all):
            if self._rows.permits[:, i].any() and not self.is_open_to(i, job) and each.meets(begin, end):
                nodes |= each.nodes
        return nodes & ~self.drained

    def in_the_way(self, job: Job, begin: float, end: float, nodes: int) -> str:
        """Why a job may not hold some of these nodes from `begin` to `end`: the first reservation; "": it may."""
        met = []
        for i, each in enumerate(self.all):
            if each.nodes & nodes and not self.is_open_to(i, job) and each.meets(begin, end):
                k = each.last_begun(begin)
                k += not each.is_active(begin)
                met.append((each.begin_of(k), i, each.end_of(k)))
        if not met:
            return ""
        first, i, last = min(met)
        return self._rows.reach_words(i, first, last, end)

    def touching(self, t: float, until: float, most: int) -> list[tuple[int, float, float, int]]:
        """Node, begin, end and number of the reservations that are active at t or begin after it, up to `until`.

        Once there are `most`, the others are left out.
        """
        found: list[tuple[int, float, float, int]] = []
        for i, each in enumerate(self.all):
            k = max(0, each.last_begun(t))
            if each.end_of(k) <= t:
                k += 1
            while each.begin_of(k) <= until and each.begin_of(k) < math.inf and len(found) < most:
                numbers = [node for node in range(each.nodes.bit_length()) if each.nodes >> node & 1]
                found += [(node, each.begin_of(k), each.end_of(k), i) for node in numbers]
                k += 1
        return sorted(found, key=lambda row: (row[1], row[3], row[0]))

    def own(self, job: Job, t: float) -> int:
        """The nodes that are reserved at t for the users of a job."""
        nodes = 0
        for i, each in enumerate(self.all):
            if self.is_open_to(i, job) and each.is_active(t):
                nodes |= each.nodes
        return nodes

    def active(self, t: float) -> int:
        """The nodes that are reserved at t, without those that are drained."""
        nodes = 0
        for each in self.all:
            if each.is_active(t):
                nodes |= each.nodes
        return nodes & ~self.drained

    def set_drained(self, node: int, drained: bool) -> None:
        """ "From the present moment on, until `resume`" (model.md#drained)."""
        self.drained = self.drained | 1 << node if drained else self.drained & ~(1 << node)

    def next_edge(self, t: float) -> float:
        """The first begin or end of an absence after t."""
        return min((each.next_edge(t) for each in self.all), default=math.inf)

    def ends(self, t: float, last: float) -> list[float]:
        """The times after t at which absences end: up to `last`, and one period of each beyond it."""
        found = set()
        for each in self.all:
            end = each.next_end(t)
            while end < math.inf:
                found.add(end)
                if end > last:
                    break
                end = each.next_end(end)
        return sorted(found)


def no_absences() -> Absences:
    """None yet, but nodes may be drained."""
    none, one = np.empty(0), np.empty(0, np.int32)
    rows = AbsenceRows(none, none, none, np.zeros(1, np.int64), one, one.astype(bool), np.empty((1, 0), bool))
    return Absences(rows)
