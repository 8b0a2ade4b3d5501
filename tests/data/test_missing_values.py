"""Values that another library says are missing are refused by name, wherever numbers are taken."""

import numpy as np
import pytest

import faultsim as fs
from helpers.refusals import refused

MASKED = np.ma.array([1.0, 2.0], mask=[False, True])
LOG = fs.Workload(submit=[0, 1], runtime=[10, 5], size=[2, 2])
GIVEN = {"submit": [0, 1], "runtime": [1, 2], "size": [1, 1]}


@pytest.mark.parametrize("name", ["submit", "runtime", "size", "estimate", "user"])
@pytest.mark.parametrize("values", [MASKED, [1.0, np.ma.masked]])
def test_masked_columns_of_a_log(name, values):
    refused(fs.InputError, rf"{name}, row 1: the value is masked", fs.Workload, **GIVEN | {name: values})


def test_masked_arrays_without_a_masked_value_are_arrays():
    assert fs.Workload(**GIVEN | {"runtime": np.ma.array([3.0, 4.0])}).runtime.tolist() == [3.0, 4.0]


def test_masked_arrays_elsewhere():
    refused(fs.InputError, "knapsack: values, row 1: the value is masked", fs.knapsack, MASKED, [1, 2], 3)
    refused(fs.InputError, "knapsack: weights, row 1: the value is masked", fs.knapsack, [1, 2], MASKED, 3)
    refused(fs.InputError, "cost, job 1: the value is masked|cost, row 1", fs.Workflow, MASKED)
    refused(fs.InputError, "time, row 1: the value is masked", fs.FailureTrace, time=MASKED, node=[0, 1])
    refused(fs.OptionError, "start_delay is missing", fs.Run, LOG, fs.Cluster(2), start_delay=np.ma.masked)


@pytest.mark.parametrize(
    "values", [[np.datetime64("NaT")], np.array(["NaT"], "m8[s]"), [np.ma.masked, 2.0], np.ma.array([2.0], mask=True)]
)
def test_missing_values_on_an_axis(values):
    refused(
        fs.OptionError,
        "axis runtime_factor is missing",
        fs.Sweep,
        fs.Run(LOG, fs.Cluster(2)),
        {"runtime_factor": values},
    )


def test_scalars_where_several_are_wanted():
    refused(fs.InputError, "id: expected one dimension", fs.Workload, **GIVEN | {"id": 5})
    refused(fs.InputError, "concat: expected several workloads", fs.concat, 5)


def test_values_that_were_accepted():
    sweep = fs.Sweep(fs.Run(LOG, fs.Cluster(2)))
    refused(fs.OptionError, "retry must be True or False, got 'no'", sweep.run, retry="no")
    options = {"mean_gap": 1.0, "mean_runtime": 1.0, "rng": 1}
    refused(fs.OptionError, "mean_size must be", fs.synthetic.exponential, 10, mean_size=2**63, **options)
    assert fs.synthetic.exponential(10, mean_size=1e3, max_size=10, **options).size.max() <= 10
    kind = type(fs.synthetic.hyper_erlang_fit(10.0, 400.0, 40_000.0))
    for given, name in (((0, 1, 1, 0.5), "stages"), ((1, np.nan, 1, 0.5), "rate1"), ((1, 1, 1, 5), "p1")):
        refused(fs.OptionError, name, kind, *given)
