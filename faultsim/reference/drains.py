"""Nodes that take no new jobs until they are resumed (model.md#drained)."""

import operator
from typing import SupportsIndex, cast

import numpy as np

from faultsim import checks
from faultsim.arrays import Integers
from faultsim.errors import DecisionError
from faultsim.reference.absences import no_absences
from faultsim.reference.state import DRAINED, RESUMED, State


def close_node(state: State, which: object, drain: bool, wake: bool = True) -> None:
    """ "Both are disturbances, and a pass follows" (model.md#drained), until "all jobs are done"."""
    node = _checked(state, which, drain)
    state.catch_up()
    if state.absences is None:
        state.absences = no_absences()
    state.absences.set_drained(node, drain)
    state.write(DRAINED if drain else RESUMED, node=node)
    state.disturb()
    if wake and (state.world.live or len(state.done) < len(state.jobs)):
        state.wakes.append(state.now)


def drained_nodes(state: State) -> Integers:
    """The nodes that are drained, ascending."""
    mask = 0 if state.absences is None else state.absences.drained
    return np.array([node for node in range(state.nodes) if mask >> node & 1], np.int32)


def _checked(state: State, which: object, drain: bool) -> int:
    """The node of a drain or a resume."""
    if state.table is None and not state.tracking and not state.shares:
        raise DecisionError(
            "only a simulation with record=True, failures=, reservations= or live= follows the nodes of jobs, which "
            "drain needs: give record=True"
        )
    try:
        node = operator.index(cast(SupportsIndex, which))
    except TypeError:
        raise DecisionError(f"a node is named by a whole number, not by {checks.shown(which)}") from None
    if not 0 <= node < state.nodes:
        raise DecisionError(f"there is no node {node}: nodes are 0 to {state.nodes - 1}")
    if (node in drained_nodes(state)) == drain:
        raise DecisionError(f"node {node} is drained already" if drain else f"node {node} is not drained")
    return node
