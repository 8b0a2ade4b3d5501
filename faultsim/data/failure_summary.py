"""What `FailureTrace.summary` returns, and how overlapping outages are merged."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from faultsim.arrays import Floats, Indices, Values
from faultsim.data.summary_table import SummaryTable

_DAY = 86_400.0

# key -> (unit, meaning); the order is the order in which a summary prints.
ROWS: dict[str, tuple[str, str]] = {
    "n_failures": ("", "failures"),
    "n_dropped": ("", "records omitted"),
    "nodes": ("nodes", "machine that the rows below are for"),
    "n_failing_nodes": ("nodes", "nodes that fail at least once"),
    "span": ("s", "time that the trace covers, from 0"),
    "first": ("s", "first failure"),
    "last": ("s", "last failure"),
    "per_day": ("/day", "failures per day"),
    "node_mtbf": ("s", "nodes * span / failures: time between failures of a node"),
    "gap_mean": ("s", "time between failures of the machine, mean"),
    "gap_cv": ("", "standard deviation over mean of it; 1 if exponential"),
    "downtime_mean": ("s", "down time, mean"),
    "downtime_median": ("s", "down time, median"),
    "downtime_max": ("s", "down time, longest"),
    "n_transient": ("", "failures with a down time of 0"),
    "worst_node": ("", "node with the most failures"),
    "worst_node_share": ("", "its share of the failures"),
    "worst_tenth_share": ("", "share of the failures on the 10 % of nodes that fail most"),
    "n_bursts": ("", "bursts: failures that come together, including single ones"),
    "burst_nodes_mean": ("nodes", "distinct nodes of a burst, mean"),
    "burst_nodes_max": ("nodes", "distinct nodes of a burst, most"),
    "n_single": ("", "bursts of one failure"),
    "availability": ("", "share of the node-seconds of the span that nodes are up"),
}


class FailureSummary(SummaryTable):
    """Statistics of a failure trace: a read-only mapping from name to number, readable when printed.

    Numbers for which a trace is too short are NaN: the gaps of fewer than two failures, the rates of a span of 0.
    The standard deviation in `gap_cv` divides by the number of gaps.

    Examples
    --------
    >>> import faultsim as fs
    >>> trace = fs.FailureTrace([0, 0, 300], [0, 1, 1], 60, span=600)
    >>> print(trace.summary(nodes=2))  # doctest: +ELLIPSIS
    n_failures                       3         failures
    ...
    node_mtbf                      400 s       nodes * span / failures: time between failures of a node
    ...
    """

    __slots__ = ()

    def __init__(self, values: dict[str, float], name: str = "", dropped: Mapping[str, int] | None = None) -> None:
        super().__init__(ROWS, values, name, dropped)


def merged_outages(columns: Mapping[str, Values], *, touching: bool = False) -> tuple[Indices, Floats]:
    """The outages of all nodes, merging those of one node that overlap or begin at the same instant.

    Parameters
    ----------
    columns : mapping of str to array
        time (ascending), node and downtime.
    touching : bool
        Whether an outage that begins when the previous one ends is merged with it.

    Returns
    -------
    first : numpy.ndarray of int
        Row of the first failure of each outage, ascending.
    downtime : numpy.ndarray of float
        How long each outage lasts.

    Examples
    --------
    >>> import faultsim as fs
    >>> first, downtime = merged_outages(fs.FailureTrace([0, 5, 20], [1, 1, 1], 10).columns)
    >>> first.tolist(), downtime.tolist()
    ([0, 2], [15.0, 10.0])
    """
    n = len(columns["time"])
    by_node = np.argsort(columns["node"], kind="stable")  # and in it by time
    node, time = columns["node"][by_node], columns["time"][by_node]
    end = time + columns["downtime"][by_node]
    # The latest end so far of each node: ranks of the ends, offset by node, in one running maximum of whole numbers.
    values, rank = np.unique(end, return_inverse=True)
    other = np.concatenate([[True], node[1:] != node[:-1]]) if n else np.zeros(0, dtype=bool)
    lifted = np.maximum.accumulate((np.cumsum(other) - 1) * n + rank)
    latest = values[lifted % n] if n else end
    new = other.copy()
    later = time[1:] > latest[:-1] if touching else time[1:] >= latest[:-1]
    new[1:] |= later & (time[1:] != time[:-1])
    begins = np.flatnonzero(new)
    ends = latest[np.append(begins[1:], n) - 1] if n else end
    first = by_node[begins]
    # Not end - time if nothing was added: it need not equal the down time to the bit.
    downtime = np.where(ends == end[begins], columns["downtime"][first], ends - time[begins])
    order = np.argsort(first, kind="stable")
    return first[order], downtime[order]


def summarize(
    columns: Mapping[str, Values],
    *,
    span: float,
    nodes: int,
    burst_gap: float = 0.0,
    name: str = "",
    dropped: Mapping[str, int] | None = None,
) -> FailureSummary:
    """Compute a `FailureSummary` from the columns of a trace.

    Examples
    --------
    >>> import faultsim as fs
    >>> trace = fs.FailureTrace([0, 0, 300], [0, 1, 1], 60, span=600)
    >>> summarize(trace.columns, span=600.0, nodes=2)["burst_nodes_max"]
    2
    """
    time, node, downtime = columns["time"], columns["node"], columns["downtime"]
    n = len(time)
    nan = float("nan")
    gaps = np.diff(time)
    failing, counts = np.unique(node, return_counts=True)
    worst = np.sort(counts)[::-1]
    burst = np.cumsum(np.concatenate([[0], gaps > burst_gap]))[:n]
    of_burst = np.bincount(np.unique(np.stack([burst, node]), axis=1)[0]) if n else burst
    whole = columns if "part" not in columns else {key: each[columns["part"] == ""] for key, each in columns.items()}
    first, lasting = merged_outages(whole)
    down = float(np.minimum(lasting, span - whole["time"][first]).sum())
    mean_gap = float(gaps.mean()) if n > 1 else nan
    values: dict[str, float] = {
        "n_failures": n,
        "n_dropped": sum((dropped or {}).values()),
        "nodes": nodes,
        "n_failing_nodes": len(failing),
        "span": span,
        "first": float(time[0]) if n else nan,
        "last": float(time[-1]) if n else nan,
        "per_day": n / span * _DAY if span > 0 else nan,
        "node_mtbf": nodes * span / n if n else float("inf"),
        "gap_mean": mean_gap,
        "gap_cv": float(gaps.std()) / mean_gap if n > 1 and mean_gap > 0 else nan,
        "downtime_mean": float(downtime.mean()) if n else nan,
        "downtime_median": float(np.median(downtime)) if n else nan,
        "downtime_max": float(downtime.max()) if n else nan,
        "n_transient": int((downtime == 0).sum()),
        "worst_node": int(failing[np.argmax(counts)]) if n else nan,
        "worst_node_share": float(worst[0]) / n if n else nan,
        "worst_tenth_share": float(worst[: max(1, nodes // 10)].sum()) / n if n else nan,
        "n_bursts": int(burst[-1]) + 1 if n else 0,
        "burst_nodes_mean": float(of_burst.mean()) if n else nan,
        "burst_nodes_max": int(of_burst.max()) if n else nan,
        "n_single": int((np.bincount(burst) == 1).sum()) if n else 0,
        "availability": 1.0 - down / (nodes * span) if nodes * span > 0 else nan,
    }
    return FailureSummary(values, name, dropped)
