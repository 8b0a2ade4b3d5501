"""Kinds of events by number, in the order in which an instant handles them, and what can have become of a job."""

from enum import IntEnum


class EventKind(IntEnum):
    """What `Result.events` has in its column `kind` (model.md#events); starts and moves are what passes and ticks did.

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


class JobState(IntEnum):
    """What `Result.jobs` has in its column `state` (model.md#partial); a run that is over has only the last three.

    Examples
    --------
    >>> import faultsim as fs
    >>> log = fs.Workload(submit=[0, 1], runtime=[10, 5], size=[2, 2], estimate=[10, 4])
    >>> [fs.JobState(state).name for state in fs.simulate(log, fs.Cluster(2), overrun="kill").jobs["state"]]
    ['ENDED', 'TIMED_OUT']
    """

    FUTURE = 0
    WAITING = 1
    RUNNING = 2
    HELD = 3
    ENDED = 4
    TIMED_OUT = 5
    KILLED = 6


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
#: Name of each `JobState`.
JOB_STATES = tuple(state.name.lower().replace("_", " ") for state in JobState)
#: Name of each `WorkflowEventKind`.
WORKFLOW_EVENT_KINDS = tuple(kind.name.lower().replace("_", "-") for kind in WorkflowEventKind)
