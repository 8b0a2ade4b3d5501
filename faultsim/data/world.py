"""`World`: what a run gets besides its jobs and its policies, all of it drawn before the run begins.

Both engines read these fields.  Tables are columns of one length, in order of time.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from faultsim.arrays import Flags, Floats, Integers, LongIntegers, Values


@dataclass(eq=False, slots=True)
class FailureRows:
    """When nodes fail: time and downtime in seconds.

    Where parts of nodes fail, `part` has the cores, MiB and GPUs of each, of shape (n, 3), 0 for a whole node, and
    `unit` a number in [0, 1) by which the units are chosen (model.md#site-parts).
    """

    time: Floats
    node: Integers
    downtime: Floats
    part: LongIntegers | None = None
    unit: Floats | None = None


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


@dataclass(eq=False, slots=True)
class AbsenceRows:
    """Nodes that are closed to most jobs at known times (model.md#absences), one row per reservation.

    Attributes
    ----------
    begin, end, every : numpy.ndarray of float64
        In [begin, end), and every `every` seconds after that; 0: once.  Seconds.
    first, node : numpy.ndarray
        The nodes of row i, ascending, are ``node[first[i]:first[i + 1]]``.
    kills : numpy.ndarray of bool
        Whether jobs that hold such nodes at a begin are killed.
    permits : numpy.ndarray of bool, shape (groups, rows)
        Whether the jobs of a group of users may hold the nodes of a reservation; those of group 0 may hold none.
    names : tuple of str
        For messages.
    """

    begin: Floats
    end: Floats
    every: Floats
    first: LongIntegers
    node: Integers
    kills: Flags
    permits: Flags
    names: tuple[str, ...] = ()

    def reach_words(self, number: int, begin: float, end: float, ends: float) -> str:
        """Why nodes are closed to a job that would end at `ends`: a reservation of that number, from `begin` to `end`.

        For example: it would end at 35 s and reach into reservation 'repair' of 20 s to 40 s.
        """
        said = f"reservation {self.names[number]!r}" if self.names[number] else "the reservation"
        return f"it would end at {ends:.15g} s and reach into {said} of {begin:.15g} s to {end:.15g} s"


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
class EligibilityRows:
    """When jobs may begin and when they are withdrawn (model.md#eligibility); jobs are numbers, -1 is none.

    Attributes
    ----------
    first, waiter, kind, delay : numpy.ndarray
        Conditions on job j are rows ``first[j]`` to ``first[j + 1]``: the job that waits, the number of the kind
        (`faultsim.data.conditions.KINDS`), and the delay in seconds.
    unmet : numpy.ndarray of int32
        Jobs with a condition that can never be met.
    begin, cancel : numpy.ndarray of float64
        Of each job, its earliest start (-inf: none) and the time at which it is withdrawn (inf: never).
    withdrawal : numpy.ndarray of int32
        Jobs with such a time, by (time, job).
    group, single : numpy.ndarray
        The group of jobs of one user and name that each job is in, and whether it waits for all earlier ones of it.
    group_first, member : numpy.ndarray
        Members of group g, ascending, are ``member[group_first[g]:group_first[g + 1]]``.
    array, most : numpy.ndarray of int32
        The array of each job, and how many tasks of each array may be in the queue or hold nodes at a time.
    """

    first: LongIntegers
    waiter: Integers
    kind: Values
    delay: Floats
    unmet: Integers
    begin: Floats
    cancel: Floats
    withdrawal: Integers
    group: Integers
    single: Values
    group_first: LongIntegers
    member: Integers
    array: Integers
    most: Integers


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

    def columns(self) -> tuple[Values, ...]:
        """All of them, in the order of the fields."""
        return self.nodes, self.cores, self.memory, self.gpus, self.by_core, self.exclusive, self.classes

    def and_then(self, other: "AskRows") -> "AskRows":
        """These jobs, and then others."""
        return AskRows(*map(np.append, self.columns(), other.columns()))

    def with_room(self, count: int) -> "AskRows":
        """These jobs, and room for so many more."""
        return AskRows(*(np.append(column, np.zeros(count, column.dtype)) for column in self.columns()))


@dataclass(eq=False, slots=True)
class World:
    """The inputs of a run that are neither its jobs nor its settings.

    Attributes
    ----------
    failures, predictions, alarms, ticks, clocks, absences : optional
        Tables; None where there are no rows.
    eligibility : EligibilityRows, optional
        When jobs may begin and are withdrawn; None if all may begin when they are submitted.
    checkpoint_interval : numpy.ndarray of float64, optional
        Seconds of work between two planned checkpoints of each job.
    shape_rank : numpy.ndarray of int32, optional
        Which of the shapes of its size each job of a pod requests, from 1 on, the most cubic first; 0: any.
    user_group : numpy.ndarray of int32, optional
        The group of users of each row of the user's log (`AbsenceRows.permits`); None: all are in group 0.
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
    absences: AbsenceRows | None = None
    eligibility: EligibilityRows | None = None
    checkpoint_interval: Floats | None = None
    shape_rank: Integers | None = None
    user_group: Integers | None = None
    asks: AskRows | None = None
    columns: Mapping[str, Values] = field(default_factory=dict)
    rows: Integers | None = None
    jobs: Integers | None = None
    live: bool = False
    known: int | None = None
    oracle_runtimes: bool = False
