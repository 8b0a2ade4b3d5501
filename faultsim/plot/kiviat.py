"""Kiviat graphs: one polygon per method over six axes; smaller is better ([li2009] Figure 3)."""

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from faultsim import checks
from faultsim.entries import entry
from faultsim.errors import OptionError
from faultsim.plot.base import axes, colour, legend_below, three_digits, verbatim, write_title
from faultsim.plot.curves import MARKERS
from faultsim.plot.given import mapping_of
from faultsim.plot.theme import ThemeName, current, themed
from faultsim.results.kiviat import AXES, Axis, Method, kiviat_gain, kiviat_radii, kiviat_values

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_RINGS = (0.25, 0.5, 0.75, 1.0)


@entry
@themed
def plot_kiviat(
    methods: Mapping[str, Method],
    *,
    baseline: str | None = None,
    ax: "Axes | None" = None,
    title: str = "",
    theme: ThemeName | None = None,
) -> "Axes":
    """Draw the Kiviat graph of several methods; see `faultsim.kiviat_gain` for its axes.

    Each axis runs from 0 at the center to the largest value among the methods, which is its label.

    Parameters
    ----------
    methods : mapping of str to Result, or to a mapping of metrics
        Label -> a result, or metrics by name such as means over several seeds.
    baseline : str, optional
        Label of one of them: the legend then shows the gain of the others over it.
    title : str
        Title.

    Raises
    ------
    OptionError
        If there is no method, one lacks a metric, or `baseline` is not one of the labels.

    Examples
    --------
    >>> import faultsim as fs
    >>> from faultsim.plot import plot_kiviat
    >>> log = fs.Workload(submit=[0, 1, 2], runtime=[10, 10, 5], size=[2, 4, 2])
    >>> runs = {"EASY": fs.simulate(log, fs.Cluster(4)), "FCFS": fs.simulate(log, fs.Cluster(4), scheduler=fs.Fcfs())}
    >>> ax = plot_kiviat(runs, baseline="FCFS")
    >>> ax.get_legend().get_texts()[0].get_text()
    'EASY, gain 70 %'
    """
    methods = mapping_of("plot_kiviat", methods, "a mapping of labels to Results or to their metrics")
    if not methods:
        raise OptionError("methods: a Kiviat graph needs at least one")
    if baseline is not None:
        checks.choice("baseline", baseline, methods)
    radii = kiviat_radii(methods)
    ax = axes(ax, 5.5, 5.0)
    for ring in _RINGS:
        ax.plot(*_polygon([ring] * len(AXES)), color=current().line, linewidth=0.8, zorder=1, label="_ring")
    rim = [max(column) for column in zip(*map(kiviat_values, methods.values()), strict=True)]
    for place, (axis, top) in enumerate(zip(AXES, rim, strict=True)):
        x, y = _at(place, 1.0)
        ax.plot([0, x], [0, y], color=current().line, linewidth=0.8, zorder=1, label="_spoke")
        across, up = ("center", _side(y, "bottom", "top")) if abs(x) < 1e-9 else (_side(x, "left", "right"), "center")
        ax.text(1.08 * x, 1.08 * y, _name(axis, top), ha=across, va=up, fontsize=9, color=current().ink)
    for i, (label, corners) in enumerate(radii.items()):
        shade, x_y = colour(i), _polygon(corners)
        ax.fill(*x_y, color=shade, alpha=0.08, zorder=2)
        ax.plot(
            *x_y,
            color=shade,
            marker=MARKERS[i % len(MARKERS)],
            markersize=4.5,
            linewidth=1.4,
            zorder=3,
            label=verbatim(_legend(label, methods, baseline)),
        )
    ax.set_aspect("equal")
    ax.set_xlim(-1.6, 1.6)
    ax.set_ylim(-1.35, 1.35)
    ax.set_axis_off()
    write_title(ax, verbatim(title))
    legend_below(ax, bare=True)
    return ax


def _at(place: int, radius: float) -> tuple[float, float]:
    """A point on an axis: the first one up, the others clockwise."""
    angle = math.pi / 2 - 2 * math.pi * place / len(AXES)
    return radius * math.cos(angle), radius * math.sin(angle)


def _polygon(radii: "tuple[float, ...] | list[float]") -> tuple[list[float], list[float]]:
    corners = [_at(place, radius) for place, radius in enumerate(radii)]
    corners.append(corners[0])
    return [x for x, _ in corners], [y for _, y in corners]


def _side(x: float, positive: str, negative: str) -> str:
    return positive if x > 0 else negative


def _name(axis: Axis, top: float) -> str:
    """Label of an axis, with its largest value."""
    unit, scale = {"fraction": ("%", 100.0), "node-s": ("node-h", 1 / 3600)}.get(axis.unit, (axis.unit, 1.0))
    value = scale * top
    return f"{axis.label}\n{three_digits(value)} {unit}".rstrip()


def _legend(label: str, methods: Mapping[str, Method], baseline: str | None) -> str:
    if baseline is None or label == baseline:
        return label
    gain = kiviat_gain(methods[label], methods[baseline], among=methods.values()).gain
    return f"{label}, gain {100 * gain:.0f} %"
