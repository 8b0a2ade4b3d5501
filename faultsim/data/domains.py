"""`Domains`: what fails together, and which nodes of a machine that takes away."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from faultsim import checks
from faultsim.arrays import Integers, Values
from faultsim.data.columns import MAX_NODES
from faultsim.data.domain_table import DomainTable, Effect, check_count, is_down, own_downtime
from faultsim.data.slowdowns import AXES, Axis, Slowdown
from faultsim.errors import InputError, OptionError


class _Counted(Protocol):
    """A machine, as far as it has nodes."""

    @property
    def nodes(self) -> int: ...


class _Shaped(_Counted, Protocol):
    """A machine whose places have coordinates."""

    @property
    def shape(self) -> tuple[int, int, int] | None: ...


class _Cubes(_Counted, Protocol):
    """A machine of cubes with hosts."""

    @property
    def cubes(self) -> tuple[int, int, int]: ...
    @property
    def hosts(self) -> int: ...


Nodes: TypeAlias = int | str | _Counted
Places: TypeAlias = Sequence[int] | str | _Shaped | _Cubes


class Domains(DomainTable):
    """Failure domains, a table with a row for each: hosts, links, switches, cubes, racks, and the nodes they take away.

    The failure of a domain is one event that takes all its members down together: `FailureTrace.map_domains` makes
    failures of nodes of it.  Domains may overlap, and `join` puts several tables into one.

    Parameters
    ----------
    members : mapping of str to array_like of int, or sequence of array_like of int
        The nodes of each domain, by its name; without names they are "kind 0", "kind 1" and so on.
    nodes : int or machine
        Nodes of the machine, or the machine, also as text: ``"cluster:128"``.
    kind : str
        What they are, for `rows` and `faultsim.synthetic.domain_failures`.
    downtime : float, optional
        Seconds that an outage of such a domain lasts, whatever the trace says; by default what the trace says.
    effect : {"down", "none"} or Slowdown
        What an outage does: ``"down"`` takes the members down; ``"none"`` is routed around and only counted; a
        `Slowdown`, where the members are all nodes, makes jobs slower.

    Raises
    ------
    InputError
        A domain without members; a member that the machine does not have or that appears twice; two domains of
        one name.
    OptionError
        A `Slowdown` of domains that do not have all nodes.

    Examples
    --------
    >>> import faultsim as fs
    >>> racks = fs.Domains({"left": [0, 1, 2], "right": [3, 4, 5]}, nodes=6, kind="rack")
    >>> hosts = fs.Domains.hosts(6)
    >>> both = fs.Domains.join([hosts, racks])
    >>> both
    <Domains of 6 nodes: host 6, rack 2>
    >>> both["right"]
    Domain(name='right', kind='rack', members=array([3, 4, 5], dtype=int32), downtime=None, effect='down')
    >>> fs.FailureTrace([60, 90], [both.row("right"), 1], 120).map_domains(both).node
    array([3, 4, 5, 1], dtype=int32)
    """

    __slots__ = ()

    def __init__(
        self,
        members: Mapping[str, ArrayLike] | Iterable[ArrayLike],
        nodes: Nodes,
        *,
        kind: str = "domain",
        downtime: checks.Duration | None = None,
        effect: Effect = "down",
    ) -> None:
        machine = _nodes_of(nodes)
        word = _kind(kind)
        if isinstance(members, Mapping):
            names, lists = tuple(members), list(members.values())
        elif not isinstance(members, Iterable) or isinstance(members, str | bytes):
            raise InputError(
                f"domains: expected lists of nodes, by name or one after the other, got {checks.shown(members)}"
            )
        else:
            lists = list(members)
            names = tuple(f"{word} {row}" for row in range(len(lists)))
        for name in names:
            if not isinstance(name, str) or not name.isprintable() or not name.strip():
                raise InputError(f"domains: the name of a domain is printable text, got {checks.shown(name)}")
        rows = [_checked(name, nodes_, machine) for name, nodes_ in zip(names, lists, strict=True)]
        self._set(
            names=names,
            kinds=(word,) * len(names),
            sizes=np.array([len(row) for row in rows], dtype=np.int64),
            members=np.concatenate(rows) if rows else np.zeros(0, dtype=np.int32),
            downtime=np.full(len(names), own_downtime(downtime)),
            down=np.full(len(names), is_down(effect)),
            slow=(effect if isinstance(effect, Slowdown) else None,) * len(names),
            nodes=machine,
        )

    # -- making some -------------------------------------------------------------------------------------------------

    @classmethod
    def hosts(
        cls,
        machine: Nodes,
        *,
        kind: str = "host",
        downtime: checks.Duration | None = None,
        effect: Effect = "down",
    ) -> Self:
        """A domain for each node of a machine, in order: domain k is node k.

        Examples
        --------
        >>> import faultsim as fs
        >>> len(fs.Domains.hosts(fs.Torus(4, 4, 8)))
        128
        """
        return cls.blocks(machine, 1, kind=kind, downtime=downtime, effect=effect)

    @classmethod
    def blocks(
        cls,
        machine: Nodes,
        size: int,
        *,
        copies: int = 1,
        kind: str = "block",
        downtime: checks.Duration | None = None,
        effect: Effect = "down",
    ) -> Self:
        """Blocks of consecutive nodes: racks, or the cubes of a pod, whose hosts are numbered cube by cube.

        Parameters
        ----------
        machine : int or machine
            The machine, or its number of nodes.
        size : int
            Nodes of a block, of which the machine has a whole number.
        copies : int
            How many domains each block has, one block after the other: the 96 cables of each cube, say, or, with all
            nodes in one block, 48 switches that serve all of them.
        kind, downtime, effect
            As for `Domains`.

        Examples
        --------
        >>> import faultsim as fs
        >>> fs.Domains.blocks(1024, 16, kind="cube")["cube 63"].members[[0, -1]]
        array([1008, 1023], dtype=int32)
        >>> fs.Domains.blocks(1024, 16, copies=96, kind="cable")
        <Domains of 1024 nodes: cable 6144>
        >>> fs.Domains.blocks(1024, 1024, copies=48, kind="switch", effect="none")[5].name
        'switch 0.5'
        """
        n = _nodes_of(machine)
        width = checks.whole("size of blocks()", size, low=1, high=n)
        if n % width:
            raise OptionError(f"blocks: {n} nodes are no whole number of blocks of {width}")
        each = checks.whole("copies of blocks()", copies, low=1)
        check_count(n * each)
        starts = np.repeat(np.arange(0, n, width), each)
        word = _kind(kind)
        numbers = range(n // width)
        names = (
            tuple(f"{word} {block}" for block in numbers)
            if each == 1
            else tuple(f"{word} {block}.{copy}" for block in numbers for copy in range(each))
        )
        return cls._same_size(names, word, starts[:, None] + np.arange(width), n, downtime, effect)

    @classmethod
    def lines(
        cls,
        machine: Places,
        axis: Axis,
        *,
        hosts: int | None = None,
        kind: str = "row",
        downtime: checks.Duration | None = None,
        effect: Effect = "down",
    ) -> Self:
        """The rows of a torus along an axis.

        Parameters
        ----------
        machine : Torus, pod, or (int, int, int)
            Whose places, nodes or cubes, have coordinates; place (x, y, z) of X x Y x Z is (x Y + y) Z + z.
        axis : {"x", "y", "z"}
            Along which a row goes; they are in the order of the other two coordinates.
        hosts : int, optional
            Nodes of a place, numbered place by place; by default 1, on a pod the hosts of a cube.
        kind, downtime, effect
            As for `Domains`.

        Examples
        --------
        >>> import faultsim as fs
        >>> fs.Domains.lines(fs.Torus(4, 4, 8), "z")["row z 0,1"].members
        array([ 8,  9, 10, 11, 12, 13, 14, 15], dtype=int32)
        """
        return cls._along(machine, axis, hosts, kind, downtime, effect, planes=False)

    @classmethod
    def planes(
        cls,
        machine: Places,
        axis: Axis,
        *,
        hosts: int | None = None,
        kind: str = "plane",
        downtime: checks.Duration | None = None,
        effect: Effect = "down",
    ) -> Self:
        """The planes of a torus across an axis: all places with one coordinate there; parameters as for `lines`.

        Examples
        --------
        >>> import faultsim as fs
        >>> len(fs.Domains.planes((4, 4, 4), "x", hosts=16)["plane x 3"].members)  # of a pod of 64 cubes
        256
        """
        return cls._along(machine, axis, hosts, kind, downtime, effect, planes=True)

    @classmethod
    def links(
        cls,
        machine: Places,
        *,
        hosts: int | None = None,
        wrap: bool | None = None,
        kind: str = "link",
        downtime: checks.Duration | None = None,
        effect: Effect = "down",
    ) -> Self:
        """The links between neighbours of a torus or mesh: what one takes away are the places at both of its ends.

        Parameters
        ----------
        machine, hosts
            As for `lines`.
        wrap : bool, optional
            Whether the last place of a row has a link to the first; by default what the machine says, and not on a
            `Cluster` with a shape, whose distances do not wrap either; of three extents, True.
            A row of two has one link, with or without.
        kind, downtime, effect
            As for `Domains`.

        Examples
        --------
        >>> import faultsim as fs
        >>> fs.Domains.links((4, 4, 8))
        <Domains of 128 nodes: link 384>
        >>> fs.Domains.links("torus:4x4x8")["link z 0,0,7"].members
        array([0, 7], dtype=int32)
        """
        shape, width = _places(machine, hosts)
        closed = _wraps(machine) if wrap is None else checks.flag("wrap", wrap)
        place = np.arange(shape[0] * shape[1] * shape[2]).reshape(shape)
        check_count(6 * place.size * width)
        word = _kind(kind)
        names: list[str] = []
        ends = []
        for at, name in enumerate(AXES):
            extent = shape[at]
            last = extent if closed and extent > 2 else extent - 1
            first = place.take(range(last), axis=at)
            ends.append(np.stack([first, np.roll(place, -1, axis=at).take(range(last), axis=at)], axis=-1))
            where = np.stack(np.unravel_index(first.ravel(), shape), axis=1).tolist()
            names += [f"{word} {name} {x},{y},{z}" for x, y, z in where]
        pairs = np.sort(np.concatenate([pair.reshape(-1, 2) for pair in ends]), axis=1)
        return cls._same_size(tuple(names), word, _hosts_of(pairs, width), place.size * width, downtime, effect)

    @classmethod
    def _along(
        cls,
        machine: Places,
        axis: str,
        hosts: int | None,
        kind: str,
        downtime: checks.Duration | None,
        effect: Effect,
        *,
        planes: bool,
    ) -> Self:
        shape, width = _places(machine, hosts)
        at = AXES.index(checks.choice("axis", axis, AXES))
        place = np.arange(shape[0] * shape[1] * shape[2]).reshape(shape)
        others = [size for i, size in enumerate(shape) if i != at]
        word = _kind(kind)
        if planes:
            rows = np.moveaxis(place, at, 0).reshape(shape[at], -1)
            names = tuple(f"{word} {axis} {k}" for k in range(shape[at]))
        else:
            rows = np.moveaxis(place, at, 2).reshape(-1, shape[at])
            names = tuple(f"{word} {axis} {a},{b}" for a in range(others[0]) for b in range(others[1]))
        return cls._same_size(names, word, _hosts_of(rows, width), place.size * width, downtime, effect)


#: What reads a machine from text: `faultsim.machines`, which is built on this package, puts it here.
READERS: dict[str, Callable[[str], object]] = {}


def _read(machine: object) -> object:
    """A machine that was given as text, as `parse_machine` reads it; all else as it is."""
    if not isinstance(machine, str):
        return machine
    return READERS["machine"](machine)


def _nodes_of(machine: object) -> int:
    machine = _read(machine)
    return checks.whole("nodes of domains", getattr(machine, "nodes", machine), low=1, high=MAX_NODES)


def _kind(kind: object) -> str:
    if not isinstance(kind, str) or not kind.strip() or not kind.isprintable():
        raise OptionError(f"kind of domains must be printable text, got {checks.shown(kind)}")
    return kind


def _checked(name: str, given: ArrayLike, nodes: int) -> Integers:
    """The members of one domain, ascending."""
    try:
        array = np.asarray(list(given) if isinstance(given, range) else given)
    except ValueError:  # lists of different lengths in it
        raise InputError(f"domain {name!r}: expected a list of node numbers, got {checks.shown(given)}") from None
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise InputError(f"domain {name!r}: expected a list of node numbers, got {checks.shown(given)}")
    if not array.size:
        raise InputError(f"domain {name!r} has no members; expected at least one node")
    members = np.sort(array)
    if members[0] < 0 or members[-1] >= nodes:
        outside = members[0] if members[0] < 0 else members[-1]
        raise InputError(f"domain {name!r}: node {outside} is outside the machine of {nodes} nodes (0-{nodes - 1})")
    if (again := members[1:] == members[:-1]).any():
        raise InputError(f"domain {name!r}: node {members[int(np.argmax(again))]} appears twice")
    return members.astype(np.int32)


def _places(machine: object, hosts: int | None) -> tuple[tuple[int, int, int], int]:
    """The extents of a machine in places, and the nodes of a place."""
    machine = _read(machine)
    if getattr(machine, "wiring", "") == "ocs":
        raise OptionError(
            "domains: optical switches join any cubes of this pod, so that none are neighbours and there are no rows, "
            "planes or links between them; blocks() has its cubes, and their cables as copies"
        )
    if hasattr(machine, "cubes") and hasattr(machine, "hosts"):
        if hosts not in (None, machine.hosts):
            raise OptionError(f"hosts: a cube of this pod has {machine.hosts}, got {hosts}")
        return tuple(machine.cubes), int(machine.hosts)
    extents = getattr(machine, "shape", machine)
    if not isinstance(extents, Sequence | np.ndarray) or len(extents) != 3:
        raise OptionError(f"domains: expected a machine with coordinates or three extents, got {checks.shown(machine)}")
    x, y, z = (checks.whole(f"the extent {axis}", n, low=1) for axis, n in zip(AXES, extents, strict=True))
    width = 1 if hosts is None else checks.whole("hosts", hosts, low=1)
    _nodes_of(x * y * z * width)
    return (x, y, z), width


def _wraps(machine: object) -> bool:
    """Whether a row of this machine ends where it begins."""
    machine = _read(machine)
    is_cluster = hasattr(machine, "nodes") and not hasattr(machine, "cubes")
    return bool(getattr(machine, "wrap", not is_cluster))


def _hosts_of(rows: Values, width: int) -> Values:
    """The nodes of the places in each row, ascending."""
    wide = rows[:, :, None] * width + np.arange(width)
    return np.sort(wide.reshape(len(rows), rows.shape[1] * width), axis=1)
