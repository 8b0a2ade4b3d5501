"""The machine and the queue over time."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from faultsim.data.event_kinds import EventKind
from faultsim.errors import OptionError
from faultsim.plot.base import GREY, PALETTE, axes, legend_below, tidy, time_unit
from faultsim.plot.gantt import KILLS
from faultsim.results.part import require_over

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from faultsim.results.result import Result

Steps = tuple[NDArray[np.float64], NDArray[np.float64]]
MAX_STEPS = 4000  # more than a figure can show


def _steps(up: NDArray[np.float64], down: NDArray[np.float64], weight: NDArray[np.float64]) -> Steps:
    """The step function that rises by `weight` at `up` and falls by it at `down`: times, and the value from then on."""
    times = np.concatenate([up, down])
    change = np.concatenate([weight, -weight])
    at, where = np.unique(times, return_inverse=True)
    return at, np.cumsum(np.bincount(where, weights=change, minlength=len(at)))


Spells = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]  # from, to, nodes


def _held(result: "Result") -> Spells:
    """From when to when jobs held how many nodes."""
    if result.settings["record"]:
        held = result.allocations
        if "nodes" in held:
            return held["begin"], held["end"], np.diff(held["node_offsets"]).astype(np.float64)
        return held["begin"], held["end"], (held["a"] * held["b"] * held["c"]).astype(np.float64)
    _refuse_kills(result)
    require_over(result.is_over, "a timeline without record=True")
    return _decisions(result), result.jobs["finish"], result.jobs["allocated"].astype(np.float64)


def _waiting(result: "Result") -> Spells:
    """From when to when jobs waited for how many nodes, once more after all that sent them back."""
    jobs = result.jobs
    require_over(result.is_over, "a picture of the queue")
    if not result.settings["record"]:
        _refuse_kills(result)
        return jobs["submit"], _decisions(result), jobs["size"].astype(np.float64)
    events = result.events
    started = np.flatnonzero(events["kind"] == EventKind.START)
    back = (events["kind"] == EventKind.RESCHEDULE) & (events["job"] >= 0)
    back |= _requeued(result)
    came_job = np.concatenate([np.arange(len(result)), events["job"][back]])
    came = np.concatenate([jobs["submit"], events["time"][back]])
    # The k-th start of a job ends its k-th wait.
    came_order = np.lexsort((np.arange(len(came)), came_job))
    started = started[np.lexsort((started, events["job"][started]))]
    size = jobs["size"][came_job[came_order]].astype(np.float64)
    return came[came_order], events["time"][started], size


def _requeued(result: "Result") -> NDArray[np.bool_]:
    """Which events are failures after which a job waited again: it left its nodes then, and not for good."""
    events, held = result.events, result.allocations
    hit = np.flatnonzero((events["kind"] == EventKind.FAILURE) & (events["job"] >= 0))
    left = set(zip(held["job"].tolist(), held["end"].tolist(), strict=True))
    job, time = events["job"][hit], events["time"][hit]
    went = [stay in left for stay in zip(job.tolist(), time.tolist(), strict=True)]
    back = np.zeros(len(events["kind"]), dtype=bool)
    back[hit] = np.array(went, dtype=bool) & (result.jobs["finish"][job] > time)
    return back


def _refuse_kills(result: "Result") -> None:
    if result.jobs["restarts"].any():
        raise OptionError(
            "jobs were stopped and came back in this run, and it was not recorded: simulate with record=True to draw it"
        )


def _decisions(result: "Result") -> NDArray[np.float64]:
    """When the jobs received their nodes: a start delay before they started."""
    decisions: NDArray[np.float64] = result.jobs["start"] - result.settings["start_delay"]
    return decisions


def _thinned(at: NDArray[np.float64], value: NDArray[np.float64], end: float) -> Steps:
    """Time averages over equal bins if there are more steps than a figure can show."""
    if len(at) <= MAX_STEPS or end <= at[0]:
        return at, value
    edges = np.linspace(at[0], end, MAX_STEPS // 4 + 1)
    area = np.concatenate([[0.0], np.cumsum(value[:-1] * np.diff(at))])
    # The integral is piecewise linear between the steps and continues with the last value.
    total = np.interp(edges, at, area) + np.maximum(edges - at[-1], 0.0) * value[-1]
    return edges[:-1], np.diff(total) / np.diff(edges)


def _draw(ax: "Axes", result: "Result", at: NDArray[np.float64], value: NDArray[np.float64], colour: str) -> None:
    origin, end = result.span
    unit, seconds = time_unit(end - origin)
    at, value = _thinned(at, value, end)
    x = np.append((at - origin) / seconds, (end - origin) / seconds)
    y = np.append(value, value[-1])
    ax.fill_between(x, y, step="post", color=colour, alpha=0.25, linewidth=0, rasterized=True)
    ax.step(x, y, where="post", color=colour, linewidth=0.9, rasterized=True)
    ax.set_xlim(0, max((end - origin) / seconds, 1e-9))
    ax.set_ylim(bottom=0)
    ax.set_xlabel(f"time since the first submit ({unit})")
    tidy(ax)


def _mark_failures(ax: "Axes", result: "Result") -> None:
    """A tick at the upper edge for each failure, red if it killed a job (only known for a recorded run)."""
    trace = result.failures
    if trace is None:
        return
    origin, end = result.span
    _, seconds = time_unit(end - origin)
    if result.settings["record"]:
        events = result.events
        failed = events["kind"] == EventKind.FAILURE
        time, kills = events["time"][failed], events["job"][failed] >= 0
    else:
        time = trace.time[(trace.time >= origin) & (trace.time <= end)]
        kills = np.zeros(len(time), dtype=bool)
    for rows, colour, size, label in ((~kills, GREY, 5.0, "failure"), (kills, KILLS, 9.0, "failure that kills a job")):
        if rows.any():
            x = (time[rows] - origin) / seconds
            ax.plot(
                x, np.ones(len(x)), transform=ax.get_xaxis_transform(), linestyle="none", marker="|", markersize=size,
                color=colour, label=label, clip_on=False, rasterized=len(x) > 500, zorder=3,
            )  # fmt: skip
    if len(time):
        legend_below(ax)


def _title(ax: "Axes", result: "Result", what: str) -> None:
    # Above the ticks of the failures.
    ax.set_title(f"{what} of {result.machine}", fontsize=11, pad=6.0 if result.failures is None else 14.0)


def plot_utilization(result: "Result", *, ax: "Axes | None" = None) -> "Axes":
    """Draw the share of the nodes that jobs hold, over time, with its mean.

    Nodes count from the decision to start a job to its end, as allocated (grown or rounded up), so the mean is the
    metric ``utilization``. If there are more steps than a figure can show, means over equal spans are drawn. Ticks at
    the upper edge are failures, in a recorded run red if they killed a job.

    Parameters
    ----------
    result : Result
        Any run; if failures or `NodeStealing` stopped jobs, one made with ``record=True``.
    ax : Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    Axes

    Raises
    ------
    OptionError
        If jobs were stopped, or the run is not over, and it was not recorded.
    MissingExtraError
        If matplotlib is not installed.

    Examples
    --------
    >>> import faultsim as fs
    >>> from faultsim.plot import plot_utilization
    >>> log = fs.Workload(submit=[0, 1], runtime=[10, 5], size=[2, 2])
    >>> plot_utilization(fs.simulate(log, fs.Cluster(2))).get_ylabel()
    'nodes in use (%)'
    """
    ax = axes(ax)
    begin, end, nodes = _held(result)
    at, value = _steps(begin, end, 100.0 * nodes / result.machine.nodes)
    origin, finish = result.span
    _draw(ax, result, np.append(origin, at), np.append(0.0, value), PALETTE[0])
    if finish > origin:
        mean = 100.0 * result.metrics["utilization"]
        ax.axhline(mean, color=PALETTE[1], linewidth=1.0, linestyle="--", label=f"mean {mean:.1f} %")
        legend_below(ax)
    _mark_failures(ax, result)
    ax.set_ylim(0, 105)
    ax.set_ylabel("nodes in use (%)")
    _title(ax, result, "Utilization")
    return ax


def plot_queue(result: "Result", *, ax: "Axes | None" = None) -> "Axes":
    """Draw the nodes requested by waiting jobs, over time.

    A job waits from its submit to the decision to start it (a start delay later it starts).  Ticks at the upper edge
    are failures, in a recorded run red if they killed a job.

    Parameters
    ----------
    result : Result
        Any run; if failures or `NodeStealing` stopped jobs, one made with ``record=True``.
    ax : Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    Axes

    Raises
    ------
    OptionError
        If jobs were stopped and the run was not recorded, or if it is not over.
    MissingExtraError
        If matplotlib is not installed.

    Examples
    --------
    >>> import faultsim as fs
    >>> from faultsim.plot import plot_queue
    >>> log = fs.Workload(submit=[0, 1], runtime=[10, 5], size=[2, 2])
    >>> plot_queue(fs.simulate(log, fs.Cluster(2))).get_ylabel()
    'nodes requested by waiting jobs'
    """
    ax = axes(ax)
    at, value = _steps(*_waiting(result))
    _draw(ax, result, at, value, PALETTE[1])
    _mark_failures(ax, result)
    ax.set_ylabel("nodes requested by waiting jobs")
    _title(ax, result, "Queue")
    return ax
