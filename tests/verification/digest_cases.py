"""Random runs over everything that combines, each from a seed, for `digests`.

Everything is drawn as whole numbers from the raw words of PCG64, whose stream NumPy guarantees, and scaled by one
multiplication: every machine draws the same doubles.  Jobs come close enough together to queue, many things happen at
one instant, and failures hit running jobs.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

import faultsim as fs

CLUSTERS = (1, 7, 16, 24, 40, 63, 64, 65, 100, 128, 200, 1000)
#: Shapes for each way in which the core keeps an occupancy: one integer, one word a row, lines of one or more words.
TORI = (
    (4, 4, 8), (4, 4, 8), (2, 2, 2), (3, 3, 3), (2, 3, 4), (1, 1, 9), (4, 4, 4), (5, 3, 4), (6, 5, 4), (8, 4, 4),
    (8, 8, 8), (6, 5, 7), (5, 4, 12), (9, 4, 5), (3, 3, 40), (2, 2, 70),
)  # fmt: skip
PREDICTING = (fs.Balancing, fs.TieBreaking, fs.SafestFirst)
BOX_ORDERS = ("extents-descending", "extents-ascending", "bases")
ORDERS = ("arrival", "arrival", "shortest", "largest", "wfp3", "unicef", "python")


@dataclass(frozen=True)
class CountDown(fs.QueueOrder):
    """A queue order in Python with many ties, which changes with time."""

    def keys(self, queue, now):
        return -(queue.size % 3) - ((queue.index + int(now)) % 2) + (queue.estimate > now - queue.submit)


@dataclass(frozen=True)
class MiddleBox(fs.Placement):
    """A placement in Python that looks at everything it is shown."""

    box_order: str = BOX_ORDERS[0]

    def choose(self, job, candidates, state):
        busy = int(state.busy.sum()) + int(state.busy[candidates[-1][0]].any())
        return (job.index + job.size + busy + int(job.estimate) + int(state.now - job.submit)) % len(candidates)


class Draw:
    """Whole numbers from a key."""

    def __init__(self, *key: int) -> None:
        self._bits = np.random.PCG64(np.random.SeedSequence(key))

    def whole(self, low: int, high: int) -> int:
        """From `low` to `high`, both included."""
        return low + int(self._bits.random_raw()) % (high - low + 1)

    def one(self, *values: Any) -> Any:
        return values[self.whole(0, len(values) - 1)]

    def chance(self, part: int, of: int) -> bool:
        return self.whole(1, of) <= part

    def column(self, low: int, high: int, n: int) -> np.ndarray:
        return low + (self._bits.random_raw(n) % np.uint64(high - low + 1)).astype(np.int64)


@dataclass
class Case:
    """What `fs.Run` takes, and the columns in it as they were drawn."""

    log: dict[str, np.ndarray]
    machine: fs.Cluster | fs.Torus | fs.Pod
    failures: dict[str, Any] | None
    predictions: dict[str, Any]
    options: dict[str, Any]
    #: Times at which the run is stopped and looked at; without any it goes through in one.
    looks: list[float]
    #: Whether it is copied at the second of them, so that the copy is what counts.
    fork: bool

    def inputs(self) -> list[tuple[str, np.ndarray]]:
        columns = {**self.log, **(self.failures or {}), **self.predictions}
        drawn = [(name, np.asarray(values)) for name, values in sorted(columns.items())]
        order = getattr(self.options.get("scheduler"), "order", None)
        return drawn + ([("libm", libm())] if order is not None and order.name in ("wfp3", "unicef") else [])

    def trace(self) -> fs.FailureTrace | None:
        return None if self.failures is None else fs.FailureTrace(**self.failures)

    def run(self) -> fs.Run:
        return fs.Run(self.workload(), self.machine, failures=self.trace(), **self.options)

    def simulation(self) -> fs.Simulation:
        return fs.Simulation(self.workload(), self.machine, failures=self.trace(), **self.options)

    def workload(self) -> fs.Workload:
        columns = dict(self.log)
        further = {"priority": columns.pop("priority")} if "priority" in columns else {}
        if "slice" in columns:
            slices = self.machine.slices
            further["shape"] = np.array([str(slices[i]) if i >= 0 else "" for i in columns.pop("slice")], "U24")
        return fs.Workload(**columns).with_columns(**further)


def libm() -> np.ndarray:
    """What this machine's mathematical library makes of pow and log2, the only inexact functions that a run calls."""
    return np.array([[math.pow(i / 7, 3.0), math.log2(i + 1)] for i in range(1, 1000)])


def drawn(*key: int, about: str = "random") -> Case:
    """The case of a key.

    About "big_jobs" each has `PredictedWindows` with ``BigJobs``, otherwise none; about "rescheduling" each has `Fars`,
    many nodes are suspicious at a time, and few are free.
    """
    draw = Draw(*key)
    on_torus = draw.chance(1, 2)
    machine = fs.Torus(*draw.one(*TORI), wrap=draw.chance(2, 3)) if on_torus else fs.Cluster(draw.one(*CLUSTERS))
    unit = draw.one(1.0, 1.0, 1.0, 0.1, 1 / 3, 0.7)
    longest = draw.one(10, 60, 1000, 7200)
    log, horizon = jobs(draw, machine.nodes, longest, about)
    failing = about != "random" or draw.chance(3, 4)
    failures = failures_of(draw, machine.nodes, longest, horizon, log) if failing else None
    scale(unit, log, failures)
    wild = about != "rescheduling" and draw.chance(1, 25)  # whatever the machine is, so that refusals are kept too
    policies = options(draw, machine, on_torus ^ (wild and draw.chance(1, 2)), unit * longest, failing, wild, about)
    plain = not failing and not wild and draw.chance(1, 2)
    if plain and not on_torus:
        policies |= {"placement": draw.one(None, fs.FirstFit()), "migration": None}
    asked = not plain or isinstance(policies["placement"], PREDICTING)
    chosen = predictor(draw, policies, machine, unit * longest, failures, horizon * unit, wild) if asked else None
    if about == "rescheduling" and draw.chance(2, 3):
        chosen = crowded(draw, machine.nodes, unit * longest, failures, horizon * unit)
    return case_of(draw, log, machine, failures, chosen, policies, horizon, unit)


def scale(unit: float, log: dict[str, np.ndarray], failures: dict[str, Any] | None) -> None:
    """Whole units become seconds; what is missing stays so."""
    for table in (log, failures or {}):
        for name in ("submit", "runtime", "estimate", "time", "downtime", "span"):
            if name in table:
                table[name] = np.where(table[name] < 0, -1.0, table[name] * unit)
    if failures is not None:
        failures["span"] = float(failures["span"])


def case_of(
    draw: Draw, log: Any, machine: Any, failures: Any, chosen: Any, policies: dict[str, Any], horizon: int, unit: float
) -> Case:
    """With a predictor, or None, and where it is looked at."""
    policies["predictor"] = chosen
    predictions = {} if chosen is None else {f"predicted {name}": values for name, values in chosen.arrays().items()}
    looks = sorted(draw.whole(0, horizon) * unit for _ in range(draw.whole(2, 5))) if draw.chance(1, 8) else []
    return Case(log, machine, failures, predictions, policies, looks, fork=draw.chance(2, 3))


def jobs(draw: Draw, nodes: int, longest: int, about: str) -> tuple[dict[str, np.ndarray], int]:
    """Columns of a log in whole units, and about when it ends."""
    n = draw.whole(20, draw.one(40, 80, 150))
    runtime = draw.column(0, longest, n)
    if draw.chance(1, 2):
        runtime = np.minimum(runtime, draw.column(0, longest, n))
    style = draw.one("any", "small", "powers", "mixed") if about != "rescheduling" else draw.one("small", "mixed")
    if style == "powers":
        size = 2 ** draw.column(0, nodes.bit_length() - 1, n)
    else:
        size = draw.column(1, max(1, nodes // 4) if style == "small" else nodes, n)
    if style == "mixed":
        size = np.minimum(size, draw.column(1, nodes, n))
    work = int((runtime * size).sum())
    burst = draw.one(1, 2, 5)
    load = draw.one(70, 110, 160, 300) if about != "rescheduling" else draw.one(60, 80, 100)
    gap = 100 * burst * work // (nodes * n * load)
    gaps = draw.column(0, 2 * gap, n) * (draw.column(1, burst, n) == 1)
    submit = draw.one(0, 0, longest) + np.cumsum(gaps)
    log = {"submit": submit, "runtime": runtime, "size": size}
    style = draw.one("exact", "over", "round", "under", "under", "missing", "none")
    if style == "over":
        log["estimate"] = runtime * draw.column(1, 5, n)
    elif style == "round":
        log["estimate"] = -(-(runtime + 1) // (longest // 5)) * (longest // 5)
    elif style == "under":
        log["estimate"] = np.maximum(0, runtime + draw.column(-(longest // 3), longest // 2, n))
    elif style == "missing":
        log["estimate"] = np.where(draw.column(0, 2, n) == 0, -1, runtime + draw.column(-2, longest // 2, n))
        log["estimate"] = np.maximum(-1, log["estimate"])
    elif style == "exact":
        log["estimate"] = runtime
    return log, int(submit[-1]) + work // nodes + longest


def failures_of(draw: Draw, nodes: int, longest: int, horizon: int, log: dict[str, np.ndarray]) -> dict[str, Any]:
    """Columns of a trace in whole units: bursts, failures at the instants of jobs, and nodes that fail more often."""
    n = draw.one(5, 15, 40, 100)
    time = draw.column(0, horizon, n)
    row = draw.column(0, len(log["submit"]) - 1, n)
    time = np.where(draw.column(1, 4, n) == 1, log["submit"][row] + log["runtime"][row], time)
    time = np.sort(np.where(draw.column(1, 6, n) == 1, np.roll(time, 1), time))
    node = draw.column(0, nodes - 1, n)
    for _ in range(draw.one(0, 1, 3)):
        node = np.minimum(node, draw.column(0, nodes - 1, n))
    most = draw.one(0, longest // 10, longest)
    downtime = draw.column(0, most, n) * (draw.column(1, 3, n) > 1)
    span = max(horizon, int(time[-1])) * draw.one(1, 1, 2)
    return {"time": time, "node": node, "downtime": downtime, "coin": draw.column(0, 999, n) / 1000, "span": span}


def options(
    draw: Draw, machine: Any, torus: bool, longest: float, failing: bool, wild: bool, about: str
) -> dict[str, Any]:
    """All options but the predictor, for a torus or a cluster; `longest` is the longest run time in seconds."""
    checkpointing = checkpoints(draw, longest, about) if failing and (about != "random" or draw.chance(3, 4)) else None
    chosen = {
        "scheduler": scheduler(draw, torus),
        "placement": placement(draw, torus),
        "migration": None if about == "rescheduling" and draw.chance(1, 2) else migration(draw, torus, longest),
        "recovery": recovery(draw, longest) if failing or wild else None,
        "checkpointing": checkpointing,
        "estimates": draw.one("requested", "requested", "requested", "actual", 0.5, 2.0, 3),
        "overrun": draw.one("extend", "extend", "kill"),
        "start_delay": draw.one(0.0, 0.0, longest / 50, longest / 10),
        "seed": draw.whole(0, 5),
        "record": draw.chance(1, 2),
        "oversized": "drop" if draw.chance(9, 10) else "error",
    }
    if failing and (about == "rescheduling" or draw.chance(2, 5)):
        stealing = (not torus and checkpointing is not None and checkpointing.name != "none") or wild
        chosen["rescheduling"] = fars(draw, machine, torus and not wild, longest, stealing)
    return chosen


def scheduler(draw: Draw, torus: bool) -> Any:
    name = draw.one(*ORDERS)
    order = CountDown() if name == "python" else name
    kind = draw.one(fs.Fcfs, fs.EasyBackfill, fs.EasyBackfill, fs.ConservativeBackfill)
    if kind is fs.Fcfs:
        return kind(order=order)
    more = {
        "max_growth": draw.one(0, 1, 1, 2, 3, 8) if torus else draw.one(0, 1),
        "repairs": draw.one("known", "unknown"),
    }
    if kind is fs.EasyBackfill and torus:
        more["reservation"] = draw.one("any", "fixed")
    return kind(order=order, **more)


def placement(draw: Draw, torus: bool) -> Any:
    if not torus:
        return draw.one(None, fs.FirstFit(), fs.LeastFailuresFirst(), fs.SafestFirst())
    kind = draw.one(None, fs.FirstFit, fs.MaxFreePartition, fs.Balancing, fs.Balancing, fs.TieBreaking, MiddleBox)
    if kind is None:
        return None
    more = {"rule": draw.one("prod", "max")} if kind is fs.Balancing else {}
    return kind(box_order=draw.one(*BOX_ORDERS), **more)


def migration(draw: Draw, torus: bool, longest: float) -> Any:
    if draw.chance(1, 2):
        return None
    if not torus:
        return fs.LeastFailuresMigration(threshold=draw.one(0, 1, 2), cost=draw.one(0, longest / 50))
    return fs.Defragment(
        min_free=draw.one(0.0, 0.1, 0.3),
        max_concentration=draw.one(0.5, 0.7, 1.0),
        cost=draw.one(0, 0, longest / 50, longest / 10),
        when=draw.one("waiting", "always"),
        keep_promise=draw.chance(1, 3),
    )


def recovery(draw: Draw, longest: float) -> Any:
    kind, cost = draw.one(None, fs.Requeue, fs.Requeue, fs.Hold), draw.one(0, longest / 50, longest / 10)
    if kind is None:
        return None
    return kind(restart_cost=cost) if kind is fs.Hold else kind(place=draw.one("arrival", "tail"), restart_cost=cost)


def checkpoints(draw: Draw, longest: float, about: str) -> Any:
    cost, interval = draw.one(0, longest / 50, longest / 10), draw.one(longest / 10, longest / 3, longest)
    kind = draw.one("none", "periodic", "young", "daly", "before", "windows", "windows", "risk")
    if about == "big_jobs" or kind == "windows":
        asked = draw.one(fs.AllJobs(), fs.LongJobs(0), fs.LongJobs(longest / 10), "all")
        hours = draw.one(longest / 10, longest, 3 * longest) / 3600
        asked = fs.BigJobs(draw.whole(1, 4)) if about == "big_jobs" else asked
        return fs.PredictedWindows(fs.Buckets(length=3600.0 * hours), asked, interval=interval, cost=cost)
    if kind in ("young", "daly"):
        mtbf = longest * draw.one(0.2, 2, 20)
        return {"young": fs.Young, "daly": fs.Daly}[kind](
            cost=draw.one(longest / 50, longest / 10), mtbf=mtbf, any_rate=True
        )
    if kind == "periodic":
        return fs.Periodic(interval, cost)
    if kind == "risk":
        return fs.RiskBased(interval, cost)
    return fs.BeforeFailure(cost) if kind == "before" else fs.NoCheckpoint()


def fars(draw: Draw, machine: Any, torus: bool, longest: float, stealing: bool) -> fs.Fars:
    strategies = [fs.ServiceUnitLoss(), fs.JobFailureRate(), fs.FailureSlowdown()]
    strategies += [fs.NodeStealing()] * 3 if stealing else []
    spares = "dynamic"
    if not torus and draw.chance(1, 3):
        spares = fs.Static(draw.whole(0, max(1, machine.nodes // 8)))
    return fs.Fars(
        draw.one(longest / 10, longest / 5, longest),
        draw.one(*strategies),
        spares=spares,
        checkpoint_cost=draw.one(0, longest / 50),
        restart_cost=draw.one(0, longest / 50),
        live=draw.chance(1, 3),
        suspicious=draw.one("last", "ignore"),
        queue_cost=draw.one("last", "mean"),
        residual=draw.one("printed", "difference"),
    )


def predictor(
    draw: Draw, policies: dict[str, Any], machine: Any, longest: float, failures: Any, end: float, wild: bool
) -> Any:
    """One that can answer what is asked, unless `wild`."""
    checkpointing = policies["checkpointing"]
    asked = isinstance(policies["placement"], PREDICTING) or "rescheduling" in policies
    asked = asked or isinstance(checkpointing, fs.RiskBased)
    known = ["blind", "trace", "trace", "pairs", "pairs"]
    if failures is not None or wild:
        known = ["blind", "perfect", "confidence", "accuracy", "interval", "interval", "trace", "trace", "pairs"]
    if wild or (failures is not None and not asked and not isinstance(checkpointing, fs.BeforeFailure)):
        known += ["buckets", "buckets"]
    if wild or not asked:
        known += [None] * 3
    kind = draw.one(*known)
    if kind in ("trace", "pairs"):
        return foreseen(draw, kind, machine.nodes, longest, failures, end)
    if kind == "buckets":
        own = getattr(checkpointing, "bucket", None)
        return own if own is not None and draw.chance(9, 10) else fs.Buckets(length=3600.0 * (longest / 3600))
    share = draw.one(0.0, 0.1, 0.5, 0.9, 1.0)
    if kind == "interval":
        precision, recall = draw.one(0.3, 0.7, 1.0), draw.one(0.3, 0.7, 1.0)
        return fs.IntervalPredictor(precision, recall, draw.one(longest / 10, longest / 5, longest))
    made = {"confidence": fs.Confidence, "accuracy": fs.Accuracy}
    plain = {None: None, "blind": fs.Blind(), "perfect": fs.Perfect()}
    return made[kind](share) if kind in made else plain[kind]


def foreseen(draw: Draw, kind: str, nodes: int, longest: float, failures: Any, end: float) -> Any:
    """Most of the failures, at their times or a little off, and false alarms."""
    false = draw.one(0, 5, 30)
    time, node = draw.column(0, 1000, false) * (end / 1000), draw.column(0, nodes - 1, false)
    if failures is not None:
        seen = draw.column(1, 4, len(failures["time"])) > 1
        late = draw.column(0, 4, len(seen))[seen] * (longest / 50)
        time = np.concatenate([time, failures["time"][seen] + late * draw.one(0, 1)])
        node = np.concatenate([node, failures["node"][seen]])
    if kind == "trace":
        return fs.PredictionTrace(time, node)
    length = draw.one(longest / 10, longest / 3)
    pairs = np.unique(np.column_stack([(time // length).astype(np.int64), node]), axis=0)
    precision = draw.one(0.3, 0.7, 1.0)
    return fs.IntervalPredictor.from_pairs(pairs[:, 0], pairs[:, 1], interval=length, precision=precision)


def crowded(draw: Draw, nodes: int, longest: float, failures: Any, end: float) -> fs.IntervalPredictor:
    """Reports of several nodes at once, one after another or anywhere, of which some fail."""
    length, most = draw.one(longest / 10, longest / 5), draw.one(2, 4, 8)
    times, each = draw.whole(10, 60), draw.whole(1, most)
    index = np.repeat(draw.column(0, int(end / length), times), each)
    first, apart = draw.column(0, nodes - 1, times), draw.column(0, nodes - 1, times * each)
    close = np.repeat(first, each) + np.tile(np.arange(each), times)
    node = np.where(np.repeat(draw.column(0, 1, times), each) == 0, close % nodes, apart)
    index = np.append(index, (failures["time"] // length).astype(np.int64))
    pairs = np.unique(np.column_stack([index, np.append(node, failures["node"])]), axis=0)
    precision = draw.one(0.1, 0.5, 0.9, 1.0)
    return fs.IntervalPredictor.from_pairs(pairs[:, 0], pairs[:, 1], interval=length, precision=precision)
