"""`NodeClass` and `Partition`: equal nodes of a site, and a queue of some of its classes."""

import numbers
import re
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass

from faultsim import checks, vocabulary
from faultsim.data.lowered import Lowered
from faultsim.errors import OptionError

#: What a node may have at most: the engine keeps cores in 13 bits, MiB in 24 and GPUs in 8.
MOST_CORES, MOST_MEMORY, MOST_GPUS = 2**13 - 1, 2**24 - 1, 2**8 - 1
#: Largest weight: the number that orders the classes.
MOST_WEIGHT = 2**32 - 1
#: As of Slurm's PriorityTier.
MOST_TIER = 65533
#: The type of GPUs of which only the number is given.
NO_TYPE = "gpu"
#: A name of a class, a partition, a feature or a type of GPU.
_NAME = re.compile(r"[A-Za-z_][\w.-]*", re.ASCII)
_MIB = 2.0**20
_UNITS = (("T", 2**20), ("G", 2**10), ("M", 1))


def mebibytes(what: str, value: object) -> int:
    """MiB of an amount of memory, text with its unit; 0 for "".

    Examples
    --------
    >>> mebibytes("memory", "187G"), mebibytes("memory", "")
    (191488, 0)
    >>> mebibytes("memory", 187)
    Traceback (most recent call last):
    faultsim.errors.OptionError: memory: 187 has no unit; write '187G' or '187M' (G is 1,024 M)
    """
    if value is None or value == "":
        return 0
    text = str(value).strip()
    if re.fullmatch(r"[\d.]+", text):
        raise OptionError(f"{what}: {value!r} has no unit; write '{text}G' or '{text}M' (G is 1,024 M)")
    found = vocabulary.size(text, binary=True) if re.fullmatch(r"[\d.]+ *[KMGTkmgt]i?[Bb]?", text) else None
    if found is None:
        raise OptionError(f"{what} must be an amount with its unit, such as '187G' or '512M', got {value!r:.60}")
    return checks.whole(what, int(found / _MIB), low=1, high=MOST_MEMORY, unit="MiB")


def with_unit(amount: int) -> str:
    """MiB as text, in the largest unit that is exact; "" for 0.

    Examples
    --------
    >>> with_unit(191488), with_unit(500), with_unit(0)
    ('187G', '500M', '')
    """
    return next((f"{amount // size}{unit}" for unit, size in _UNITS if amount and amount % size == 0), "")


def a_name(what: str, value: object) -> str:
    """A name that texts of sites can have."""
    if not isinstance(value, str) or not _NAME.fullmatch(value):
        raise OptionError(
            f"{what} must be a name of letters, digits, '.', '_' and '-' that begins with a letter, got {value!r:.60}"
        )
    return value


def names_of(what: str, given: object) -> tuple[str, ...]:
    """Names, given as a sequence or as text with commas; each once."""
    parts: Sequence[object] = [part.strip() for part in given.split(",")] if isinstance(given, str) else []
    if isinstance(given, Sequence) and not isinstance(given, str):
        parts = list(given)
    elif not isinstance(given, str):
        raise OptionError(f"{what} must be names, such as 'ib,cascade', got {given!r:.60}")
    found = [a_name(what, part) for part in parts if part != ""]
    if double := next((name for at, name in enumerate(found) if name in found[:at]), None):
        raise OptionError(f"{what}: {double!r} is named twice")
    return tuple(found)


@dataclass(frozen=True)
class NodeClass:
    """Nodes of a `Site` that have the same cores, memory, GPUs and features.

    Parameters
    ----------
    name : str
        Its name, such as ``"gpu"``.
    count : int
        Number of nodes, at least 1.
    cores : int, default 1
        Cores of each node, at most 8,191.
    memory : str, default ""
        Memory of each node with its unit: ``"187G"``, where G is 1,024 M.  ``""``: not stated.
    gpus : mapping of str to int, str or int, optional
        GPUs of each node, all of one type: ``{"v100": 2}``, ``"v100:2"``, or 2 of the type ``"gpu"``; at most 255.
    weight : int, default 1
        Nodes of a smaller weight are taken first by `ConsecutiveBestFit`.
    features : str or sequence of str, default ""
        What jobs may require of a node by name: ``"ib,cascade"``.
    hosts : sequence of str, optional
        The names of the nodes, one for each, in order.

    Raises
    ------
    OptionError
        A number out of its range, memory without a unit, GPUs of several types, names that are none or come twice.

    Examples
    --------
    >>> import faultsim as fs
    >>> gpu = fs.NodeClass("gpu", 8, cores=40, memory="187G", gpus={"v100": 2}, weight=50)
    >>> gpu.gpus, gpu.mebibytes
    ((('v100', 2),), 191488)
    >>> str(gpu)
    'gpu=8x40c187Gx2v100@50'
    """

    name: str
    count: int
    _: KW_ONLY
    cores: int = 1
    memory: str = ""
    gpus: Mapping[str, int] | Sequence[tuple[str, int]] | str | int | None = ()
    weight: int = 1
    features: str | Sequence[str] = ()
    hosts: Sequence[str] = ()

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "name", a_name("the name of a node class", self.name))
        of = f"of the node class {self.name!r}"
        put(self, "count", checks.whole(f"count {of}", self.count, low=1, high=2**31 - 1))
        put(self, "cores", checks.whole(f"cores {of}", self.cores, low=1, high=MOST_CORES))
        put(self, "memory", with_unit(mebibytes(f"memory {of}", self.memory)))
        put(self, "gpus", _gpus(of, self.gpus))
        put(self, "weight", checks.whole(f"weight {of}", self.weight, low=0, high=MOST_WEIGHT))
        put(self, "features", names_of(f"features {of}", self.features))
        hosts = self.hosts
        if isinstance(hosts, str) or not all(isinstance(host, str) for host in hosts):
            raise OptionError(f"hosts {of} must be a sequence of names, got {hosts!r:.60}")
        put(self, "hosts", tuple(hosts))
        if self.hosts and len(self.hosts) != self.count:
            raise OptionError(f"hosts {of}: {checks.count(len(self.hosts), 'names')} for {self.count} nodes")

    @property
    def mebibytes(self) -> int:
        """Memory of a node in MiB, 0 if it is not stated."""
        return mebibytes("memory", self.memory)

    @property
    def gpu_type(self) -> str:
        """The type of its GPUs, "" without any."""
        return self._gpus[0] if self._gpus else ""

    @property
    def gpu_count(self) -> int:
        """GPUs of a node."""
        return self._gpus[1] if self._gpus else 0

    @property
    def _gpus(self) -> tuple[str, int] | None:
        given = self.gpus
        assert isinstance(given, tuple)
        return given[0] if given else None

    def lower(self) -> Lowered:
        """The plain form that provenance keeps: what differs from the defaults."""
        lowered: Lowered = {"name": self.name, "count": self.count, "cores": self.cores, "memory": self.memory}
        lowered |= {"gpus": f"{self.gpu_type}:{self.gpu_count}"} if self.gpu_count else {}
        lowered |= {"weight": self.weight} if self.weight != 1 else {}
        lowered |= {"features": list(self.features)} if self.features else {}
        return lowered | ({"hosts": list(self.hosts)} if self.hosts else {})

    def __str__(self) -> str:
        gpus = f"x{self.gpu_count}{self.gpu_type}" if self.gpu_count else ""
        weight = f"@{self.weight}" if self.weight != 1 else ""
        features = "".join(f"+{feature}" for feature in self.features)
        return f"{self.name}={self.count}x{self.cores}c{self.memory}{gpus}{weight}{features}"


def _gpus(of: str, given: object) -> tuple[tuple[str, int], ...]:
    """One type and its number, or nothing."""
    if isinstance(given, numbers.Integral) and not isinstance(given, bool):
        given = {NO_TYPE: int(given)} if given else None
    if given is None or (isinstance(given, Sequence | Mapping) and not given):
        return ()
    if isinstance(given, str):
        kind, colon, number = given.partition(":")
        given = {kind.strip(): number.strip()} if colon else {kind.strip(): 1}
    pairs: list[Sequence[object]] | None = None
    if isinstance(given, Mapping | Sequence):
        pairs = list(given.items()) if isinstance(given, Mapping) else list(given)
    if pairs is None or not all(isinstance(pair, Sequence) and len(pair) == 2 for pair in pairs):
        raise OptionError(f"gpus {of} must be such as {{'v100': 2}}, 'v100:2' or 2, got {given!r:.60}")
    if len(pairs) > 1:
        types = ", ".join(str(pair[0]) for pair in pairs)
        raise OptionError(f"gpus {of}: nodes of a class have GPUs of one type, got {types}; make a class for each")
    name, found = pairs[0]
    count = checks.whole(f"gpus {of}", _number(found), low=0, high=MOST_GPUS)
    return ((a_name(f"the type of gpus {of}", name), count),) if count else ()


def _number(given: object) -> object:
    """A number that is written as text, as such."""
    return int(given) if isinstance(given, str) and given.isascii() and given.isdigit() else given


@dataclass(frozen=True)
class Partition:
    """A queue of a `Site`: the classes whose nodes its jobs may use.  Partitions may share classes.

    Parameters
    ----------
    name : str
        Its name, as in the column ``partition`` of a log.
    classes : str or sequence of str
        Names of node classes: ``"cpu,gpu"``.
    max_time : float, str or datetime.timedelta, optional
        The longest requested time of its jobs, such as ``"3d"``; None: no limit.
    default : bool, default False
        Whether jobs that name no partition go here.
    tier : int, default 1
        Jobs of a partition of a larger tier come before those of a smaller one in the queue, as with Slurm's
        ``PriorityTier`` (model.md#site-tiers).

    Raises
    ------
    OptionError
        No class, or a time that is none.

    Examples
    --------
    >>> import faultsim as fs
    >>> fs.Partition("general", "cpu,gpu", max_time="3d", default=True).max_time
    259200.0
    """

    name: str
    classes: str | Sequence[str]
    _: KW_ONLY
    max_time: checks.Duration | None = None
    default: bool = False
    tier: int = 1

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "name", a_name("the name of a partition", self.name))
        put(self, "classes", names_of(f"classes of the partition {self.name!r}", self.classes))
        if not self.classes:
            raise OptionError(f"the partition {self.name!r} has no nodes: name at least one node class, such as 'cpu'")
        if self.max_time is not None:
            put(self, "max_time", checks.duration(f"max_time of the partition {self.name!r}", self.max_time, above=0.0))
        put(self, "default", checks.flag(f"default of the partition {self.name!r}", self.default))
        put(self, "tier", checks.whole(f"tier of the partition {self.name!r}", self.tier, low=0, high=MOST_TIER))

    def lower(self) -> Lowered:
        """The plain form that provenance keeps."""
        lowered: Lowered = {"name": self.name, "classes": list(self.classes)}
        lowered |= {} if self.max_time is None else {"max_time": self.max_time}
        lowered |= {} if self.tier == 1 else {"tier": self.tier}
        return lowered | ({"default": True} if self.default else {})

    def __str__(self) -> str:
        limit = "" if self.max_time is None else f",max_time={float(self.max_time):.15g}s"  # type: ignore[arg-type]
        tier = "" if self.tier == 1 else f",tier={self.tier}"
        return f"{self.name}={'+'.join(self.classes)}{limit}{',default' if self.default else ''}{tier}"


checks.show_types(NodeClass.__init__)
checks.show_types(Partition.__init__)
