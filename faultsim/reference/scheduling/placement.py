"""Placement: which of the free nodes or boxes (model.md#placement)."""

from types import SimpleNamespace
from typing import NamedTuple, Protocol

import numpy as np

from faultsim.arrays import Integers
from faultsim.policies.base import SeenJobs
from faultsim.reference.cluster.curve_best_fit import curve_best_fit, nodes_along
from faultsim.reference.job import Job
from faultsim.reference.pod.table import PodTable
from faultsim.reference.state import State
from faultsim.reference.torus.boxes import Box, Segments
from faultsim.reference.torus.listed_table import ListedTable, Segmented, splitmix64
from faultsim.reference.torus.most_cubic import most_cubic


class Window(NamedTuple):
    """The time for which a placement is made: predictions in it count."""

    begin: float
    end: float


def window_at(state: State, job: Job, t: float) -> Window:
    """ "the open interval from t to (t + start_delay) + estimate" (model.md#window)."""
    return Window(t, (t + state.delay) + job.estimate)


# -- cluster


def free_nodes_for(state: State, job: Job, spared: int = 0) -> list[int]:
    """Cluster: the nodes that a job takes now; none when nodes have no names in this run.

    First those that are reserved for its users or, `spared`, closed to a promise, then others (model.md#absences).
    """
    if not state.tracking:
        return []
    choose = state.rules["placement"]
    closed, first = 0, spared
    if state.absences is not None:
        closed = state.closed(job, state.now)
        first |= state.absences.own(job, state.now)
    free = [node for node in state.free_nodes if not closed >> node & 1]
    chosen: list[int] = []
    for avoided in (False, True):
        for wanted in (1, 0) if first else (0,):
            these = [node for node in free if (node in state.avoided) == avoided and (first >> node & 1) == wanted]
            missing = min(job.needs - len(chosen), len(these))
            if missing > 0:
                chosen += choose(state, job, these, missing)
    return sorted(chosen)


# `count` of the `free` nodes, which are ascending, by each rule.


def lowest_nodes(state: State, job: Job, free: list[int], count: int) -> list[int]:
    return free[:count]


def least_failures_first(state: State, job: Job, free: list[int], count: int) -> list[int]:
    """ "those that have failed least often so far, ties to the lower number"."""
    return sorted(free, key=lambda node: (state.failures_of[node], node))[:count]


def safest_first(state: State, job: Job, free: list[int], count: int) -> list[int]:
    """ "those that are not predicted to fail in the job's window, by number, then the others, by number"."""
    failing = state.world.failing(*window_at(state, job, state.now))
    return sorted(free, key=lambda node: (node in failing, node))[:count]


def nodes_on_curve(state: State, job: Job, free: list[int], count: int) -> list[int]:
    order = nodes_along(state.settings.placement["curve"], tuple(state.settings.machine["shape"]))
    return curve_best_fit(order, set(free), count)


# -- torus


def unsuspected(state: State, candidates: list[Box]) -> list[Box]:
    """ "boxes without a suspicious node are the candidates; only if there is none (that is permitted), all boxes
    are"."""
    avoided = sum(1 << node for node in state.avoided)
    return [box for box in candidates if not box.mask & avoided] or candidates


def place(state: State, job: Job, candidates: list[Box], occupied: int, window: Window, claimed: int = 0) -> Box:
    """The box the rule takes among the candidates (free, of one size, in contract order), given an occupancy.

    Nodes `claimed` by reservations in the way are in no candidate; to listed shapes they are not available.
    """
    if isinstance(state.table, ListedTable):
        occupied |= claimed
        if isinstance(job.needs, Segmented) or state.table.tori > 1:
            return segments(state, job, candidates, occupied, window)
    box: Box = state.rules["placement"](state, job, candidates, occupied, window)
    return box


def segments(state: State, job: Job, candidates: list[Box], occupied: int, window: Window) -> Segments:
    """ "n / k boxes of size k, chosen greedily, each with the nodes of the earlier ones no longer available"."""
    assert isinstance(state.table, ListedTable)
    size = job.needs if isinstance(job.needs, Segmented) else candidates[0].size
    parts: list[Box] = []
    while sum(part.size for part in parts) < size:
        box: Box = state.rules["placement"](state, job, candidates, occupied, window)
        parts += state.table.without_joints(box)
        occupied |= box.mask
        candidates = [other for other in candidates if not other.mask & box.mask]
    return Segments.of(tuple(parts))


def first_box(state: State, job: Job, candidates: list[Box], occupied: int, window: Window) -> Box:
    """ "the first free box of the size"."""
    return candidates[0]


def first_slice(state: State, job: Job, candidates: list[Box], occupied: int, window: Window) -> Box:
    """On a pod, where the order of the slices inside a cube depends on what is occupied."""
    assert isinstance(state.table, PodTable)
    return state.table.first(candidates, occupied)


def max_free_partition(state: State, job: Job, candidates: list[Box], occupied: int, window: Window) -> Box:
    """ "the one that leaves the largest free box"."""
    left = mfp_left(state, candidates, occupied)
    return candidates[left.index(max(left))]


def cubic_box(state: State, job: Job, candidates: list[Box], occupied: int, window: Window) -> Box:
    return most_cubic(candidates)


def listed_box(state: State, job: Job, candidates: list[Box], occupied: int, window: Window) -> Box:
    """model.md#slurm-choice, or another score (model.md#scores)."""
    table, given = state.table, state.settings.placement
    assert isinstance(table, ListedTable)
    candidates, others = table.fullest(candidates, occupied)
    occupied |= others
    if given["score"] == "first":
        return candidates[0]
    if given["score"] == "next-size":
        return table.next_size(candidates, occupied)
    if given["score"] == "mfp":
        return table.largest_left(candidates, occupied)
    if given["score"] == "random":
        return table.by_chance(candidates, splitmix64((given["salt"] << 32) + job.index))
    if given["score"] == "balancing":
        return balancing(state, job, candidates, occupied, window)
    failing = state.world.failing(*window) if given["score"] == "tie-breaking" else set()
    return table.slurm(candidates, occupied, sum(1 << node for node in failing))


def tie_breaking(state: State, job: Job, candidates: list[Box], occupied: int, window: Window) -> Box:
    """ "among the candidates that leave the largest free box, the first without a node that is predicted to
    fail; if there is none, the first".
    """
    left, k = mfp_left(state, candidates, occupied), predicted_in(state, candidates, window)
    best = [i for i in range(len(candidates)) if left[i] == max(left)]
    return candidates[next((i for i in best if k[i] == 0), best[0])]


def predicted_in(state: State, candidates: list[Box], window: Window) -> list[int]:
    """How many nodes of each candidate are predicted to fail."""
    failing = state.world.failing(*window)
    return [sum(box.mask >> node & 1 for node in failing) for box in candidates]


def mfp_left(state: State, candidates: list[Box], occupied: int) -> list[int]:
    """For each candidate the size of the largest box that it leaves free; a single one need not know."""
    table = state.table
    if table is None or len(candidates) == 1:
        return [0]
    free = [box for q in reversed(table.sizes) for box in table.free_of_size(occupied, q)]  # largest first
    return [next((box.size for box in free if not box.mask & candidate.mask), 0) for candidate in candidates]


def balancing(state: State, job: Job, candidates: list[Box], occupied: int, window: Window) -> Box:
    """model.md#balancing: "the box of least (MFP before - MFP after) + P q"; "a later one replaces the best so far only
    if its value is less than that value - 1e-9".
    """
    assert state.table is not None
    if len(candidates) == 1:
        return candidates[0]
    before, left = state.table.largest_free(occupied), mfp_left(state, candidates, occupied)
    best, best_value = candidates[0], float("inf")
    for box, after, failing in zip(candidates, left, predicted_in(state, candidates, window), strict=True):
        if state.settings.placement.get("rule", "prod") == "max":
            fails = state.world.p if failing > 0 else 0.0
        else:
            fails = state.world.probability(failing)
        value = (before - after) + fails * box.size
        if value < best_value - 1e-9:
            best, best_value = box, value
    return best


def seen(state: State, job: Job, size: int) -> SeenJobs:
    """What a rule written in Python sees of the job that it places."""
    found = SeenJobs(index=job.row, submit=job.submit, estimate=job.estimate, size=size)
    if state.settings.placement.get("oracle_runtimes"):
        found.runtime = job.wanted
    return found


class Chooser(Protocol):
    """A rule written in Python."""

    def choose(self, job: object, candidates: Integers, state: object) -> int: ...


def python(state: State, job: Job, candidates: list[Box], occupied: int, window: Window) -> Box:
    """A rule written in Python: ``choose(job, candidates, state) -> index``."""
    assert state.table is not None
    rows = np.array([box[:6] for box in candidates], dtype=np.int32)
    busy = np.array([occupied >> node & 1 for node in range(state.nodes)], dtype=bool).reshape(state.table.shape)
    rule: Chooser = state.settings.placement["object"]
    return candidates[rule.choose(seen(state, job, job.size), rows, SimpleNamespace(now=state.now, busy=busy))]


def own_nodes(state: State, job: Job, free: list[int], count: int) -> list[int]:
    """A rule written in Python: ``choose_nodes(job, free, state) -> nodes``; none are asked for if none are wanted."""
    if count == 0:
        return []
    rule = state.settings.placement["object"]
    now = SimpleNamespace(now=state.now, nodes=state.nodes)
    nodes = rule.choose_nodes(seen(state, job, count), np.array(free, np.int32), now)
    return [int(node) for node in nodes]
