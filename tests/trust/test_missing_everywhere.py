"""Missing values of other libraries, complex numbers and negative durations at every conversion of values."""

import numpy as np
import pytest

import faultsim as fs
from helpers.refusals import refused

LOG = fs.Workload([0, 0, 0], [50, 60, 30], [2, 1, 4], estimate=[60, 60, 60])
MASKED = np.ma.array([20, 90], mask=[0, 1])
ODD = {
    "complex": 5 + 1j, "complex of NumPy": np.complex128(5), "NaT": np.timedelta64("NaT"),
    "no date": np.datetime64("NaT"), "negative text": "-5m", "masked": np.ma.masked, "NaN": float("nan"),
}  # fmt: skip


def foreseen(**given):
    sim = fs.Simulation(LOG, fs.Cluster(8), live=9, predictor=fs.Blind(), placement=fs.SafestFirst())
    sim.foresee(**{"node": 1, "begin": 5.0, "end": 20.0, **given})


def with_keys(value):
    class Order(fs.QueueOrder):
        def keys(self, queue, now):
            return [value] * len(queue.size)

    return fs.simulate(LOG, fs.Cluster(4), scheduler=fs.EasyBackfill(order=Order()))


def swept(value):
    return fs.Sweep(fs.Run(LOG, fs.Cluster(4), start_delay=5), {"start_delay": [value, 0.5]}).run(workers=1)


CALLS = {
    "time of predictions": lambda value: fs.PredictionTrace([value, 90], [3, 5]),
    "node of predictions": lambda value: fs.PredictionTrace([20, 90], [value, 5]),
    "node foreseen": lambda value: foreseen(node=value),
    "begin foreseen": lambda value: foreseen(begin=value),
    "p foreseen": lambda value: foreseen(p=value),
    "keys": with_keys,
    "an axis": swept,
    "power": lambda value: fs.Power(idle=value, busy=300),
    "values of a knapsack": lambda value: fs.knapsack([value, 2.0], [1, 2], 3),
    "costs": lambda value: fs.Workflow([value, 2.0], [(0, 1, 1.0)]),
    "speeds": lambda value: fs.Resources(2, speed=[value, 1.0]),
    "times of failures": lambda value: fs.FailureTrace([value], [0]),
    "a span": lambda value: fs.FailureTrace([1], [0], span=value),
    "a moment": lambda value: fs.Simulation(LOG, fs.Cluster(4)).advance(until=value),
    "a rate": lambda value: fs.expected_ettr(64, value, "1h", cost="1m"),
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("odd", ODD)
def test_no_value_that_is_none_is_taken(call, odd):
    refused(fs.FaultsimError, r"\w", CALLS[call], ODD[odd])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: fs.PredictionTrace(MASKED, [3, 5]), "1: the value is masked"),
        (lambda: foreseen(node=[1, 2], begin=MASKED, end=[95, 99]), "1: the value is masked"),
        (lambda: fs.knapsack(MASKED, [1, 2], 3), "1: the value is masked"),
        (lambda: fs.Workflow(MASKED, [(0, 1, 1.0)]), "1: the value is masked"),
        (lambda: fs.Resources(2, speed=MASKED), "1: the value is masked"),
        (lambda: LOG.with_columns(x=np.ma.array([1, 2, 3], mask=[0, 1, 0])), "x, row 1: the value is masked"),
        (lambda: fs.synthetic.HyperErlang(-1, float("nan"), float("nan"), 5), "stages must be at least 1, got -1"),
        (lambda: fs.FailureTrace(["-5m"], [0]), "a duration is 0 or more, got '-5m'"),
        (lambda: fs.Sweep(fs.Run(LOG, fs.Cluster(4))).run(workers=1, retry="no"), "retry must be True or False"),
    ],
)
def test_missing_values_are_named(call, message):
    refused(fs.FaultsimError, message, call)
