"""`World`: what a run gets besides its jobs and its policies, all of it drawn before the run begins.

Both engines read these fields.  Tables are columns of one length, in order of time.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from faultsim.arrays import Flags, Floats, Integers, LongIntegers, Values


@dataclass(eq=False, slots=True)
class FailureRows:
    """When nodes fail: time and downtime in seconds."""

    time: Floats
    node: Integers
    downtime: Floats


@dataclass(eq=False, slots=True)
class PredictionRows:
    """Predicted failures: begin and end in seconds (equal for a dated prediction), and the probability p of each."""

    begin: Floats
    end: Floats
    node: Integers
    p: float


@dataclass(eq=False, slots=True)
class RequestRows:
    """Requests for checkpoints; node -1 is a request to victims among all jobs."""

    time: Floats
    node: Integers


NO_REQUESTS = RequestRows(np.empty(0), np.empty(0, np.int32))


@dataclass(eq=False, slots=True)
class TickRows:
    """The ticks of `Fars`: the nodes that are suspicious from ``time[i]`` on are ``node[first[i]:first[i + 1]]``."""

    time: Floats
    first: LongIntegers
    node: Integers


@dataclass(eq=False, slots=True)
class ClockRows:
    """Speeds over time: job j follows clock ``of[j]`` (-1: none), whose rows are ``first[i]`` to ``first[i + 1]``."""

    of: Integers
    first: LongIntegers
    time: Floats
    speed: Floats


@dataclass(eq=False, slots=True)
class AskRows:
    """What jobs of a site request: `nodes` different nodes with `cores`, `memory` (MiB) and `gpus` free on each.

    Where `nodes` is 0, `cores` are those in all, of any number of nodes, and with `by_core` the memory is that of each
    core.  `exclusive` jobs take whole nodes.  `classes` has a bit for each class of nodes that may serve.
    """

    nodes: Integers
    cores: Integers
    memory: Integers
    gpus: Integers
    by_core: Flags
    exclusive: Flags
    classes: Values


@dataclass(eq=False, slots=True)
class World:
    """The inputs of a run that are neither its jobs nor its settings.

    Attributes
    ----------
    failures, predictions, alarms, ticks, clocks : optional
        Tables; None where there are no rows.
    checkpoint_interval : numpy.ndarray of float64, optional
        Seconds of work between two planned checkpoints of each job.
    shape_rank : numpy.ndarray of int32, optional
        Which of the shapes of its size each job of a pod requests, from 1 on, the most cubic first; 0: any.
    asks : AskRows, optional
        What the jobs of a site request, where they share nodes.
    columns : mapping of str to array
        The columns of the user's log.
    rows, jobs : numpy.ndarray of int32, optional
        The row of each job in the user's log, and the job of each row (-1: dropped); None where they are equal.
    live : bool
        Whether the caller owns time, jobs and failures.
    known : int, optional
        The number of jobs that are known at the start, if more may be submitted.
    oracle_runtimes : bool
        Whether decisions that the caller gets contain the true run times.
    """

    failures: FailureRows | None = None
    predictions: PredictionRows | None = None
    alarms: RequestRows | None = None
    ticks: TickRows | None = None
    clocks: ClockRows | None = None
    checkpoint_interval: Floats | None = None
    shape_rank: Integers | None = None
    asks: AskRows | None = None
    columns: Mapping[str, Values] = field(default_factory=dict)
    rows: Integers | None = None
    jobs: Integers | None = None
    live: bool = False
    known: int | None = None
    oracle_runtimes: bool = False
