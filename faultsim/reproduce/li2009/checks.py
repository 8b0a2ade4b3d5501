"""The checks of [li2009] that need no run: idle nodes of real logs (F17), the knapsack (F18), the predictor (F19)."""

from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np

from faultsim.arrays import Floats, Values
from faultsim.data.failures import FailureTrace
from faultsim.kernels.knapsack import knapsack
from faultsim.policies import IntervalPredictor
from faultsim.policies.interval_reports import bucket_numbers
from faultsim.readers.input_lines import Lines
from faultsim.reproduce.data_files import find_file
from faultsim.reproduce.li2009.inputs import NODES, Parameters, Source
from faultsim.simulation.engine_inputs import predictions

#: Logs with the times at which jobs started: name -> file, nodes (or processors) of the part that they ran on.
LOGS = {
    "CTC SP2": ("CTC-SP2-1996-3.1-cln.swf", 338),
    "SDSC SP2": ("SDSC-SP2-1998-4.2-cln.swf", 128),
    "KTH SP2": ("KTH-SP2-1996-2.1-cln.swf", 100),
    "Curie": ("CEA-Curie-2011-2.1-cln.swf", 93_312),
}
#: "at least 2 percent of the system resources are idle"
SHARE = 0.02
_SUBMIT, _WAIT, _RUN, _ALLOCATED, _REQUESTED = 1, 2, 3, 4, 7


class Idle(NamedTuple):
    """What a log says of idle nodes, over the time from its first start to its last arrival."""

    nodes: int
    utilization: float
    probability: float
    over: float  # share of the time in which the log has more nodes busy than there are


def idle_share(start: Floats, end: Floats, size: Values, until: float, n: int) -> Idle:
    """Time-weighted: how often at least 2 % of `n` nodes are idle, from the first start until `until`.

    Examples
    --------
    >>> idle_share(np.array([0.0, 5.0]), np.array([10.0, 10.0]), np.array([60, 40]), 10.0, 100)
    Idle(nodes=100, utilization=0.8, probability=0.5, over=0.0)
    """
    time = np.concatenate([start, end])
    order = np.argsort(time, kind="stable")
    busy = np.cumsum(np.concatenate([size, -size]).astype(np.int64)[order])
    lasting = np.diff(np.minimum(time[order], until), append=until)
    lasting = np.maximum(lasting, 0.0)
    whole = float(lasting.sum())
    idle = n - busy
    return Idle(
        n,
        float((np.clip(busy, 0, n) * lasting).sum()) / (n * whole),
        float(lasting[idle >= SHARE * n].sum()) / whole,
        float(lasting[idle < 0].sum()) / whole,
    )


def _recorded(path: Path, nodes: int) -> Idle | None:
    """The same of a log as it was recorded; None if it has no waits."""
    rows = []
    for block in Lines(path):
        for line in block.split(b"\n"):
            fields = line.split()
            if len(fields) >= 18 and not line.lstrip().startswith(b";"):
                size = fields[_ALLOCATED] if float(fields[_ALLOCATED]) > 0 else fields[_REQUESTED]
                rows.append((fields[_SUBMIT], fields[_WAIT], fields[_RUN], size))
    submit, wait, runtime, size = np.array(rows, dtype=np.float64).T
    there = (runtime > 0) & (size > 0) & (wait >= 0)
    if not wait[there].any():
        return None
    start = (submit + wait)[there]
    return idle_share(start, start + runtime[there], size[there], float(submit.max()), nodes)


def idle_nodes(data: str | Path | None) -> dict[str, Idle]:
    """What of `LOGS` the folder holds."""
    found = {}
    for name, (file, nodes) in LOGS.items():
        path = find_file(data, file) if data is not None else None
        if path is not None and (idle := _recorded(path, nodes)) is not None:
            found[name] = idle
    return found


def knapsack_trials(seed: int, trials: int) -> int:
    """How many of `trials` random problems of up to ten jobs the knapsack solves as well as trying all choices does."""
    rng = np.random.default_rng([seed, 18])
    right = 0
    for _ in range(trials):
        n = int(rng.integers(1, 11))
        values, weights = rng.normal(1.0, 1.0, n), rng.integers(1, 9, n)
        capacity = int(rng.integers(0, 25))
        taken, total = knapsack(values, weights, capacity)
        choices = np.array(list(product((0, 1), repeat=n)))
        best = (choices @ values)[choices @ weights <= capacity].max()
        right += abs(total - best) < 1e-9 and weights[taken].sum() <= capacity
    return right


def predictor_rates(trace: FailureTrace, p: Parameters, seed: int) -> dict[tuple[float, float], tuple[float, float]]:
    """Configured (precision, recall) -> what is achieved on a trace, counted from its failures and the reports."""
    failing = set(zip(bucket_numbers(trace.time, p.interval).tolist(), trace.node.tolist(), strict=True))
    found = {}
    for precision, recall in ((p.precision, p.recall), (0.1, 0.1), (0.25, 0.25), (1.0, 1.0)):
        reports = predictions(IntervalPredictor(precision, recall, p.interval), trace, nodes=NODES, seed=seed)
        said = set(zip(np.rint(reports.begin / p.interval).astype(int).tolist(), reports.node.tolist(), strict=True))
        right = len(said & failing)
        found[precision, recall] = right / len(said), right / len(failing)
    return found


def run_checks(
    data: str | Path | None, sources: Mapping[str, Source], parameters: Parameters, *, seed: int, quick: bool
) -> dict[str, object]:
    """All three, by claim."""
    trace = sources["exp"].failures(0, parameters.mtbf)
    return {
        "F17": idle_nodes(data),
        "F18": (knapsack_trials(seed, 50 if quick else 500), 50 if quick else 500),
        "F19": (predictor_rates(trace, parameters, seed), len(trace)),
    }
