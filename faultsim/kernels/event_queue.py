"""The Python interface of the event queue."""

import math
from collections.abc import Iterable
from operator import index

from faultsim._core.containers.event_queue import EventHeap
from faultsim.errors import InputError, OptionError

Event = tuple[float, int, int]

_RANGES = {"kind": 2**31, "payload": 2**63}


class EventQueue:
    """Events in the total order (time, kind, payload), smallest first.

    This is the heap that drives the engine.  `kind` orders what happens at one instant (the engine's own kinds: 0
    finish, 1 repair, 2 failure, 3 checkpoint, 4 reschedule, 5 arrival), and `payload`, a job or node number, orders
    events of one kind.  The three numbers are the whole event, so ties beyond them cannot be told apart.

    Parameters
    ----------
    events : iterable of (time, kind, payload), optional
        Events to begin with, in any order.

    Notes
    -----
    Push and pop cost O(log n), copy O(n).  `copy.copy` and pickle work.

    Examples
    --------
    >>> import faultsim as fs
    >>> q = fs.EventQueue()
    >>> q.push(10.0, 5, 0)      # job 0 arrives
    >>> q.push(10.0, 0, 3)      # job 3 ends at the same instant: first
    >>> q.peek()
    (10.0, 0, 3)
    >>> [q.pop() for _ in range(len(q))]
    [(10.0, 0, 3), (10.0, 5, 0)]
    >>> bool(q)
    False
    """

    __slots__ = ("_heap",)

    def __init__(self, events: Iterable[Event] = ()) -> None:
        self._heap = EventHeap()
        try:
            for time, kind, payload in events:
                self.push(time, kind, payload)
        except InputError:
            raise
        except (TypeError, ValueError):
            raise OptionError(f"EventQueue: events must be (time, kind, payload), got {events!r:.60}") from None

    def __len__(self) -> int:
        return len(self._heap)

    def __repr__(self) -> str:
        n = len(self)
        return f"<EventQueue: {n} event{'' if n == 1 else 's'}{f', next {self.peek()}' if n else ''}>"

    def push(self, time: float, kind: int, payload: int) -> None:
        """Add an event.

        Parameters
        ----------
        time : float
            Seconds; infinite is allowed, NaN is not.
        kind : int
            Rank among the events of one instant, a whole number of 32 bits.
        payload : int
            Rank within a kind, a whole number of 64 bits.

        Raises
        ------
        InputError
            If an argument is not such a number; the queue is then unchanged.

        Examples
        --------
        >>> import faultsim as fs
        >>> q = fs.EventQueue()
        >>> q.push(1.5, 0, 42)
        >>> len(q)
        1
        """
        try:
            self._heap.push(_time(time), index(kind), index(payload))
        except (TypeError, OverflowError):
            raise InputError(_complaint(kind, payload)) from None

    def pop(self) -> Event:
        """Remove and return the next event.

        Returns
        -------
        tuple of (float, int, int)
            Time in seconds, kind, payload.

        Raises
        ------
        IndexError
            If the queue is empty.

        Examples
        --------
        >>> import faultsim as fs
        >>> fs.EventQueue([(2.0, 0, 1), (1.0, 0, 2)]).pop()
        (1.0, 0, 2)
        """
        return self._heap.pop()

    def peek(self) -> Event:
        """Return the next event and leave it in the queue.

        Raises
        ------
        IndexError
            If the queue is empty.

        Examples
        --------
        >>> import faultsim as fs
        >>> fs.EventQueue([(2.0, 0, 1), (1.0, 0, 2)]).peek()
        (1.0, 0, 2)
        """
        return self._heap.peek()

    def clear(self) -> None:
        """Remove every event.

        Examples
        --------
        >>> import faultsim as fs
        >>> q = fs.EventQueue([(2.0, 0, 1)])
        >>> q.clear()
        >>> len(q)
        0
        """
        self._heap.clear()

    def copy(self) -> "EventQueue":
        """Return an independent queue with the same events.

        Examples
        --------
        >>> import faultsim as fs
        >>> q = fs.EventQueue([(2.0, 0, 1)])
        >>> other = q.copy()
        >>> _ = q.pop()
        >>> len(q), len(other)
        (0, 1)
        """
        other = EventQueue()
        other._heap = self._heap.copy()
        return other

    __copy__ = copy

    def __reduce__(self) -> tuple[type["EventQueue"], tuple[list[Event]]]:
        rest = self._heap.copy()
        return EventQueue, ([rest.pop() for _ in range(len(rest))],)


def _time(time: float) -> float:
    try:
        seconds = math.nan if isinstance(time, str | bytes) else float(time)
    except (TypeError, ValueError, OverflowError):
        seconds = math.nan
    if math.isnan(seconds):
        raise InputError(f"event queue: time must be a number of seconds, not {time!r}")
    return seconds


def _complaint(kind: object, payload: object) -> str:
    """Say which of the two arguments is not a whole number, or does not fit."""
    for name, value in (("kind", kind), ("payload", payload)):
        bound = _RANGES[name]
        try:
            number = index(value)  # type: ignore[arg-type]
        except TypeError:
            return f"event queue: {name} must be a whole number, not {value!r}"
        if not -bound <= number < bound:
            return f"event queue: {name} must lie in {-bound}..{bound - 1}, not {value!r}"
    return f"event queue: kind {kind!r} or payload {payload!r} is not a whole number that fits"
