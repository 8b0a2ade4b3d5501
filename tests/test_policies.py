"""Policies: the table, lowered forms, text forms, and what is refused."""

import dataclasses
import json
import math

import numpy as np
import pytest
from hypothesis import given
from runs import runs

import faultsim as fs
from faultsim.errors import NotAvailableError, OptionError
from faultsim.policies import POLICIES, Policy, from_lowered, known_policies, parse_policy
from faultsim.policies.adapters import CheckedOrder, CheckedPlacement, guarded
from faultsim.run import RunSpec


@pytest.mark.parametrize("row", POLICIES, ids=lambda row: f"{row.kind}-{row.name}")
def test_every_row_of_the_table(row):
    policy = row.cls()
    assert isinstance(policy, Policy)
    assert (policy.kind, policy.name) == (row.kind, row.name)
    assert dataclasses.is_dataclass(row.cls)
    assert row.cls.__dataclass_params__.frozen
    assert json.loads(json.dumps(policy.lower())) == policy.lower()
    assert from_lowered(row.kind, policy.lower()) == policy
    for name in (row.name, row.name.replace("_", "-"), row.cls.__name__, *row.aliases):
        assert parse_policy(row.kind, name) == policy
    assert getattr(fs, row.cls.__name__) is row.cls
    assert set(row.machines) <= {"cluster", "torus"}
    assert row.source
    assert row.summary.endswith((".", ";"))


def test_names_are_unique():
    for kind in {row.kind for row in POLICIES}:
        names = [name for row in POLICIES if row.kind == kind for name in (row.name, *row.aliases)]
        assert len(names) == len(set(names))


@given(runs())
def test_lowered_policies_come_back(run: RunSpec):
    lowered = json.loads(json.dumps(run.lower()))
    for kind in ("scheduler", "placement", "migration"):
        assert from_lowered(kind, lowered[kind]) == getattr(run, kind)


@pytest.mark.parametrize("scheduler", [fs.Fcfs, fs.EasyBackfill, fs.ConservativeBackfill])
def test_orders(scheduler):
    assert scheduler() == scheduler(order="arrival") == scheduler(order=fs.ArrivalOrder()) == scheduler(None)
    assert scheduler(order="shortest").order == fs.ShortestFirst()
    with pytest.raises(OptionError, match=r"unknown queue order 'shortst' \(did you mean 'shortest'\?\); known: 'arr"):
        scheduler(order="shortst")
    with pytest.raises(OptionError, match=r"write order=Wfp3\(\), not order=Wfp3"):
        scheduler(order=fs.Wfp3)
    with pytest.raises(OptionError, match=r"order must be one of 'arrival', .* or a QueueOrder, got 7"):
        scheduler(order=7)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: fs.EasyBackfill(reservation="all"), "unknown reservation 'all'; known: 'any', 'fixed'"),
        (lambda: fs.EasyBackfill(max_growth=-1), "max_growth must be at least 0 nodes, got -1"),
        (lambda: fs.ConservativeBackfill(max_growth=1.5), "max_growth must be a whole number, got 1.5"),
        (lambda: fs.EasyBackfill(repairs="soon"), "unknown value of repairs 'soon'"),
        (lambda: fs.MaxFreePartition(box_order="bases-first"), r"unknown box_order .*did you mean 'bases'"),
        (lambda: fs.FirstFit(box_order=1), "box_order must be one of 'extents-descending'"),
        (lambda: fs.Defragment(min_free=1.5), "min_free must be at least 0 and at most 1, got 1.5"),
        (lambda: fs.Defragment(max_concentration=math.nan), "max_concentration must be .*, got nan"),
        (lambda: fs.Defragment(cost=-1), "cost of a migration must be at least 0 seconds, got -1"),
        (lambda: fs.Defragment(cost=math.inf), "cost of a migration must be at least 0 seconds, got inf"),
        (lambda: fs.Defragment(when="never"), "unknown value of when 'never'"),
        (lambda: fs.Defragment(keep_promise=1), "keep_promise must be True or False, got 1"),
    ],
)
def test_bad_options(make, said):
    with pytest.raises(OptionError, match=said):
        make()


def test_parse_policy_options():
    assert parse_policy("scheduler", "easy:order=wfp3,max-growth=2, reservation=fixed") == fs.EasyBackfill(
        "wfp3", reservation="fixed", max_growth=2
    )
    assert parse_policy("migration", "defragment:cost=1.5,keep_promise=true") == fs.Defragment(
        cost=1.5, keep_promise=True
    )


@pytest.mark.parametrize(
    ("kind", "text", "said"),
    [
        ("scheduler", "eazy", r"unknown scheduler 'eazy' \(did you mean 'easy'\?\); known: fcfs, easy, conservative"),
        ("placement", "best-fit", "known: first_fit, max_free_partition"),
        ("scheduler", "easy:odrer=wfp3", r"unknown option 'odrer=wfp3' of scheduler 'easy' \(did you mean 'order'\?\)"),
        ("scheduler", "easy:fast", "unknown option 'fast'"),
        ("scheduler", "fcfs:order=fastest", "unknown queue order 'fastest'"),
        ("predictor", "blind:a=1", "known: none"),
    ],
)
def test_bad_text(kind, text, said):
    with pytest.raises(OptionError, match=said):
        parse_policy(kind, text)


@pytest.mark.parametrize("text", ["balancing", "tie-breaking", "TieBreaking", "least_failures_first:x=1"])
def test_planned_policies_are_refused_by_name(text):
    with pytest.raises(NotAvailableError, match="is part of the design and comes with failures"):
        parse_policy("placement", text)


def test_from_lowered_refuses_what_it_does_not_know():
    assert from_lowered("migration", None) is None
    with pytest.raises(OptionError, match="unknown placement 'balancing'"):
        from_lowered("placement", {"name": "balancing"})
    with pytest.raises(OptionError, match="cannot be made from"):
        from_lowered("placement", {"name": "first_fit", "speed": 3})
    with pytest.raises(OptionError, match=r"written in Python \(mine.Order\), which does not travel"):
        from_lowered("order", {"name": "python", "class": "mine.Order"})


def test_known_policies():
    assert list(known_policies("order")) == ["arrival", "shortest", "largest", "wfp3", "unicef"]


class Backwards(fs.QueueOrder):
    def keys(self, queue, now):
        return -queue.submit


class SmallBoxFirst(fs.FirstFit):
    def choose(self, job, candidates, state):
        return len(candidates) - 1


def test_a_subclass_of_a_built_in_is_a_policy_of_the_user():
    lowered = SmallBoxFirst(box_order="bases").lower()
    assert (lowered["name"], lowered["box_order"]) == ("python", "bases")
    assert guarded(lowered)["object"].placement is lowered["object"]
    scheduler = guarded(fs.Fcfs(order=Backwards()).lower())
    assert isinstance(scheduler["order"]["object"], CheckedOrder)


class Queue:
    index = np.array([3, 7], dtype=np.int32)
    submit = np.array([0.0, 90.0])
    estimate = np.array([10.0, 0.5])
    size = np.array([8, 1], dtype=np.int32)


def test_keys_of_the_built_in_orders_by_hand():
    now = 100.0
    expected = {
        "arrival": [0, 90],
        "shortest": [10, 0.5],
        "largest": [-8, -1],
        "wfp3": [-((100 / 10) ** 3) * 8, -((10 / 1) ** 3) * 1],
        "unicef": [-100 / (3 * 10), -10 / (1 * 1)],
    }
    for name, keys in expected.items():
        order = known_policies("order")[name].cls()
        assert CheckedOrder(order).keys(Queue(), now).tolist() == pytest.approx(keys)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([1.0], r"Bad.keys must return one number for each of the 2 waiting jobs, got shape \(1,\)"),
        (3.0, "got shape"),
        ([1.0, math.nan], "Bad.keys returned NaN for job 7 at time 5"),
        (["a", "b"], "Bad.keys must return 2 numbers"),
        (None, "Bad.keys"),
    ],
)
def test_bad_keys(given, said):
    class Bad(fs.QueueOrder):
        def keys(self, queue, now):
            return given

    with pytest.raises(OptionError, match=said):
        CheckedOrder(Bad()).keys(Queue(), 5.0)


@pytest.mark.parametrize("given", [-1, 2, 1.0, None, "0"])
def test_bad_choices(given):
    class Bad(fs.Placement):
        def choose(self, job, candidates, state):
            return given

    with pytest.raises(OptionError, match=r"Bad.choose must return a whole number from 0 to 1, got"):
        CheckedPlacement(Bad()).choose(None, np.zeros((2, 6), np.int32), None)


def test_base_classes_need_an_override():
    with pytest.raises(OptionError, match=r"must define keys\(self, queue, now\)"):
        fs.Fcfs(order=fs.QueueOrder())
    with pytest.raises(OptionError, match=r"must define keys\(self, queue, now\)"):
        fs.QueueOrder().keys(Queue(), 0.0)
    with pytest.raises(OptionError, match=r"must define choose\(self, job, candidates, state\)"):
        fs.Placement().choose(None, np.zeros((1, 6), np.int32), None)
    assert fs.FirstFit().choose(None, np.zeros((1, 6), np.int32), None) == 0
