"""The event queue, plainly: a list kept in order."""

from bisect import insort


class EventQueue:
    """Events in the order (time, kind, payload), smallest first: the reference implementation of `faultsim.EventQueue`.

    A push costs time in proportion to the events held.  It trusts its caller: the arguments are not checked.

    Examples
    --------
    >>> q = EventQueue()
    >>> q.push(2.0, 0, 7)
    >>> q.push(1.0, 5, 3)
    >>> q.pop()
    (1.0, 5, 3)
    """

    def __init__(self) -> None:
        self._events: list[tuple[float, int, int]] = []

    def __len__(self) -> int:
        return len(self._events)

    def push(self, time: float, kind: int, payload: int) -> None:
        """Add an event."""
        insort(self._events, (float(time), int(kind), int(payload)))

    def pop(self) -> tuple[float, int, int]:
        """Remove and return the next event."""
        if not self._events:
            raise IndexError("pop from an empty event queue")
        return self._events.pop(0)

    def peek(self) -> tuple[float, int, int]:
        """Return the next event and leave it."""
        if not self._events:
            raise IndexError("peek at an empty event queue")
        return self._events[0]

    def clear(self) -> None:
        """Remove every event."""
        self._events.clear()

    def copy(self) -> "EventQueue":
        """Return a queue of its own with the same events."""
        other = EventQueue()
        other._events = self._events.copy()
        return other
