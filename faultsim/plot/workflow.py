"""The Gantt chart of a workflow run: which node worked on which job, what failures ended, and what was decided."""

from typing import TYPE_CHECKING

import numpy as np

from faultsim.arrays import Flags, Floats, LongIntegers, Values
from faultsim.data.event_kinds import WorkflowEventKind
from faultsim.entries import entry
from faultsim.plot.base import axes, legend_below, on, room, tidy, time_unit, verbatim
from faultsim.plot.failure_marks import HATCH, PALE, halo, swatch
from faultsim.plot.given import workflow_result_of
from faultsim.plot.theme import ThemeName, current, themed
from faultsim.plot.touching import FILLS, coloured, next_node, touching

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

    from faultsim.results.workflow_result import WorkflowResult

#: Bars up to which jobs are named and decisions marked.
NAMED_UP_TO = 60
_HEIGHT = 0.8


@entry
@themed
def plot_workflow(result: "WorkflowResult", *, ax: "Axes | None" = None, theme: ThemeName | None = None) -> "Axes":
    """Draw which node worked on which job when: time across, a row for each node.

    A bar begins with the decision to put a job on a node and is paler while its inputs are on their way; hatched bars
    were ended by a failure, of the node or of one that sent inputs. Colours tell the workflows apart, or the jobs of a
    single one; those that touch differ. A cross marks each failure, red where it killed a job; down times are gray. Up
    to 60 bars have the labels of their jobs where these fit, a dot where they were decided on, and a dotted line from
    where a failure ended one to where its job was decided on again.

    Parameters
    ----------
    result : WorkflowResult
        A run made with ``record=True``.

    Raises
    ------
    OptionError
        If the run was not recorded.

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
    stays = stays_of(workflow_result_of("plot_workflow", result))
    n_nodes = result.resources.nodes
    if ax is None:
        ax = axes(None, 9.0, min(10.0, max(3.0, 1.9 + 0.28 * n_nodes)))
    first, last = float(result.arrivals.min()), float(result.jobs["finish"].max())
    unit, seconds = time_unit(last - first)
    single = len(result) == 1
    colours = _colours(stays, "job" if single else "workflow")
    fills = np.array(FILLS)[colours]
    begin, ready, end = ((stays[name] - first) / seconds for name in ("decided", "ready", "end"))
    ax.set_xlim(0.0, max((last - first) / seconds, 1e-9))
    ax.set_ylim(n_nodes - 0.5, -0.5)
    down = _draw_failures(ax, result, first, seconds)
    for rows, left, right, opacity, hatch in (
        (stays["killed"], begin, end, PALE, HATCH),
        (~stays["killed"], begin, ready, PALE, None),
        (~stays["killed"], ready, end, 1.0, None),
    ):
        _bars(ax, stays["node"][rows], left[rows], right[rows], fills[rows], opacity, hatch)
    marks = [] if single else _workflows(result, stays, fills)
    example = FILLS[0]
    if stays["killed"].any():
        marks.append(swatch("ended by a failure", example, PALE, HATCH))
    if (ready > begin).any():
        marks.append(swatch("waits for inputs", example, PALE, None))
    if len(begin) <= NAMED_UP_TO:
        marks += _decisions(ax, stays, begin, end)
        _name_bars(ax, labels_of(result, stays), stays["node"], begin, end, fills, stays["killed"])
    marks += down
    if n_nodes <= 20:
        ax.set_yticks(range(n_nodes), [f"P{node}" for node in range(n_nodes)])
    some = verbatim(result.workflows[0].name) if single and result.workflows[0].name else f"{len(result)} workflows"
    nodes = f"{n_nodes} node{'s' * (n_nodes > 1)}"
    tidy(ax, x=f"time since the first arrival ({unit})", y="node", title=f"{some} on {nodes}", grid=False)
    if marks:
        legend_below(ax, marks)
    return ax


def _colours(stays: dict[str, Values], of: str) -> LongIntegers:
    """Number of the colour of each stay, by job or by workflow."""
    _, which = np.unique(stays[of], return_inverse=True)
    count = len(which)
    runs = np.arange(count), stays["node"].astype(np.int64), np.ones(count, np.int64)
    pairs = touching(runs, stays["decided"], stays["end"], [next_node])
    return coloured(which[pairs], int(which.max(initial=-1)) + 1)[which]


def _bars(
    ax: "Axes", node: Values, left: Floats, right: Floats, fills: Values, opacity: float, hatch: str | None
) -> None:
    from matplotlib.collections import PolyCollection

    corners = np.empty((len(node), 4, 2))
    corners[:, [0, 3], 0], corners[:, [1, 2], 0] = left[:, None], right[:, None]
    corners[:, [0, 1], 1] = node[:, None] - _HEIGHT / 2
    corners[:, [2, 3], 1] = node[:, None] + _HEIGHT / 2
    if len(node):
        bars = PolyCollection(
            list(corners), facecolors=fills.tolist(), edgecolors=current().ground, linewidths=0.5, alpha=opacity,
            hatch=hatch, zorder=2, rasterized=len(node) > 2000,
        )  # fmt: skip
        ax.add_collection(bars)


def _workflows(result: "WorkflowResult", stays: dict[str, Values], fills: Values) -> "list[Artist]":
    """What the legend says of the colours, if they are few enough to be told apart."""
    here, at = np.unique(stays["workflow"], return_index=True)
    if len(here) > 8 or len(set(fills[at].tolist())) < len(here):
        return []
    names = [result.workflows[w].name or f"workflow {w}" for w in here.tolist()]
    if len(set(names)) < len(names):
        names = [f"{name} ({w})" for w, name in zip(here.tolist(), names, strict=True)]
    return [swatch(verbatim(name), fill, 1.0, None) for name, fill in zip(names, fills[at].tolist(), strict=True)]


def _decisions(ax: "Axes", stays: dict[str, Values], begin: Floats, end: Floats) -> "list[Artist]":
    """A dot for each decision; a line to it from where a failure ended the stay of its job before."""
    marks: list[Artist] = []
    marks += ax.plot(
        begin, stays["node"], linestyle="none", marker="o", markersize=3.5, color=current().ink, zorder=4,
        label="decision", path_effects=halo(), clip_on=False,
    )  # fmt: skip
    before: dict[tuple[int, int], int] = {}
    lines = []
    for row, key in enumerate(zip(stays["workflow"].tolist(), stays["job"].tolist(), strict=True)):
        if key in before and stays["killed"][before[key]]:
            old = before[key]
            lines.append(([end[old], begin[row]], [stays["node"][old], stays["node"][row]]))
        before[key] = row
    for i, (x, y) in enumerate(lines):
        made = ax.plot(
            x, y, linestyle=":", linewidth=1.1, color=current().ink, zorder=3.5,
            label="_again" if i else "decided again",
        )  # fmt: skip
        marks += made if i == 0 else []
    return marks


def _name_bars(
    ax: "Axes", names: list[str], node: Values, begin: Floats, end: Floats, fills: Values,
    killed: Flags,
) -> None:  # fmt: skip
    """The label of its job on each bar that has room for it."""
    inch, high = (
        room(ax) / max(ax.get_xlim()[1], 1e-9),
        room(ax, across=False) / len(range(round(ax.get_ylim()[0] + 1))),
    )
    for row, left, right, name, fill, lost in zip(node, begin, end, names, fills.tolist(), killed, strict=True):
        if (right - left) * inch > 0.07 + 0.066 * len(name) and high > 0.12:
            ink = current().ink if lost else on(fill)
            ax.text(
                (left + right) / 2, row, verbatim(name), ha="center", va="center", fontsize=8, zorder=5, clip_on=True,
                color=ink, path_effects=halo() if lost else None,
            )  # fmt: skip


def stays_of(result: "WorkflowResult") -> dict[str, Values]:
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


def labels_of(result: "WorkflowResult", stays: dict[str, Values]) -> list[str]:
    """The label of each job, or its number; with the number of its workflow if there are several."""
    found = []
    for w, job in zip(stays["workflow"].tolist(), stays["job"].tolist(), strict=True):
        labels = result.workflows[w].labels
        name = labels[job] if labels else str(job)
        found.append(name if len(result) == 1 else f"{w}:{name}")
    return found


def _draw_failures(ax: "Axes", result: "WorkflowResult", first: float, seconds: float) -> "list[Artist]":
    """Down times, and crosses on the failures; the entries of the legend."""
    trace, events = result.failures, result.events
    if trace is None:
        return []
    marks: list[Artist] = []
    down = trace.downtime > 0
    if down.any():
        left = (trace.time[down] - first) / seconds
        last = max(float(result.jobs["finish"].max(initial=first)), float(trace.time[down].max()))
        lasting = np.where(np.isinf(trace.downtime[down]), last - trace.time[down], trace.downtime[down])
        ax.barh(trace.node[down], lasting / seconds, _HEIGHT, left, color=current().down, zorder=1)
    killed = set(events["time"][events["kind"] == WorkflowEventKind.KILL].tolist())
    failed = events["kind"] == WorkflowEventKind.FAILURE
    kills = np.array([time in killed for time in events["time"].tolist()], dtype=bool)
    for rows, colour, label in (
        (failed & ~kills, current().soft, "failure"),
        (failed & kills, current().kill, "failure that kills jobs"),
    ):
        if rows.any():
            marks += ax.plot((events["time"][rows] - first) / seconds, events["node"][rows], linestyle="none",
                             marker="x", markersize=5.0, color=colour, label=label, zorder=4, clip_on=False,
                             path_effects=halo())  # fmt: skip
    if down.any():
        marks.append(swatch("node down", current().down, 1.0, None))
    return marks
