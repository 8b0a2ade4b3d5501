"""The cells of a sweep: the product of its axes, zipped axes and explicit cells.

A dimension is a list of points; a point sets one axis or several.  A cell is one point of each dimension, numbered with
the first dimension slowest. Nothing is expanded in memory, so a grid may have millions of cells.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from faultsim import checks
from faultsim.data.limits import limits
from faultsim.errors import OptionError
from faultsim.machines import parse_machine
from faultsim.sweep.axes import INPUT_AXES, is_bundle
from faultsim.sweep.labels import Label, label, unique


@dataclass(frozen=True)
class Dimension:
    """Points along one dimension: for each, the labels that tables show and the values that runs take."""

    names: tuple[str, ...]
    labels: tuple[Mapping[str, Label], ...]
    values: tuple[Mapping[str, object], ...]

    def __len__(self) -> int:
        return len(self.values)

    @property
    def shapes_inputs(self) -> bool:
        """Whether log or failures depend on it."""
        return any(name in INPUT_AXES for point in self.values for name in point)


@dataclass(frozen=True)
class Cell:
    """One setting of all axes."""

    index: int
    labels: Mapping[str, Label]
    values: Mapping[str, object]


class Grid(Sequence[Cell]):
    """All cells.

    Examples
    --------
    >>> grid = make_grid({"runtime_factor": [0.7, 0.8], "start_delay": [0, 1]}, None, None)
    >>> len(grid), dict(grid[2].labels)
    (4, {'runtime_factor': 0.8, 'start_delay': 0})
    """

    def __init__(self, dimensions: Sequence[Dimension]) -> None:
        self.dimensions: tuple[Dimension, ...] = tuple(dimensions)
        names = [name for dimension in self.dimensions for name in dimension.names]
        for name in names:
            if names.count(name) > 1:
                raise OptionError(f"axis {name!r} is given twice")
        set_by: dict[str, int] = {}
        for number, dimension in enumerate(self.dimensions):
            for name in {name for point in dimension.values for name in point}:
                if set_by.setdefault(name, number) != number:
                    raise OptionError(f"axis {name!r} is set by two axes of the sweep")
        self.names: tuple[str, ...] = tuple(names)
        self._shape = tuple(len(dimension) for dimension in self.dimensions)
        limits().check("a grid", "cells", math.prod(self._shape))

    def __len__(self) -> int:
        return math.prod(self._shape)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        if not 0 <= index < len(self):
            raise IndexError(index)
        labels: dict[str, Label] = {}
        values: dict[str, object] = {}
        place = index
        for dimension in reversed(self.dimensions):
            place, at = divmod(place, len(dimension))
            labels = {**dimension.labels[at], **labels}
            values = {**dimension.values[at], **values}
        return Cell(index, {name: labels.get(name) for name in self.names}, values)

    def running_order(self) -> Iterator[int]:
        """Indices of the cells, grouped by shared inputs."""
        n = len(self.dimensions)
        order = sorted(range(n), key=lambda d: not self.dimensions[d].shapes_inputs)
        strides = [math.prod(self._shape[d + 1 :]) for d in range(n)]
        for number in range(len(self)):
            index = 0
            for d in reversed(order):
                number, at = divmod(number, self._shape[d])
                index += at * strides[d]
            yield index


def make_grid(
    grid: Mapping[str, object] | None,
    zipped: Mapping[str, object] | Sequence[Mapping[str, object]] | None,
    cells: Iterable[Mapping[str, object]] | None,
) -> Grid:
    """The grid from the arguments of a `Sweep`, whose names are checked already (`checked_axes`)."""
    grid, zipped = with_machines(grid), with_machines(zipped)
    cells = None if cells is None else with_machines(list(cells) if isinstance(cells, Iterable) else [cells])
    if not isinstance(grid or {}, Mapping):
        raise OptionError(f"grid must be a mapping of axes to values, got {checks.shown(grid)}")
    dimensions = [_axis(name, given) for name, given in (grid or {}).items()]
    groups: Sequence[Any] = zipped if isinstance(zipped, list | tuple) else [zipped]
    dimensions += [
        _zip(group) for group in groups if group is not None and not (isinstance(group, Mapping) and not group)
    ]
    if cells is not None:
        dimensions.append(_list(cells))
    return Grid(dimensions)


def with_machines(given: object) -> Any:
    """Settings, or several, in which machines that are text are machines.

    Examples
    --------
    >>> with_machines({"machine": ["cluster:4", "torus:2x2x1"], "scheduler": "easy"})
    {'machine': [Cluster(nodes=4), Torus(x=2, y=2, z=1, wrap=True)], 'scheduler': 'easy'}
    """
    if isinstance(given, list | tuple):
        return [with_machines(each) for each in given]
    if not isinstance(given, Mapping):
        return given
    return {
        name: _machines(value) if name == "machine" else with_machines(value) if isinstance(value, Mapping) else value
        for name, value in given.items()
    }


def _machines(given: object) -> object:
    """A machine, or the values of an axis of machines."""
    if isinstance(given, str):
        return parse_machine(given)
    if isinstance(given, Mapping):
        return {name: _machines(value) for name, value in given.items()}
    return [_machines(each) for each in given] if isinstance(given, list | tuple) else given


def _points(name: str, given: object) -> tuple[list[Label], list[Any]]:
    """Labels and values of one axis, without duplicates."""
    labels, values = _listed(name, given)
    if not values:
        raise OptionError(f"axis {name} has no values")
    unique(f"axis {name}", labels)
    return labels, values


def _listed(name: str, given: object) -> tuple[list[Label], list[object]]:
    """Labels and values of the argument for one axis."""
    if isinstance(given, np.ndarray):
        checks.refuse_missing(f"axis {name}", given)
        given = given.tolist()
    labels: list[Label]
    if isinstance(given, Mapping):
        labels, values = list(given), list(given.values())
    elif isinstance(given, str | bytes) or not isinstance(given, Iterable) or hasattr(given, "columns"):
        raise OptionError(
            f"axis {name} must be a list of values or a mapping of names to values, got {checks.shown(given)}"
        )
    else:
        values = list(given)
        labels = [label(value) for value in values]
    for value in values:
        checks.refuse_missing(f"axis {name}", value)
    return labels, [value.item() if isinstance(value, np.generic) else value for value in values]


def _axis(name: str, given: object) -> Dimension:
    """One axis; or, under a name of the user's, bundles of settings: ``{"policy": {"old": {...}, "new": {...}}}``."""
    if is_bundle(given):
        labels, values = _points(name, given)
        return Dimension((name,), tuple({name: each} for each in labels), tuple(dict(bundle) for bundle in values))
    labels, values = _points(name, given)
    return Dimension((name,), tuple({name: each} for each in labels), tuple({name: value} for value in values))


def _zip(group: Mapping[str, object]) -> Dimension:
    """Axes of equal length that go together."""
    if not isinstance(group, Mapping):
        raise OptionError(
            f"zipped must be a mapping of axes to values, or several in a list, got {checks.shown(group)}"
        )
    taken = {}
    for name, given in group.items():
        taken[name] = _listed(name, given)
    lengths = {name: len(values) for name, (_, values) in taken.items()}
    if len(set(lengths.values())) > 1:
        said = ", ".join(f"{name} {count}" for name, count in lengths.items())
        raise OptionError(f"zipped axes vary together and need equally many values, got {said}")
    n = next(iter(lengths.values()))
    if not n:
        raise OptionError(f"zipped axes {', '.join(taken)} have no values")
    return _told_apart(
        f"zipped axes {', '.join(taken)}",
        tuple(taken),
        [{name: labels[i] for name, (labels, _) in taken.items()} for i in range(n)],
        [{name: values[i] for name, (_, values) in taken.items()} for i in range(n)],
    )


def _list(cells: list[Mapping[str, object]]) -> Dimension:
    """Explicit settings; an axis that one of them omits is as in the base."""
    if not cells:
        raise OptionError("cells is empty: give at least one, or leave it out")
    names: dict[str, None] = {}
    for position, cell in enumerate(cells):
        if not isinstance(cell, Mapping):
            raise OptionError(f"cells, item {position}: expected a mapping of axes to values, got {checks.shown(cell)}")
        names |= dict.fromkeys(cell)
    labels = [{name: label(cell[name]) if name in cell else None for name in names} for cell in cells]
    return _told_apart("cells", tuple(names), labels, [dict(cell) for cell in cells])


def _told_apart(
    what: str, names: tuple[str, ...], labels: list[dict[str, Label]], values: list[dict[str, object]]
) -> Dimension:
    seen: dict[tuple[object, ...], int] = {}
    for position, point in enumerate(labels):
        key = tuple((type(point[name]), point[name]) for name in names)
        if key in seen:
            raise OptionError(f"{what}: items {seen[key]} and {position} are both {point}")
        seen[key] = position
    return Dimension(names, tuple(labels), tuple(values))
