"""The cost of placing jobs by predicted failures, compared with `MaxFreePartition`: decisions and whole simulations."""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from faultsim._core.torus.chooser import Chooser
from faultsim._core.torus.occupancy import Torus
from faultsim.bench.clock import least
from faultsim.bench.partitions import occupancies
from faultsim.data.failures import FailureTrace
from faultsim.data.workload import Workload
from faultsim.machines import Torus as TorusMachine
from faultsim.policies import Balancing, Confidence, EasyBackfill, Fcfs, MaxFreePartition, Requeue, TieBreaking
from faultsim.simulation.run import Run

# Shape of the machine -> how many occupancies a case has, and how often each is asked about.
MACHINES: dict[tuple[int, int, int], tuple[int, int]] = {
    (4, 4, 8): (64, 20),
    (8, 8, 8): (32, 20),
    (16, 16, 16): (16, 5),
    (32, 32, 64): (4, 2),
}
FAILING = (0, 1, 5, 20)
_RULES = ("max_free_partition", "balancing", "tie_breaking")


def _in_turn(tasks: Sequence[Callable[[], object]], repeat: int) -> list[float]:
    """The least CPU seconds of each; they take turns, so that other load on the machine disturbs all alike."""
    best = [float("inf")] * len(tasks)
    for _ in range(repeat):
        best = [min(old, least(task, repeat=1)) for old, task in zip(best, tasks, strict=True)]
    return best


def measure_decisions(*, p: float = 0.5, quick: bool = False) -> list[dict[str, object]]:
    """Place one job on occupancies left by jobs, half of the nodes busy, with some nodes predicted to fail.

    Returns
    -------
    list of dict
        One row per machine, job size and number of failing nodes: microseconds per decision of each rule, with nothing
        cached from earlier ones.

    Examples
    --------
    >>> row = measure_decisions(quick=True)[0]
    >>> row["machine"], row["size"], row["failing"]
    ('4x4x8', 4, 0)
    """
    rows = []
    for shape, (n, times) in MACHINES.items():
        nodes = int(np.prod(shape))
        if quick and nodes > 128:
            break
        busy = occupancies(shape, "jobs", 2 if quick else n, share=0.5).view(np.uint8)
        chooser = Chooser(Torus(*shape))
        rng = np.random.default_rng(1)
        for failing in FAILING:
            marked = np.zeros(busy.shape, np.uint8)
            for mask in marked.reshape(len(busy), -1):
                mask[rng.choice(nodes, failing, replace=False)] = 1
            for size in (nodes // 32, nodes // 8):
                asks = [partial(chooser.repeat, rule, busy, size, times, marked, p) for rule in _RULES]
                best = _in_turn(asks, 1 if quick else 7)
                row: dict[str, object] = {"machine": "x".join(map(str, shape)), "size": size, "failing": failing}
                for rule, seconds in zip(_RULES, best, strict=True):
                    row[f"{rule}_us"] = 1e6 * seconds / len(busy) / times
                rows.append(row)
    return rows


def measure_simulations(
    log: Workload, *, failures: int = 4000, seeds: int = 4, repeat: int = 5
) -> list[dict[str, float | str]]:
    """Simulate a log on 4x4x8 supernodes with failures at random times on random nodes.

    The rules lead to different histories; compare only averages over several traces.

    Parameters
    ----------
    log : Workload
        Jobs of at most 128 nodes.
    failures : int
        Failures between the submission of the first and of the last job.
    seeds : int
        Traces.
    repeat : int
        Runs of each; the least CPU time counts.

    Returns
    -------
    list of dict
        One row per scheduler and kind of estimate: mean CPU seconds of a run by placement.

    Examples
    --------
    >>> import faultsim as fs
    >>> rows = measure_simulations(fs.synthetic.sdsc_like(50, rng=1), failures=20, seeds=1, repeat=1)
    >>> [row["scheduler"] for row in rows]
    ['FCFS', 'FCFS', 'EASY', 'EASY']
    """
    torus, rows = TorusMachine.bluegene_l(), []
    last = float(log.submit.max())
    for name, scheduler in (("FCFS", Fcfs()), ("EASY", EasyBackfill())):
        for estimates in ("actual", "requested"):
            totals = dict.fromkeys(_RULES, 0.0)
            for seed in range(1, seeds + 1):
                rng = np.random.default_rng(seed)
                time, node = np.sort(rng.random(failures)) * last, rng.integers(0, torus.nodes, failures)
                trace = FailureTrace(time, node, 0.0)
                placements = (MaxFreePartition(), Balancing(), TieBreaking())
                runs = [
                    Run(
                        log,
                        torus,
                        scheduler=scheduler,
                        placement=placement,
                        predictor=Confidence(0.5),
                        failures=trace,
                        recovery=Requeue(),
                        estimates=estimates,
                    )
                    for placement in placements
                ]
                best = _in_turn([run.simulate for run in runs], repeat)
                for rule, seconds in zip(_RULES, best, strict=True):
                    totals[rule] += seconds / seeds
            rows.append({"scheduler": name, "estimates": estimates} | {f"{k}_s": v for k, v in totals.items()})
    return rows
