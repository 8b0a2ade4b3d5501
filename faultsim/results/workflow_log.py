"""The decision log of a workflow run, as in Figures 7 and 8 of [yu2010], reconstructed from its events."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np

from faultsim.arrays import Floats, Values
from faultsim.data.failures import FailureTrace
from faultsim.data.workflow import Workflow
from faultsim.machines.resources import Resources

_FINISH, _REPAIR, _FAILURE, _KILL, _WAKE_UP, _ARRIVAL, _START = range(7)


class LogRow(NamedTuple):
    """What happened at an instant, which jobs were ready and which nodes free, and what was decided.

    Attributes
    ----------
    time : float
        Seconds.
    events : tuple of str
        What happened.
    pool : tuple of str
        The jobs in the pool before the pass, in its order.
    free : tuple of str
        The free nodes before the pass.
    decisions : tuple of (str, str)
        Job and node.

    Examples
    --------
    >>> LogRow(0.0, ("W0 arrives",), ("T0",), ("P0", "P1"), (("T0", "P0"),)).free
    ('P0', 'P1')
    """

    time: float
    events: tuple[str, ...]
    pool: tuple[str, ...]
    free: tuple[str, ...]
    decisions: tuple[tuple[str, str], ...]


def log_rows(
    events: Mapping[str, Values],
    workflows: Sequence[Workflow],
    resources: Resources,
    trace: FailureTrace | None,
    settings: Mapping[str, object],
) -> Iterator[LogRow]:
    """One row for each instant, with its events and the pass after them, in order.

    Parameters
    ----------
    events : mapping of str to array
        The columns of `faultsim.data.columns.WORKFLOW_EVENTS`, as they happened.
    workflows, resources, trace
        What ran, where, and what failed.
    settings : mapping
        The lowered ``scheduler`` and ``outputs``.

    Examples
    --------
    >>> import faultsim as fs
    >>> run = fs.simulate_workflows(fs.Workflow([5]), fs.Resources(1), record=True)
    >>> [row.events for row in log_rows(run.events, run.workflows, run.resources, None, run.settings)]
    [('W0 arrives',), ('T0 done',)]
    """
    replay = _Replay(workflows, resources, trace, settings)
    rows = zip(*(events[name].tolist() for name in ("time", "kind", "workflow", "job", "node")), strict=True)
    last: LogRow | None = None
    for (time, starts), group in groupby(rows, key=lambda row: (row[0], row[1] == _START)):
        if starts:
            if last is None or last.time != time:  # Heft: a transfer has ended, which has no event
                if last is not None:
                    yield last
                last = LogRow(time, (), replay.pool(), replay.free(), ())
            yield last._replace(decisions=tuple(replay.start(i, j, node) for _, _, i, j, node in group))
            last = None
            continue
        if last is not None:
            yield last
        happened = tuple(replay.happen(*row) for row in group)
        last = LogRow(time, happened, replay.pool(), replay.free(), ())
    if last is not None:
        yield last


def log_text(rows: Iterable[LogRow]) -> str:
    """The rows as a table.

    Examples
    --------
    >>> print(log_text([LogRow(0.0, ("W0 arrives",), ("T0",), ("P0", "P1"), (("T0", "P0"),))]))
    time  event       pool  free   decision
    0     W0 arrives  T0    P0 P1  (T0, P0)
    """
    table = [("time", "event", "pool", "free", "decision")]
    for row in rows:
        placed = " ".join(f"({job}, {node})" for job, node in row.decisions)
        table.append((f"{row.time:.10g}", ", ".join(row.events), " ".join(row.pool), " ".join(row.free), placed))
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return "\n".join("  ".join(map(str.ljust, line, widths)).rstrip() for line in table)


class _Replay:
    """The pool and the nodes, followed through the events."""

    def __init__(
        self,
        workflows: Sequence[Workflow],
        resources: Resources,
        trace: FailureTrace | None,
        settings: Mapping[str, Any],
    ) -> None:
        self.workflows = workflows
        self.scheduler = settings["scheduler"]
        self.waits = [np.diff(flow.predecessor_start).tolist() for flow in workflows]
        self.ranks = [_ranks(flow, resources, settings["outputs"]) for flow in workflows]
        self.entered: dict[tuple[int, int], float] = {}  # job in the pool -> since when
        self.nodes, self.busy, self.down = resources.nodes, set[int](), set[int]()
        self.downtimes = iter(() if trace is None else trace.downtime.tolist())  # all failures have events, in order

    def happen(self, time: float, kind: int, i: int, j: int, node: int) -> str:
        if kind == _ARRIVAL:
            self.entered |= {(i, entry): time for entry in self.workflows[i].entries.tolist()}
            return f"{self.workflows[i].name or f'W{i}'} arrives"
        if kind == _FINISH:
            self.busy.discard(node)
            flow = self.workflows[i]
            for after in flow.successor[flow.successor_start[j] : flow.successor_start[j + 1]].tolist():
                self.waits[i][after] -= 1
                if not self.waits[i][after]:
                    self.entered[i, after] = time
            return f"{self.name(i, j)} done"
        if kind == _KILL:
            self.busy.discard(node)
            self.entered[i, j] = time
            return f"{self.name(i, j)} killed"
        if kind == _FAILURE:
            if time + next(self.downtimes) > time:
                self.down.add(node)
            return f"P{node} fails"
        if kind == _REPAIR:
            self.down.discard(node)
            return f"P{node} recovers"
        return "a prediction is over"

    def start(self, i: int, j: int, node: int) -> tuple[str, str]:
        del self.entered[i, j]
        self.busy.add(node)
        return self.name(i, j), f"P{node}"

    def free(self) -> tuple[str, ...]:
        return tuple(f"P{node}" for node in range(self.nodes) if node not in self.busy and node not in self.down)

    def pool(self) -> tuple[str, ...]:
        jobs = sorted(self.entered)
        if self.scheduler["name"] == "fifo":
            jobs.sort(key=lambda job: self.entered[job])
        else:
            several = len({i for i, _ in jobs}) > 1
            sign = 1.0 if several and self.scheduler.get("across") == "ascending" else -1.0
            jobs.sort(key=lambda job: sign * self.ranks[job[0]][job[1]])
        return tuple(self.name(*job) for job in jobs)

    def name(self, i: int, j: int) -> str:
        labels = self.workflows[i].labels
        own = f"T{j}" if labels is None else labels[j]
        return own if len(self.workflows) == 1 else f"W{i}.{own}"


def _ranks(flow: Workflow, resources: Resources, copy: float | None) -> list[float]:
    """The upward rank of every job, summed in the order that the model specifies."""
    starts, after, sizes = flow.successor_start.tolist(), flow.successor.tolist(), flow.successor_transfer
    bandwidth = 1.0 if resources.bandwidth is None else resources.bandwidth
    if isinstance(bandwidth, float):
        moved = (sizes / bandwidth).tolist()
    else:
        pairs = 1.0 / bandwidth[~np.eye(resources.nodes, dtype=bool)]
        moved = (sizes * (_sum(pairs) / len(pairs) if len(pairs) else 0.0)).tolist()
    durations = resources.durations(flow)
    ranks = [0.0] * len(flow)
    for job in reversed(flow.topological_order().tolist()):
        edges = range(starts[job], starts[job + 1])
        mean = _sum(durations[job] + (copy if copy is not None and edges else 0.0)) / resources.nodes
        ranks[job] = mean + max((moved[edge] + ranks[after[edge]] for edge in edges), default=0.0)
    return ranks


def _sum(values: Floats) -> float:
    """Summed from left to right, unlike NumPy's pairwise and Python's compensated sum."""
    return float(np.cumsum(values)[-1])
