"""`Site`: nodes of several classes whose cores, memory and GPUs jobs share, in partitions (model.md#sites)."""

import re
from collections.abc import Container, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np

from faultsim import checks
from faultsim.arrays import Indices, Integers, LongIntegers
from faultsim.data.columns import MAX_NODES
from faultsim.data.failures import FailureTrace
from faultsim.data.lowered import Lowered
from faultsim.data.notebook import table_html
from faultsim.data.workload import Workload
from faultsim.data.world import AskRows
from faultsim.errors import InputError, OptionError
from faultsim.machines.machine import Machine
from faultsim.machines.node_classes import NodeClass, Partition
from faultsim.machines.site_jobs import CORES, asks_of, check_whole_nodes, in_whole_nodes, with_sizes, with_tiers

#: Classes of a site: one bit each in the masks of the engine.
MOST_CLASSES = 64
FORM = "'site:cpu=180x32c187G,gpu=8x40c187Gx2v100'"
_CLASS = re.compile(
    r"(?P<name>[A-Za-z_][\w.-]*)=(?P<count>\d+)x(?P<cores>\d+)c(?P<memory>[\d.]+[KMGTkmgt]?)?"
    r"(?:x(?P<gpus>\d+)(?P<type>[A-Za-z][\w.-]*))?(?:@(?P<weight>\d+))?(?P<features>(?:\+[\w.-]+)*)",
    re.ASCII,
)


@dataclass(frozen=True, repr=False)
class Site(Machine):
    """Nodes of several classes that jobs share: a job takes cores, memory and GPUs of one or more of them.

    Nodes are numbered from 0 on, class by class.  What a job asks for is in the further columns of the log: ``cores``
    (in all), ``nodes`` (0: as many as needed), ``memory`` (MiB, on each node, or as ``memory_per`` says), ``gpus`` (on
    each node), ``gpu_type``, ``exclusive``, ``features`` and ``partition`` (model.md#site-jobs).  Sizes of jobs are
    cores then, and so is the capacity of the site.  In a log without ``cores`` each job takes whole nodes; that is for
    sites of one class, and such a run is that of `Cluster`, whatever the policies.

    Parameters
    ----------
    classes : NodeClass or sequence of NodeClass
        The node classes, at most 64.
    partitions : sequence of Partition, optional
        The partitions; without any, all jobs may use all nodes, and the column ``partition`` is not read.

    Raises
    ------
    OptionError
        No class; classes or partitions of one name, or with the same hosts; a partition of unknown classes, or without
        any; two defaults; memory of some classes that others do not state.

    Examples
    --------
    >>> import faultsim as fs
    >>> site = fs.Site(
    ...     [fs.NodeClass("cpu", 180, cores=32, memory="187G", weight=10, features="ib,cascade"),
    ...      fs.NodeClass("gpu", 8, cores=40, memory="187G", gpus={"v100": 2}, weight=50)],
    ...     partitions=[fs.Partition("general", "cpu,gpu", max_time="3d", default=True), fs.Partition("gpu", "gpu")],
    ... )
    >>> site.nodes, site.cores, site.gpus
    (188, 6080, 16)
    >>> fs.Site([fs.NodeClass("cpu", 2, cores=4), fs.NodeClass("big", 1, cores=16)])
    Site('site:cpu=2x4c,big=1x16c')
    """

    any_nodes: ClassVar[bool] = True

    classes: Sequence[NodeClass]
    partitions: Sequence[Partition] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "classes", _checked("classes", self.classes, NodeClass))
        object.__setattr__(self, "partitions", _checked("partitions", self.partitions, Partition))
        if not self.classes:
            raise OptionError("a site needs at least one NodeClass")
        if len(self.classes) > MOST_CLASSES:
            raise OptionError(
                f"a site may have at most {MOST_CLASSES} node classes, got {len(self.classes)}: join those with equal "
                f"amounts"
            )
        if self.nodes > MAX_NODES or self.cores > MAX_NODES:
            raise OptionError(f"a site may have at most {MAX_NODES} nodes and cores, got {self.nodes} and {self.cores}")
        _refuse_overlaps(self.classes)
        without = [each.name for each in self.classes if not each.memory]
        if 0 < len(without) < len(self.classes):
            raise OptionError(
                f"memory of the node class {without[0]!r} is missing, and other classes of the site have it: give it "
                f"for all of them, or for none"
            )
        _check_partitions(self.partitions, [each.name for each in self.classes])

    # -- amounts

    @cached_property
    def nodes(self) -> int:
        """Number of nodes."""
        return sum(each.count for each in self.classes)

    @cached_property
    def cores(self) -> int:
        """Number of cores."""
        return sum(each.count * each.cores for each in self.classes)

    @property
    def gpus(self) -> int:
        """Number of GPUs."""
        return sum(each.count * each.gpu_count for each in self.classes)

    @property
    def mebibytes(self) -> int:
        """Memory in MiB, 0 if it is not stated."""
        return sum(each.count * each.mebibytes for each in self.classes)

    @property
    def name(self) -> str:
        """The kind of machine, ``"site"``."""
        return "site"

    @property
    def shape(self) -> None:
        """None: nodes of a site have no coordinates."""
        return None

    def nodes_of(self, name: str) -> range:
        """The numbers of the nodes of a class.

        Examples
        --------
        >>> import faultsim as fs
        >>> fs.Site([fs.NodeClass("cpu", 2, cores=4), fs.NodeClass("big", 1, cores=16)]).nodes_of("big")
        range(2, 3)
        """
        first = 0
        for each in self.classes:
            if each.name == name:
                return range(first, first + each.count)
            first += each.count
        raise self._no_class(name)

    def site_parts(self) -> tuple[Sequence[NodeClass], Sequence[Partition]]:
        """The classes of its nodes, and its partitions."""
        return self.classes, self.partitions

    def nodes_named(self, what: Literal["class", "partition"], name: str) -> Integers:
        """The nodes of a class or a partition, ascending."""
        if what == "class":
            names: Sequence[str] = (name,)
            known = [each.name for each in self.classes]
            found = name in known
        else:
            known = [each.name for each in self.partitions]
            found = name in known
            names = self.partitions[known.index(name)].classes if found else ()
        if not found:
            has = f"it has {', '.join(known)}" if known else "it has none"
            hint = checks.did_you_mean(name, known)
            raise InputError(f"the site has no {'node ' if what == 'class' else ''}{what} {name!r:.60}{hint}; {has}")
        which = [at for at, each in enumerate(self.classes) if each.name in names]
        return np.flatnonzero(np.isin(self.node_classes(), which)).astype(np.int32)

    # -- other sites

    def with_nodes(self, name: str, count: int) -> "Site":
        """The same site with `count` nodes in the class `name`; names of hosts beyond them are left out.

        Examples
        --------
        >>> import faultsim as fs
        >>> site = fs.Site([fs.NodeClass("cpu", 2, cores=4), fs.NodeClass("big", 1, cores=16)])
        >>> site.with_nodes("big", 3)
        Site('site:cpu=2x4c,big=3x16c')
        """
        if name not in (each.name for each in self.classes):
            raise self._no_class(name)
        count = checks.whole(f"nodes of the class {name!r}", count, low=1)

        def changed(each: NodeClass) -> NodeClass:
            hosts = each.hosts[:count] if len(each.hosts) >= count else ()
            return replace(each, count=count, hosts=hosts) if each.name == name else each

        return replace(self, classes=[changed(each) for each in self.classes])

    def without(self, name: str) -> "Site":
        """The same site without a class of nodes, and without the partitions that had no other class.

        Raises
        ------
        OptionError
            For an unknown name, or the last class.

        Examples
        --------
        >>> import faultsim as fs
        >>> site = fs.Site([fs.NodeClass("cpu", 2, cores=4), fs.NodeClass("big", 1, cores=16)])
        >>> site.without("big")
        Site('site:cpu=2x4c')
        """
        if name not in (each.name for each in self.classes):
            raise self._no_class(name)
        left = [each for each in self.classes if each.name != name]
        partitions = [
            replace(each, classes=rest)
            for each in self.partitions
            if (rest := [other for other in each.classes if other != name])
        ]
        return replace(self, classes=left, partitions=partitions)

    def _no_class(self, name: object) -> OptionError:
        known = [each.name for each in self.classes]
        hint = checks.did_you_mean(str(name), known)
        return OptionError(f"the site has no node class {name!r:.60}{hint}; it has {', '.join(known)}")

    # -- jobs

    def kind_of(self, log: Workload) -> str:
        """``"cluster"`` for a log of whole nodes, as the number of free nodes then decides."""
        return self.name if CORES in log.further else "cluster"

    def lower_for(self, log: Workload) -> Lowered:
        """What the engine gets: a site, or a cluster."""
        if CORES not in log.further:
            return {"name": "cluster", "nodes": self.nodes}
        classes = [
            {"count": each.count, "cores": each.cores, "memory": each.mebibytes, "gpus": each.gpu_count,
             "weight": each.weight}
            for each in self.classes
        ]  # fmt: skip
        return {"name": "site", "nodes": self.nodes, "classes": classes}

    def capacity_for(self, columns: Container[str]) -> int:
        """Cores, or nodes for a log of whole nodes."""
        return self.cores if CORES in columns else self.nodes

    def prepared(self, log: Workload) -> Workload:
        """With sizes in cores, if the log says which."""
        log = with_tiers(self.partitions, log) if self.has_tiers else log
        return with_sizes(log) if CORES in log.further else log

    @property
    def has_tiers(self) -> bool:
        """Whether some partitions come before others."""
        return len({each.tier for each in self.partitions}) > 1

    def in_whole_nodes(self, log: Workload, what: str) -> Workload:
        """The log with sizes in nodes, where all jobs take whole ones."""
        return in_whole_nodes(self.classes, self.partitions, log, what) if CORES in log.further else log

    def check_log(self, log: Workload) -> None:
        """Refuse a log without the columns that are needed, or with values that mean nothing here."""
        if CORES in log.further:
            asks_of(self.classes, self.partitions, log)
        else:
            check_whole_nodes(self.classes, log)

    def asks(self, log: Workload) -> AskRows | None:
        """What the jobs of a log ask for, if they share nodes."""
        return asks_of(self.classes, self.partitions, log).rows if CORES in log.further else None

    def job_nodes(self, log: Workload) -> Integers:
        """The nodes that jobs ask for; of any number, the fewest of the largest class."""
        asks = self.asks(log)
        if asks is None:
            return log.size
        fewest = -(-asks.cores // max(each.cores for each in self.classes))
        return np.where(asks.nodes > 0, asks.nodes, fewest).astype(np.int32)

    def node_amounts(self) -> LongIntegers:
        """Cores, memory (MiB) and GPUs of each node, of shape (nodes, 3)."""
        rows = [(each.cores, each.mebibytes, each.gpu_count) for each in self.classes]
        return np.array(rows, np.int64)[self.node_classes()]

    def node_classes(self) -> Indices:
        """The number of the class of each node."""
        return np.repeat(np.arange(len(self.classes)), [each.count for each in self.classes])

    def refusals(self, log: Workload) -> dict[int, str]:
        """Row of each job that no nodes of the site can hold -> why."""
        return asks_of(self.classes, self.partitions, log).refused if CORES in log.further else {}

    def parts_that_fail(self, log: Workload, trace: FailureTrace) -> LongIntegers | None:
        """What parts of nodes fail, if jobs share nodes, which must have them."""
        if CORES not in log.further or trace.part is None:
            return super().parts_that_fail(log, trace)
        asked = trace.part_amounts()
        assert asked is not None
        lacking = (asked > self.node_amounts()[trace.node]).any(axis=1)
        if lacking.any():
            row = int(np.argmax(lacking))
            each = self.classes[int(self.node_classes()[trace.node[row]])]
            raise InputError(
                f"failures: part, row {row}: {trace.part[row]!s} of node {trace.node[row]}, and a node of the class "
                f"{each.name!r} has {each.cores} cores, {each.mebibytes} MiB and {each.gpu_count} GPUs"
            )
        return asked

    # -- forms

    def lower(self) -> Lowered:
        """The plain form that the engine takes and that provenance keeps."""
        lowered: Lowered = {"name": "site", "classes": [each.lower() for each in self.classes]}
        return lowered | ({"partitions": [each.lower() for each in self.partitions]} if self.partitions else {})

    def __str__(self) -> str:
        return "/".join(["site:" + ",".join(map(str, self.classes)), *map(str, self.partitions)])

    def __repr__(self) -> str:
        return f"Site({str(self)!r})"

    def table(self) -> str:
        """The classes and partitions as text, a line for each.

        Examples
        --------
        >>> import faultsim as fs
        >>> print(fs.Site([fs.NodeClass("cpu", 2, cores=4, memory="8G"), fs.NodeClass("big", 1, memory="1T")]).table())
        site: 3 nodes, 9 cores, 1.02T, 0 GPUs
        <BLANKLINE>
        class  nodes  cores  memory  GPUs  weight  features
        cpu        2      4      8G     -       1  -
        big        1      1      1T     -       1  -
        """
        head, *rows = [_HEAD, *self._rows()]
        left = (0, len(_HEAD) - 1)
        wide = [max(len(row[at]) for row in [head, *rows]) for at in range(len(head))]
        lines = [
            "  ".join(
                cell.ljust(n) if at in left else cell.rjust(n)
                for at, (cell, n) in enumerate(zip(row, wide, strict=True))
            )
            for row in [head, *rows]
        ]
        lines += [""] if self.partitions else []
        lines += [f"partition {each}".replace("=", ": ", 1) for each in self.partitions]
        return "\n".join([f"site: {self._sums()}", "", *(line.rstrip() for line in lines)])

    def _sums(self) -> str:
        memory = f"{self.mebibytes / 2**20:.3g}T" if self.mebibytes else "memory not stated"
        return f"{self.nodes:,} nodes, {self.cores:,} cores, {memory}, {self.gpus:,} GPUs"

    def _rows(self) -> list[tuple[str, ...]]:
        return [
            (
                each.name,
                f"{each.count:,}",
                f"{each.cores:,}",
                each.memory or "-",
                f"{each.gpu_count} {each.gpu_type}" if each.gpu_count else "-",
                str(each.weight),
                ", ".join(each.features) or "-",
            )
            for each in self.classes
        ]

    def _repr_html_(self) -> str:
        """The classes, and the partitions below them, for notebooks."""
        notes = [f"partition {each}".replace("=", ": ", 1) for each in self.partitions]
        return table_html(f"site: {self._sums()}", _HEAD, self._rows(), notes)


_HEAD = ("class", "nodes", "cores", "memory", "GPUs", "weight", "features")


def _checked(what: str, given: object, kind: type) -> tuple[object, ...]:
    """A tuple of objects of this kind, of which each may be in its plain form."""
    if isinstance(given, kind):
        given = (given,)
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise OptionError(f"{what} of a site must be a list of {kind.__name__}, got {given!r:.60}")
    made = tuple(kind(**each) if isinstance(each, dict) else each for each in given)
    for each in made:
        if not isinstance(each, kind):
            raise OptionError(f"{what} of a site must be a list of {kind.__name__}, got {each!r:.60} in it")
    return made


def _refuse_overlaps(classes: Sequence[NodeClass]) -> None:
    """Refuse two classes of one name, or with a host in both."""
    seen: dict[str, str] = {}
    names = [each.name for each in classes]
    for at, each in enumerate(classes):
        if each.name in names[:at]:
            raise OptionError(f"two node classes of the site are called {each.name!r}: give each its own name")
        for host in each.hosts:
            if host in seen:
                both = f"in {each.name!r} twice" if seen[host] == each.name else f"in {seen[host]!r} and {each.name!r}"
                raise OptionError(f"node classes overlap: the host {host!r} is {both}")
            seen[host] = each.name


def _check_partitions(partitions: Sequence[Partition], classes: Sequence[str]) -> None:
    names = [each.name for each in partitions]
    for at, each in enumerate(partitions):
        if each.name in names[:at]:
            raise OptionError(f"two partitions of the site are called {each.name!r}: give each its own name")
        for name in each.classes:
            if name not in classes:
                hint = checks.did_you_mean(name, classes)
                raise OptionError(
                    f"the partition {each.name!r} names the node class {name!r}, which the site does not have{hint}; "
                    f"it has {', '.join(classes)}"
                )
    if len(defaults := [each.name for each in partitions if each.default]) > 1:
        raise OptionError(f"only one partition can be the default, got {' and '.join(map(repr, defaults))}")


def parse_site(text: str, rest: str) -> Site:
    """A site from what follows the colon.

    Examples
    --------
    >>> text = "cpu=180x32c187G@10+ib,gpu=8x40c187Gx2v100/general=cpu+gpu,max_time=3d,default"
    >>> parse_site("", text).partitions[0].max_time
    259200.0
    """
    first, *more = rest.split("/")
    classes = []
    for part in (part.strip() for part in first.split(",")):
        found = _CLASS.fullmatch(part)
        if found is None:
            raise OptionError(
                f"machine {text!r:.200}: {part!r} is no node class; write NAME=NODESxCORESc, then perhaps the memory "
                f"and xGPUSTYPE, as in {FORM}"
            )
        given = found.groupdict()
        classes.append(
            NodeClass(
                given["name"],
                int(given["count"]),
                cores=int(given["cores"]),
                memory=given["memory"] or "",
                gpus={given["type"]: int(given["gpus"])} if given["type"] else None,
                weight=int(given["weight"] or 1),
                features=given["features"][1:].split("+") if given["features"] else (),
            )
        )
    return Site(classes, [_partition(text, part) for part in more])


def _partition(text: str, part: str) -> Partition:
    """A partition from ``NAME=CLASS+CLASS,max_time=3d,default``."""
    first, *options = [each.strip() for each in part.split(",")]
    name, equals, classes = first.partition("=")
    given: dict[str, Any] = {}
    for option in options:
        key, has_value, value = option.partition("=")
        if (key, bool(has_value)) not in (("max_time", True), ("default", False), ("tier", True)):
            raise OptionError(
                f"machine {text!r:.200}: {option!r} is no option of a partition: max_time=3d, tier=2 or default"
            )
        number = key == "tier" and value.removeprefix("-").isdecimal()
        given[key] = (int(value) if number else value) if has_value else True
    if not equals:
        raise OptionError(f"machine {text!r:.200}: {first!r} is no partition; write NAME=CLASS+CLASS")
    return Partition(name, classes.split("+"), **given)


checks.show_types(Site.__init__)
