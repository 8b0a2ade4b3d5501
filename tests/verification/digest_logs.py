"""Runs of the real logs, by name, for `digests`: the readers, whole logs on clusters, and prefixes on toruses."""

import hashlib
import os
from collections.abc import Callable
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import faultsim as fs

HOUR = 3600.0


class Log(NamedTuple):
    """A log, the nodes of its machine, and a torus of so many of them a node."""

    nodes: int
    torus: tuple[int, int, int]
    unit: int = 1


LOGS = {
    "KTH-SP2-1996-2.1-cln": Log(100, (4, 5, 5)),
    "SDSC-SP2-1998-4.2-cln": Log(128, (4, 4, 8)),
    "CTC-SP2-1996-3.1-cln": Log(338, (7, 7, 7)),
    "NASA-iPSC-1993-3.1-cln": Log(128, (4, 4, 8)),
    "lublin_256": Log(256, (4, 8, 8)),
    "mira_walltime": Log(49_152, (4, 4, 6), unit=512),
    "CEA-Curie-2011-2.1-cln": Log(93_312, (18, 18, 18), unit=16),
    "normalised-kth": Log(100, (4, 5, 5)),
    "normalised-nasa": Log(128, (4, 4, 8)),
    "normalised-lublin256": Log(256, (4, 8, 8)),
    "normalised-sdsc10k": Log(128, (4, 4, 8)),
}
LARGE = 1000  # nodes of a cluster above which only a prefix is run where nodes have names
LANL = "LA-UR-05-7318-failure-data-1996-2005.csv.gz"
BLUEGENE, GRID = "Best.all-fail.gz", "event_trace.tab.xz"


def data() -> Path:
    """The folder of public logs: FAULTSIM_DATA, else ../shared/data beside the checkout."""
    named = os.environ.get("FAULTSIM_DATA")
    return Path(named) if named else Path(__file__).resolve().parents[3] / "shared" / "data"


# -- what runs


def plain(scheduler: Any, most: int | None = None, **options: Any) -> Callable[[str], fs.Run]:
    """A log on its cluster, or the first jobs of it."""

    def run(name: str) -> fs.Run:
        log = workload(name)
        log = log.head(most) if most is not None else log
        return fs.Run(log, fs.Cluster(LOGS[name].nodes), scheduler=scheduler, oversized="drop", **options)

    return run


def conservative(name: str) -> fs.Run:
    """All of a log but the largest, of which the plan would take long."""
    return plain(fs.ConservativeBackfill(), None if LOGS[name].nodes < 90_000 else 20_000)(name)


def on_torus(most: int, large: int, failing: bool = False, **options: Any) -> Callable[[str], fs.Run]:
    """The first jobs of a log on a torus, `large` of the log whose torus is."""

    def run(name: str) -> fs.Run:
        machine = fs.Torus(*LOGS[name].torus)
        log, unit = workload(name).head(large if machine.nodes > LARGE else most), LOGS[name].unit
        columns = {key: getattr(log, key) for key in ("submit", "runtime", "estimate", "id", "user")}
        log = fs.Workload(size=-(-log.size // unit), **columns)
        more = {"failures": stretched(BLUEGENE, log, machine.nodes, 2 * HOUR)} if failing else {}
        return fs.Run(log, machine, oversized="drop", record=True, **more, **options)

    return run


def failing(file: str, **options: Any) -> Callable[[str], fs.Run]:
    """A log on its cluster with real failures, which are stretched over it."""

    def run(name: str) -> fs.Run:
        log, nodes = workload(name), LOGS[name].nodes
        log = log if nodes < LARGE else log.head(3000)
        trace = stretched(file, log, nodes)
        return fs.Run(log, fs.Cluster(nodes), failures=trace, record=nodes < LARGE, oversized="drop", **options)

    return run


RUNS = {
    "fcfs": plain(fs.Fcfs()),
    "easy": plain(fs.EasyBackfill()),
    "conservative": conservative,
    "easy-unicef-recorded": plain(fs.EasyBackfill("unicef"), 3000, record=True, start_delay=1.0),
    "conservative-shortest-recorded": plain(fs.ConservativeBackfill("shortest"), 3000, record=True, overrun="kill"),
    "torus-defragment": on_torus(2000, 5000, scheduler=fs.EasyBackfill(), migration=fs.Defragment(cost=60)),
    "torus-conservative": on_torus(400, 100, scheduler=fs.ConservativeBackfill()),
    "torus-failing": on_torus(
        2000,
        5000,
        failing=True,
        scheduler=fs.EasyBackfill(reservation="fixed"),
        placement=fs.TieBreaking(),
        predictor=fs.Accuracy(0.5),
        checkpointing=fs.Periodic(HOUR, 60),
        recovery=fs.Hold(restart_cost=30),
    ),
    "failing": failing(
        LANL,
        scheduler=fs.EasyBackfill(repairs="unknown"),
        checkpointing=fs.Daly(60, 1e7),
        recovery=fs.Requeue("tail", restart_cost=120),
    ),
    "failing-fars": failing(
        LANL,
        placement=fs.LeastFailuresFirst(),
        migration=fs.LeastFailuresMigration(),
        predictor=fs.IntervalPredictor(0.7, 0.7, HOUR / 2),
        checkpointing=fs.Young(60, 1e7),
        rescheduling=fs.Fars(HOUR / 2, fs.NodeStealing(), spares=fs.Static(2)),
    ),
}
CASES: dict[str, tuple[str, Callable[[str], fs.Run]]] = {
    f"{name}:{kind}": (name, run) for name in LOGS for kind, run in RUNS.items()
}
CASES["CTC-SP2-1996-3.1-cln:failing-grid"] = (
    "CTC-SP2-1996-3.1-cln",
    failing(GRID, checkpointing=fs.BeforeFailure(60), recovery=fs.Hold(), predictor=fs.Accuracy(0.5)),
)


# -- what they read


@lru_cache(maxsize=1)
def workload(name: str) -> fs.Workload:
    return fs.read_swf(data() / "swf" / f"{name}.swf.gz")


@cache
def trace_of(file: str) -> fs.FailureTrace:
    path = data() / "failures" / file
    if file == LANL:
        return fs.read_lanl(path, 20)
    return fs.read_bluegene_ras(path) if file == BLUEGENE else fs.read_fta(path, min_downtime=60)


def stretched(file: str, log: fs.Workload, nodes: int, downtime: float | None = None) -> fs.FailureTrace:
    """The failures of a file while the jobs of a log arrive."""
    begin = float(log.submit[0])
    trace = trace_of(file).map_nodes(nodes).with_span(float(log.submit[-1]) - begin)
    down = trace.downtime if downtime is None else downtime
    return fs.FailureTrace(trace.time + begin, trace.node, down, coin=trace.coin)


def files(case: str) -> list[Path]:
    """The files that a case reads."""
    read = {"torus-failing": [BLUEGENE], "failing": [LANL], "failing-fars": [LANL], "failing-grid": [GRID]}
    name, kind = case.split(":")
    return [data() / "swf" / f"{name}.swf.gz", *(data() / "failures" / file for file in read.get(kind, []))]


@cache
def content(path: Path) -> bytes | None:
    return hashlib.blake2b(path.read_bytes()).digest() if path.is_file() else None


def digest_of(paths: list[Path]) -> str | None:
    """Digest of some files; None if one is not here."""
    parts = [part for part in map(content, paths) if part is not None]
    return hashlib.blake2b(b"".join(parts), digest_size=3).hexdigest() if len(parts) == len(paths) else None


def run(case: str) -> tuple[fs.Result, dict[str, np.ndarray]]:
    """The result of a case, and what the readers made of its files."""
    name, made = CASES[case]
    result = made(name).simulate()
    columns = {name: result.workload[name] for name in ("submit", "runtime", "size", "estimate", "id", "user")}
    trace = result.failures
    if trace is not None:
        columns |= {f"failure {name}": getattr(trace, name) for name in ("time", "node", "downtime", "coin")}
    return result, columns
