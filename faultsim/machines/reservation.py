"""`Reservation`: nodes that are closed to most jobs at known times, as for maintenance (model.md#absences)."""

import math
import operator
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from faultsim import checks
from faultsim.arrays import Integers
from faultsim.data.failures import FailureTrace
from faultsim.errors import InputError, OptionError
from faultsim.machines.box import Box
from faultsim.machines.machine import Machine

Overrun = Literal["wait", "kill"]
_FORMS = "'all', '0-15+20', 'box=0+0+0+4+4+4', 'cubes=0-3', 'classes=cpu+gpu' or 'partition=debug'"
#: How nodes are named; `_BY_NAME` by names that the machine has.
_WHERE, _BY_NAME = ("nodes", "box", "cubes", "classes", "partition"), ("classes", "partition")
_TIMES = ("begin", "end", "every")


@dataclass(frozen=True)
class Reservation:
    """Nodes that are reserved from `begin` to `end`: a job that is not its users' and may reach into that time is not
    placed on them.

    A job reaches as far as its estimate.  When the reservation begins, a job that exceeds its estimate may still hold
    such nodes.

    Parameters
    ----------
    nodes : "all", str or sequence of int, optional
        The nodes: all of the machine, numbers, or ranges as text, ``"0-15+20"``.  Text may also name a box, cubes,
        node classes or a partition, ``"box=0+0+0+4+4+4"``, ``"cubes=0-3"``, ``"classes=cpu+gpu"``,
        ``"partition=debug"``.
    begin, end : float or duration
        Seconds on the clock of the log, or text with a unit: ``"12h"``.  `end` itself does not belong to it.
    users : int or sequence of int, optional
        The users (numbers of the column `user`) whose jobs may hold the nodes; by default there are none, as in a
        maintenance.
    name : str
        For output and figures.
    every : float or duration, optional
        It is repeated after so many seconds, without end: ``"7d"``.
    overrun : {"wait", "kill"}, default "wait"
        What happens at `begin` to a job that still holds such nodes and is not the users': it continues, and the nodes
        are closed when it ends; or it is killed for good.
    box : Box or sequence of six int, optional
        Instead of `nodes`, on a torus: base (x, y, z) and extents (a, b, c).
    cubes : str or sequence of int, optional
        Instead of `nodes`, on a pod: the numbers of cubes, of which all hosts are reserved.
    classes : str or sequence of str, optional
        Instead of `nodes`, on a site: the names of node classes.
    partition : str, optional
        Instead of `nodes`, on a site: the name of a partition, of which all nodes are reserved for all jobs.

    Raises
    ------
    OptionError
        If it ends before it begins, is repeated before it ends, or names no nodes, or names them in two ways.

    Examples
    --------
    >>> import faultsim as fs
    >>> log = fs.Workload(submit=[0, 0], runtime=[3600, 7200], size=[2, 4])
    >>> maintenance = fs.Reservation("all", "1h", "3h", name="maintenance")
    >>> maintenance
    Reservation('all', begin=3600, end=10800, name='maintenance')
    >>> fs.simulate(log, fs.Cluster(4), reservations=maintenance).jobs["start"]
    array([    0., 10800.])
    """

    nodes: Any = None
    begin: float = 0.0
    end: float = math.inf
    users: tuple[int, ...] | None = None
    name: str = ""
    every: float | None = None
    overrun: Overrun = "wait"
    box: Box | None = None
    cubes: tuple[int, ...] | None = None
    classes: tuple[str, ...] | None = None
    partition: str | None = None

    if TYPE_CHECKING:

        def __init__(
            self,
            nodes: str | Sequence[int] | None = None,
            begin: checks.Duration = 0.0,
            end: checks.Duration = math.inf,
            users: int | Iterable[int] | None = None,
            name: str = "",
            every: checks.Duration | None = None,
            overrun: Overrun = "wait",
            box: Sequence[int] | None = None,
            cubes: str | Sequence[int] | None = None,
            classes: str | Sequence[str] | None = None,
            partition: str | None = None,
        ) -> None: ...

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "begin", checks.duration("begin of a reservation", self.begin, low=0.0))
        put(self, "end", checks.duration("end of a reservation", self.end, low=0.0, endless=True))
        if not self.end > self.begin:
            raise OptionError(f"a reservation must end after it begins, got begin={self.begin:g}, end={self.end:g}")
        if self.every is not None:
            put(self, "every", checks.duration("every of a reservation", self.every, above=0.0))
            if not self.end - self.begin < self.every:
                raise OptionError(
                    f"a reservation of {self.end - self.begin:g} s cannot be repeated every {self.every:g} s: with no "
                    f"time between, leave out every= and give a later end"
                )
        if not isinstance(self.name, str):
            raise OptionError(f"the name of a reservation must be text, got {checks.shown(self.name)}")
        checks.choice("overrun of a reservation", self.overrun, get_args(Overrun))
        if self.users is not None:
            users = [self.users] if isinstance(self.users, int) else self.users
            if isinstance(users, str):
                raise OptionError(
                    f"users of a reservation are numbers of the log's column 'user', such as users=7 or users=[7, 9], "
                    f"not names, got {users!r:.60}"
                )
            put(self, "users", tuple(sorted(set(_numbers("users", users)))))
        self._read_text()
        given = [what for what in _WHERE if getattr(self, what) is not None]
        if len(given) != 1:
            got = " and ".join(f"{what}=" for what in given) or "none of them"
            raise OptionError(f"a reservation has nodes, box=, cubes=, classes= or partition=, got {got}")
        self._read_names()
        if self.nodes is not None and not isinstance(self.nodes, str):
            put(self, "nodes", tuple(sorted(set(_numbers("nodes", self.nodes)))))
        if self.cubes is not None:
            put(self, "cubes", tuple(sorted(set(_numbers("cubes", self.cubes)))))
        if self.box is not None:
            numbers = _numbers("box", self.box)
            if len(numbers) != 6:
                raise OptionError(
                    f"the box of a reservation is six numbers (x, y, z, a, b, c), base and extents, got "
                    f"{self.box!r:.60}"
                )
            put(self, "box", Box(*numbers))

    def _read_names(self) -> None:
        if self.classes is not None:
            given = self.classes.split("+") if isinstance(self.classes, str) else self.classes
            names = list(given) if isinstance(given, Iterable) else [given]
            if not names or not all(isinstance(name, str) and name for name in names):
                raise OptionError(f"classes of a reservation must be names of node classes, got {self.classes!r:.60}")
            object.__setattr__(self, "classes", tuple(names))
        if self.partition is not None and not isinstance(self.partition, str):
            raise OptionError(f"the partition of a reservation must be a name, got {checks.shown(self.partition)}")

    def _read_text(self) -> None:
        put = object.__setattr__
        if isinstance(self.nodes, str) and self.nodes.strip().lower() != "all":
            kind, equals, rest = self.nodes.strip().partition("=")
            if equals and kind in _WHERE[1:]:
                if getattr(self, kind) is not None:
                    raise OptionError(f"a reservation has {kind}= and {self.nodes!r}: give one of them")
                put(self, kind, rest if kind in _BY_NAME else _ranges(rest, sort=kind == "cubes"))
                put(self, "nodes", None)
            else:
                put(self, "nodes", _ranges(self.nodes, sort=True))
        elif isinstance(self.nodes, str):
            put(self, "nodes", "all")
        if isinstance(self.cubes, str):
            put(self, "cubes", _ranges(self.cubes, sort=True))

    def __repr__(self) -> str:
        where = f"cubes={self.cubes!r}" if self.cubes is not None else f"box={tuple(self.box)!r}" if self.box else None
        where = f"classes={'+'.join(self.classes)!r}" if self.classes is not None else where
        where = f"partition={self.partition!r}" if self.partition is not None else where
        if where is None:
            where = repr(self.nodes) if self.nodes == "all" else repr(_as_ranges(self.nodes))
        said = [where, f"begin={self.begin:g}", f"end={self.end:g}"]
        said += [f"{what}={getattr(self, what)!r}" for what in ("users", "name") if getattr(self, what)]
        said += [f"every={self.every:g}"] if self.every is not None else []
        said += [f"overrun={self.overrun!r}"] if self.overrun != "wait" else []
        return f"Reservation({', '.join(said)})"

    def __str__(self) -> str:
        """As text, as on the command line."""
        where = f"box={'+'.join(map(str, self.box))}" if self.box is not None else ""
        where = f"cubes={_as_ranges(self.cubes)}" if self.cubes is not None else where
        where = f"classes={'+'.join(self.classes)}" if self.classes is not None else where
        where = f"partition={self.partition}" if self.partition is not None else where
        where = where or (self.nodes if self.nodes == "all" else _as_ranges(self.nodes))
        said = [f"begin={self.begin!r}", f"end={self.end!r}"]
        said += [f"users={'+'.join(map(str, self.users))}"] if self.users is not None else []
        said += [f"every={self.every!r}"] if self.every is not None else []
        said += [f"overrun={self.overrun}"] if self.overrun != "wait" else []
        said += [f"name={self.name}"] if self.name else []
        return f"{where}:{','.join(said)}"

    def node_numbers(self, machine: Machine) -> Integers:
        """The nodes on a machine, ascending.

        Raises
        ------
        InputError
            If the machine has no such nodes, boxes, cubes, classes or partition.
        """
        if self.nodes == "all":
            return np.arange(machine.nodes, dtype=np.int32)
        if self.box is not None:
            return self._of_box(machine, self.box)
        if self.cubes is not None:
            blocks = machine.blocks
            if blocks is None:
                raise InputError(f"{self!r}: {machine} has no cubes: give nodes=")
            self._check("cube", self.cubes, blocks[0], machine)
            first = np.array(self.cubes, np.int32) * np.int32(blocks[1])
            hosts: Integers = np.add.outer(first, np.arange(blocks[1], dtype=np.int32)).ravel()
            return hosts
        if self.classes is not None:
            each = [machine.nodes_named("class", name) for name in self.classes]
            return np.unique(np.concatenate(each)).astype(np.int32)
        if self.partition is not None:
            return machine.nodes_named("partition", self.partition)
        self._check("node", self.nodes, machine.nodes, machine)
        return np.array(self.nodes, np.int32)

    def _of_box(self, machine: Machine, box: Box) -> Integers:
        shape = machine.shape
        if shape is None:
            raise InputError(f"{self!r}: the nodes of {machine} have no coordinates: give nodes=")
        for base, extent, length in zip(box[:3], box[3:], shape, strict=True):
            past = not machine.wraps and base + extent > length
            if not (0 <= base < length and 1 <= extent <= length) or past:
                raise InputError(f"{self!r}: {tuple(box)} is no box of {machine}")
        axes = [
            (np.arange(extent) + base) % length for base, extent, length in zip(box[:3], box[3:], shape, strict=True)
        ]
        numbers = np.arange(machine.nodes, dtype=np.int32).reshape(shape)[np.ix_(*axes)].ravel()
        return np.sort(numbers)

    def _check(self, kind: str, numbers: Sequence[int], end: int, machine: Machine) -> None:
        for number in numbers:
            if not 0 <= number < end:
                raise InputError(f"{self!r}: {machine} has no {kind} {number}; {kind}s are 0 to {end - 1:,}")


def parse_reservation(text: str) -> Reservation:
    """A reservation from text, as on the command line: the nodes, a colon, and its parameters.

    Examples
    --------
    >>> parse_reservation("0-15+20:begin=1d,end=1d4h,every=7d,name=maintenance")
    Reservation('0-15+20', begin=86400, end=100800, name='maintenance', every=604800)
    """
    where, colon, rest = str(text).partition(":")
    if not colon:
        raise OptionError(
            f"a reservation is nodes, a colon and times, as 'all:begin=7d,end=7d6h,every=7d', got {text!r:.80}; the "
            f"nodes are {_FORMS}"
        )
    given: dict[str, Any] = {}
    rest, _, name = rest.partition("name=") if "name=" in rest else (rest, "", "")
    for part in filter(None, (part.strip() for part in rest.split(","))):
        what, equals, value = part.partition("=")
        if not equals or what not in ("users", "overrun", *_TIMES):
            hint = checks.did_you_mean(what, ("users", "overrun", "name", *_TIMES))
            raise OptionError(
                f"reservation {text!r:.80}: {part!r} is none of begin=, end=, every=, users=, overrun= and, last, "
                f"name={hint}"
            )
        if what in given:
            raise OptionError(f"reservation {text!r:.80}: {what}= is given twice")
        given[what] = value
    for what in _TIMES:
        if what in given and checks.seconds(given[what]) is None:
            try:
                given[what] = checks.parsed(given[what], float)
            except ValueError:
                raise OptionError(
                    f"reservation {text!r:.80}: {what}={given[what]!r} is no time: give seconds, or '90s', '5m', '2h', "
                    f"'7d'"
                ) from None
    for what in ("begin", "end"):
        if what not in given:
            raise OptionError(f"reservation {text!r:.80}: {what}= is missing")
    if "users" in given:
        try:
            given["users"] = _ranges(given["users"], sort=True)
        except OptionError:
            raise OptionError(
                f"reservation {text!r:.80}: users={given['users']!r} is none of numbers of the log's column 'user', "
                f"such as users=7 or users=7+9"
            ) from None
    return Reservation(where.strip(), **given, name=name.strip())


def as_reservations(given: object) -> tuple[Reservation, ...]:
    """Reservations of a run, which may be given as text, alone or several."""
    if given is None:
        return ()
    several: Iterable[object] = (given,) if isinstance(given, str | Reservation | FailureTrace) else ()
    if not several:
        if not isinstance(given, Iterable):
            raise OptionError(f"reservations must be of class Reservation, or text, got {checks.shown(given)}")
        several = given
    found: list[Reservation] = []
    for each in several:
        if isinstance(each, str):
            found.append(parse_reservation(each))
        elif isinstance(each, FailureTrace):
            found += of_outages(each)
        elif isinstance(each, Reservation):
            found.append(each)
        else:
            raise OptionError(f"reservations must be of class Reservation, or text, got {checks.shown(each)}")
    return tuple(found)


def of_outages(trace: FailureTrace) -> list[Reservation]:
    """Outages that are planned, as reservations: those of equal begin and end are one."""
    trace.refuse_parts("reservations")
    together: dict[tuple[float, float], list[int]] = {}
    for time, node, downtime in zip(trace.time.tolist(), trace.node.tolist(), trace.downtime.tolist(), strict=True):
        if downtime > 0.0:
            together.setdefault((time, time + downtime), []).append(node)
    return [Reservation(nodes, begin, end, name="outage") for (begin, end), nodes in together.items()]


def _numbers(what: str, values: object) -> list[int]:
    if isinstance(values, int) or not isinstance(values, Iterable) or getattr(values, "ndim", 1) == 0:
        raise OptionError(f"{what} of a reservation must be numbers, as [0, 1, 2] or range(16), got {values!r:.60}")
    found = []
    for value in values:
        try:
            found.append(checks.whole(f"{what} of a reservation", operator.index(value), low=0))
        except TypeError:
            of = ", those of the log's column 'user'" if what == "users" else ""
            raise OptionError(f"{what} of a reservation must be whole numbers{of}, got {value!r:.60}") from None
    if not found:
        raise OptionError(f"{what} of a reservation: none is named")
    return found


def _ranges(text: str, *, sort: bool) -> tuple[int, ...]:
    """Numbers of ``"0-15+20"``."""
    found: list[int] = []
    for part in text.split("+"):
        low, dash, high = part.strip().partition("-")
        try:
            first = checks.parsed(low, int)
            last = checks.parsed(high, int) if dash else first
        except ValueError:
            raise OptionError(f"nodes of a reservation: {text!r:.60} is none of {_FORMS}") from None
        if last < first or last - first > 10**8:
            raise OptionError(f"nodes of a reservation: {part.strip()!r} in {text!r:.60} is no range")
        found += range(first, last + 1)
    return tuple(sorted(set(found))) if sort else tuple(found)


def _as_ranges(numbers: Sequence[int]) -> str:
    parts: list[list[int]] = []
    for number in numbers:
        if parts and number == parts[-1][1] + 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    return "+".join(str(low) if low == high else f"{low}-{high}" for low, high in parts)
