"""What jobs hold of each resource of a site, and what is stranded: free, and of no use to the jobs that wait for it."""

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from faultsim.arrays import Flags, Floats, Indices, LongIntegers, Values
from faultsim.data.event_kinds import EventKind
from faultsim.data.failures import FailureTrace
from faultsim.data.node_parts import PartsDown, parts_down
from faultsim.data.workload import Workload
from faultsim.data.world import AskRows
from faultsim.errors import OptionError
from faultsim.machines import Machine

if TYPE_CHECKING:
    from faultsim.data.tabular import ColumnTable

#: The resources of a node, in the order of their columns here.
RESOURCES = ("cores", "memory", "gpus")
UNITS = ("core-s", "MiB-s", "GPU-s")


class Shared(Protocol):
    """The part of a `Result` that is read."""

    @property
    def jobs(self) -> Mapping[str, Values]: ...
    @property
    def allocations(self) -> "ColumnTable": ...
    @property
    def events(self) -> "ColumnTable": ...
    @property
    def settings(self) -> Mapping[str, Any]: ...
    @property
    def workload(self) -> Workload: ...
    @property
    def failures(self) -> FailureTrace | None: ...
    @property
    def machine(self) -> Machine: ...
    @property
    def span(self) -> tuple[float, float]: ...


class Use:
    """The stays of a run on a site, with amounts.

    Attributes
    ----------
    has : array of shape (nodes, 3)
        What each node has.
    shares : array of shape (stays, 3)
        What the job of each stay has in all.
    """

    def __init__(self, result: Shared, what: str) -> None:
        has, asks = result.machine.node_amounts(), result.machine.asks(result.workload)
        if has is None or asks is None:
            raise OptionError(
                f"{what} is by cores, memory and GPUs of nodes that jobs share, on a Site with a log that has cores; "
                f"here jobs take whole nodes: use metrics['utilization']"
            )
        self.result, self.has, self.asks = result, has, asks
        held = result.allocations
        self.job: Indices = np.asarray(held["job"], np.intp)
        self.first: LongIntegers = np.asarray(held["node_offsets"])
        self.nodes: Indices = np.asarray(held["nodes"], np.intp)
        self.begin: Floats = np.asarray(held["begin"])
        self.end: Floats = np.minimum(held["end"], result.span[1])
        self.count: LongIntegers = np.diff(self.first)
        self.exclusive: Flags = asks.exclusive[self.job]
        cores = np.where(asks.nodes > 0, asks.nodes * asks.cores, asks.cores)[self.job]
        on_each = np.where(asks.by_core[self.job], cores, self.count)
        taken = np.stack([cores, asks.memory[self.job] * on_each, asks.gpus[self.job] * self.count], axis=1)
        whole = np.add.reduceat(has[self.nodes], self.first[:-1], axis=0) if len(self.job) else taken
        self.shares: LongIntegers = np.where(self.exclusive[:, None], whole, taken)

    @property
    def seconds(self) -> Floats:
        """Amount times seconds that the site has of each resource."""
        begin, end = self.result.span
        total: Floats = self.has.sum(axis=0) * (end - begin)
        return total

    def by_resource(self, amounts: Floats) -> dict[str, float]:
        """Shares of what the site has, of resources of which it has any."""
        total = self.seconds
        return {name: float(amounts[at] / total[at]) for at, name in enumerate(RESOURCES) if total[at] > 0}


def utilization_of(result: Shared) -> dict[str, float]:
    """Resource -> the share of it that jobs held over the makespan.

    Examples
    --------
    >>> import faultsim as fs
    >>> log = fs.Workload([0], [10], [1], columns={"cores": [1], "gpus": [2]})
    >>> run = fs.simulate(log, "site:n=1x4c8Gx2v100", record=True)
    >>> utilization_of(run)
    {'cores': 0.25, 'memory': 0.0, 'gpus': 1.0}
    """
    use = Use(result, "utilization")
    return use.by_resource((use.shares * (use.end - use.begin)[:, None]).sum(axis=0))


def stranded_of(result: Shared) -> dict[str, float]:
    """Resource -> the share of it, over the makespan, that was stranded.

    What is free of a resource on a node that is up is stranded while a job that may use the node waits for some of it,
    and the node lacks another resource for each job of this kind (model.md#stranded).

    Examples
    --------
    >>> import faultsim as fs
    >>> log = fs.Workload([0, 0], [10, 10], [1, 1], columns={"cores": [4, 1], "gpus": [0, 1]})
    >>> run = fs.simulate(log, "site:n=1x4cx2v100", record=True)
    >>> stranded_of(run)
    {'cores': 0.0, 'gpus': 0.5}
    """
    return Sweep(Use(result, "stranded"), "stranded capacity").stranded()


def ledger_of(result: Shared) -> dict[str, Values]:
    """Of each resource of which the site has any: amounts times seconds by account, and their unit.

    Examples
    --------
    >>> import faultsim as fs
    >>> log = fs.Workload([0, 0], [10, 10], [1, 1], columns={"cores": [4, 1], "gpus": [0, 1]})
    >>> table = ledger_of(fs.simulate(log, "site:n=1x4cx2v100", record=True))
    >>> table["unit"].tolist(), table["held"].tolist(), table["stranded"].tolist()
    (['core-s', 'GPU-s'], [50.0, 10.0], [0.0, 20.0])
    """
    use = Use(result, "resources")
    lost = np.zeros(6)
    for begin, end, amounts in _Lost(use, "stranded capacity").spans():
        lost += amounts * (end - begin)
    there = np.flatnonzero(use.seconds > 0)
    found: dict[str, Values] = {
        "resource": np.array([RESOURCES[at] for at in there]),
        "unit": np.array([UNITS[at] for at in there]),
        "capacity": use.seconds[there],
        "held": (use.shares * (use.end - use.begin)[:, None]).sum(axis=0)[there],
        "stranded": lost[:3][there],
        "down": lost[3:][there],
    }
    rest: Floats = found["capacity"] - found["held"] - found["stranded"] - found["down"]
    return found | {"idle": np.maximum(rest, 0.0)}


class SharesOverTime(NamedTuple):
    """Shares of a resource in equal parts of a span: what jobs held, what was stranded, and what was down."""

    held: Floats
    stranded: Floats
    down: Floats


def over_time(result: Shared, parts: int) -> tuple[Floats, dict[str, SharesOverTime]]:
    """The bounds of equal parts of the span, and the shares of each resource there.

    Examples
    --------
    >>> import faultsim as fs
    >>> log = fs.Workload([0, 0], [10, 10], [1, 1], columns={"cores": [4, 1], "gpus": [0, 1]})
    >>> run = fs.simulate(log, "site:n=1x4cx2v100", record=True)
    >>> over_time(run, 2)[1]["gpus"].stranded
    array([1., 0.])
    """
    use = Use(result, "use over time")
    bounds = np.linspace(*result.span, parts + 1)
    spans = list(_Lost(use, "use over time").spans())
    begin, end = (np.array([each[at] for each in spans]) for at in (0, 1))
    lost = np.array([amounts for *_, amounts in spans]).reshape(-1, 6)
    total = use.has.sum(axis=0)
    found = {}
    for at, name in enumerate(RESOURCES):
        if total[at] > 0:
            held = _mean_over(bounds, use.begin, use.end, use.shares[:, at])
            stranded, down = (_mean_over(bounds, begin, end, lost[:, k]) for k in (at, at + 3))
            found[name] = SharesOverTime(*(each / total[at] for each in (held, stranded, down)))
    return bounds, found


def _mean_over(bounds: Floats, begin: Floats, end: Floats, amount: Values) -> Floats:
    """The mean, in each part, of the sum of the amounts whose time it is."""
    times, changes = np.concatenate([begin, end]), np.concatenate([amount, -amount]).astype(np.float64)
    order = np.argsort(times, kind="stable")
    times, level = times[order], np.cumsum(changes[order])
    area = np.append(0.0, np.cumsum(level[:-1] * np.diff(times)))
    if not len(times):
        return np.zeros(len(bounds) - 1)
    mean: Floats = np.diff(np.interp(bounds, times, area)) / np.maximum(np.diff(bounds), 1e-300)
    return mean


class Sweep:
    """The instants of a run, in order of time: what is free of each node, and how many jobs of each form wait."""

    def __init__(self, use: Use, what: str) -> None:
        self.use, asks = use, use.asks
        split = (asks.nodes[use.job] == 0) & (use.count > 1) & ~use.exclusive
        if split.any():
            row = int(use.job[np.argmax(split)])
            raise OptionError(
                f"{what} is not known: job {use.result.jobs['id'][row]} of any number of nodes is on "
                f"several, and how its cores are shared out is not recorded; give numbers of nodes"
            )
        self.form, rows = _forms(asks)
        self.rows = rows
        self.one = np.stack([np.where(asks.nodes > 0, asks.cores, 1), asks.memory, asks.gpus], axis=1)[rows]
        self.alone: Flags = asks.exclusive[rows]
        which = use.result.machine.node_classes()
        self.may: Flags = (asks.classes[rows][None, :] >> which.astype(np.uint64)[:, None]) & np.uint64(1) > 0
        self.free = use.has.copy()
        self.down = np.zeros(len(use.has), np.int64)
        #: What is down of nodes by parts that failed.
        self.lost = np.zeros_like(use.has)
        #: The same without what held jobs have.
        self.out = np.zeros_like(use.has)
        self.waiting = np.zeros(len(rows), np.int64)
        #: Per resource, node and form: whether the node has all other resources.
        self.others = np.zeros((3, *self.may.shape), np.bool_)
        for node in range(len(use.has)):
            self._look(node)

    def _look(self, node: int) -> None:
        enough = self.free[node] >= self.one
        usable = self.may[node] & (self.down[node] == 0)
        usable &= ~self.alone | bool((self.free[node] == self.use.has[node]).all())
        for at in range(3):
            self.others[at, node] = usable & np.delete(enough, at, axis=1).all(axis=1)

    def _changes(self) -> tuple[Floats, list[tuple[int, int, int]]]:
        """Times, and what happens then: 0 and 1: a stay begins, ends; 2: a job waits; 3, 4: a node, a part is down."""
        use = self.use
        begin, end = use.result.span
        times: list[float] = []
        what: list[tuple[int, int, int]] = []
        since: dict[int, float] = dict(enumerate(use.result.jobs["eligible"].tolist()))
        for stay in np.argsort(use.begin, kind="stable").tolist():
            job = int(use.job[stay])
            times += [float(use.begin[stay]), float(use.end[stay]), since[job], float(use.begin[stay])]
            what += [(0, stay, 1), (1, stay, 1), (2, job, 1), (2, job, -1)]
            since[job] = float(use.end[stay])
        trace = use.result.failures
        for time, node, down in () if trace is None else zip(*(each.tolist() for each in _outages(trace)), strict=True):
            if time + down > begin and time < end:
                times += [max(time, begin), min(time + down, end)]
                what += [(3, node, 1), (3, node, -1)]
        self.parts, self.kept = _parts_down(use)
        for at, (since_, until) in enumerate(zip(self.parts.begin.tolist(), self.parts.end.tolist(), strict=True)):
            if until > begin and since_ < end:
                times += [max(since_, begin), min(until, end)]
                what += [(4, at, 1), (4, at, -1)]
        return np.array(times), what

    def stranded(self) -> dict[str, float]:
        """Resource -> the share of it that was stranded."""
        total = np.zeros(3)
        for begin, end, amounts in self.spans():
            total += amounts * (end - begin)
        return self.use.by_resource(total)

    def spans(self) -> Iterator[tuple[float, float, Floats]]:
        """Begin, end, and what is stranded of each resource between them, in order of time."""
        use = self.use
        times, what = self._changes()
        last = use.result.span[0]
        for at in np.argsort(times, kind="stable").tolist():
            if times[at] > last:
                yield last, float(times[at]), self._now()
                last = float(times[at])
            kind, which, change = what[at]
            if kind == 2:
                self._wait(which, change)
            elif kind == 3:
                self.down[which] += change
                self._look(which)
            elif kind == 4:
                node, amounts = int(self.parts.node[which]), change * self.parts.amounts[which]
                self.lost[node] += amounts
                amounts -= change * self.kept[which]
                self.out[node] += amounts
                self.free[node] -= amounts
                self._look(node)
            else:
                for node in use.nodes[use.first[which] : use.first[which + 1]].tolist():
                    share = use.has[node] if use.exclusive[which] else self._share(which)
                    self.free[node] += share if kind else -share
                    self._look(node)

    def _wait(self, job: int, change: int) -> None:
        self.waiting[self.form[job]] += change

    def _share(self, stay: int) -> NDArray[np.int64]:
        """On each node of a stay."""
        share: NDArray[np.int64] = self.use.shares[stay] // self.use.count[stay]
        return share

    def _now(self) -> Floats:
        found = np.zeros(3)
        for at in range(3):
            forms = np.flatnonzero((self.waiting > 0) & (self.one[:, at] > 0))
            if len(forms):
                lost = self.may[:, forms].any(axis=1) & ~self.others[at][:, forms].any(axis=1) & (self.down == 0)
                found[at] = self.free[lost, at].sum()
        return found


class _Lost(Sweep):
    """What is stranded, and what is down: free, of nodes that are, and parts of nodes."""

    def _now(self) -> Floats:
        down = self.free[self.down > 0].sum(axis=0) + self.out.sum(axis=0)
        return np.concatenate([super()._now(), down])


def _forms(asks: AskRows) -> tuple[Indices, Indices]:
    """The number of each job's request among the different ones, and the first job of each."""
    columns: list[object] = [asks.nodes, asks.cores, asks.memory, asks.gpus, asks.by_core, asks.exclusive]
    table = np.stack([np.asarray(each).astype(np.uint64) for each in (*columns, asks.classes)], axis=1)
    _, first, which = np.unique(table, axis=0, return_index=True, return_inverse=True)
    return which.ravel(), first


def _outages(trace: FailureTrace) -> tuple[Values, Values, Values]:
    whole = trace.whole_nodes()
    return whole.time, whole.node, whole.downtime


def cores_down(result: Shared) -> tuple[Floats, Floats, Floats]:
    """From when to when how many cores are down that no job holds: the sum at any time is that of the ledger.

    Examples
    --------
    >>> import faultsim as fs
    >>> log = fs.Workload([0], [10], [1], columns={"cores": [1]})
    >>> trace = fs.FailureTrace([2], [0], [5], part=["cores:3"], span=60)
    >>> run = fs.simulate(log, "site:n=1x8c", failures=trace, recovery="requeue", record=True)
    >>> cores_down(run)
    (array([2.]), array([7.]), array([3.]))
    """
    use = Use(result, "cores that are down")
    if ((use.asks.nodes[use.job] == 0) & (use.count > 1) & ~use.exclusive).any():
        raise OptionError("cores that are down are not known: a job of any number of nodes is on several")
    parts, kept = _parts_down(use)
    lost = (parts.amounts - kept)[:, 0]
    rows = list(zip(parts.begin.tolist(), parts.end.tolist(), lost.tolist(), strict=True))
    stays = _StaysOn(use)
    for node, begin, end in _node_outages(result.failures):
        # All cores of the node, but for what jobs hold and what is down by itself.
        rows.append((begin, end, int(use.has[node, 0])))
        here = stays.on(node)
        here = here[(use.begin[here] < end) & (use.end[here] > begin)]
        share = np.where(use.exclusive[here], use.has[node, 0], use.shares[here, 0] // use.count[here])
        rows += [
            (max(begin, since), min(end, until), -cores)
            for since, until, cores in zip(
                use.begin[here].tolist(), use.end[here].tolist(), share.tolist(), strict=True
            )
        ]
        beside = (parts.node == node) & (parts.begin < end) & (parts.end > begin) & (lost > 0)
        rows += [
            (max(begin, since), min(end, until), -cores)
            for since, until, cores in zip(
                parts.begin[beside].tolist(), parts.end[beside].tolist(), lost[beside].tolist(), strict=True
            )
        ]
    table = np.array(rows, dtype=np.float64).reshape(-1, 3)
    since, until = np.clip(table[:, 0], *result.span), np.clip(table[:, 1], *result.span)
    shown = (since < until) & (table[:, 2] != 0)
    return since[shown], until[shown], table[shown, 2]


def _node_outages(trace: FailureTrace | None) -> list[tuple[int, float, float]]:
    """Node, begin and end of each time in which a node is down."""
    found: list[tuple[int, float, float]] = []
    if trace is None:
        return found
    time, node, downtime = _outages(trace)
    for at in np.lexsort((time, node)).tolist():
        one, begin, end = int(node[at]), float(time[at]), float(time[at] + downtime[at])
        if begin == end:
            continue
        if found and found[-1][0] == one and begin <= found[-1][2]:
            found[-1] = (one, found[-1][1], max(end, found[-1][2]))
        else:
            found.append((one, begin, end))
    return found


class _Parts(NamedTuple):
    """The parts of nodes that failures take down, and how much of each of them held jobs have."""

    down: PartsDown
    kept: LongIntegers


def _parts_down(use: Use) -> _Parts:
    trace = use.result.failures
    part = None if trace is None else trace.part_amounts()
    if trace is None or part is None:
        none = np.empty(0)
        nothing = np.empty((0, 3), np.int64)
        return _Parts(PartsDown(none, none, np.empty(0, np.int32), nothing), nothing)
    rows = part.any(axis=1) & (trace.downtime > 0)
    end = trace.time[rows] + trace.downtime[rows]
    found = parts_down(trace.time[rows], end, trace.node[rows], part[rows], use.has)
    if "place" in use.result.settings["recovery"]:  # jobs that are killed go back to the queue
        return _Parts(found, np.zeros_like(found.amounts))
    return _Parts(found, _kept(use, found, trace.part_units()[rows]))


def _kept(use: Use, parts: PartsDown, unit: Floats) -> LongIntegers:
    """The units of each part that jobs have, which hold them (model.md#site-parts)."""
    kept = np.zeros_like(parts.amounts)
    # Node and job -> until when, of which resource, how many units are down.
    of_job: dict[tuple[int, int], list[tuple[float, int, int]]] = {}
    stays = _StaysOn(use)
    for row, (time, node, amounts) in enumerate(
        zip(parts.begin.tolist(), parts.node.tolist(), parts.amounts.tolist(), strict=True)
    ):
        if not any(amounts):
            continue
        (at,) = np.flatnonzero(amounts).tolist()
        before = (parts.node[:row] == node) & (parts.end[:row] > time)
        n = int(use.has[node, at] - parts.amounts[:row][before, at].sum())  # units that are up
        first = math.floor(unit[row] * n)
        last, number = first + amounts[at], 0
        for job, share in stays.at(node, time):
            here = of_job.setdefault((node, job), [])
            up = int(share[at]) - sum(units for until, of, units in here if of == at and until > time)
            hit = _overlap(number, number + up, first, last) + _overlap(number, number + up, 0, last - n)
            here.append((float(parts.end[row]), at, hit))
            kept[row, at] += hit
            number += up
    return kept


def _overlap(begin: int, end: int, first: int, last: int) -> int:
    return max(0, min(end, last) - max(begin, first))


class _StaysOn:
    """The stays on each node, and what they have of it."""

    def __init__(self, use: Use) -> None:
        self.use = use
        of_node = np.argsort(use.nodes, kind="stable")
        self.stay = np.repeat(np.arange(len(use.job)), use.count)[of_node]
        self.bounds = np.searchsorted(use.nodes[of_node], np.arange(len(use.has) + 1))
        events = use.result.events
        ends, fails = (np.flatnonzero(events["kind"] == kind) for kind in (EventKind.FINISH, EventKind.FAILURE))
        # The first failure of each instant, and jobs that ended in the same instant before it.
        times, first = np.unique(events["time"][fails], return_index=True)
        at = np.searchsorted(times, events["time"][ends])
        within = at < len(times)
        ends, at = ends[within], at[within]
        early = (times[at] == events["time"][ends]) & (ends < fails[first][at])
        self.gone = set(zip(events["job"][ends[early]].tolist(), events["time"][ends[early]].tolist(), strict=True))

    def on(self, node: int) -> Indices:
        """All stays on a node."""
        return self.stay[self.bounds[node] : self.bounds[node + 1]]

    def at(self, node: int, time: float) -> list[tuple[int, LongIntegers]]:
        """The jobs on a node when it fails, by index, with their shares."""
        use, stays = self.use, self.on(node)
        here = stays[(use.begin[stays] < time) & (use.end[stays] >= time)]
        found = []
        for stay in here[np.argsort(use.job[here], kind="stable")].tolist():
            job = int(use.job[stay])
            if use.end[stay] > time or (job, time) not in self.gone:
                found.append((job, use.has[node] if use.exclusive[stay] else use.shares[stay] // use.count[stay]))
        return found
