"""Tori of Slurm's topology.yaml: which boxes jobs may have, and what the rule decides (model.md#tori)."""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from faultsim import checks
from faultsim._core.torus.listed_face import ListedRule
from faultsim.arrays import Flags
from faultsim.entries import entry
from faultsim.errors import InputError

Three = tuple[int, int, int]
#: Most cells of a torus, so that a mistake does not fill the memory.
MOST_CELLS = 2**24


@dataclass(frozen=True)
class TopologyShape:
    """A shape of a topology: extents, and per axis the spacing of its anchors and their seed, in cells.

    Examples
    --------
    >>> import faultsim as fs
    >>> str(fs.TopologyShape((2, 2, 4), (1, 1, 4), (0, 0, 1)))
    '2x2x4/1x1x4@0x0x1'
    """

    dims: Three
    spacing: Three
    seed: Three = (0, 0, 0)

    @property
    def size(self) -> int:
        """Number of nodes."""
        return self.dims[0] * self.dims[1] * self.dims[2]

    def __str__(self) -> str:
        text = _joined(self.dims) + (f"/{_joined(self.spacing)}" if self.spacing != self.dims else "")
        return text + (f"@{_joined(self.seed)}" if any(self.seed) else "")


@dataclass(frozen=True)
class TopologyTorus:
    """A torus of a topology: cell x + X (y + Y z) holds node ``cells[...]``, or none (-1).

    Examples
    --------
    >>> import faultsim as fs
    >>> torus = fs.TopologyTorus("a", (1, 1, 4), (0, 1, 2, 3), (fs.TopologyShape((1, 1, 2), (1, 1, 2)),))
    >>> torus.listed, torus.sizes
    ('1x1x2', [2])
    """

    name: str
    dims: Three
    cells: tuple[int, ...]
    shapes: tuple[TopologyShape, ...]

    @property
    def listed(self) -> str:
        """The shapes as `SlurmTorus` takes them."""
        return "+".join(map(str, self.shapes))

    @property
    def sizes(self) -> list[int]:
        """The sizes that have a shape, ascending."""
        return sorted({shape.size for shape in self.shapes})


@dataclass(frozen=True)
class TopologyChoice:
    """What the rule decides.

    Attributes
    ----------
    outcome : str
        "placed", "no box", "no segments", "no shape", "required outside", "too many required", "too few nodes", or
        "elsewhere": no available node is in a torus with shapes, so that the rule does not apply.
    nodes : tuple of int
        The job's nodes, ascending; empty if it is not placed.

    Examples
    --------
    >>> import faultsim as fs
    >>> fs.TopologyChoice("no box").nodes
    ()
    """

    outcome: str
    nodes: tuple[int, ...] = ()


@dataclass(frozen=True)
class TorusTopology:
    """The tori of a topology over numbered nodes.

    Parameters
    ----------
    tori : sequence of TopologyTorus
        In the order of the file.
    nodes : int
        Number of nodes, also of those outside all tori.
    name : str, default ""
        Of the topology.
    names : tuple of str, default ()
        Of the nodes, by number.
    skipped : tuple of str, default ()
        Sections of the file that are of other kinds.

    Examples
    --------
    >>> import faultsim as fs
    >>> torus = fs.TopologyTorus("a", (1, 1, 4), (0, 1, 2, 3), (fs.TopologyShape((1, 1, 2), (1, 1, 2)),))
    >>> topology = fs.TorusTopology((torus,), 4)
    >>> topology.choose([1, 2, 3], 2)
    TopologyChoice(outcome='placed', nodes=(2, 3))
    """

    tori: tuple[TopologyTorus, ...]
    nodes: int
    name: str = ""
    names: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "tori", tuple(self.tori))
        checks.whole("the number of nodes of a topology", self.nodes, low=1, high=2**31 - 1)
        taken: dict[int, str] = {}
        for torus in self.tori:
            _check_torus(torus)
            for node in torus.cells:
                if node >= self.nodes:
                    raise InputError(
                        f"torus {torus.name!r}: node {node} of {self.nodes}: nodes are 0 to {self.nodes - 1}"
                    )
                if node >= 0 and node in taken:
                    where = f"in torus {taken[node]!r} and in {torus.name!r}" if taken[node] != torus.name else "twice"
                    raise InputError(f"torus {torus.name!r}: node {self._named(node)} is {where}: a node has one cell")
                if node >= 0:
                    taken[node] = torus.name
        names = [torus.name for torus in self.tori]
        for name in names:
            if names.count(name) > 1:
                raise InputError(f"two tori are called {name!r}: names of tori must differ")

    @property
    def joined(self) -> Three:
        """Extents of the machine of simulations: ``Torus(*topology.joined)``, its tori joined along x.

        With ``SlurmTorus(topology.tori[0].listed, tori=len(topology.tori))``.  Nodes outside all tori are not in it.

        Raises
        ------
        InputError
            If tori differ in extents or shapes, or have empty cells.
        """
        first = self.tori[0]
        for torus in self.tori:
            for what, one, other in (
                ("extents", _joined(first.dims), _joined(torus.dims)),
                ("shapes", first.listed or "none", torus.listed or "none"),
            ):
                if one != other:
                    raise InputError(
                        f"simulations have equal tori, and {first.name!r} and {torus.name!r} differ in {what}: {one} "
                        f"and {other}; simulate one of them, Torus(*topology.tori[0].dims)"
                    )
            if -1 in torus.cells:
                raise InputError(
                    f"simulations have tori without empty cells, and {torus.name!r} has {torus.cells.count(-1)}"
                )
        return len(self.tori) * first.dims[0], first.dims[1], first.dims[2]

    @property
    def joined_nodes(self) -> tuple[int, ...]:
        """The number here of each node of the joined torus, for nodes of failures: those count z fastest.

        Examples
        --------
        >>> import faultsim as fs
        >>> shapes = (fs.TopologyShape((1, 1, 1), (1, 1, 1)),)
        >>> cells = {"a": (0, 1, 2, 3), "b": (7, 6, 5, 4)}
        >>> topology = fs.TorusTopology([fs.TopologyTorus(name, (2, 1, 2), cells[name], shapes) for name in cells], 8)
        >>> topology.joined, topology.joined_nodes
        ((4, 1, 2), (0, 2, 1, 3, 7, 5, 6, 4))
        """
        _, y, z = self.joined
        parts = [np.array(torus.cells).reshape(z, y, -1).transpose(2, 1, 0).ravel() for torus in self.tori]
        return tuple(int(node) for node in np.concatenate(parts))

    def _named(self, node: int) -> str:
        return self.names[node] if self.names else str(node)

    @cached_property
    def _rule(self) -> ListedRule:
        tori: list[object] = []
        for torus in self.tori:
            x, y, z = torus.dims
            cells = np.array(torus.cells, np.int32).reshape(z, y, x).transpose(2, 1, 0).ravel()
            rows = [
                [*each.dims, *each.spacing, *each.seed] for each in sorted(torus.shapes, key=lambda each: each.size)
            ]
            tori.append((x, y, z, cells, rows))
        return ListedRule(tori, self.nodes)

    def _mask(self, available: object) -> "NDArray[np.uint8]":
        """One byte per node."""
        given = checks.array("available", available)
        mask = np.zeros(self.nodes, np.uint8)
        if given.dtype == bool and given.shape == (self.nodes,):
            mask[given] = 1
            return mask
        if given.size and (given.dtype.kind not in "iu" or given.min() < 0 or given.max() >= self.nodes):
            raise InputError(f"available must be numbers of nodes from 0 to {self.nodes - 1}, or one bool per node")
        mask[given.astype(np.intp)] = 1
        return mask

    def choose(
        self,
        available: object,
        size: int,
        *,
        segment: int = 0,
        required: Sequence[int] = (),
        most: int | None = None,
        weights: Sequence[int] | None = None,
    ) -> TopologyChoice:
        """The nodes of a job, by the rule of topology/torus3d.

        Parameters
        ----------
        available : array_like
            The numbers of the nodes that are available, or one bool per node.
        size : int
            Nodes of the job: the least of a range.
        segment : int, default 0
            Nodes of each of the boxes that the job consists of; 0, or more than `size`: one box.
        required : sequence of int, default ()
            Nodes that the job must have.
        most : int, optional
            The most nodes that the job takes, which only limits `required`; by default `size`.
        weights : sequence of int, optional
            Scheduling weight of each node; all are equal by default.

        Returns
        -------
        TopologyChoice

        Raises
        ------
        InputError
            For nodes that the topology does not have, or another number of weights.
        """
        size, segment = checks.whole("size", size, low=1), checks.whole("segment", segment, low=0)
        free = self._mask(available)
        weight = np.array([] if weights is None else weights, np.int64)
        if weights is not None and len(weight) != self.nodes:
            raise InputError(f"weights: one per node is needed, {self.nodes}, got {len(weight)}")
        wanted = sorted({checks.whole("a required node", node, low=0, high=self.nodes - 1) for node in required})
        inside = {node for torus in self.tori if torus.shapes for node in torus.cells if node >= 0}
        each = segment if 0 < segment <= size else size
        if int(free.sum()) < size or not free[wanted].all():
            return TopologyChoice("too few nodes")
        if not any(free[node] for node in inside):
            return TopologyChoice("elsewhere")
        if size % each or not self._rule.has_shape(each):
            return TopologyChoice("no shape")
        if not inside.issuperset(wanted):
            return TopologyChoice("required outside")
        if len(wanted) > (size if most is None else most):
            return TopologyChoice("too many required")
        if each == size:
            found = self._rule.best(free, size, weight, wanted)
            return TopologyChoice("no box") if found is None else TopologyChoice("placed", tuple(sorted(found[2])))
        if wanted:
            if len(wanted) < size:
                return TopologyChoice("no shape")
            free[:] = 0
            free[wanted] = 1
        return self._segments(free, size // each, each, weight)

    def _segments(self, free: "NDArray[np.uint8]", count: int, each: int, weight: object) -> TopologyChoice:
        """One box after another; after a failure a node is taken out (model.md#segments)."""
        chosen, overlaps, is_placed = self._attempt(free, count, each, weight)
        if not is_placed and not overlaps:
            return TopologyChoice("no box")
        order, pointer = np.flatnonzero(free).tolist(), 0
        while not is_placed and overlaps:
            node = next((node for node in order[pointer:] if node in chosen), None)
            if node is None or int(free.sum()) <= count * each:
                break
            free[node] = 0
            pointer += node == order[pointer]
            chosen, overlaps, is_placed = self._attempt(free, count, each, weight)
        return TopologyChoice("placed", tuple(sorted(chosen))) if is_placed else TopologyChoice("no segments")

    def _attempt(self, free: "NDArray[np.uint8]", count: int, each: int, weight: object) -> tuple[set[int], bool, bool]:
        """The nodes of the boxes, whether a shape used overlaps, and whether all boxes are there."""
        left, chosen, overlaps = free.copy(), set[int](), False
        for _ in range(count):
            found = self._rule.best(left, each, weight, ())
            if found is None:
                return chosen, overlaps, False
            torus, shape, nodes = found
            overlaps = overlaps or self._rule.overlaps(torus, shape)
            left[nodes] = 0
            chosen.update(nodes)
        return chosen, overlaps, True

    def fragmentation(self, available: object) -> int:
        """Slurm's measure of a state: the sum of sizes over all boxes that meet nodes that are not available."""
        return int(self._rule.fragmentation(self._mask(available)))

    def _numbers(self, torus: int, shape: int = 0) -> tuple[int, int]:
        """The numbers of a torus and of a shape of it, if they are there."""
        torus = checks.whole("torus", torus, low=0, high=len(self.tori) - 1)
        return torus, checks.whole("shape", shape, low=0, high=max(len(self.tori[torus].shapes) - 1, 0))

    def overlaps(self, torus: int, shape: int) -> bool:
        """Whether boxes of a shape, by number in order of sizes, can meet each other or others of the size."""
        return bool(self._rule.overlaps(*self._numbers(torus, shape)))

    def anchors(self, torus: int, shape: int) -> tuple[int, int]:
        """How many anchors a shape has, by number in order of sizes, and how many without an empty cell."""
        count, complete = self._rule.anchors(*self._numbers(torus, shape))
        return int(count), int(complete)

    def filled(self, torus: int) -> Flags:
        """Which cells of a torus, in the order of ``cells``, have a node: array of bool."""
        return np.array(self.tori[self._numbers(torus)[0]].cells) >= 0

    def reached(self, torus: int, size: int) -> Flags:
        """Which cells of a torus, in the order of ``cells``, are in a complete box of a size: array of bool."""
        torus = self._numbers(torus)[0]
        x, y, z = self.tori[torus].dims
        size = checks.whole("size", size, low=1, high=self.nodes)
        return self._rule.reached(torus, size).reshape(x, y, z).transpose(2, 1, 0).ravel()


def _check_torus(torus: TopologyTorus) -> None:
    where = f"torus {torus.name!r}"
    whole = torus.dims[0] * torus.dims[1] * torus.dims[2]
    if min(torus.dims) < 1 or whole > MOST_CELLS:
        raise InputError(
            f"{where}: extents must be at least 1 and {MOST_CELLS:,} cells in all at most, got {_joined(torus.dims)}"
        )
    if len(torus.cells) != whole:
        raise InputError(f"{where}: {_joined(torus.dims)} has {whole} cells, got {len(torus.cells)} nodes")
    for shape in torus.shapes:
        for axis, a, step, first, n in zip("xyz", shape.dims, shape.spacing, shape.seed, torus.dims, strict=True):
            for what, value, low, high in (("extent", a, 1, n), ("spacing", step, 1, n), ("seed", first, 0, n - 1)):
                if not low <= value <= high:
                    raise InputError(
                        f"{where}, shape {shape}: {what} along {axis} must be {low} to {high}, got {value}"
                    )


def _joined(numbers: Sequence[int]) -> str:
    return "x".join(map(str, numbers))


# ---------------------------------------------------------------------------------------------- topology.yaml

_NAMES = {
    "tori": ("toruses", "tori"),
    "dims": ("dims", "dimensions"),
    "start": ("start", "origin", "offset", "base"),
    "shapes": ("placements", "shapes"),
}


@entry
def read_topology_yaml(path: str | os.PathLike[str], *, topology: str | None = None) -> TorusTopology:
    """The tori of a topology.yaml of Slurm: its section of the kind torus3d.

    Other sections are skipped, and named in `TorusTopology.skipped`.  Needs ``pip install "faultsim[yaml]"``.

    Parameters
    ----------
    path : path
    topology : str, optional
        The name of the topology, where several are of this kind.

    Returns
    -------
    TorusTopology
        Nodes are numbered in the order in which the file names them.

    Raises
    ------
    InputError
        If the file is no such topology; the message says where in the file.

    Examples
    --------
    >>> import faultsim as fs
    >>> torus = "{name: a, dims: [1, 1, 4], nodes: 'n[0-3]', placements: [{dims: [1, 1, 2]}]}"
    >>> with open("topology.yaml", "w") as file:
    ...     print("- topology: t", f"  torus3d: [{torus}]", sep="\\n", file=file)
    >>> fs.read_topology_yaml("topology.yaml").tori[0].listed
    '1x1x2'
    """
    yaml = checks.extra("yaml", "yaml", "read_topology_yaml")
    try:
        with open(checks.file_name(path), encoding="utf-8") as lines:
            document = yaml.safe_load(lines)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise InputError(f"{path} is no YAML file: {' '.join(str(error).split()):.200}") from None
    sections = document if isinstance(document, list) else [document]
    found, skipped = [], []
    for number, section in enumerate(sections, 1):
        if not isinstance(section, Mapping):
            raise InputError(f"{path}: entry {number} must have the keys topology and a kind, got {section!r:.40}")
        name = str(section.get("topology", number))
        kinds = [str(key) for key in section if key not in ("topology", "cluster_default")]
        if "torus3d" in section:
            found.append((name, section["torus3d"]))
        else:
            skipped.append(f"{name} ({', '.join(kinds) or 'empty'})")
    names = [name for name, _ in found]
    if not found:
        raise InputError(f"{path}: no topology is of the kind torus3d; there are {', '.join(skipped) or 'none'}")
    if topology is not None and topology not in names:
        raise InputError(
            f"{path}: no torus3d is called {topology!r}{checks.did_you_mean(topology, names)}; there "
            f"are {', '.join(names)}"
        )
    if topology is None and len(found) > 1:
        raise InputError(
            f"{path}: several topologies are of the kind torus3d, {', '.join(names)}: name one, topology={names[0]!r}"
        )
    name, section = next(each for each in found if topology in (None, each[0]))
    skipped += [f"{other} (torus3d)" for other in names if other != name]
    return _Parser(str(path), name).topology(section, skipped)


class _Parser:
    """One section; `where` is the way from the top of the file to what is read."""

    def __init__(self, path: str, name: str) -> None:
        self.path, self.name = path, name
        self.numbers: dict[str, int] = {}

    def fail(self, where: str, what: str) -> InputError:
        return InputError(f"{self.path}: topology {self.name!r}{', ' if where else ''}{where}: {what}")

    def get(self, where: str, given: object, key: str, *others: str) -> object:
        """The value of a key, which has several names; unknown keys are refused."""
        if not isinstance(given, Mapping):
            raise self.fail(where, f"keys are needed, got {given!r:.40}")
        return next((given[name] for name in _NAMES.get(key, (key,)) if name in given), None)

    def known(self, where: str, given: object, *keys: str) -> Mapping[str, object]:
        """What was given, if its keys are known."""
        if not isinstance(given, Mapping):
            raise self.fail(where, f"keys are needed, got {given!r:.40}")
        names = [name for key in keys for name in _NAMES.get(key, (key,))]
        for key in given:
            if key not in names:
                raise self.fail(
                    where, f"unknown key {key!r}{checks.did_you_mean(str(key), names)}; known: {', '.join(names)}"
                )
        return given

    def topology(self, section: object, skipped: list[str]) -> TorusTopology:
        if isinstance(section, Mapping):
            self.known("torus3d", section, "tori")
            section = self.get("torus3d", section, "tori")
        if not isinstance(section, list) or not section:
            raise self.fail("torus3d", f"a list of tori is needed, got {section!r:.40}")
        tori = tuple(self.torus(f"torus {number}", given) for number, given in enumerate(section, 1))
        names = tuple(self.numbers)
        if not names:
            raise self.fail("torus3d", "no torus has nodes: give nodes or regions")
        try:
            return TorusTopology(tori, len(names), self.name, names, tuple(skipped))
        except InputError as error:
            raise self.fail("", str(error)) from None

    def torus(self, where: str, section: object) -> TopologyTorus:
        given = self.known(where, section, "name", "dims", "nodes", "regions", "shapes")
        name = str(given.get("name", where))
        where = f"torus {name!r}"
        dims = self.three(f"{where}, dims", self.get(where, given, "dims"), 1)
        whole = dims[0] * dims[1] * dims[2]
        if whole > MOST_CELLS:
            raise self.fail(where, f"at most {MOST_CELLS:,} cells, got {whole:,}")
        cells = [-1] * whole
        if given.get("nodes") is not None and given.get("regions") is not None:
            raise self.fail(where, "nodes and regions exclude each other")
        if given.get("nodes") is not None:
            names = self.hosts(f"{where}, nodes", given["nodes"])
            if len(names) != whole:
                raise self.fail(where, f"{_joined(dims)} has {whole} cells, got {len(names)} nodes")
            cells = [self.number(each) for each in names]
        regions = given.get("regions") or []
        if not isinstance(regions, list):
            raise self.fail(where, f"a list of regions is needed, got {regions!r:.40}")
        for number, region in enumerate(regions, 1):
            self.region(f"{where}, region {number}", region, dims, cells)
        placements = self.get(where, given, "shapes") or []
        if not isinstance(placements, list):
            raise self.fail(where, f"placements must be a list, got {placements!r:.40}")
        shapes = tuple(self.shape(f"{where}, placement {number}", each) for number, each in enumerate(placements, 1))
        return TopologyTorus(name, dims, tuple(cells), shapes)

    def region(self, where: str, section: object, dims: Three, cells: list[int]) -> None:
        given = self.known(where, section, "name", "start", "dims", "nodes")
        start = self.three(f"{where}, start", self.get(where, given, "start") or (0, 0, 0), 0)
        extents = self.three(f"{where}, dims", self.get(where, given, "dims"), 1)
        names = self.hosts(f"{where}, nodes", given.get("nodes"))
        if any(first + extent > n for first, extent, n in zip(start, extents, dims, strict=True)):
            raise self.fail(
                where, f"{_joined(extents)} from {start} does not fit into {_joined(dims)}: regions do not wrap"
            )
        if len(names) != extents[0] * extents[1] * extents[2]:
            raise self.fail(
                where, f"{_joined(extents)} has {extents[0] * extents[1] * extents[2]} cells, got {len(names)} nodes"
            )
        places = (
            start[0] + x + dims[0] * (start[1] + y + dims[1] * (start[2] + z))
            for z in range(extents[2])
            for y in range(extents[1])
            for x in range(extents[0])
        )
        for cell, name in zip(places, names, strict=True):
            if cells[cell] >= 0:
                raise self.fail(where, "overlaps an earlier region")
            cells[cell] = self.number(name)

    def shape(self, where: str, section: object) -> TopologyShape:
        given = self.known(where, section, "name", "dims", "spacing", "seed")
        dims = self.three(f"{where}, dims", self.get(where, given, "dims"), 1)
        spacing = self.three(f"{where}, spacing", given.get("spacing") or (0, 0, 0), 0)
        seed = self.three(f"{where}, seed", given.get("seed") or (0, 0, 0), 0)
        steps = [step or extent for step, extent in zip(spacing, dims, strict=True)]
        return TopologyShape(dims, (steps[0], steps[1], steps[2]), seed)

    def three(self, where: str, given: object, low: int) -> Three:
        if isinstance(given, Mapping):
            self.known(where, given, "x", "y", "z")
            given = [given.get(axis, low) for axis in "xyz"]
        if isinstance(given, str):
            given = [int(part) if part.strip().isdigit() else part for part in re.split("[x,]", given)]
        if (
            not isinstance(given, list | tuple)
            or len(given) != 3
            or not all(isinstance(each, int) and not isinstance(each, bool) and each >= low for each in given)
        ):
            raise self.fail(where, f"three whole numbers of at least {low} are needed, got {given!r:.60}")
        return given[0], given[1], given[2]

    def number(self, name: str) -> int:
        return self.numbers.setdefault(name, len(self.numbers))

    def hosts(self, where: str, given: object) -> list[str]:
        """The names of a host list, such as ``n[001-128]``, or of a list of them."""
        if isinstance(given, list):
            return [name for each in given for name in self.hosts(where, each)]
        if not isinstance(given, str) or not given.strip():
            raise self.fail(where, f"names of nodes are needed, such as n[001-128], got {given!r:.40}")
        if re.fullmatch(r"(?:[^\[\]]|\[[^\[\]]*\])+", given) is None:
            raise self.fail(where, f"{given!r:.60} is no host list: its brackets do not match")
        names: list[str] = []
        for part in re.findall(r"(?:[^,\[]|\[[^\]]*\])+", given):
            names += self.expanded(where, part.strip())
        return names

    def expanded(self, where: str, part: str) -> list[str]:
        match = re.fullmatch(r"([^\[\]]*)\[([^\[\]]*)\](.*)", part)
        if match is None:
            if "[" in part or "]" in part or not part:
                raise self.fail(where, f"{part!r} is no host list")
            return [part]
        before, inside, after = match.groups()
        numbers: list[str] = []
        for piece in inside.split(","):
            low, dash, high = piece.strip().partition("-")
            if not low.isdigit() or (dash and not high.isdigit()):
                raise self.fail(where, f"{piece!r} in {part!r} is no range of numbers")
            if int(high or low) < int(low) or int(high or low) - int(low) > MOST_CELLS:
                raise self.fail(where, f"the range {piece!r} in {part!r} does not ascend, or is too long")
            numbers += [str(number).zfill(len(low)) for number in range(int(low), int(high or low) + 1)]
        return [
            before + number + rest for number in numbers for rest in (self.expanded(where, after) if after else [""])
        ]
