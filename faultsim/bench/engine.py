"""Jobs and events per second that the engine simulates, by machine and scheduler."""

import time
from collections.abc import Callable
from functools import partial

from faultsim.bench.clock import least
from faultsim.data.workload import Workload
from faultsim.machines import Cluster, Torus
from faultsim.policies import ConservativeBackfill, Defragment, EasyBackfill, Fcfs, FirstFit
from faultsim.simulation.run import Run
from faultsim.simulation.simulate import simulate


def cases(log: Workload) -> list[tuple[str, Run]]:
    """The cases, by name; those on a torus need a log that fits 128 nodes.

    Examples
    --------
    >>> import faultsim as fs
    >>> log = fs.Workload(submit=[0, 1], runtime=[10, 5], size=[2, 2])
    >>> [name for name, run in cases(log)][:3]
    ['FCFS', 'EASY', 'conservative']
    """
    largest = int(log.size.max())
    flat, torus = Cluster(max(largest, log.max_nodes or 0, 128)), Torus.bluegene_l()
    found = [
        ("FCFS", Run(log, flat, scheduler=Fcfs())),
        ("EASY", Run(log, flat, scheduler=EasyBackfill())),
        ("conservative", Run(log, flat, scheduler=ConservativeBackfill())),
    ]
    if largest <= torus.nodes:
        krevat = partial(Run, log, torus, start_delay=1.0, estimates="actual")
        found += [
            ("FCFS", krevat(scheduler=Fcfs())),
            ("FCFS, first fit", krevat(scheduler=Fcfs(), placement=FirstFit())),
            ("EASY", krevat(scheduler=EasyBackfill())),
            ("EASY, migration", krevat(scheduler=EasyBackfill(), migration=Defragment())),
        ]
    return found


def measure(
    log: Workload,
    *,
    repeat: int = 3,
    reference_jobs: int = 300,
    progress: Callable[[int, int, float], object] | None = None,
) -> list[dict[str, object]]:
    """Run every case; CPU seconds are the least of `repeat` and include all of `simulate`.

    Parameters
    ----------
    log : Workload
        The jobs.
    repeat : int
        Runs of each case.
    reference_jobs : int
        Jobs of the log that the reference engine also runs, to compare its rate; 0 skips it.
    progress : callable(done, total, seconds), optional
        Called after each case.

    Returns
    -------
    list of dict
        One row per case: machine, scheduler, jobs, events, cpu_s, jobs_per_s, events_per_s, reference_jobs_per_s.

    Examples
    --------
    >>> import faultsim as fs
    >>> log = fs.Workload(submit=[0, 1], runtime=[10, 5], size=[2, 2])
    >>> rows = measure(log, repeat=1, reference_jobs=0)
    >>> rows[0]["machine"], rows[0]["jobs"], rows[0]["events"] > 0
    ('cluster:128', 2, True)
    """
    began, rows, todo = time.perf_counter(), [], cases(log)
    for done, (name, run) in enumerate(todo, 1):
        result = run.simulate()  # also warms up
        seconds = least(run.simulate, repeat=repeat)
        events = result.counters["events"]
        row: dict[str, object] = {
            "machine": str(run.machine),
            "scheduler": name,
            "jobs": len(result),
            "events": events,
            "cpu_s": seconds,
            "jobs_per_s": len(result) / seconds,
            "events_per_s": events / seconds,
        }
        if reference_jobs:
            few = run.with_options(log=log.head(reference_jobs))
            _reference(run.with_options(log=log.head(1)))  # the first call imports the engine
            plain = least(partial(_reference, few), repeat=1)
            row["reference_jobs_per_s"] = min(reference_jobs, len(log)) / plain
        rows.append(row)
        if progress is not None:
            progress(done, len(todo), time.perf_counter() - began)
    return rows


def _reference(run: Run) -> object:
    return simulate(
        run.log,
        run.machine,
        scheduler=run.scheduler,
        placement=run.placement,
        migration=run.migration,
        estimates=run.estimates,
        start_delay=run.start_delay,
        engine="reference",
    )
