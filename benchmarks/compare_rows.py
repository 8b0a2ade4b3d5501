"""What `compare_versions.py` measures: a task for every table of RESULTS.md, by names that all versions have.

A section is a generator of (row, task); tasks take nothing and give what shows that they did the same work.  A text in
place of a task says why the row cannot be measured here.  Inputs that take long are smaller than those of RESULTS.md,
where the code that runs is the same; the rows say so.

This file is also the process that the driver talks to, one JSON line in and one out, in the version's own interpreter.
It must import nothing of this checkout: ``faultsim`` is what its environment has.
"""

import gc
import hashlib
import itertools
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

import faultsim as fs

Row = tuple[str, Callable[[], Any] | str]
DATA = (
    Path(os.environ.get("FAULTSIM_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data").resolve() / "swf"
)
HOUR, DAY = 3600.0, 86_400.0
ABSENT = "no {} in the data folder"
SCHEDULERS = {"FCFS": fs.Fcfs(), "EASY": fs.EasyBackfill(), "conservative": fs.ConservativeBackfill()}
_KEPT = tempfile.TemporaryDirectory()  # removed when this is
FOLDER = Path(_KEPT.name)
#: Seconds of a call that is not made twice.
WARM = 0.02
#: Jobs drawn for sweeps.
MODEL = {"mean_gap": 60, "mean_runtime": 600, "mean_size": 8, "max_size": 64}
#: How Krevat 2002 simulates: exact estimates, a second between decision and start.
KREVAT = {"estimates": "actual", "start_delay": 1.0}


@dataclass
class Direct:
    """A task that measures itself."""

    unit: str
    measure: Callable[[], float]


# -- inputs


@cache
def read(name: str) -> fs.Workload:
    return fs.read_swf(DATA / f"{name}.swf.gz")


def has(name: str) -> bool:
    return (DATA / f"{name}.swf.gz").exists()


SDSC, CTC, CURIE = "SDSC-SP2-1998-4.2-cln", "CTC-SP2-1996-3.1-cln", "CEA-Curie-2011-2.1-cln"


@cache
def sdsc() -> fs.Workload:
    """The jobs of SDSC-SP2 with a run time and a size, or synthetic ones like them."""
    if not has(SDSC):
        return fs.synthetic.sdsc_like(54_000, rng=1)
    log = read(SDSC)
    return log[(log.runtime > 0) & (log.size <= 128)]


@cache
def span() -> fs.Workload:
    """Krevat's 10,000 jobs."""
    return fs.krevat_span(read(SDSC), "sdsc") if has(SDSC) else sdsc().head(10_000)


def scaled(log: fs.Workload, sizes: int = 1, submit: float = 1.0) -> fs.Workload:
    columns = {**log.columns, "size": log.size.astype(np.int64) * sizes, "submit": log.submit * submit}
    return fs.Workload(**columns)


def run_of(log: fs.Workload, machine: Any, **options: Any) -> Callable[[], Any]:
    return fs.Run(log, machine, **options).simulate


# -- sections, in the order of RESULTS.md


def partitions() -> Iterator[Row]:
    """The finders, and one placement; by the names that `faultsim.bench.partitions` itself uses."""
    from faultsim.bench import balance
    from faultsim.bench import partitions as bench

    for (shape, (n, size)), kind in itertools.product(bench.MACHINES.items(), bench.OCCUPANCIES):
        busy = bench.occupancies(shape, kind, min(n, 8)).view(np.uint8)
        for name, algorithm in bench.ALGORITHMS.items():
            few = busy[: 1 if name in ("naive", "divisor") or busy[0].size > 4096 else None]
            finder, out = bench.Finder(bench.Torus(*shape), algorithm.number, few), np.empty((len(few), 6), np.int32)
            where = f"{'x'.join(map(str, shape))}, {kind}, {name}"
            if busy[0].size <= {"naive": 512, "divisor": 1024}.get(name, 2**31):
                yield f"largest, {where}", partial(_answers, finder, out)
            if busy[0].size <= {"naive": 512, "divisor": 4096, "pop": 4096}.get(name, 2**31):
                yield f"all of {size}, {where}", partial(finder.count, size, 0)
    for shape in balance.MACHINES:
        nodes = int(np.prod(shape))
        busy = bench.occupancies(shape, "jobs", 8 if nodes < 65_536 else 2).view(np.uint8)
        chooser = balance.Chooser(balance.Torus(*shape))
        for part, rule in itertools.product((128, 32, 8), ("first_fit", "max_free_partition")):
            yield (
                f"place {nodes // part} on {'x'.join(map(str, shape))}, {rule}",
                partial(chooser.repeat, rule, busy, nodes // part, 5),
            )


def _answers(finder: Any, out: Any) -> Any:
    finder.largest(out)
    return out


def decisions() -> Iterator[Row]:
    """Placement by predicted failures: one decision."""
    from faultsim.bench import balance

    for shape, (n, times) in balance.MACHINES.items():
        nodes = int(np.prod(shape))
        busy = balance.occupancies(shape, "jobs", min(n, 16), share=0.5).view(np.uint8)
        chooser, rng = balance.Chooser(balance.Torus(*shape)), np.random.default_rng(1)
        for failing in balance.FAILING:
            marked = np.zeros(busy.shape, np.uint8)
            for mask in marked.reshape(len(busy), -1):
                mask[rng.choice(nodes, failing, replace=False)] = 1
            for size, rule in itertools.product(
                (nodes // 32, nodes // 8), ("max_free_partition", "balancing", "tie_breaking")
            ):
                where = f"{size} on {'x'.join(map(str, shape))}, {failing} failing, {rule}"
                yield where, partial(chooser.repeat, rule, busy, size, times, marked, 0.5)


def balance() -> Iterator[Row]:
    """Placement by predicted failures: whole simulations, one trace."""
    rng = np.random.default_rng(1)
    times = np.sort(rng.random(4000)) * float(span().submit.max())
    trace = fs.FailureTrace(times, rng.integers(0, 128, 4000), 0.0)
    for name, estimates in itertools.product(("FCFS", "EASY"), ("actual", "requested")):
        for rule in (fs.MaxFreePartition(), fs.Balancing(), fs.TieBreaking()):
            options = {"predictor": fs.Confidence(0.5), "failures": trace, "estimates": estimates, "placement": rule}
            run = run_of(span(), fs.Torus.bluegene_l(), scheduler=SCHEDULERS[name], **options)
            yield f"{name}, {estimates}, {rule.name}", run


def engine() -> Iterator[Row]:
    for name, scheduler in SCHEDULERS.items():
        yield f"flat, {name}", run_of(sdsc(), fs.Cluster(128), scheduler=scheduler)
    few = fs.Run(sdsc().head(500), fs.Cluster(128))
    yield "flat, EASY, reference engine, 500 jobs", partial(few.simulate, engine="reference")
    for name, scheduler in SCHEDULERS.items():
        yield f"500 jobs, {name}", run_of(sdsc().head(500), fs.Cluster(128), scheduler=scheduler)
    for name in ("FCFS", "EASY"):
        task = run_of(read(CURIE), fs.Cluster(80_640), scheduler=SCHEDULERS[name]) if has(CURIE) else None
        yield f"CEA-Curie, {name}", task or ABSENT.format(CURIE)
    for name, jobs, factor in (
        *(("EASY", None, factor) for factor in (10, 100, 1000, 10_000)),
        *(("conservative", 10_000, factor) for factor in (1, 100, 10_000)),
    ):
        log, cluster = scaled(sdsc()[:jobs], factor), fs.Cluster(128 * factor)
        title = f"{128 * factor:,} nodes, {name}{f', {jobs:,} jobs' if jobs else ''}"
        yield title, run_of(log, cluster, scheduler=SCHEDULERS[name])
    for name, moves, rule in itertools.product(
        ("FCFS", "EASY"), (None, fs.Defragment()), (fs.MaxFreePartition(), fs.FirstFit())
    ):
        options = {"scheduler": SCHEDULERS[name], "migration": moves, "placement": rule, **KREVAT}
        title = f"4x4x8, {name}{' and migration' if moves else ''}, {rule.name}"
        yield title, run_of(span(), fs.Torus.bluegene_l(), **options)
    middle = run_of(scaled(span(), 32).head(1000), fs.Torus(16, 16, 16), placement=fs.MaxFreePartition(), **KREVAT)
    yield "16x16x16, EASY, max_free_partition, 1,000 jobs", middle
    large = scaled(span(), 512).head(200)
    for rule in (fs.FirstFit(), fs.MaxFreePartition()):
        run = run_of(large, fs.Torus.bluegene_l_nodes(), placement=rule, **KREVAT)
        yield f"32x32x64, EASY, {rule.name}, 200 jobs", run


def kernels() -> Iterator[Row]:
    """The event queue and the knapsack from Python, and the import of the package."""
    for n in (1000, 10_000, 100_000):
        yield f"event queue, {n:,} events", partial(_queue, np.random.default_rng(n).random(n).tolist())
    for n, capacity in ((10, 50), (50, 500), (200, 5000), (1000, 20_000)):
        rng = np.random.default_rng(n)
        items = rng.random(n), rng.integers(1, max(2, capacity // 4), n).astype(np.int32)
        yield f"knapsack, {n} items, capacity {capacity}", partial(fs.knapsack, *items, capacity)
    busy = np.random.default_rng(0).random((8, 8, 8)) < 0.3
    yield "partition.max_free_partition, 8x8x8", partial(fs.partition.max_free_partition, busy)
    yield "partition.find_partitions, 4 nodes on 8x8x8", partial(fs.partition.find_partitions, busy, 4)
    yield "import faultsim, a fresh process", Direct("s, fresh", partial(_fresh, "import faultsim", 0))


def _queue(times: list[float]) -> float:
    queue, last = fs.EventQueue(), 0.0
    for number, at in enumerate(times):
        queue.push(at, 0, number)
    for _ in times:
        last = queue.pop()[0]
    return last


FRESH = """
import time; begin = time.process_time()
{}
print(time.process_time() - begin)
print(next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM")) / 1024)
"""


def _fresh(code: str, line: int) -> float:
    """CPU seconds (line 0) or the largest resident memory in MB (line 1) of a process that runs `code`."""
    done = subprocess.run([sys.executable, "-c", FRESH.format(code)], stdout=subprocess.PIPE, text=True, check=True)
    return float(done.stdout.split()[line])


def memory() -> Iterator[Row]:
    """Largest resident memory of fresh processes."""
    if not Path("/proc/self/status").exists():
        yield "peak memory", "needs Linux"
        return
    curie = f"import faultsim as fs; log = fs.read_swf({str(DATA / CURIE)!r} + '.swf.gz')"
    sweep = (
        f"import faultsim as fs; base = {{'log': lambda rng: fs.synthetic.exponential(500, rng=rng, **{MODEL}), "
        "'machine': fs.Cluster(128)}\n"
        f"import tempfile; place = tempfile.mkdtemp(dir={str(FOLDER)!r})\n"
        "fs.Sweep(base, replicates=1000).fill(place + '/runs.db', workers=2)"
    )
    rows = {
        "import faultsim": "import faultsim",
        "CEA-Curie, read": curie,
        "CEA-Curie, EASY": f"{curie}; fs.simulate(log, fs.Cluster(80_640))",
        "CEA-Curie, 30,000 jobs, recorded": f"{curie}[:30_000]; fs.simulate(log, fs.Cluster(80_640), record=True)",
        "sweep of 1,000 runs of 500 jobs": sweep,
    }
    for name, code in rows.items():
        there = has(CURIE) or "CEA-Curie" not in name
        yield name, Direct("MB", partial(_fresh, code, 1)) if there else ABSENT.format(CURIE)


def reading() -> Iterator[Row]:
    logs = sorted(DATA.glob("*.swf.gz"))
    if not logs:
        yield "real logs", ABSENT.format("*.swf.gz")
    for path in logs:
        yield path.name, partial(fs.read_swf, path)
    log = fs.synthetic.sdsc_like(20_000, rng=1)
    log.write_swf(FOLDER / "plain.swf")
    decimals = {"submit": log.submit * 1.0001, "runtime": log.runtime * 1.01}
    fs.Workload(**decimals, size=log.size, estimate=log.estimate).write_swf(FOLDER / "decimals.swf")
    for name in ("plain", "decimals"):
        yield f"20,000 synthetic jobs, {name}", partial(fs.read_swf, FOLDER / f"{name}.swf")
    yield "write 20,000 jobs", partial(log.write_swf, FOLDER / "out.swf")


def failures() -> Iterator[Row]:
    """Clusters: what failures cost; submit times stretched as in RESULTS.md."""
    for name, nodes, count in ((SDSC, 128, 2), (CTC, 338, 4)):
        if not has(name):
            yield name, ABSENT.format(name)
            continue
        log = read(name)
        log = scaled(log[(log.runtime > 0) & (log.size <= nodes)], submit=2.0).head(12_000)
        trace = weibull(log, nodes, per_day=count, downtime=HOUR)
        for (what, options), scheduler in itertools.product(cluster_settings(trace).items(), SCHEDULERS):
            run = run_of(log, fs.Cluster(nodes), scheduler=SCHEDULERS[scheduler], **options)
            yield f"{name.split('-2')[0].split('-1')[0]}, {scheduler}, {what}", run


def weibull(
    log: fs.Workload, nodes: int, downtime: float, per_day: float = 0, count: int = 0, burst: Any = None
) -> Any:
    horizon = 1.2 * float(log.submit[-1])
    options = {"downtime": downtime, "count": count or round(per_day * horizon / DAY), "burst": burst, "rng": 2004}
    return fs.synthetic.weibull_failures(nodes, horizon, 0.85, 18_000.0, **options)


def cluster_settings(trace: Any) -> dict[str, dict[str, Any]]:
    fails = {"failures": trace}
    saves = {**fails, "checkpointing": fs.Periodic(2 * HOUR, 300.0)}
    first, sees = {**saves, "placement": fs.LeastFailuresFirst()}, {"predictor": fs.Confidence(0.5)}
    return {
        "nothing": {},
        "failures": {**fails, "checkpointing": fs.NoCheckpoint()},
        "+ Periodic": saves,
        "+ Periodic, Hold": {**saves, "recovery": fs.Hold(120.0)},
        "+ Periodic, Confidence, SafestFirst": {**saves, **sees, "placement": fs.SafestFirst()},
        "+ Periodic, LeastFailuresFirst": first,
        "+ Periodic, LeastFailuresFirst, migration": {**first, "migration": fs.LeastFailuresMigration()},
        "+ RiskBased, Confidence": {**fails, **sees, "checkpointing": fs.RiskBased(2 * HOUR, 300.0)},
        "+ BeforeFailure": {**fails, "checkpointing": fs.BeforeFailure(300.0)},
    }


def torus_failures() -> Iterator[Row]:
    """The 4x4x8 torus: Krevat's jobs, transient failures in bursts; the first 2,500 under conservative backfilling."""
    for scheduler, jobs, count in (("FCFS", 10_000, 4000), ("EASY", 10_000, 4000), ("conservative", 2500, 1000)):
        log = scaled(span(), submit=2.0).head(jobs)
        fails = {"failures": weibull(log, 128, 0.0, count=count, burst=4)}
        saves = {**fails, "checkpointing": fs.Periodic(2 * HOUR, 300.0)}
        settings: dict[str, dict[str, Any]] = {
            "nothing": {},
            "failures": fails,
            "+ Periodic": saves,
            "+ TieBreaking": {**saves, "predictor": fs.Accuracy(0.5), "placement": fs.TieBreaking()},
            "+ Balancing": {**saves, "predictor": fs.Confidence(0.1), "placement": fs.Balancing()},
        }
        for what, options in settings.items():
            run = run_of(log, fs.Torus.bluegene_l(), scheduler=SCHEDULERS[scheduler], **options)
            yield f"4x4x8, {scheduler}, {what}", run


def fars() -> Iterator[Row]:
    nodes, interval = 512, 300.0
    log = fs.synthetic.exponential(20_000, rng=0, mean_gap=418.5, mean_runtime=15_000, mean_size=10, max_size=nodes)
    trace = fs.synthetic.renewal_failures(nodes, 1.5 * 20_000 * 418.5, 56 * DAY, HOUR, rng=0)
    young = fs.Young(30.0, 56 * DAY)
    saves = {"estimates": "actual", "failures": trace, "recovery": fs.Hold(30.0), "checkpointing": young}

    def acting(strategy: Any, precision: float = 0.7, recall: float = 0.45, **more: Any) -> dict[str, Any]:
        predictor = fs.IntervalPredictor(precision, recall, interval)
        return {**saves, "predictor": predictor, "rescheduling": fs.Fars(interval, strategy, **more)}

    settings: dict[str, dict[str, Any]] = {
        "EASY, nothing fails": {"estimates": "actual"},
        "EASY, failures, checkpoints": saves,
        "nothing predicted": {**acting(fs.ServiceUnitLoss()), "predictor": fs.Blind()},
        "SUL-D": acting(fs.ServiceUnitLoss()),
        "JFR-D": acting(fs.JobFailureRate()),
        "FSD-D": acting(fs.FailureSlowdown()),
        "SUL-D, live": acting(fs.ServiceUnitLoss(), live=True),
        "node stealing": acting(fs.NodeStealing()),
        "SUL-D, precision .1, recall 1": acting(fs.ServiceUnitLoss(), 0.1, 1.0),
    }
    for what, options in settings.items():
        yield what, run_of(log, fs.Cluster(nodes), **options)
    count = 30_000
    one = fs.Workload(submit=[0], runtime=[count * interval], size=[100])
    every = np.arange(count)
    pairs = partial(fs.IntervalPredictor.from_pairs, interval=interval, precision=1.0)
    yield "one job, no FARS", run_of(one, fs.Cluster(nodes))
    for what, predictor in (
        ("nothing is suspicious", pairs([count], [0])),
        ("a free node is suspicious", pairs(every, np.full(count, nodes - 1))),
    ):
        run = run_of(one, fs.Cluster(nodes), predictor=predictor, rescheduling=fs.Fars(interval, fs.ServiceUnitLoss()))
        yield f"one job over {count:,} ticks, {what}", run


def workflows() -> Iterator[Row]:
    flows = [fs.synthetic.random_dag(1000, rng=number) for number in range(20)]

    def trace(nodes: int, end: float, mtbf: float = 0.0, downtime: float = 0.0) -> Any:
        rates = {"mtbf": mtbf or end / 4, "downtime": downtime or end / 100}
        return fs.synthetic.exponential_failures(nodes, 2 * end, **rates, any_rate=True, rng=2010)

    def run(flows: list[Any], nodes: int, **options: Any) -> Callable[[], Any]:
        return partial(fs.simulate_workflows, flows, fs.Resources(nodes), **options)

    fails = {"failures": trace(128, 17_000.0)}
    half = fs.PredictionTrace.at_accuracy(fails["failures"], 0.5, 0.5, rng=np.random.default_rng(5), nodes=128)
    settings: dict[str, dict[str, Any]] = {
        "RankHybd, nothing fails": {},
        "RankHybd": fails,
        "RankHybd, events recorded": {**fails, "record": True},
        "RankHybd, transfers in turn": {**fails, "transfers": "in_turn"},
        "RankHybd, SharedOutputs": {**fails, "outputs": fs.SharedOutputs(1.0)},
        "Flaw, Perfect": {**fails, "scheduler": fs.Flaw(), "predictor": fs.Perfect()},
        "Flaw, accuracy .5": {**fails, "scheduler": fs.Flaw(), "predictor": half},
        "Fifo": {**fails, "scheduler": fs.Fifo()},
    }
    for what, options in settings.items():
        yield f"20 at once, {what}", run(flows, 128, **options)
    yield "5 at once, Heft, nothing fails", run(flows[:5], 128, scheduler=fs.Heft())
    yield "5 at once, Heft, with failures", run(flows[:5], 128, scheduler=fs.Heft(), **fails)
    for count in (25, 50, 100, 200):
        options = {"failures": trace(128, 1000.0 * count, 20_000.0, 800.0), "scheduler": fs.Flaw()}
        many = [flows[number % len(flows)] for number in range(count)]
        arrivals = 1000.0 * np.arange(count)
        yield f"{count} in a row, Flaw", run(many, 128, arrivals=arrivals, predictor=fs.Perfect(), **options)
    for nodes, end in ((32, 65_000.0), (512, 6000.0), (2048, 2500.0)):
        yield f"20 at once, RankHybd, {nodes:,} nodes", run(flows, nodes, failures=trace(nodes, end))
    small = [fs.synthetic.random_dag(100, rng=number) for number in range(5)]
    for kind in ("core", "reference"):
        yield f"5 of 100 jobs, {kind}", run(small, 16, failures=trace(16, 3000.0), engine=kind)


def looking() -> Iterator[Row]:
    """Figures and reports of a recorded run."""
    try:
        from faultsim import plot
        from faultsim.report import report_run
    except (ImportError, fs.FaultsimError) as error:
        yield "figures", str(error)
        return
    saves = {"failures": weibull(span(), 128, HOUR, count=2000), "checkpointing": fs.Periodic(7200, 300)}
    machines = {"4x4x8": fs.Run(span(), fs.Torus.bluegene_l(), record=True, **saves)}
    if has(CURIE):
        machines["CEA-Curie, 10,000 jobs"] = fs.Run(read(CURIE)[:10_000], fs.Cluster(93_312), record=True)
    for where, run in machines.items():
        result = run.simulate()
        yield f"{where}, simulate, recorded", run.simulate
        for what in ("gantt", "utilization", "queue", "ledger", "occupancy") if where == "4x4x8" else ("gantt",):
            draw, path = getattr(plot, f"plot_{what}"), FOLDER / f"{what}.png"
            yield f"{where}, {what}", lambda draw=draw, path=path, result=result: plot.save(draw(result), path)
        page = FOLDER / "run.html"
        yield f"{where}, report", lambda result=result, page=page: report_run(result).write(page)


def sweeps() -> Iterator[Row]:
    """All of a sweep, its store included; times are of all threads."""
    number = itertools.count()

    def fill(sweep: Any, workers: int) -> None:
        sweep.fill(FOLDER / f"{next(number)}.db", workers=workers)

    for jobs in (20, 100, 500):
        base = fs.Run(fs.synthetic.nasa_like(jobs, rng=0), fs.Cluster(128))
        sweep = fs.Sweep(base, {"start_delay": [1e-3 * i for i in range(300)]})
        yield f"300 runs of {jobs} jobs", partial(fill, sweep, 1)
    factors = {"runtime_factor": np.linspace(0.7, 1.2, 20).tolist()}
    torus = fs.Sweep(fs.Run(fs.synthetic.nasa_like(5000, rng=0), fs.Torus(4, 4, 8)), factors)
    for workers in (1, 2):
        yield f"20 runs of 5,000 jobs on 4x4x8, workers={workers}", partial(fill, torus, workers)
    drawn = {"log": lambda rng: fs.synthetic.exponential(500, rng=rng, **MODEL), "machine": fs.Cluster(128)}
    yield "300 runs of 500 drawn jobs", partial(fill, fs.Sweep(drawn, replicates=300), 1)


FIRST = (engine, failures, torus_failures, balance, decisions, partitions, fars, workflows, sweeps)
SECTIONS = {section.__name__: section for section in (*FIRST, reading, kernels, memory, looking)}


# -- the process


def fingerprint(value: Any) -> str:
    """What must be alike in both versions for a row to have measured the same work."""
    for name in ("finish", "time", "submit"):
        for holder in ("jobs", "decisions", "columns"):
            columns = getattr(value, holder, {})
            if isinstance(columns, Mapping) and name in columns:
                value = columns[name]
    if isinstance(value, np.ndarray):
        return hashlib.sha256(value.tobytes()).hexdigest()[:12]
    if isinstance(value, tuple):
        return " ".join(map(fingerprint, value))
    return repr(value) if isinstance(value, int | float | str | list) else ""


def seconds(task: Callable[[], Any], loops: int) -> float:
    """CPU seconds of this process for one of `loops` calls, or what a `Direct` task measured."""
    if isinstance(task, Direct):
        return task.measure()
    gc.collect()
    gc.disable()
    begin = time.process_time()
    task()
    took = time.process_time() - begin
    if took < WARM:  # the caches hold what the collector and the other version looked at
        begin = time.process_time()
        for _ in range(loops):
            task()
        took = (time.process_time() - begin) / loops
    gc.enable()
    return took


def main() -> None:
    """Serve a section: name the rows, then answer {"row", "loops"} until the input ends (0 loops: one run, checked)."""
    section, wanted = sys.argv[1], re.compile(sys.argv[2])

    def say(answer: dict[str, Any]) -> None:
        print(json.dumps(answer), flush=True)

    rows: dict[str, Any] = {row: task for row, task in SECTIONS[section]() if wanted.search(f"{section}: {row}")}
    skipped = {row: task for row, task in rows.items() if isinstance(task, str)}
    tasks = {row: task for row, task in rows.items() if row not in skipped}
    units = {row: getattr(task, "unit", "s") for row, task in tasks.items()}
    gc.freeze()
    say({"package": fs.__file__, "version": fs.__version__, "rows": units, "skipped": skipped})
    for line in sys.stdin:
        ask = json.loads(line)
        task = tasks.get(ask["row"], nothing)
        if ask["loops"]:
            say({"value": seconds(task, ask["loops"])})
        else:
            begin = time.process_time()
            found = None if isinstance(task, Direct) else task()
            say({"value": time.process_time() - begin, "same": fingerprint(found)})


def nothing() -> None:
    """An empty run, for what it takes to serve a request."""


if __name__ == "__main__":
    main()
