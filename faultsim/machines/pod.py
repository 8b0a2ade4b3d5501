"""`Pod`: cubes of chips, joined by optical switches or wired as a torus."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar, overload

import numpy as np
from numpy.typing import ArrayLike

from faultsim import checks
from faultsim.arrays import Indices, Integers, LongIntegers, Texts, Values
from faultsim.data.lowered import Lowered
from faultsim.data.slowdowns import Slowdown
from faultsim.data.workload import Workload
from faultsim.errors import FaultsimError, InputError, OptionError
from faultsim.machines.extents import as_one, three
from faultsim.machines.machine import Machine
from faultsim.machines.slices import (
    MOST_CHIPS,
    MOST_EXTENT,
    Shape,
    Slice,
    allowed_slices,
    as_shape,
    as_text,
    default_slice,
    slice_of_shape,
)
from faultsim.machines.speed_forms import SpeedForm

Found = TypeVar("Found")
#: Name of the further column of a log that says which shape a job asks for; "": the default one.
SHAPE = "shape"
Wiring = Literal["ocs", "static"]
#: Cubes of a pod, hosts of a cube, and the extent of one in chips, that the engine takes.
MOST_CUBES, MOST_HOSTS, MOST_EDGE = 160, 64, 128


@dataclass(frozen=True)
class Pod(Machine):
    """A pod of cubes: a job needs a slice, which is made of whole cubes or lies inside one.

    A node is a host, which has some of the chips of a cube.  Host h of cube (x, y, z) is the node
    ((x Y + y) Z + z) `hosts` + h.  Sizes of jobs are in hosts; `jobs` takes chips or shapes.

    Parameters
    ----------
    cubes : (int, int, int)
        Extents (X, Y, Z) of the pod in cubes, at most 160 of them: ``Pod((4, 4, 4))``, ``Pod(4, 4, 4)`` or
        ``Pod("4x4x4")``.  With optical switches only their product matters.
    cube : (int, int, int)
        Extents of a cube in chips, all the same, at most 128.
    hosts : int
        Hosts of a cube, at most 64; each has the same number of its chips.
    wiring : {"ocs", "static"}
        ``"ocs"``: optical switches join any free cubes to a slice.  ``"static"``: a slice of cubes is a box of
        neighbours.
    aligned : bool, default True
        Static wiring: whether the base of a slice is a multiple of its extents, so that slices of one shape that are
        not turned are fixed blocks.  ``False``: any box of the torus of cubes.
    largest : int, optional
        Cubes of the largest slice; by default all that are not held back.
    spares : int, default 0
        Cubes that are held back (model.md#held-back): jobs are in all others at most, so that there
        is one in the place of each that is down, up to so many.

    Raises
    ------
    OptionError
        Extents that are no three whole numbers of at least 1; a cube with different extents; hosts that do not share
        its chips evenly; an unknown wiring; `aligned` with optical switches; a largest slice beyond the pod, or beyond
        what is not held back; all cubes held back; more than 160 cubes, or 64 hosts of a cube.

    Examples
    --------
    >>> import faultsim as fs
    >>> pod = fs.Pod.tpu_v4()
    >>> pod.chips, pod.nodes
    (4096, 1024)
    >>> pod.slice_of(chips=1024)
    Slice(shape=(8, 8, 16), cubes=16, hosts=256, chips=1024)
    >>> pod.slice_of(shape="4x4x6")
    Traceback (most recent call last):
    ...
    faultsim.errors.OptionError: the shape 4x4x6 of a slice is not allowed; the nearest that are: 4x4x4 (64 chips) \
and 4x4x8 (128 chips)
    """

    largest_place: ClassVar[str] = "largest slice"
    node_unit: ClassVar[str] = "hosts"
    picture: ClassVar[str] = "Cubes of the pod"

    cubes: Shape = (4, 4, 4)
    cube: Shape = (4, 4, 4)
    hosts: int = 16
    wiring: Wiring = "ocs"
    _: KW_ONLY
    aligned: bool = True
    largest: int | None = None
    spares: int = 0

    if TYPE_CHECKING:

        @overload
        def __init__(
            self,
            cubes: Sequence[int] | str = ...,
            cube: Sequence[int] | str = ...,
            hosts: int = ...,
            wiring: Wiring = ...,
            *,
            aligned: bool = ...,
            largest: int | None = ...,
            spares: int = ...,
        ) -> None: ...
        @overload
        def __init__(
            self,
            x: int,
            y: int,
            z: int,
            cube: Sequence[int] | str = ...,
            hosts: int = ...,
            wiring: Wiring = ...,
            /,
            *,
            aligned: bool = ...,
            largest: int | None = ...,
            spares: int = ...,
        ) -> None: ...
        def __init__(self, *args: object, **options: object) -> None: ...

    def __post_init__(self) -> None:
        object.__setattr__(self, "cubes", _extents("cubes", "a pod", self.cubes))
        object.__setattr__(self, "cube", _extents("cube", "a cube", self.cube))
        object.__setattr__(self, "hosts", checks.whole("hosts of a cube", self.hosts, low=1))
        object.__setattr__(self, "wiring", checks.choice("wiring", self.wiring, ("ocs", "static")))
        object.__setattr__(self, "aligned", checks.flag("aligned", self.aligned))
        checks.whole("an extent of a cube", max(self.cube), high=MOST_EDGE)
        if len(set(self.cube)) > 1:
            raise OptionError(f"cube: a cube has the same extent along all axes, got {as_text(self.cube)}")
        edge = self.cube[0]
        if edge**3 % self.hosts:
            raise OptionError(f"hosts: the {edge**3} chips of a cube cannot be shared evenly by {self.hosts} hosts")
        if self.wiring == "ocs" and not self.aligned:
            raise OptionError("aligned=False is for static wiring: optical switches join any cubes")
        if self.n_cubes > MOST_CUBES or self.hosts > MOST_HOSTS:
            raise OptionError(
                f"a pod may have at most {MOST_CUBES} cubes of {MOST_HOSTS} hosts, got {as_text(self.cubes)} = "
                f"{self.n_cubes} cubes of {self.hosts}"
            )
        object.__setattr__(self, "spares", checks.whole("spares", self.spares, low=0, high=self.n_cubes - 1))
        if self.largest is not None:
            most = checks.whole("cubes of the largest slice", self.largest, low=1, high=self.n_cubes - self.spares)
            object.__setattr__(self, "largest", most)

    @property
    def n_cubes(self) -> int:
        """Number of cubes."""
        return self.cubes[0] * self.cubes[1] * self.cubes[2]

    @property
    def nodes(self) -> int:
        """Number of hosts."""
        return self.n_cubes * self.hosts

    @property
    def chips(self) -> int:
        """Number of chips."""
        return self.n_cubes * self.cube[0] ** 3

    @property
    def chips_per_host(self) -> int:
        """Chips of a host."""
        return self.cube[0] ** 3 // self.hosts

    @property
    def most_hosts(self) -> int:
        """Hosts of the largest slice, and so of the largest job."""
        return max(each.hosts for each in self.slices)

    @property
    def largest_job(self) -> int:
        """Hosts of the largest slice."""
        return self.most_hosts

    @property
    def blocks(self) -> tuple[int, int]:
        """Cubes, and the hosts of each."""
        return self.n_cubes, self.hosts

    @property
    def held_back(self) -> int:
        """The spare cubes."""
        return self.spares

    @property
    def exchanges_nodes(self) -> bool:
        """With optical switches a cube of a slice can be any other; with static wiring cubes are neighbours."""
        return self.wiring == "ocs"

    @property
    def name(self) -> str:
        """The kind of machine, ``"pod"``."""
        return "pod"

    @property
    def shape(self) -> None:
        """None: hosts have no coordinates, which metrics and policies could use."""
        return None

    @property
    def slices(self) -> tuple[Slice, ...]:
        """All slices that are allowed, by chips and, of as many chips, the most cubic first."""
        most = self.n_cubes - self.spares if self.largest is None else self.largest
        return allowed_slices(self.cubes, self.cube[0], self.hosts, self.wiring == "static", most)

    def slice_of(self, *, chips: int | None = None, shape: str | Sequence[int] | None = None) -> Slice:
        """The slice with a number of chips, of the most cubic shape, or with a shape, in chips.

        Raises
        ------
        OptionError
            If there is none; says which are nearest.
        """
        if (chips is None) == (shape is None):
            raise OptionError("a slice is given by chips= or by shape=, one of the two")
        if shape is not None:
            return slice_of_shape(self.slices, shape)
        return default_slice(self.slices, checks.whole("chips of a slice", chips, low=1, high=MOST_CHIPS))

    def jobs(
        self,
        log: Workload,
        *,
        chips: str | ArrayLike | None = None,
        shape: str | ArrayLike | None = None,
        round_up: bool = False,
    ) -> Workload:
        """A log whose jobs ask for chips or for shapes, as jobs of this pod: sizes in hosts.

        Parameters
        ----------
        log : Workload
            The jobs; their sizes are replaced.
        chips : str or array_like of int, shape (n,), optional
            Chips of each job, or the name of the column that has them, such as ``"size"``.  A job gets any slice with
            so many; a column `shape` is left out.
        shape : str or array_like of str, shape (n,), optional
            Shape of each job in chips, such as ``"4x4x8"``, or the name of the column that has them; it stays with the
            jobs as the further column `shape`.  With static wiring it is what they get, perhaps turned
            (model.md#shapes).
        round_up : bool, default False
            Whether a number of chips that no slice has is rounded up to the next; otherwise it is an error.

        Raises
        ------
        InputError
            Chips or a shape that no slice has, naming the job and the nearest that are allowed; both of them, or none.

        Examples
        --------
        >>> import faultsim as fs
        >>> log = fs.Workload(submit=[0, 5], runtime=[60, 60], size=[1024, 4])
        >>> pod = fs.Pod.tpu_v4()
        >>> pod.jobs(log, chips="size").size
        array([256,   1], dtype=int32)
        >>> pod.jobs(log, shape=["4x4x16", "2x2x1"]).columns["shape"].tolist()
        ['4x4x16', '2x2x1']
        """
        return jobs_of(self, log, chips, shape, round_up)

    def spare_units(self, size: Integers) -> tuple[LongIntegers, int]:
        """Cubes of each job; none is added to a slice inside a cube."""
        cubes = -(-size.astype(np.int64) // self.hosts)
        cubes[size <= max((each.hosts for each in self.slices if each.cubes == 0), default=0)] = 0
        return cubes, self.hosts

    def check_log(self, log: Workload) -> None:
        """Refuse a log whose shapes are none of this pod's."""
        check_shapes(self, log)

    def shape_ranks(self, log: Workload) -> Integers | None:
        """Of a log with shapes, where static wiring makes them matter."""
        return shape_ranks(self, log) if self.wiring == "static" and SHAPE in log.further else None

    def check_slowdown(self, effect: Slowdown) -> None:
        """Refuse an axis without switches, and shapes that no slice has."""
        if effect.axis and self.wiring != "ocs":
            raise OptionError(
                f"{effect!r}: no switches serve the axis {effect.axis} of all cubes of {self}: leave out the "
                f"axis, or use wiring='ocs'"
            )
        for shape in effect.shapes:
            try:
                found = self.slice_of(shape=shape)
            except FaultsimError as error:
                raise OptionError(f"{effect!r}: {error}") from None
            if found.cubes == 0:
                raise OptionError(f"{effect!r}: a slice {shape} lies inside a cube, and uses nothing that all share")

    def speed_forms(self, log: Workload) -> tuple[list[SpeedForm], Indices]:
        """The slices of the jobs, and the cubes of each along its axes."""
        return speed_forms(self.slices, self.cube[0], log)

    def first_events(self, many: int) -> int:
        """Few: a pass that searches slices takes long."""
        return 64

    def lower(self) -> Lowered:
        """The plain form that the engine takes and that provenance keeps."""
        plain = {"name": "pod", "cubes": list(self.cubes), "cube": list(self.cube), "hosts": self.hosts}
        plain |= {"wiring": self.wiring, "aligned": self.aligned, "largest": self.largest}
        return plain | ({"spares": self.spares} if self.spares else {})

    def __str__(self) -> str:
        more = {"cube": as_text(self.cube), "hosts": self.hosts, "wiring": self.wiring}
        more |= {"aligned": str(self.aligned).lower(), "largest": self.largest, "spares": self.spares}
        usual = {"cube": "4x4x4", "hosts": 16, "wiring": "ocs", "aligned": "true", "largest": None, "spares": 0}
        said = [f"{key}={value}" for key, value in more.items() if value != usual[key]]
        return ",".join([f"pod:{as_text(self.cubes)}", *said])

    @classmethod
    def tpu_v4(cls, wiring: Wiring = "ocs", *, aligned: bool = True, spares: int = 0) -> "Pod":
        """TPU v4: 4,096 chips, 64 cubes of 4x4x4 chips and 16 hosts ([jouppi2023]).

        Examples
        --------
        >>> import faultsim as fs
        >>> fs.Pod.tpu_v4().n_cubes
        64
        """
        return cls((4, 4, 4), wiring=wiring, aligned=aligned, spares=spares)

    @classmethod
    def tpu_v5p(cls, wiring: Wiring = "ocs", *, aligned: bool = True, spares: int = 0) -> "Pod":
        """TPU v5p: 8,960 chips, 140 cubes, of which a slice has at most 96 (Cloud TPU, page 'TPU v5p').

        Where its cubes stand is not said there; that it is 4x5x7, the most cubic box of 140, is an assumption, which
        matters with static wiring only.

        Examples
        --------
        >>> import faultsim as fs
        >>> fs.Pod.tpu_v5p().chips, str(fs.Pod.tpu_v5p().slice_of(chips=96 * 64))
        (8960, '16x16x24')
        """
        return cls((4, 5, 7), wiring=wiring, aligned=aligned, largest=min(96, 140 - _held(spares, 140)), spares=spares)

    @classmethod
    def tpu7x(cls, wiring: Wiring = "ocs", *, aligned: bool = True, spares: int = 0) -> "Pod":
        """TPU7x: 9,216 chips, 144 cubes of 16 hosts (Cloud TPU, page 'TPU7x').

        Where its cubes stand is not said there; that it is 4x6x6, the most cubic box of 144, is an assumption, which
        matters with static wiring only.

        Examples
        --------
        >>> import faultsim as fs
        >>> fs.Pod.tpu7x().chips
        9216
        """
        return cls((4, 6, 6), wiring=wiring, aligned=aligned, spares=spares)


Pod.__init__ = as_one(Pod.__init__)  # type: ignore[method-assign]


def pod_of(machine: object) -> Pod | None:
    """The machine, if its places are slices of a pod."""
    return machine if isinstance(machine, Pod) else None


def _held(spares: object, cubes: int) -> int:
    return checks.whole("spares", spares, low=0, high=cubes - 1)


def _extents(what: str, of: str, value: object) -> Shape:
    return three(of, value, high=MOST_EXTENT, what=what)


# -- jobs of a pod


def jobs_of(
    pod: Pod, log: Workload, chips: str | ArrayLike | None, shape: str | ArrayLike | None, round_up: bool
) -> Workload:
    """The log with sizes in hosts, and with the shapes that were asked for as a further column; see `Pod.jobs`."""
    if not isinstance(log, Workload):
        raise InputError(f"Pod.jobs: the log must be a Workload, got {checks.shown(log, 'Workload')}")
    if (chips is None) == (shape is None):
        raise InputError("Pod.jobs: give chips= or shape=, one of the two: a column's name, or a value per job")
    up = checks.flag("round_up", round_up)
    if shape is not None:
        if up:
            raise InputError("Pod.jobs: round_up=True is for chips=: a shape is what it is")
        jobs, shapes = _asked(log, _values(log, "shape", shape), lambda value: pod.slice_of(shape=value))
        return jobs.with_columns(**{SHAPE: shapes})
    slices = sorted({each.chips for each in pod.slices})

    def by_chips(number: object) -> Slice:
        """The most cubic slice, of the next number of chips that one has."""
        wanted = checks.whole("chips of a slice", number, low=1, high=MOST_CHIPS)
        above = [count for count in slices if count >= wanted][:1] if up else []
        return pod.slice_of(chips=above[0] if above else wanted)

    assert chips is not None
    jobs, _ = _asked(log, _values(log, "chips", chips), by_chips)
    without: dict[str, Any] = {SHAPE: None}
    return jobs.with_columns(**without) if SHAPE in log.further else jobs


def check_shapes(pod: Pod, log: Workload) -> None:
    """Refuse a log whose shapes are none of this pod's, or do not have the hosts that its sizes say.

    Raises
    ------
    InputError
        Naming the first such job.
    """
    if SHAPE not in log.further:
        return
    given = log.columns[SHAPE]
    if given.dtype.kind not in "US":
        raise InputError(f"the column {SHAPE!r} of jobs on a pod is text, such as '4x4x8', got {given.dtype} numbers")
    shapes, first, which = np.unique(given.astype(str), return_index=True, return_inverse=True)
    for place in np.argsort(first):
        text, row = str(shapes[place]), int(first[place])
        if text == "":
            continue
        asked = _checked(log, row, text, lambda value: pod.slice_of(shape=value))
        here = np.flatnonzero((which == place) & (log.size != asked.hosts))
        if len(here):
            job, size = log.id[here[0]], int(log.size[here[0]])
            hosts = f"{size} host" if size == 1 else f"{size} hosts"
            raise InputError(
                f"job {job} (row {here[0]}) asks for {hosts}, and its shape {asked} has {asked.hosts}: "
                f"pod.jobs(log, shape='{SHAPE}') sets the sizes"
            )


def shape_ranks(pod: Pod, log: Workload) -> Integers:
    """Which of the shapes of its size each job asks for, the most cubic first, from 1 on; 0: its size says all.

    For static wiring, and logs that have the column.

    Examples
    --------
    >>> from faultsim.machines import Pod
    >>> log = Workload([0, 0, 0], [1, 1, 1], [64, 64, 8], columns={"shape": ["4x4x16", "", "2x4x4"]})
    >>> shape_ranks(Pod.tpu_v4("static"), log)
    array([2, 0, 0], dtype=int32)
    """
    rank, of_size = {"": 0}, Counter[int]()
    for each in pod.slices:
        of_size[each.hosts] += 1
        rank[str(each)] = of_size[each.hosts] if each.cubes else 0
    shapes, which = np.unique(log.columns[SHAPE].astype(str), return_inverse=True)
    # As they are written may differ: "4X4x8".
    asked = [rank[text if text == "" else str(pod.slice_of(shape=text))] for text in shapes.tolist()]
    return np.array(asked, np.int32)[which]


def speed_forms(slices: Sequence[Slice], edge: int, log: Workload) -> tuple[list[SpeedForm], Indices]:
    """The different slices of the jobs, with the cubes of each along its axes, and the slice of each job."""
    hosts = np.array([each.hosts for each in slices])
    # The first of as many hosts is the most cubic one.
    default = np.searchsorted(hosts, log.size)
    different, which = np.unique(default, return_inverse=True)
    if SHAPE in log.further:
        asked = log.columns[SHAPE].astype(str)
        by_text: dict[str, int] = {str(each): at for at, each in enumerate(slices)}
        own = np.array([by_text.get(text, -1) for text in asked.tolist()])
        different, which = np.unique(np.where(own >= 0, own, default), return_inverse=True)
    forms = []
    for at in different.tolist():
        found = slices[at]
        a, b, c = (max(extent // edge, 1) for extent in found.shape)
        forms.append(SpeedForm(str(found), (a, b, c) if found.cubes else (1, 1, 1)))
    return forms, which


def _values(log: Workload, what: str, given: Any) -> Values:
    """A value per job: of a column of the log, of `size`, or as given."""
    if isinstance(given, str):
        if given not in log.columns:
            known = ", ".join(("size", *log.further))
            raise InputError(f"Pod.jobs: {what}={given!r} is no column of the log; it has: {known}")
        return log.columns[given]
    count = len(given) if hasattr(given, "__len__") and getattr(given, "shape", True) else 0
    if count == len(log) and what == "shape":
        shapes = [_checked(log, row, each, lambda value: as_text(as_shape(value))) for row, each in enumerate(given)]
        return np.array(shapes)
    try:
        values = np.asarray(given)
    except ValueError:  # rows of different lengths
        raise InputError(
            f"Pod.jobs: {what}= needs a value per job, {len(log)} of them, got {checks.shown(given)}"
        ) from None
    if values.shape != (len(log),):
        raise InputError(f"Pod.jobs: {what}= needs a value per job, {len(log)} of them, got shape {values.shape}")
    if values.dtype == object:
        for row, each in enumerate(values):
            _checked(log, row, each, lambda value: checks.whole("chips of a slice", value, low=1, high=MOST_CHIPS))
    return values


def _asked(log: Workload, values: Values, find: Callable[[str], Slice]) -> tuple[Workload, Texts]:
    """The log in hosts, and the shape of each job's slice."""
    different, first, which = np.unique(values, return_index=True, return_inverse=True)
    plain = different.tolist()
    of = {int(at): _checked(log, int(first[at]), plain[at], find) for at in np.argsort(first)}
    found = [of[at] for at in range(len(different))]
    hosts, shapes = np.array([each.hosts for each in found]), np.array([str(each) for each in found])
    return log._derived(size=hosts[which]), shapes[which]


def _checked(log: Workload, row: int, value: object, find: Callable[[Any], Found]) -> Found:
    """What is found for a value; an error names the job."""
    try:
        return find(value)
    except FaultsimError as error:
        raise InputError(f"job {log.id[row]} (row {row}): {error}") from None
