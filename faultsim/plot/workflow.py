"""The Gantt chart of a workflow run: which node worked on which job, what failures ended, and what was decided."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from faultsim.data.event_kinds import WorkflowEventKind
from faultsim.plot.base import GREY, axes, legend_below, tidy, time_unit, verbatim
from faultsim.plot.gantt import DOWN, FILLS, KILLS, PALE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from faultsim.results.workflow_result import WorkflowResult

#: Bars up to which jobs are named and decisions marked.
NAMED_UP_TO = 60
_HEIGHT = 0.8


def plot_workflow(result: "WorkflowResult", *, ax: "Axes | None" = None) -> "Axes":
    """Draw which node worked on which job when: time across, a row for each node.

    A bar begins with the decision to put a job on a node and is paler while its inputs are on their way; hatched bars
    were ended by a failure, of the node or of one that sent inputs. Colours tell the workflows apart, or the jobs of a
    single one. A cross marks each failure, red where it killed a job; down times are gray. Up to 60 bars have the
    labels of their jobs, and a dot where they were decided on.

    Parameters
    ----------
    result : WorkflowResult
        A run made with ``record=True``.
    ax : Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    Axes

    Raises
    ------
    OptionError
        If the run was not recorded.
    MissingExtraError
        If matplotlib is not installed.

    Examples
    --------
    >>> import faultsim as fs
    >>> from faultsim.plot import plot_workflow
    >>> chain = fs.Workflow([4, 4], [(0, 1, 1)], name="chain")
    >>> failures = fs.FailureTrace([6], [0], [3], span=60)
    >>> ax = plot_workflow(fs.simulate_workflows(chain, fs.Resources(1), failures=failures, record=True))
    >>> [text.get_text() for text in ax.texts]
    ['0', '1', '1']
    """
    from matplotlib.patches import Patch

    stays = stays_of(result)
    n_nodes = result.resources.n_nodes
    if ax is None:
        ax = axes(None, 9.0, min(10.0, max(3.0, 1.6 + 0.28 * n_nodes)))
    first, last = float(result.arrivals.min()), float(result.jobs["finish"].max())
    unit, seconds = time_unit(last - first)
    single = len(result) == 1
    of = stays["job"] if single else stays["workflow"]
    fills = np.array(FILLS)[of % len(FILLS)]
    begin, ready, end = ((stays[name] - first) / seconds for name in ("decided", "ready", "end"))
    down = _draw_failures(ax, result, first, seconds)
    for rows, left, right, opacity, hatch in (
        (stays["killed"], begin, end, PALE, "/////"),
        (~stays["killed"], begin, ready, PALE, None),
        (~stays["killed"], ready, end, 1.0, None),
    ):
        ax.barh(
            stays["node"][rows],
            (right - left)[rows],
            _HEIGHT,
            left[rows],
            color=fills[rows],
            alpha=opacity,
            hatch=hatch,
            edgecolor="white",
            linewidth=0.5,
            zorder=2,
        )
    marks: list[Any] = []
    if stays["killed"].any():
        marks.append(
            Patch(facecolor=FILLS[0], alpha=PALE, hatch="/////", edgecolor="white", label="ended by a failure")
        )
    if (ready > begin).any():
        marks.append(Patch(facecolor=FILLS[0], alpha=PALE, label="waits for inputs"))
    if len(begin) <= NAMED_UP_TO:
        marks += ax.plot(begin, stays["node"], linestyle="none", marker="o", markersize=3, color="black", zorder=4,
                         label="decision")  # fmt: skip
        for node, left, right, name in zip(stays["node"], begin, end, labels_of(result, stays), strict=True):
            ax.text((left + right) / 2, node, verbatim(name), ha="center", va="center", fontsize=8, zorder=5,
                    clip_on=True)  # fmt: skip
    marks += down
    if marks:
        legend_below(ax, marks)
    ax.set_xlim(0.0, max((last - first) / seconds, 1e-9))
    ax.set_ylim(n_nodes - 0.5, -0.5)
    if n_nodes <= 20:
        ax.set_yticks(range(n_nodes), [f"P{node}" for node in range(n_nodes)])
    some = verbatim(result.workflows[0].name) if single and result.workflows[0].name else f"{len(result)} workflows"
    return tidy(
        ax, x=f"time since the first arrival ({unit})", y="node", title=f"{some} on {n_nodes} nodes", grid=False
    )


def stays_of(result: "WorkflowResult") -> dict[str, NDArray[Any]]:
    """Columns workflow, job, node, decided, ready (inputs are there), end, killed: a row for each decision."""
    events, kinds = result.events, WorkflowEventKind
    rows = np.flatnonzero(np.isin(events["kind"], (kinds.START, kinds.FINISH, kinds.KILL)))
    order = rows[np.lexsort((rows, events["job"][rows], events["workflow"][rows]))]
    starts = np.flatnonzero(events["kind"][order] == kinds.START)  # the end of a stay follows its start
    start, end = order[starts], order[starts + 1]
    decided = np.argsort(start, kind="stable")
    start, end = start[decided], end[decided]
    return {
        **{name: events[name][start] for name in ("workflow", "job", "node")},
        "decided": events["time"][start],
        "ready": np.minimum(result.decisions["begin"], events["time"][end]),
        "end": events["time"][end],
        "killed": events["kind"][end] == kinds.KILL,
    }


def labels_of(result: "WorkflowResult", stays: dict[str, NDArray[Any]]) -> list[str]:
    """The label of each job, or its number; with the number of its workflow if there are several."""
    found = []
    for w, job in zip(stays["workflow"].tolist(), stays["job"].tolist(), strict=True):
        labels = result.workflows[w].labels
        name = labels[job] if labels else str(job)
        found.append(name if len(result) == 1 else f"{w}:{name}")
    return found


def _draw_failures(ax: "Axes", result: "WorkflowResult", first: float, seconds: float) -> list[Any]:
    """Down times, and crosses on the failures; the entries of the legend."""
    from matplotlib.patches import Patch

    trace, events = result.failures, result.events
    if trace is None:
        return []
    marks: list[Any] = []
    down = trace.downtime > 0
    if down.any():
        left = (trace.time[down] - first) / seconds
        ax.barh(trace.node[down], trace.downtime[down] / seconds, 1.0, left, color=DOWN, zorder=1)
    killed = set(events["time"][events["kind"] == WorkflowEventKind.KILL].tolist())
    failed = events["kind"] == WorkflowEventKind.FAILURE
    kills = np.array([time in killed for time in events["time"].tolist()], dtype=bool)
    for rows, colour, label in (
        (failed & ~kills, GREY, "failure"),
        (failed & kills, KILLS, "failure that kills jobs"),
    ):
        if rows.any():
            marks += ax.plot((events["time"][rows] - first) / seconds, events["node"][rows], linestyle="none",
                             marker="x", markersize=5.0, color=colour, label=label, zorder=4)  # fmt: skip
    if down.any():
        marks.append(Patch(facecolor=DOWN, label="node down"))
    return marks
