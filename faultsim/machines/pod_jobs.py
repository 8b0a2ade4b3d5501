"""Jobs of a pod: chips and shapes as hosts, and the checks of a column of shapes."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from faultsim import checks
from faultsim.arrays import Indices
from faultsim.data.workload import Workload
from faultsim.errors import FaultsimError, InputError
from faultsim.machines.slices import MOST_CHIPS, Slice, as_shape, as_text
from faultsim.machines.speed_forms import SpeedForm

Found = TypeVar("Found")
#: Name of the further column of a log that says which shape a job asks for; "": the default one.
SHAPE = "shape"


class HasSlices(Protocol):
    """What is needed of a `faultsim.Pod`."""

    @property
    def slices(self) -> tuple[Slice, ...]: ...
    @property
    def wiring(self) -> str: ...

    def slice_of(self, *, chips: int | None = None, shape: str | Sequence[int] | None = None) -> Slice: ...


def jobs_of(
    pod: HasSlices, log: Workload, chips: str | ArrayLike | None, shape: str | ArrayLike | None, round_up: bool
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

    def by_chips(number: Any) -> Slice:
        """The most cubic slice, of the next number of chips that one has."""
        wanted = checks.whole("chips of a slice", number, low=1, high=MOST_CHIPS)
        above = [count for count in slices if count >= wanted][:1] if up else []
        return pod.slice_of(chips=above[0] if above else wanted)

    assert chips is not None
    jobs, _ = _asked(log, _values(log, "chips", chips), by_chips)
    without: dict[str, Any] = {SHAPE: None}
    return jobs.with_columns(**without) if SHAPE in log.further else jobs


def check_shapes(pod: HasSlices, log: Workload) -> None:
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


def shape_ranks(pod: HasSlices, log: Workload) -> NDArray[np.int32]:
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


def _values(log: Workload, what: str, given: Any) -> NDArray[Any]:
    """A value per job: of a column of the log, of `size`, or as given."""
    if isinstance(given, str):
        if given not in log.columns:
            known = ", ".join(("size", *log.further))
            raise InputError(f"Pod.jobs: {what}={given!r} is no column of the log; it has: {known}")
        return log.columns[given]
    count = len(given) if hasattr(given, "__len__") else 0
    if count == len(log) and what == "shape":
        shapes = [_checked(log, row, each, lambda value: as_text(as_shape(value))) for row, each in enumerate(given)]
        return np.array(shapes)
    try:
        values = np.asarray(given)
    except ValueError:  # rows of different lengths
        raise InputError(f"Pod.jobs: {what}= needs a value per job, {len(log)} of them, got {given!r:.60}") from None
    if values.shape != (len(log),):
        raise InputError(f"Pod.jobs: {what}= needs a value per job, {len(log)} of them, got shape {values.shape}")
    if values.dtype == object:
        for row, each in enumerate(values):
            _checked(log, row, each, lambda value: checks.whole("chips of a slice", value, low=1, high=MOST_CHIPS))
    return values


def _asked(log: Workload, values: NDArray[Any], find: Callable[[Any], Slice]) -> tuple[Workload, NDArray[np.str_]]:
    """The log in hosts, and the shape of each job's slice."""
    different, first, which = np.unique(values, return_index=True, return_inverse=True)
    plain = different.tolist()
    of = {int(at): _checked(log, int(first[at]), plain[at], find) for at in np.argsort(first)}
    found = [of[at] for at in range(len(different))]
    hosts, shapes = np.array([each.hosts for each in found]), np.array([str(each) for each in found])
    return log._derived(size=hosts[which]), shapes[which]


def _checked(log: Workload, row: int, value: Any, find: Callable[[Any], Found]) -> Found:
    """What is found for a value; an error names the job."""
    try:
        return find(value)
    except FaultsimError as error:
        raise InputError(f"job {log.id[row]} (row {row}): {error}") from None
