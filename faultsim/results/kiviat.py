"""Kiviat graphs: six metrics as one polygon, and how much smaller one method's polygon is ([li2009] section 5.3)."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import NamedTuple

from faultsim import checks
from faultsim.entries import entry
from faultsim.errors import OptionError
from faultsim.results.result import Result

Method = Result | Mapping[str, float]


@dataclass(frozen=True)
class Axis:
    """One axis: its name, the metric that it comes from, and how; less is better on every axis."""

    label: str
    metric: str
    unit: str
    formula: str
    function: Callable[[float], float]


def _unused(utilization: float) -> float:
    if utilization > 1.0 + 1e-9:
        raise OptionError(f"utilization must be a fraction, at most 1, got {utilization:g}")
    return max(0.0, 1.0 - utilization)


def _between(throughput: float) -> float:
    return 1.0 / checks.number("throughput", throughput, above=0.0, unit="jobs per second")


#: The axes, in the order in which neighbors span the area: as section 5.3 of the paper lists the metrics. #: The order
#: in its Figure 3 is not in its text.
AXES: tuple[Axis, ...] = (
    Axis("Resp", "mean_response", "s", "mean response time", float),
    Axis("1-Util", "utilization", "fraction", "1 - utilization", _unused),
    Axis("MTBC", "throughput", "s", "mean time between completions, 1 / throughput", _between),
    Axis("SUL", "service_unit_loss", "node-s", "service unit loss", float),
    Axis("JFR", "job_failure_rate", "fraction", "job failure rate", float),
    Axis("FSD", "failure_slowdown", "", "failure slowdown", float),
)
#: The ways to arrange the axes on a circle that are not rotations or mirror images of each other; `AXES` first.
_ORDERS = tuple((0, *rest) for rest in permutations(range(1, len(AXES))) if rest[0] < rest[-1])


class KiviatGain(NamedTuple):
    """How much smaller a polygon is, as fractions: in the order of `AXES`, and the range over all 60 orders."""

    gain: float
    lowest: float
    highest: float


@entry
def kiviat_gain(method: Method, baseline: Method, *, among: Iterable[Method] = ()) -> KiviatGain:
    """How much smaller the Kiviat graph of a method is than that of a baseline.

    Six metrics, for all of which less is better, are the axes of a hexagon: mean response time, 1 - utilization, mean
    time between completions (1 / throughput), service unit loss, job failure rate, failure slowdown. Each runs from 0
    at the center to the largest value among the methods compared. With K the area of a method's polygon, the gain is
    (K(baseline) - K(method)) / K(baseline).

    Parameters
    ----------
    method, baseline : Result or mapping of str to float
        What to compare: a result, or its metrics by name, such as means over several seeds.  A mapping needs
        ``mean_response``, ``utilization``, ``throughput``, ``service_unit_loss``, ``job_failure_rate`` and
        ``failure_slowdown``, with the units of `faultsim.METRICS`; others are ignored.
    among : iterable of Result or mapping, optional
        Other methods in the comparison, whose values also set the scale of the axes. Method and baseline are always
        included.

    Returns
    -------
    KiviatGain
        ``gain``, and ``lowest`` and ``highest`` over the 60 different orders of the axes, all as fractions: the area
        depends on which axes are neighbors, which the paper does not say. Above 0 the method is better.

    Notes
    -----
    With radii r_i from 0 to 1 in the order above, K is sin(60 degrees) / 2 times the sum of r_i r_(i + 1), around the
    circle.  An axis on which all methods have 0, such as the three for failures if no job failed, has radius 0 and adds
    no area. If both areas are 0, so is the gain; if only the baseline's is 0, the gain is minus infinity.

    No axis shows jobs that are cut at their limit: with ``overrun="kill"`` they count like others, and end early.
    Compare `METRICS` cut_jobs and cut_work_ratio beside the graph.

    Raises
    ------
    OptionError
        If a metric is missing, negative or not a number (for instance, of a run that takes no time).

    References
    ----------
    [li2009] section 5.3.

    Examples
    --------
    >>> import faultsim as fs
    >>> easy = {"mean_response": 200.0, "utilization": 0.5, "throughput": 0.01}
    >>> easy |= {"service_unit_loss": 900.0, "job_failure_rate": 0.03, "failure_slowdown": 0.2}
    >>> moved = easy | {"service_unit_loss": 450.0, "job_failure_rate": 0.015, "failure_slowdown": 0.1}
    >>> fs.kiviat_gain(moved, easy)
    KiviatGain(gain=0.4166666666666667, lowest=0.4166666666666667, highest=0.5)
    """
    if isinstance(among, Result | Mapping | str) or not isinstance(among, Iterable):
        raise OptionError(f"among must be a list of results or of mappings, got {checks.shown(among)}")
    values = [_values("method", method), _values("baseline", baseline)]
    values += [_values(f"among[{place}]", other) for place, other in enumerate(among)]
    ours, theirs = _radii(values)[:2]
    gains = [_gain(_area(ours, order), _area(theirs, order)) for order in _ORDERS]
    return KiviatGain(gains[0], min(gains), max(gains))


def kiviat_values(method: Method) -> tuple[float, ...]:
    """A method's value on each of `AXES`, in their units.

    Examples
    --------
    >>> import faultsim as fs
    >>> log = fs.Workload(submit=[0, 1], runtime=[10, 9], size=[2, 2])
    >>> kiviat_values(fs.simulate(log, fs.Cluster(4)))
    (9.5, 0.050000000000000044, 5.0, 0.0, 0.0, 0.0)
    """
    return _values("a method", method)


def kiviat_radii(methods: Mapping[str, Method]) -> dict[str, tuple[float, ...]]:
    """The corners of each method's polygon: its value on each axis, relative to the largest among the methods.

    Examples
    --------
    >>> import faultsim as fs
    >>> log = fs.Workload(submit=[0, 1], runtime=[10, 10], size=[2, 2])
    >>> radii = kiviat_radii({str(n): fs.simulate(log, fs.Cluster(n)) for n in (2, 8)})
    >>> radii["8"][0], radii["2"][1]
    (0.6896551724137931, 0.0)
    """
    if not isinstance(methods, Mapping):
        raise OptionError(f"methods must be a mapping of labels to results, got {checks.shown(methods)}")
    values = [_values(repr(label), method) for label, method in methods.items()]
    return dict(zip(methods, _radii(values), strict=True))


def kiviat_area(radii: Sequence[float]) -> float:
    """Area of the polygon with these radii, in the order of `AXES`, on a hexagon of radius 1.

    Examples
    --------
    >>> round(kiviat_area([1.0] * 6), 6)  # a regular hexagon: 1.5 * sqrt(3)
    2.598076
    """
    if len(radii) != len(AXES):
        raise OptionError(f"a Kiviat graph has {len(AXES)} radii, got {len(radii)}")
    return _area(radii, _ORDERS[0])


def _values(what: str, method: Method) -> tuple[float, ...]:
    metrics: object = method.metrics if isinstance(method, Result) else method
    if not isinstance(metrics, Mapping):
        raise OptionError(
            f"{what} must be a Result, or metrics by name such as result.metrics, got {checks.shown(method)}"
        )
    missing = [axis.metric for axis in AXES if axis.metric not in metrics]
    if missing:
        raise OptionError(f"{what} has no {', '.join(missing)}; a Kiviat graph needs these metrics")
    return tuple(
        axis.function(checks.number(f"{axis.metric} of {what}", metrics[axis.metric], low=0.0)) for axis in AXES
    )


def _radii(values: Sequence[Sequence[float]]) -> list[tuple[float, ...]]:
    rim = [max(column) for column in zip(*values, strict=True)]
    return [tuple(x / top if top else 0.0 for x, top in zip(row, rim, strict=True)) for row in values]


def _area(radii: Sequence[float], order: Sequence[int]) -> float:
    around = [radii[axis] for axis in order]
    return math.sin(math.pi / 3) / 2 * math.fsum(a * b for a, b in zip(around, around[1:] + around[:1], strict=True))


def _gain(ours: float, theirs: float) -> float:
    if theirs:
        return (theirs - ours) / theirs
    return -math.inf if ours else 0.0
