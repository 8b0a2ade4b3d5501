"""Oliner's schedulers on the failure record of Titan, whose nodes are a real 3-D torus.

The record has the place of each GPU that failed: cabinet, cage, slot.  Where that lies on the torus is an assumption,
that of `read_titan`: x is the column of the cabinet, y its row and the half of a blade, z the cage and the slot, cables
taken as unfolded.  A cage of a cabinet, 8 slots of 2 routers, is then a box of 1x2x8 routers, so that Titan is a torus
of 25x8x3 cages; a failure takes its cage, and there are no repairs in the record.
"""

from functools import partial

import numpy as np

from faultsim.data.failures import FailureTrace
from faultsim.data.workload import Workload
from faultsim.machines import Torus
from faultsim.policies import (
    Accuracy,
    Balancing,
    Confidence,
    Defragment,
    EasyBackfill,
    MaxFreePartition,
    Requeue,
    TieBreaking,
)
from faultsim.reproduce.bluegene.inputs import Jobs, aligned
from faultsim.reproduce.oliner2004.inputs import NODES
from faultsim.reproduce.pods.queues import DAY
from faultsim.simulation.run import Run

#: Extents of Titan in routers, and of a cage; cages along the axes.
ROUTERS, CAGE = (25, 16, 24), (1, 2, 8)
CAGES = (25, 8, 3)
#: Before that day of the record failures are few.
FIRST_DAY = 500.0
LOAD = 0.65
#: How many times the nodes of a job that it has cages: the log's machine has 128 nodes.
SCALE = 4
CLEAN, NONE = "no failures", "no prediction"
BOTH = ("balancing", "tie-breaking")
POLICIES = (CLEAN, NONE, *(f"{name} {a}" for name in BOTH for a in ("0.1", "1")))


def in_cages(trace: FailureTrace) -> FailureTrace:
    """Failures of routers as failures of cages, without down time.

    Examples
    --------
    >>> in_cages(FailureTrace([1.0, 2.0], [0, 9599], span=3.0)).node
    array([  0, 599], dtype=int32)
    """
    places = np.unravel_index(trace.node, ROUTERS)
    cages = np.ravel_multi_index([at // extent for at, extent in zip(places, CAGE, strict=True)], CAGES)
    return FailureTrace(trace.time, cages, 0.0, span=trace.span, name=trace.name)


def of_replicate(trace: FailureTrace, share: float, days: float) -> FailureTrace:
    """So many days of the record, from a share of it on, not counting its beginning."""
    first, span = min(FIRST_DAY * DAY, trace.span / 2.0), days * DAY
    begin = first + share * max(trace.span - first - span, 0.0)
    rows = (trace.time >= begin) & (trace.time < begin + span)
    return FailureTrace(trace.time[rows] - begin, trace.node[rows], 0.0, span=span)


def jobs_of(jobs: Jobs, share: float, days: float) -> Workload:
    """The jobs of so many days from a share of the log on, on Titan's cages at an offered load of 0.65."""
    cages = int(np.prod(CAGES))
    part = aligned(jobs, share, days * DAY, LOAD * cages / (SCALE * NODES))
    return Workload(submit=part.submit, runtime=part.runtime, size=part.size * SCALE, user=part.user, name=part.name)


def run(log: Workload, failures: FailureTrace, policy: str) -> Run:
    """As in the studies of Oliner's schedulers: backfilling, migration, and a placement that knows of failures."""
    name, _, a = policy.rpartition(" ")
    made = partial(Run, log, Torus(*CAGES), scheduler=EasyBackfill(), migration=Defragment(), estimates="actual")
    if policy == CLEAN:
        return made(placement=MaxFreePartition())
    failing = partial(made, failures=failures, recovery=Requeue())
    if policy == NONE:
        return failing(placement=MaxFreePartition())
    if name == BOTH[0]:
        return failing(placement=Balancing(), predictor=Confidence(float(a)))
    return failing(placement=TieBreaking(), predictor=Accuracy(float(a)))
