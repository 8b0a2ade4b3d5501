"""Kinds of events by number, in the order in which an instant handles them."""

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
#: Name of each `WorkflowEventKind`.
WORKFLOW_EVENT_KINDS = tuple(kind.name.lower().replace("_", "-") for kind in WorkflowEventKind)
