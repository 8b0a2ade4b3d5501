"""Decisions from outside where jobs share nodes (model.md#site-decisions)."""

import math
from collections.abc import Callable
from typing import NoReturn

import numpy as np

from faultsim.arrays import LongIntegers
from faultsim.reference.job import Job, expected_if_started
from faultsim.reference.scheduling.placement import window_at
from faultsim.reference.scheduling.site_placement import Offers, choose, choose_beside, granted
from faultsim.reference.scheduling.site_schedulers import Free, free_at, free_now, open_to, shadow_time
from faultsim.reference.site.nodes import Grant
from faultsim.reference.state import State


def now_for(state: State, job: Job) -> Free:
    """What is free now of the nodes that are open to a job."""
    return open_to(state, job, free_now(state), state.now)


def fits(state: State, job: Job) -> bool:
    """Whether a job has room now."""
    return state.site.fits(job.ask, now_for(state, job))


def chosen(state: State, job: Job) -> Grant | None:
    """The shares of nodes that the placement rule chooses now."""
    return choose(state, job, now_for(state, job), window_at(state, job, state.now))


def offered_beyond(state: State, head: Job, T: float) -> int:
    """ "by how many nodes, or cores where it takes any number, more is offered to it then than it needs" """
    if math.isinf(T):
        return 0
    return state.site.all_served(head.ask, open_to(state, head, free_at(state, T), T)) - head.ask.needed


def chosen_beside(state: State, job: Job, head: Job) -> Grant | None:
    """The shares of a job that does not delay another, as in model.md#site-easy."""
    T = shadow_time(state, head)
    if math.isinf(T) or expected_if_started(job, state.now + state.delay) <= T:
        return chosen(state, job)
    window, later = window_at(state, job, state.now), open_to(state, head, free_at(state, T), T)
    return choose_beside(state, job, now_for(state, job), window, head.ask, later)


def named(state: State, job: Job, nodes: list[int], refuse: Callable[[str], NoReturn]) -> Grant:
    """ "Of nodes that the caller names, in this order, it takes all that each offers until it has enough" """
    ask, free = job.ask, now_for(state, job)
    if ask.nodes and len(nodes) != ask.nodes:
        refuse(f"job {job.row} asks for {ask.nodes} nodes, got {len(nodes)}")
    taken: Offers = {}
    missing = ask.needed
    for node in nodes:
        cores = state.site.available(ask, node, free[node])
        if cores == 0:
            refuse(f"job {job.row} has no room on node {node}")
        if missing <= 0:
            refuse(f"job {job.row} does not need node {node}: those named before it offer {ask.cores} cores")
        taken[node] = ask.cores if ask.nodes else min(cores, missing)
        missing -= 1 if ask.nodes else taken[node]
    if missing > 0:
        refuse(f"the nodes named for job {job.row} offer {ask.cores - missing} of its {ask.cores} cores")
    return granted(state.site, ask, taken)


def named_with_cores(
    state: State, job: Job, nodes: list[int], cores: list[int], refuse: Callable[[str], NoReturn]
) -> Grant:
    """ "With `cores=` it takes so many of each" """
    ask, free = job.ask, now_for(state, job)
    if len(cores) != len(nodes):
        refuse(f"cores of job {job.row} must be as many as its nodes, {len(nodes)}, got {len(cores)}")
    if ask.nodes and len(nodes) != ask.nodes:
        refuse(f"job {job.row} asks for {ask.nodes} nodes, got {len(nodes)}")
    most = ask.cores * max(1, ask.nodes)
    least = most - max(0, ask.nodes - 1)
    if not (ask.exclusive or least <= sum(cores) <= most):
        refuse(f"job {job.row} asks for {most} cores in all, got {sum(cores)}")
    for node, number in zip(nodes, cores, strict=True):
        if number < 1 or not state.site.offers(ask, node, free[node], number):
            refuse(f"job {job.row} has no room for {number} cores on node {node}")
    return granted(state.site, ask, dict(zip(nodes, cores, strict=True)))


def free_amounts(state: State) -> LongIntegers:
    """Cores, memory and GPUs that are free of each node."""
    rows = [(0, 0, 0) if left is None else tuple(left) for left in free_now(state)]
    drained = state.drained_mask
    return np.array([(0, 0, 0) if drained >> node & 1 else row for node, row in enumerate(rows)], np.int64)


def shares(job: Job) -> LongIntegers:
    """Node, cores, memory and GPUs of each share of a job."""
    rows = [(node, *share) for node, share in sorted(job.grant.items())]
    return np.array(rows, np.int64).reshape(len(rows), 4)
