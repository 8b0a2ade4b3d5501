"""Placement: which of the free nodes or boxes (model.md#placement)."""

from types import SimpleNamespace
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from faultsim.reference.cluster.curve_best_fit import curve_best_fit, nodes_along
from faultsim.reference.state import Job, State
from faultsim.reference.torus.boxes import Box, BoxTable
from faultsim.reference.torus.most_cubic import most_cubic

__all__ = ["PLACEMENTS", "Window", "free_nodes_for", "place", "unsuspected", "window_at"]

#: By machine.
PLACEMENTS = {
    "cluster": ("first_fit", "least_failures_first", "safest_first", "curve_best_fit"),
    "torus": ("first_fit", "max_free_partition", "most_cubic", "balancing", "tie_breaking", "python"),
}


class Window(NamedTuple):
    """The time for which a placement is made: predictions in it count."""

    begin: float
    end: float


def window_at(state: State, job: Job, t: float) -> Window:
    """ "the open interval from t to (t + start_delay) + estimate" (model.md#window)."""
    return Window(t, (t + state.delay) + job.estimate)


# -- cluster


def free_nodes_for(state: State, job: Job) -> list[int]:
    """Cluster: the nodes that a job takes now; none when nodes have no names in this run."""
    if not state.tracking:
        return []
    if state.settings["placement"]["name"] == "curve_best_fit":
        return nodes_on_curve(state, job)
    rule, free = state.settings["placement"]["name"], state.free_nodes
    if rule == "least_failures_first":
        # "those that have failed least often so far, ties to the lower number"
        free = sorted(free, key=lambda node: (state.failures_of[node], node))
    elif rule == "safest_first":
        # "those that are not predicted to fail in the job's window, by number, then the others, by number"
        failing = state.world.failing(*window_at(state, job, state.now))
        free = sorted(free, key=lambda node: (node in failing, node))
    free = sorted(free, key=lambda node: node in state.avoided)  # stable: "in the order of the placement rule"
    return sorted(free[: job.size])


def nodes_on_curve(state: State, job: Job) -> list[int]:
    """CurveBestFit: of the nodes that are not to be avoided as many as there are, then of the others."""
    order = nodes_along(state.settings["placement"]["curve"], tuple(state.settings["machine"]["shape"]))
    sound = set(state.free_nodes) - state.avoided
    first = curve_best_fit(order, sound, min(job.size, len(sound)))
    return sorted(first + curve_best_fit(order, set(state.free_nodes) - sound, job.size - len(first)))


# -- torus


def unsuspected(state: State, candidates: list[Box]) -> list[Box]:
    """ "boxes without a suspicious node are the candidates; only if there is none (that is permitted), all boxes
    are"."""
    avoided = sum(1 << node for node in state.avoided)
    return [box for box in candidates if not box.mask & avoided] or candidates


def place(state: State, job: Job, candidates: list[Box], occupied: int, window: Window) -> Box:
    """The box the rule takes among the candidates (free, of one size, in contract order), given an occupancy."""
    assert state.table is not None
    rule = state.settings["placement"]
    if rule["name"] == "first_fit":
        return candidates[0]  # "the first free box of the size"
    if rule["name"] == "python":
        return ask_user(state, rule["object"], job, candidates, occupied)
    if rule["name"] == "most_cubic":
        return most_cubic(candidates)
    if len(candidates) == 1:
        return candidates[0]
    left = mfp_left(state.table, candidates, occupied)
    if rule["name"] == "max_free_partition":
        return candidates[left.index(max(left))]  # "the one that leaves the largest free box"
    failing = state.world.failing(*window)
    k = [sum(box.mask >> node & 1 for node in failing) for box in candidates]
    if rule["name"] == "balancing":
        return balancing(state, rule.get("rule", "prod"), candidates, occupied, left, k)
    # TieBreaking: "among the candidates that leave the largest free box, the first without a node that is predicted to
    # fail; if there is none, the first"
    best = [i for i in range(len(candidates)) if left[i] == max(left)]
    return candidates[next((i for i in best if k[i] == 0), best[0])]


def mfp_left(table: BoxTable, candidates: list[Box], occupied: int) -> list[int]:
    """For each candidate the size of the largest box that it leaves free."""
    free = [box for q in reversed(table.sizes) for box in table.free_of_size(occupied, q)]  # largest first
    return [next((box.size for box in free if not box.mask & candidate.mask), 0) for candidate in candidates]


def balancing(state: State, rule: str, candidates: list[Box], occupied: int, left: list[int], k: list[int]) -> Box:
    """model.md#balancing: "the box of least (MFP before - MFP after) + P q"; "a later one replaces the best so far only
    if its value is less than that value - 1e-9".
    """
    assert state.table is not None
    before = state.table.largest_free(occupied)
    best, best_value = candidates[0], float("inf")
    for box, after, failing in zip(candidates, left, k, strict=True):
        if rule == "max":
            fails = state.world.p if failing > 0 else 0.0
        else:
            fails = state.world.probability(failing)
        value = (before - after) + fails * box.size
        if value < best_value - 1e-9:
            best, best_value = box, value
    return best


class Chooser(Protocol):
    """A rule written in Python."""

    def choose(self, job: object, candidates: NDArray[np.int32], state: object) -> int: ...


def ask_user(state: State, rule: Chooser, job: Job, candidates: list[Box], occupied: int) -> Box:
    """A rule written in Python: ``choose(job, candidates, state) -> index``."""
    assert state.table is not None
    rows = np.array([box[:6] for box in candidates], dtype=np.int32)
    busy = np.array([occupied >> node & 1 for node in range(state.nodes)], dtype=bool).reshape(state.table.shape)
    asked = SimpleNamespace(index=job.index, submit=job.submit, estimate=job.estimate, size=job.size)
    return candidates[rule.choose(asked, rows, SimpleNamespace(now=state.now, busy=busy))]
