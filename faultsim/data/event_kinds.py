"""Kinds of events by number, in the order in which an instant handles them, and what can have become of a job."""

from enum import IntEnum, StrEnum

import numpy as np

from faultsim.arrays import Texts


class EventKind(IntEnum):
    """What `Result.events` has in its column `kind` (model.md#events); starts, moves and changes are acts.

    Examples
    --------
    >>> EventKind.FAILURE, EVENT_KINDS[EventKind.FAILURE]
    (<EventKind.FAILURE: 2>, 'failure')
    """

    FINISH = 0
    REPAIR = 1
    FAILURE = 2
    CHECKPOINT = 3
    RESCHEDULE = 4
    ARRIVAL = 5
    START = 6
    MOVE = 7
    WITHDRAWAL = 8
    CHANGE = 9


class JobState(StrEnum):
    """What `Result.jobs` has in its column `state` (model.md#partial); a run that is over has only the last five.

    Each is its word.  Words have no order: `Result.ended` says which jobs have ended.

    Examples
    --------
    >>> import faultsim as fs
    >>> log = fs.Workload(submit=[0, 1], runtime=[10, 5], size=[2, 2], estimate=[10, 4])
    >>> state = fs.simulate(log, fs.Cluster(2), overrun="kill").jobs["state"]
    >>> state.tolist(), (state == fs.JobState.TIMED_OUT).tolist()
    (['ended', 'timed out'], [False, True])
    """

    FUTURE = "future"
    WAITING = "waiting"
    RUNNING = "running"
    HELD = "held"
    ENDED = "ended"
    TIMED_OUT = "timed out"
    KILLED = "killed"
    WITHDRAWN = "withdrawn"
    UNMET = "unmet"


class WorkflowEventKind(IntEnum):
    """What `WorkflowResult.events` has in its column `kind` (workflow-model.md#workflow-events)."""

    FINISH = 0
    REPAIR = 1
    FAILURE = 2
    KILL = 3
    WAKE_UP = 4
    ARRIVAL = 5
    START = 6


#: Name of each `EventKind`.
EVENT_KINDS = tuple(kind.name.lower() for kind in EventKind)
#: Words of each `JobState`, by the number that engines and saved results have for it.
JOB_STATES: Texts = np.array([state.value for state in JobState])
#: Numbers of the states of jobs that have ended are this or more.
FIRST_ENDED = list(JobState).index(JobState.ENDED)
#: Number of the state of jobs that were cut at their limit.
NUMBER_TIMED_OUT = list(JobState).index(JobState.TIMED_OUT)
#: Numbers of the states of jobs that ended without a run are this or more.
FIRST_WITHOUT_RUN = list(JobState).index(JobState.WITHDRAWN)
#: Name of each `WorkflowEventKind`.
WORKFLOW_EVENT_KINDS = tuple(kind.name.lower().replace("_", "-") for kind in WorkflowEventKind)
