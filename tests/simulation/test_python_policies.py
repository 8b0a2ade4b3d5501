"""Queue orders and placements written in Python: whatever they return, both engines say the same."""

import numpy as np
import pytest

import faultsim as fs
from faultsim.errors import OptionError

LOG = fs.Workload(submit=[0, 1, 1, 1], runtime=[10, 5, 5, 5], size=[2, 2, 1, 2])
ENGINES = pytest.mark.parametrize("engine", ["core", "reference"])


class Order(fs.QueueOrder):
    def __init__(self, keys):
        self.answer = keys

    def keys(self, queue, now):
        return self.answer(queue)


class Rule(fs.Placement):
    def __init__(self, choose):
        self.answer = choose

    def choose(self, job, candidates, state):
        return self.answer(candidates)


@ENGINES
@pytest.mark.parametrize(
    ("keys", "said"),
    [
        (
            lambda queue: queue.submit[1:],
            r"Order.keys must return one number for each of the \d waiting jobs, got shape",
        ),
        (lambda queue: [], "Order.keys must return one number for each of the 1 waiting jobs, got shape \\(0,\\)"),
        (lambda queue: np.zeros(len(queue.index) + 1), "one number for each of the 1 waiting jobs, got shape \\(2,\\)"),
        (lambda queue: np.zeros((len(queue.index), 1)), r"got shape \(1, 1\)"),
        (lambda queue: queue.size * np.nan, "Order.keys returned NaN for job 0 at time 0"),
        (lambda queue: ["first"] * len(queue.index), "Order.keys must return 1 numbers, got"),
        (lambda queue: None, "Order.keys returned NaN|Order.keys must return"),
    ],
)
def test_wrong_keys(engine, keys, said):
    with pytest.raises(OptionError, match=said):
        fs.simulate(LOG, fs.Cluster(2), scheduler=fs.EasyBackfill(order=Order(keys)), engine=engine)


@ENGINES
@pytest.mark.parametrize("kind", ["int8", "int16", "int32", "int64", "uint8", "uint64", "float32", "float64", "list"])
def test_keys_may_be_numbers_of_any_kind(engine, kind):
    """The largest job goes first, whatever the numbers are that say so."""
    log = fs.Workload(submit=[0] * 4, runtime=[5] * 4, size=[2, 1, 4, 3])

    def keys(queue):
        found = 8 - np.asarray(queue.size)
        return found.tolist() if kind == "list" else found.astype(kind)

    result = fs.simulate(log, fs.Cluster(4), scheduler=fs.Fcfs(order=Order(keys)), engine=engine)
    assert result.jobs["start"].tolist() == [10, 10, 0, 5]


@ENGINES
@pytest.mark.parametrize("given", [-1, 2.0, np.nan, None, "0", 10**30, np.array([0, 1])])
def test_wrong_choices(engine, given):
    with pytest.raises(OptionError, match=r"Rule.choose must return a whole number from 0 to \d, got"):
        fs.simulate(LOG, fs.Torus(1, 1, 2), placement=Rule(lambda candidates: given), engine=engine)


@ENGINES
def test_an_index_behind_the_last_candidate(engine):
    with pytest.raises(OptionError, match=r"Rule.choose must return a whole number from 0 to 3, got 4"):
        fs.simulate(LOG, fs.Torus(1, 1, 4), placement=Rule(len), engine=engine)


@ENGINES
def test_what_an_order_writes_into_its_columns_is_its_own(engine):
    def keys(queue):
        order = -queue.size.astype(float)
        for name in ("index", "submit", "estimate", "size"):
            getattr(queue, name)[:] = 10**6
        return order

    mine = fs.simulate(LOG, fs.Cluster(2), scheduler=fs.Fcfs(order=Order(keys)), engine=engine)
    assert (
        mine.jobs["start"].tolist()
        == fs.simulate(LOG, fs.Cluster(2), scheduler=fs.Fcfs("largest")).jobs["start"].tolist()
    )
