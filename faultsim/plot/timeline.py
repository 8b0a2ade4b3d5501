"""The machine and the queue over time."""

import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from faultsim.arrays import Flags, Floats
from faultsim.data.event_kinds import EventKind
from faultsim.data.failures import FailureTrace
from faultsim.entries import entry
from faultsim.errors import OptionError
from faultsim.plot.base import axes, colour, legend_below, plain_number, room, tidy, time_unit, verbatim, write_title
from faultsim.plot.given import results_of
from faultsim.plot.held_runs import stay_nodes
from faultsim.plot.theme import ThemeName, current, themed
from faultsim.results.part import require_over
from faultsim.results.site_use import cores_down

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from faultsim.results.result import Result

Steps = tuple[Floats, Floats]
Extent = tuple[float, float, float]  # first submit, last finish, seconds of the unit of the time axis
_ROW = 1.45  # from one row of several runs to the next, in heights of a row: room for its label
_WORDS_FROM = 0.22  # inches that a row needs to have a label
MAX_STEPS = 4000  # more than a figure can show


def _steps(up: Floats, down: Floats, weight: Floats) -> Steps:
    """The step function that rises by `weight` at `up` and falls by it at `down`: times, and the value from then on."""
    times = np.concatenate([up, down])
    change = np.concatenate([weight, -weight])
    at, where = np.unique(times, return_inverse=True)
    return at, np.cumsum(np.bincount(where, weights=change, minlength=len(at)))


Spells = tuple[Floats, Floats, Floats]  # from, to, nodes


def _held(result: "Result") -> Spells:
    """From when to when jobs held how many nodes, or cores where sizes are cores."""
    if result.settings["record"]:
        held = result.allocations
        shared = result.capacity != result.machine.nodes
        count = result.jobs["allocated"][held["job"]] if shared else stay_nodes(held)
        return held["begin"], held["end"], count.astype(np.float64)
    _refuse_kills(result)
    require_over(result.is_over, "a timeline without record=True")
    ran = result.ended
    nodes = result.jobs["allocated"].astype(np.float64)
    return _decisions(result)[ran], result.jobs["finish"][ran], nodes[ran]


def _waiting(result: "Result") -> Spells:
    """From when to when jobs waited for how many nodes, once more after all that sent them back."""
    jobs = result.jobs
    require_over(result.is_over, "a picture of the queue")
    if not result.settings["record"]:
        _refuse_kills(result)
        waited = ~np.isnan(jobs["eligible"])
        until = np.where(result.ended, _decisions(result), jobs["finish"])  # of a withdrawn job
        return jobs["eligible"][waited], until[waited], jobs["size"][waited].astype(np.float64)
    events = result.events
    queued = np.flatnonzero(~np.isnan(jobs["eligible"]))
    # What ends a wait: a start, or the withdrawal of a job that was in the queue.
    started = np.flatnonzero(
        (events["kind"] == EventKind.START)
        | ((events["kind"] == EventKind.WITHDRAWAL) & np.isin(events["job"], queued))
    )
    back = (events["kind"] == EventKind.RESCHEDULE) & (events["job"] >= 0)
    back |= _requeued(result)
    came_job = np.concatenate([queued, events["job"][back]])
    came = np.concatenate([jobs["eligible"][queued], events["time"][back]])
    # The k-th start of a job ends its k-th wait.
    came_order = np.lexsort((np.arange(len(came)), came_job))
    started = started[np.lexsort((started, events["job"][started]))]
    size = jobs["size"][came_job[came_order]].astype(np.float64)
    return came[came_order], events["time"][started], size


def _requeued(result: "Result") -> Flags:
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


def _decisions(result: "Result") -> Floats:
    """When the jobs received their nodes: a start delay before they started."""
    decisions: Floats = result.jobs["start"] - result.settings["start_delay"]
    return decisions


def _thinned(at: Floats, value: Floats, end: float) -> Steps:
    """Time averages over equal bins if there are more steps than a figure can show."""
    if len(at) <= MAX_STEPS or end <= at[0]:
        return at, value
    edges = np.linspace(at[0], end, MAX_STEPS // 4 + 1)
    area = np.concatenate([[0.0], np.cumsum(value[:-1] * np.diff(at))])
    # The integral is piecewise linear between the steps and continues with the last value.
    total = np.interp(edges, at, area) + np.maximum(edges - at[-1], 0.0) * value[-1]
    return edges[:-1], np.diff(total) / np.diff(edges)


def _alone(ax: "Axes | None", run: "Result", steps: Steps, shade: str) -> "Axes":
    """One run, on axes of its own."""
    origin, end, _, seconds = _extent({"": run})
    ax = axes(ax)
    _draw(ax, run, steps, shade, (origin, end, seconds))
    ax.set_xlim(0, max((end - origin) / seconds, 1e-9))
    ax.set_ylim(bottom=0)
    return ax


def _extent(runs: "Mapping[str, Result]") -> tuple[float, float, str, float]:
    """First submit and last finish of all runs, and name and seconds of the unit of the time axis."""
    origin, end = min(run.span[0] for run in runs.values()), max(run.span[1] for run in runs.values())
    return origin, end, *time_unit(end - origin)


def _draw(
    ax: "Axes", run: "Result", steps: Steps, shade: str, extent: Extent, base: float = 0.0, top: float = 1.0
) -> None:
    """The line of a run, filled below: from `base` up, `top` of its unit high 1."""
    origin, _, seconds = extent
    at, value = _thinned(*steps, run.span[1])
    x = (np.append(at, run.span[1]) - origin) / seconds
    y = base + np.append(value, value[-1]) / top
    ax.fill_between(x, y, base, step="post", color=shade, alpha=0.25, linewidth=0, rasterized=True)
    ax.step(x, y, where="post", color=shade, linewidth=0.9, rasterized=True, label="_line")


def _rows(
    ax: "Axes | None",
    runs: "Mapping[str, Result]",
    steps: Sequence[Steps],
    means: Sequence[float | None],
    top: float,
    words: Sequence[str],
) -> "Axes":
    """A row for each run, one above the other on one time axis, each from 0 to `top`; the first run is on top.

    Lines of several runs on the same ordinate hide each other: most of the time they all are at the same height.
    """
    origin, end, _, seconds = _extent(runs)
    ax = axes(ax, 7.0, min(14.0, 1.5 + 0.95 * len(runs)))
    across, high = room(ax) - 0.5, 0.8 * room(ax, across=False) / len(runs)
    shown = current()
    ticks: list[tuple[float, str]] = []
    for i, (run, step, mean, text) in enumerate(zip(runs.values(), steps, means, words, strict=True)):
        base, shade = _ROW * (len(runs) - 1 - i), colour(i)
        ax.axhspan(base, base + 1.0, color=shown.line, alpha=0.3, linewidth=0, zorder=0)
        _draw(ax, run, step, shade, (origin, end, seconds), base, top)
        if mean is not None:
            begin, finish = ((time - origin) / seconds for time in run.span)
            y = [base + mean / top] * 2
            ax.plot([begin, finish], y, color=shade, linewidth=1.0, linestyle="--", label="_mean")
        if high > _WORDS_FROM:
            short = textwrap.shorten(text, max(12, int(across / (0.58 * 8 / 72))), placeholder="...")
            ax.annotate(
                short, (0.0, base + 1.0), xytext=(1, 2), textcoords="offset points", fontsize=8, color=shown.ink
            )
        ticks += [(base, "0"), (base + 1.0, plain_number(top))] if high > 0.3 else [(base, "0")]
    ax.set_xlim(0, max((end - origin) / seconds, 1e-9))
    ax.set_ylim(-0.06, _ROW * len(runs) - 0.04)
    ax.set_yticks([at for at, _ in ticks], [text for _, text in ticks])
    return ax


def _mark_down(ax: "Axes", run: "Result") -> None:
    """From 100 % down, the cores of nodes that jobs share which are down, if it is known."""
    if run.failures is None or run.capacity == run.machine.nodes or not run.settings["record"]:
        return
    try:
        begin, end, cores = cores_down(run)
    except OptionError:  # how the cores of a job of any number of nodes are shared out is not recorded
        return
    if len(cores):
        origin, _, _, seconds = _extent({"": run})
        at, value = _thinned(*_steps(begin, end, 100.0 * cores / run.capacity), run.span[1])
        at = (np.append(at, run.span[1]) - origin) / seconds
        top = 100.0 - np.append(value, value[-1])
        ax.fill_between(at, top, 100.0, step="post", color=current().down, linewidth=0, label="cores down", zorder=0)


def _mark_failures(ax: "Axes", runs: "Mapping[str, Result]") -> None:
    """A tick at the upper edge for each failure, red if it killed a job (only known for a recorded run).

    Of several runs, only one whose failures all have is marked, and not what it killed in which.
    """
    origin, end, _, seconds = _extent(runs)
    (result, *others) = runs.values()
    trace = result.failures
    if trace is None or not all(_alike(trace, run.failures) for run in others):
        return
    if not others and result.settings["record"]:
        events = result.events
        failed = events["kind"] == EventKind.FAILURE
        time, kills = events["time"][failed], events["job"][failed] >= 0
    else:
        time = trace.time[(trace.time >= origin) & (trace.time <= end)]
        kills = np.zeros(len(time), dtype=bool)
    soft, red = current().soft, current().kill
    for rows, shade, size, label in ((~kills, soft, 5.0, "failure"), (kills, red, 9.0, "failure that kills a job")):
        if rows.any():
            x = (time[rows] - origin) / seconds
            ax.plot(
                x, np.ones(len(x)), transform=ax.get_xaxis_transform(), linestyle="none", marker="|", markersize=size,
                color=shade, label=label, clip_on=False, rasterized=len(x) > 500, zorder=3,
            )  # fmt: skip


def _alike(one: FailureTrace, other: FailureTrace | None) -> bool:
    return other is not None and all(
        np.array_equal(getattr(one, name), getattr(other, name)) for name in ("time", "node", "downtime")
    )


def _finish(ax: "Axes", runs: "Mapping[str, Result]", what: str, y: str) -> "Axes":
    _mark_failures(ax, runs)
    machines = list(dict.fromkeys(str(run.machine) for run in runs.values()))
    tidy(ax, x=f"time since the first submit ({_extent(runs)[2]})", y=y)
    # Above the ticks of the failures.
    pad = 6.0 if all(run.failures is None for run in runs.values()) else 14.0
    write_title(ax, f"{what} of {machines[0] if len(machines) == 1 else f'{len(machines)} machines'}", pad=pad)
    legend_below(ax)
    return ax


@entry
@themed
def plot_utilization(
    runs: "Result | Mapping[str, Result]", *, ax: "Axes | None" = None, theme: ThemeName | None = None
) -> "Axes":
    """Draw the share of the nodes that jobs hold, over time, with its mean; several runs in rows on one time axis.

    Nodes count from the decision to start a job to its end, as allocated (grown or rounded up). So the mean, over the
    span of the run, is the metric ``utilization``. If there are more steps than a figure can show, means over equal
    spans are drawn. Ticks at the upper edge are failures, in a recorded run red if they killed a job; of several runs
    they are drawn if all have the same ones. Of a recorded run on nodes that jobs share, cores that are down are a gray
    area at the upper edge.

    Parameters
    ----------
    runs : Result, or mapping of str to Result
        Any run, or label -> run; if failures or `NodeStealing` stopped jobs, made with ``record=True``.

    Raises
    ------
    OptionError
        If jobs were stopped, or a run is not over, and it was not recorded; or if there is no run.

    Examples
    --------
    >>> import faultsim as fs
    >>> from faultsim.plot import plot_utilization
    >>> log = fs.Workload(submit=[0, 1], runtime=[10, 5], size=[2, 2])
    >>> run = fs.Run(log, fs.Cluster(2))
    >>> plot_utilization(run.simulate()).get_ylabel()
    'nodes in use (%)'
    >>> both = {"EASY": run.simulate(), "FCFS": run.with_options(scheduler=fs.Fcfs()).simulate()}
    >>> [text.get_text() for text in plot_utilization(both).texts]
    ['EASY, mean 100.0 %', 'FCFS, mean 100.0 %']
    """
    named = results_of("plot_utilization", runs)
    steps: list[Steps] = []
    means: list[float | None] = []
    for run in named.values():
        begin, end, nodes = _held(run)
        at, value = _steps(begin, end, 100.0 * nodes / run.capacity)
        steps.append((np.append(run.span[0], at), np.append(0.0, value)))
        means.append(100.0 * run.metrics["utilization"] if run.span[1] > run.span[0] else None)
    said = ["" if mean is None else f"mean {mean:.1f} %" for mean in means]
    if len(named) > 1:
        words = [", ".join(filter(None, pair)) for pair in zip(map(verbatim, named), said, strict=True)]
        drawn = _rows(ax, named, steps, means, 100.0, words)
    else:
        (run,), (label,) = named.values(), named
        drawn = _alone(ax, run, steps[0], colour(0))
        drawn.set_ylim(0, 105)
        _mark_down(drawn, run)
        if means[0] is not None:
            text = ", ".join(filter(None, (verbatim(label), said[0])))
            drawn.axhline(means[0], color=colour(1), linewidth=1.0, linestyle="--", label=text)
    shared = any(run.capacity != run.machine.nodes for run in named.values())
    return _finish(drawn, named, "Utilization", f"{'cores' if shared else 'nodes'} in use (%)")


@entry
@themed
def plot_queue(
    runs: "Result | Mapping[str, Result]", *, ax: "Axes | None" = None, theme: ThemeName | None = None
) -> "Axes":
    """Draw the nodes requested by waiting jobs, over time; several runs in rows on one time axis and one scale.

    A job waits from its submit to the decision to start it (a start delay later it starts).  Ticks at the upper edge
    are failures, in a recorded run red if they killed a job; of several runs they are drawn if all have the same ones.

    Parameters
    ----------
    runs : Result, or mapping of str to Result
        Any run, or label -> run; if failures or `NodeStealing` stopped jobs, made with ``record=True``.

    Raises
    ------
    OptionError
        If jobs were stopped and a run was not recorded, if it is not over, or if there is no run.

    Examples
    --------
    >>> import faultsim as fs
    >>> from faultsim.plot import plot_queue
    >>> log = fs.Workload(submit=[0, 1], runtime=[10, 5], size=[2, 2])
    >>> plot_queue(fs.simulate(log, fs.Cluster(2))).get_ylabel()
    'nodes requested by waiting jobs'
    """
    named = results_of("plot_queue", runs)
    steps = [_steps(*_waiting(run)) for run in named.values()]
    if len(named) > 1:
        longest = max((float(value.max(initial=0.0)) for _, value in steps), default=0.0)
        drawn = _rows(ax, named, steps, [None] * len(steps), longest or 1.0, list(map(verbatim, named)))
    else:
        drawn = _alone(ax, next(iter(named.values())), steps[0], colour(1))
    return _finish(drawn, named, "Queue", "nodes requested by waiting jobs")
