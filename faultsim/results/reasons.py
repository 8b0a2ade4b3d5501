"""Why a job waits: a `Cause` for each rule, a `Reason` with its numbers, and the spans of a wait (model.md#reasons)."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import NamedTuple, overload

from faultsim.data.notebook import table_html
from faultsim.errors import OptionError

#: The resources of a node that jobs share, in the order of their columns.
RESOURCE_WORDS = ("cores", "memory", "GPUs")


def shortage_words(short: Sequence[str], beside: str | None) -> str:
    """What is missing, and beside what.

    Examples
    --------
    >>> shortage_words(("GPUs", "memory"), None), shortage_words(("memory",), "GPUs")
    ('GPUs and memory', 'memory beside free GPUs')
    """
    return " and ".join(short) + (f" beside free {beside}" if beside else "")


class Cause(StrEnum):
    """What keeps a job from starting, or where it is if nothing does (model.md#reasons).  Each is its word.

    Examples
    --------
    >>> import faultsim as fs
    >>> fs.Cause.NO_ROOM, fs.Cause.NO_ROOM == "no room"
    (<Cause.NO_ROOM: 'no room'>, True)
    """

    #: The job has not been submitted yet.
    NOT_SUBMITTED = "not submitted"
    #: It has been submitted, and its conditions, its earliest start or its array do not allow it to begin yet.
    NOT_ELIGIBLE = "not eligible"
    #: It has been submitted, and is on hold until it is released.
    ON_HOLD = "on hold"
    #: It needs more nodes than are free.
    NO_ROOM = "no room"
    #: Enough nodes are free, but no place (box, slice) of its size or larger, or of its shape.
    FRAGMENTED = "fragmented"
    #: It would not fit if no other job held a node: too many are down.
    NODES_DOWN = "nodes down"
    #: It fits, but not without nodes that are drained.
    DRAINED = "nodes drained"
    #: It fits, but would hold nodes while they are reserved for others.
    CLOSED = "nodes reserved"
    #: It would fit if the run kept no nodes back: `Static`, or the spare cubes of a pod.
    LIMIT = "limit"
    #: Places are free, but they are larger than ``max_growth`` lets a backfilled job have.
    TOO_LARGE = "places too large"
    #: It fits, but the queue is served in order, and its head cannot start.
    BEHIND_HEAD = "behind the head"
    #: It fits, but would delay the reservation of the head.
    WOULD_DELAY = "would delay the head"
    #: It fits, but the reservation of another job is in its way.
    RESERVED = "reserved"
    #: It fits, but a scheduler that is not one of the package, or the caller, has not started it.
    OUTSIDE = "decided outside"
    #: Nothing: a pass as of now would start it.
    NEXT_PASS = "next pass"
    #: It keeps its nodes, and waits until they are repaired.
    HELD = "held"
    #: Its nodes are taken, and its start delay runs.
    START_DELAY = "start delay"
    #: It runs.
    RUNNING = "running"
    #: It has ended.
    ENDED = "ended"


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a job does not start at a moment, as its scheduler decided; ``str`` gives one line.

    Attributes
    ----------
    cause : Cause
        The rule.  All other attributes are None where the rule has no such number.
    until : float
        When the cause is expected to be over (s), ``inf`` if never: the submit time; the earliest start, of a job that
        waits for no other (NOT_ELIGIBLE); the first release after which the
        job finds room, if no other job starts (NO_ROOM, FRAGMENTED, NODES_DOWN, LIMIT); its own reservation, with
        conservative backfilling (RESERVED); when its nodes are expected to be up (HELD); its start (START_DELAY); its
        expected end (RUNNING).
    needed, free : int
        Nodes that it needs (rounded up to a place's size, with hot spares), and that are free and may be taken.
    largest : int
        FRAGMENTED: nodes of the largest free place.  TOO_LARGE: of the largest place that it may have.
    kept_back : int
        LIMIT: free nodes (on a pod: cubes) that the run keeps back.
    up : int
        NODES_DOWN: nodes that are not down.
    blocker : int
        The row of the job in the way: the head of the queue, the job with the reservation, or the first job that has
        to end, or begin, before (NOT_ELIGIBLE).
    blocker_id : int or str
        Its id in the log, which `str` names.
    begin : float
        When the reservation in the way begins (s); CLOSED: that of the nodes, whose end is `until`.
    extra : int
        WOULD_DELAY on a cluster with EASY backfilling: nodes that the head leaves free at that time.
    ends : float
        When the job would be expected to end if it started now (s).
    because : Reason
        BEHIND_HEAD: why the head waits.
    start, finish : float
        RUNNING, ENDED: its times (s); START_DELAY: only the first.
    reservation : str
        CLOSED: the name of the reservation.
    request : str
        On a `Site` whose nodes jobs share, what the job requests.  `needed`, `free` and `up` are then nodes, or cores
        of a job of any number of nodes: `free`, those that can serve it now; `up`, those that could if no job ran.
    short : tuple of str
        NO_ROOM on such a site: "GPUs", "memory", "cores", each of which is missing by itself (model.md#site-reasons),
        or "empty nodes".  FRAGMENTED there: empty, as each is free by itself.
    beside : str
        NO_ROOM on such a site: "GPUs" or "cores", of which enough is free by itself.
    shortage : str
        `short` and `beside` in words, as "memory beside free GPUs"; None elsewhere.

    Examples
    --------
    >>> import faultsim as fs
    >>> log = fs.Workload(submit=[0, 1], runtime=[10, 5], size=[2, 2])
    >>> sim = fs.Simulation(log, fs.Cluster(3))
    >>> sim.run(until=5)
    >>> reason = sim.why(1)
    >>> reason.cause, reason.needed, reason.free, reason.until
    (<Cause.NO_ROOM: 'no room'>, 2, 1, 10.0)
    >>> print(reason)
    no room: needs 2 nodes, 1 is free; room is expected at 10 s
    """

    cause: Cause
    until: float | None = None
    needed: int | None = None
    free: int | None = None
    largest: int | None = None
    kept_back: int | None = None
    up: int | None = None
    blocker: int | None = None
    blocker_id: int | str | None = None
    begin: float | None = None
    extra: int | None = None
    ends: float | None = None
    because: "Reason | None" = None
    start: float | None = None
    finish: float | None = None
    reservation: str | None = None
    request: str | None = None
    short: tuple[str, ...] | None = None
    beside: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.cause, Cause):
            raise OptionError(f"Reason: cause must be one of faultsim.Cause, got {self.cause!r:.60}")

    def as_dict(self) -> dict[str, object]:
        """The attributes that are not None, for JSON: an infinite time is None.

        Examples
        --------
        >>> import faultsim as fs
        >>> fs.Reason(fs.Cause.HELD, until=float("inf")).as_dict()
        {'cause': 'held', 'until': None}
        """
        out: dict[str, object] = {"cause": str(self.cause)}
        for field in fields(self)[1:]:
            value = getattr(self, field.name)
            if isinstance(value, Reason):
                out[field.name] = value.as_dict()
            elif value is not None:
                out[field.name] = None if value == math.inf else value
        return out

    @property
    def shortage(self) -> str | None:
        """What is missing on a site whose nodes jobs share.

        Examples
        --------
        >>> import faultsim as fs
        >>> fs.Reason(fs.Cause.NO_ROOM, short=("memory",), beside="GPUs").shortage
        'memory beside free GPUs'
        """
        return shortage_words(self.short, self.beside) if self.short else None

    def __repr__(self) -> str:
        given = (field.name for field in fields(self)[1:] if getattr(self, field.name) is not None)
        more = "".join(f", {name}={getattr(self, name)!r}" for name in given)
        return f"Reason(Cause.{self.cause.name}{more})"

    def __str__(self) -> str:
        return f"{self.cause}{_TEXTS[self.cause](self)}"


def _at(time: float | None) -> str:
    """A time in words; "unknown" for one that nothing tells."""
    return "an unknown time" if time is None or math.isinf(time) else f"{time:.15g} s"


def _nodes(count: int | None) -> str:
    return f"{count} node" if count == 1 else f"{count} nodes"


def _asked(r: Reason) -> str:
    return r.request or _nodes(r.needed)


def _free(r: Reason) -> str:
    if r.request is not None:
        waits = f", waits for {r.shortage}" if r.shortage else ""
        return f": needs {r.request}{waits}"
    return f": needs {_nodes(r.needed)}, {r.free} {'is' if r.free == 1 else 'are'} free"


def _room(r: Reason) -> str:
    if r.until is None:
        return "when it finds room depends on the nodes that are reserved or drained"
    return "no release is known to make room" if r.until == math.inf else f"room is expected at {_at(r.until)}"


def _fragmented(r: Reason) -> str:
    if r.request is not None:
        return f"{_free(r)}, of which each is free, but not on the same nodes; {_room(r)}"
    return f"{_free(r)}, the largest free place has {r.largest}; {_room(r)}"


def _nodes_down(r: Reason) -> str:
    if r.request is not None:
        return f": needs {r.request}, and too many nodes that could serve it are down; {_room(r)}"
    return f": needs {_nodes(r.needed)}, {r.up} are up; {_room(r)}"


def _closed(r: Reason) -> str:
    name = f"reservation {r.reservation!r}" if r.reservation else "the reservation"
    when = f"{name} of {_at(r.begin)} to {_at(r.until)}"
    return f": would reach into {when}; this job would take {_asked(r)} and end at {_at(r.ends)}"


def _delays(r: Reason) -> str:
    if r.begin is None:
        return f": job {r.blocker_id} is first, and waits: {r.because}"
    less = "" if r.extra is None else f", which leaves {_nodes(max(r.extra, 0))}"
    when = f"the reservation of job {r.blocker_id} at {_at(r.begin)}{less}"
    return f": {when}; this job would take {_asked(r)} and end at {_at(r.ends)}"


def _reserved(r: Reason) -> str:
    if r.begin is None:
        own = "" if r.until is None else f"; its own begins at {_at(r.until)}"
        said = f"this job would take {_asked(r)} and end at {_at(r.ends)}"
        return f": reservations of other jobs are in the way; {said}{own}"
    own = "" if r.until is None else f"; its own begins at {_at(r.until)}"
    if r.until == math.inf:
        own = "; it has no reservation itself"
    when = f"the reservation of job {r.blocker_id} at {_at(r.begin)}"
    return f": {when} is in the way; this job would take {_asked(r)} and end at {_at(r.ends)}{own}"


def _not_eligible(r: Reason) -> str:
    if r.blocker is not None:
        return f": waits for job {r.blocker_id}"
    if r.until is not None:
        return f": its earliest start is {_at(r.until)}"
    return ": its array has no slot for it, or a delay after another job runs"


_TEXTS: dict[Cause, Callable[[Reason], str]] = {
    Cause.NOT_ELIGIBLE: _not_eligible,
    Cause.ON_HOLD: lambda r: ": until it is released",
    Cause.NOT_SUBMITTED: lambda r: f": its submit time is {_at(r.until)}",
    Cause.NO_ROOM: lambda r: f"{_free(r)}; {_room(r)}",
    Cause.FRAGMENTED: _fragmented,
    Cause.NODES_DOWN: _nodes_down,
    Cause.DRAINED: lambda r: (
        f": needs {r.request or _nodes(r.needed)}, {r.free} of those that are free are not drained"
    ),
    Cause.CLOSED: _closed,
    Cause.LIMIT: lambda r: f"{_free(r)}, and {r.kept_back} more are kept back; {_room(r)}",
    Cause.TOO_LARGE: lambda r: f": needs {_nodes(r.needed)}, may have up to {r.largest}, and free places are larger",
    Cause.BEHIND_HEAD: lambda r: f": job {r.blocker_id} is first, and waits: {r.because}",
    Cause.WOULD_DELAY: _delays,
    Cause.RESERVED: _reserved,
    Cause.OUTSIDE: lambda r: f"{_free(r)}, and the scheduler has not started it",
    Cause.NEXT_PASS: lambda r: ": nothing is in its way any more",
    Cause.HELD: lambda r: f": its nodes are expected to be up at {_at(r.until)}",
    Cause.START_DELAY: lambda r: f": it has its nodes, and starts at {_at(r.until)}",
    Cause.RUNNING: lambda r: f": since {_at(r.start)}, expected to end at {_at(r.until)}",
    Cause.ENDED: lambda r: f": from {_at(r.start)} to {_at(r.finish)}",
}


class Span(NamedTuple):
    """A part of a wait: from `begin` to `end` (s) the reason was `reason`.

    Examples
    --------
    >>> import faultsim as fs
    >>> log = fs.Workload(submit=[0, 1], runtime=[10, 5], size=[2, 2])
    >>> span = fs.simulate(log, fs.Cluster(2)).why(1)[0]
    >>> span.begin, span.end, span.reason.cause
    (1.0, 10.0, <Cause.NO_ROOM: 'no room'>)
    """

    begin: float
    end: float
    reason: Reason


class Why(Sequence[Span]):
    """Why a job waited: the spans of its wait in order of time, as `Result.why` returns them.

    Equal reasons that follow each other are one span.  ``str`` gives one line for each stretch with one cause and one
    job in the way.

    Attributes
    ----------
    job : int
        Row of the job in the result.
    id : int or str
        Its id in the log.

    Examples
    --------
    >>> import faultsim as fs
    >>> log = fs.Workload(submit=[0, 1, 2], runtime=[10, 5, 20], size=[2, 3, 1], id=[7, 8, 9])
    >>> why = fs.simulate(log, fs.Cluster(3)).why(2)
    >>> print(why)
    job 9 waited 13 s
           2 s to        10 s       8 s  would delay the head: the reservation of job 8 at 10 s, which leaves 0 nodes; \
this job would take 1 node and end at 22 s
          10 s to        15 s       5 s  no room: needs 1 node, 0 are free; room is expected at 15 s
    >>> len(why), why[0].end, why.seconds["no room"]
    (2, 10.0, 5.0)
    """

    __slots__ = ("_spans", "id", "job")

    def __init__(self, job: int, id: int | str, spans: Sequence[Span]) -> None:
        self.job, self.id = job, id
        self._spans = tuple(merged(spans))

    @overload
    def __getitem__(self, at: int) -> Span: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[Span, ...]: ...
    def __getitem__(self, at: int | slice) -> Span | tuple[Span, ...]:
        return self._spans[at]

    def __len__(self) -> int:
        return len(self._spans)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Why):
            return NotImplemented
        return (self.job, self.id, self._spans) == (other.job, other.id, other._spans)

    def __hash__(self) -> int:
        return hash((self.job, self.id, self._spans))

    @property
    def seconds(self) -> Mapping[Cause, float]:
        """Cause -> seconds of the wait, in the order in which the causes come first."""
        found: dict[Cause, float] = {}
        for span in self._spans:
            found[span.reason.cause] = found.get(span.reason.cause, 0.0) + (span.end - span.begin)
        return found

    def as_dict(self) -> dict[str, object]:
        """For JSON: the job, its id, the seconds by cause, and the spans."""
        return {
            "job": self.job,
            "id": self.id,
            "seconds": {str(cause): seconds for cause, seconds in self.seconds.items()},
            "spans": [{"begin": span.begin, "end": span.end, "reason": span.reason.as_dict()} for span in self._spans],
        }

    def _stretches(self) -> Iterator[tuple[Span, int]]:
        """The first reason of each stretch with one cause and one job in the way, and how many spans it has."""
        first, count = None, 0
        for span in self._spans:
            if first is not None and first.end == span.begin and _key(first.reason) == _key(span.reason):
                first, count = first._replace(end=span.end), count + 1
                continue
            if first is not None:
                yield first, count
            first, count = span, 1
        if first is not None:
            yield first, count

    def _rows(self) -> list[tuple[str, str, str, str]]:
        return [
            (
                f"{span.begin:.15g} s",
                f"{span.end:.15g} s",
                f"{span.end - span.begin:.15g} s",
                f"{span.reason}{f' (at first; {count} states)' if count > 1 else ''}",
            )
            for span, count in self._stretches()
        ]

    def __repr__(self) -> str:
        return f"<Why: job {self.id}, {len(self)} spans, {sum(self.seconds.values()):.15g} s>"

    def __str__(self) -> str:
        lines = [f"job {self.id} waited {sum(self.seconds.values()):.15g} s"]
        lines += [f"{begin:>12} to {end:>11} {length:>9}  {text}" for begin, end, length, text in self._rows()]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return table_html(f"why job {self.id} waited", ("from", "to", "for", "reason"), self._rows(), [])


def _key(reason: Reason) -> tuple[Cause, int | None]:
    return reason.cause, reason.blocker


def merged(spans: Sequence[Span]) -> list[Span]:
    """Spans that meet and have equal reasons as one; empty ones are left out."""
    found: list[Span] = []
    for span in spans:
        if span.end <= span.begin:
            continue
        if found and found[-1].end == span.begin and found[-1].reason == span.reason:
            found[-1] = found[-1]._replace(end=span.end)
        else:
            found.append(span)
    return found
