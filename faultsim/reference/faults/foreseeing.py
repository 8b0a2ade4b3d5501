"""What is foreseen, plainly: predictions, suspicious nodes and requests, one at a time (model.md#predictors).

Both engines run on what `faultsim.simulation.engine_inputs` makes of failures and a predictor before the run.  This is
the same once more, for tests, since no comparison of engines would see an error there.
"""

import zlib

import numpy as np

Rows = list[tuple[float, float, int]]  # begin, end and node of each prediction


def interval_of(time: float, length: float) -> int:
    """ "Interval k is (k I, (k + 1) I]: a failure at k I belongs to interval k - 1"."""
    k = int(time // length) - 2
    while not (k * length < time <= (k + 1) * length):
        k += 1
    return k


def stream(seed: int, purpose: str) -> "np.random.Generator":
    """ "The streams are NumPy's `PCG64DXSM(SeedSequence(seed, spawn_key=(crc32(purpose),)))`"."""
    key = zlib.crc32(purpose.encode())
    return np.random.Generator(np.random.PCG64DXSM(np.random.SeedSequence(seed, spawn_key=(key,))))


def reports(
    failures: list[tuple[float, int]],
    span: float,
    nodes: int,
    seed: int,
    length: float,
    precision: float,
    recall: float,
) -> list[tuple[int, int]]:
    """model.md#interval-predictor: the pairs (interval, node) that are reported, None where there are too few."""
    failing = sorted({(interval_of(time, length), node) for time, node in failures})
    # "Purpose `"predictor"`: one double for each pair with a failure, in order of interval, then node."
    coins = stream(seed, "predictor")
    keys = [float(coins.random()) for _ in failing]
    order = sorted(range(len(failing)), key=lambda i: keys[i])
    # "the x = round(recall P) with the smallest keys are reported"
    chosen = {failing[i] for i in order[: round(recall * len(failing))]}
    # "Then round(x (1 - precision) / precision) false alarms are added"
    missing = round(len(chosen) * (1.0 - precision) / precision)
    intervals = interval_of(span, length) + 1
    quiet = intervals * nodes - sum(k >= 0 for k, _ in failing)
    if missing > quiet:
        raise ValueError(f"{missing} false alarms, and {quiet} pairs without a failure")
    # "Purpose `"false alarms"`: whole numbers k N + node below N times the number of intervals in the span, in blocks
    # of 4,096, 8,192 and so on up to 2^22; first occurrences without a failure count."
    rest, block = stream(seed, "false alarms"), 4096
    alarms: set[tuple[int, int]] = set()
    while len(alarms) < missing:
        for number in rest.integers(0, intervals * nodes, block).tolist():
            pair = number // nodes, number % nodes
            if len(alarms) < missing and pair not in failing:
                alarms.add(pair)
        block = min(2 * block, 2**22)
    return sorted(chosen | alarms)


def is_seen(name: str, a: float, coin: float) -> bool:
    """Whether a predictor with dated predictions sees a failure.

    "every failure, dated; none if a = 0", or "the failures whose coin is less than a, dated".
    """
    return {"perfect": True, "confidence": a > 0.0, "accuracy": coin < a}[name]


def suspicious(foreseen: Rows, length: float, k: int) -> set[int]:
    """ "the nodes with a prediction from b to e where e > k I, and b < (k + 1) I or b = e = (k + 1) I"."""
    end = (k + 1) * length
    return {node for b, e, node in foreseen if e > k * length and (b < end or b == e == end)}


def windows(failures: list[float], bucket: float, interval: float) -> list[float]:
    """model.md#predicted-windows: "If any node fails in it, requests come at k B + i interval < (k + 1) B, i = 0, 1,
    ...".
    """
    times = []
    for k in sorted({interval_of(time, bucket) for time in failures}):
        i = 0
        while k * bucket + i * interval < (k + 1) * bucket:
            times.append(k * bucket + i * interval)
            i += 1
    return times
