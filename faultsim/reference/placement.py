"""Placement on a torus: which of the free boxes (MODEL.md section 7)."""

from types import SimpleNamespace
from typing import Any

import numpy as np

from faultsim.errors import InputError, NotAvailableError
from faultsim.reference.boxes import Box, BoxTable
from faultsim.reference.state import Job, State

__all__ = ["PLACEMENTS", "place"]

PLACEMENTS = ("first_fit", "max_free_partition", "python")


def place(state: State, job: Job, candidates: list[Box], occupied: int) -> Box:
    """The box the rule takes among the candidates (free, of one size, in contract order), given an occupancy."""
    assert state.table is not None
    rule = state.settings["placement"]
    if rule["name"] == "first_fit":
        return candidates[0]  # "Torus: `FirstFit` (first box in contract order)"
    if rule["name"] == "max_free_partition":
        return leaving_the_most(state.table, candidates, occupied)
    if rule["name"] == "python":
        return ask_user(state, rule["object"], job, candidates, occupied)
    raise NotAvailableError(f"placement {rule['name']!r}: known are {', '.join(PLACEMENTS)}")


def leaving_the_most(table: BoxTable, candidates: list[Box], occupied: int) -> Box:
    """ "`MaxFreePartition` (K: the box that leaves the largest MFP)"; "ties go to the first"."""
    if len(candidates) == 1:
        return candidates[0]
    free = [box for q in reversed(table.sizes) for box in table.free_of_size(occupied, q)]  # largest first
    best, best_left = candidates[0], -1
    for candidate in candidates:
        left = next((box.size for box in free if not box.mask & candidate.mask), 0)
        if left > best_left:
            best, best_left = candidate, left
    return best


def ask_user(state: State, rule: Any, job: Job, candidates: list[Box], occupied: int) -> Box:
    """A rule written in Python: ``choose(job, candidates, state) -> index``."""
    assert state.table is not None
    rows = np.array([box[:6] for box in candidates], dtype=np.int32)
    busy = np.array([occupied >> node & 1 for node in range(state.nodes)], dtype=bool).reshape(state.table.shape)
    asked = SimpleNamespace(index=job.index, submit=job.submit, estimate=job.estimate, size=job.size)
    index = int(rule.choose(asked, rows, SimpleNamespace(now=state.now, busy=busy)))
    if not 0 <= index < len(candidates):
        raise InputError(f"placement: choose() gave {index!r} for {len(candidates)} candidates")
    return candidates[index]
