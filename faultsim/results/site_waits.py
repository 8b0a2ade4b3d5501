"""What jobs of a site waited for: the reasons of model.md#site-reasons, summed over jobs and time by groups."""

from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from faultsim.arrays import Floats, Indices, Values
from faultsim.data.tabular import Columns
from faultsim.errors import OptionError
from faultsim.results.groups import labels_of
from faultsim.results.metric_table import Measured
from faultsim.results.reasons import RESOURCE_WORDS, Cause, shortage_words
from faultsim.results.site_use import Shared, Sweep, Use


class Waited(Measured, Shared, Protocol):
    """The part of a `Result` that is read."""


#: The reason of jobs that have room, and wait for other reasons than the nodes.
OTHERS_FIRST = "other jobs first"
#: Numbers of reasons: these, and from `_SHORT` on the resources that are short as a set of bits, twice that if the job
#: requests GPUs.
_FITS, _DOWN, _EMPTY, _FRAGMENTED, _SHORT = range(5)


def waits_for(result: Waited, by: str | ArrayLike | None = None) -> Columns:
    """The hours that jobs of each group waited for each resource, the largest first.

    Examples
    --------
    >>> import faultsim as fs
    >>> log = fs.Workload([0, 0], [7200, 10], [1, 1], columns={"cores": [1, 1], "gpus": [2, 1]})
    >>> table = waits_for(fs.simulate(log, "site:n=1x4cx2v100", record=True))
    >>> table["group"].tolist(), table["reason"].tolist(), table["hours"].tolist()
    (['GPU jobs'], ['GPUs'], [2.0])
    """
    use = Use(result, "waits_for")
    name, groups, group = _groups(result, use, by)
    sweep = _Reasons(use)
    hours = sweep.summed(group, len(groups)) / 3600
    rows = []
    for g in range(len(groups)):
        total = float(hours[:, g].sum())
        order = sorted(np.flatnonzero(hours[:, g] > 0).tolist(), key=lambda k: (-hours[k, g], k))
        rows += [(groups[g], _words(k), float(hours[k, g]), float(hours[k, g]) / total) for k in order]
    found: dict[str, Values] = {
        name: np.array([row[0] for row in rows], groups.dtype),
        "reason": np.array([row[1] for row in rows], np.str_),
        "hours": np.array([row[2] for row in rows], np.float64),
        "share": np.array([row[3] for row in rows], np.float64),
    }
    return Columns(found, "waits_for")


def _groups(result: Waited, use: Use, by: str | ArrayLike | None) -> tuple[str, Values, Indices]:
    """What groups are called, their labels, and the group of each job."""
    if by is None:
        wants = use.asks.gpus > 0
        labels = np.where(wants, "GPU jobs", "other jobs" if wants.any() else "all jobs")
        return "group", *np.unique(labels, return_inverse=True)
    name, labels = labels_of(result, by)
    if name in ("reason", "hours", "share"):
        raise OptionError(f"waits_for has a column {name!r} of its own: give the labels as an array")
    names, group = np.unique(labels, return_inverse=True)
    return name, names, group


def _words(number: int) -> str:
    """The reason with a number."""
    if number < _SHORT:
        return (OTHERS_FIRST, str(Cause.NODES_DOWN), "empty nodes", str(Cause.FRAGMENTED))[number]
    bits, wants_gpus = (number - _SHORT) % 8, number >= _SHORT + 8
    short = tuple(RESOURCE_WORDS[at] for at in (2, 1, 0) if bits >> at & 1)
    beside = "GPUs" if wants_gpus and not bits & 4 else "cores" if not wants_gpus and not bits & 1 else None
    return shortage_words(short, beside)


class _Reasons(Sweep):
    """Beside what is free, how much of what each form needs would be served: see `_VIEWS`."""

    #: In which amounts of a node count: those that are left, those of one resource alone, and what the node has.
    _VIEWS = np.array([[1, 1, 1], [1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 0]], np.bool_)

    def __init__(self, use: Use) -> None:
        self.served = np.zeros((0, 0, 0), np.int32)  # until the nodes can be read
        super().__init__(use, "waits_for")
        asks, rows = use.asks, self.rows
        self.nodes = asks.nodes[rows]
        self.needed = np.where(self.nodes > 0, self.nodes, asks.cores[rows])
        self.by_core = asks.by_core[rows] & (asks.memory[rows] > 0)
        self.memory = np.maximum(asks.memory[rows], 1)
        self.served = np.zeros((len(use.has), len(self._VIEWS), len(rows)), np.int32)
        self.sums = np.zeros(self.served.shape[1:], np.int64)
        for node in range(len(use.has)):
            self._look(node)

    def _look(self, node: int) -> None:
        if not len(self.served):
            return
        has = self.use.has[node]
        now = np.where(self._VIEWS, self.free[node], has - self.lost[node])[:, None, :]  # of shape (views, 1, 3)
        able = (now >= self.one).all(axis=2) & self.may[node] & (self.down[node] == 0)
        able &= ~self.alone | (now == has).all(axis=2)
        cores = np.where(self.by_core, np.minimum(now[:, :, 0], now[:, :, 1] // self.memory), now[:, :, 0])
        served = np.where(able, np.where(self.nodes > 0, 1, cores), 0)
        self.sums += served - self.served[node]
        self.served[node] = served

    def summed(self, group: Indices, groups: int) -> Floats:
        """Seconds by reason and group."""
        self.group = group
        self.waiting_of = np.zeros((len(self.rows), groups))
        found = np.zeros((_SHORT + 16, groups))
        for begin, end, numbers in self.spans():
            forms = np.flatnonzero(self.waiting > 0)
            np.add.at(found, numbers[forms].astype(np.intp), (end - begin) * self.waiting_of[forms])
        return found

    def _wait(self, job: int, change: int) -> None:
        super()._wait(job, change)
        self.waiting_of[self.form[job], self.group[job]] += change

    def _now(self) -> Floats:
        """The number of the reason of each form."""
        fits = self.sums >= self.needed
        short = (~fits[1:4] * np.array([[1], [2], [4]])).sum(axis=0)
        found = np.where(short > 0, _SHORT + short + 8 * (self.one[:, 2] > 0), _FRAGMENTED)
        found = np.where(self.alone, _EMPTY, found)
        reasons: Floats = np.where(fits[0], _FITS, np.where(fits[4], found, _DOWN)).astype(np.float64)
        return reasons
