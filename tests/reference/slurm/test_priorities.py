"""Slurm's priorities, usage and fair share by hand."""

import math

import pytest

import faultsim as fs
from faultsim.reference.slurm import priority as rules
from faultsim.reference.slurm import usage
from faultsim.reference.slurm.accounts import OF_PARENT, Accounts, Association
from faultsim.reference.slurm.fair_share import Classic, FairTree, level_of

WEIGHTS = rules.Weights(
    age=1000, assoc=500, fairshare=3000, job_size=500, partition=2000, qos=1000,
    tres={"cpu": 300.0, "mem": 200.0, "gres/gpu": 400.0}, max_age=1200.0,
)  # fmt: skip
CLUSTER = rules.Cluster(8, 160, largest_job_factor=10, largest_qos=100, largest_assoc=100)
BATCH = rules.Totals({"cpu": 160.0, "mem": 896000.0, "node": 8.0, "gres/gpu": 8.0}, 1)


def tree(shares=None, users=("u1", "u2", "u3"), **usage_of):
    """Accounts a (u1, u2) and b (u3) below root."""
    shares = shares or {}
    rows = [(Association("root"), "")]
    rows += [(Association(name, shares=shares.get(name, 1)), "root") for name in ("a", "b")]
    rows += [
        (Association("b" if user == "u3" else "a", user, shares.get(user, 1)), "b" if user == "u3" else "a")
        for user in users
    ]
    accounts = Accounts(rows)
    for user, amount in usage_of.items():
        usage.add(accounts.find("b" if user == "u3" else "a", user), amount)
    return accounts


def test_priority_of_a_recorded_job():
    """Job 2 of recording 01: 5682.81 on partition gpu, by the lines of its log."""
    gpu = rules.Totals({"cpu": 64.0, "mem": 512000.0, "node": 2.0, "gres/gpu": 8.0}, 10)
    request = rules.Request(1, 8, {"cpu": 8.0, "mem": 4000.0, "gres/gpu": 2.0}, 3.0)
    found = rules.factors(request, gpu, CLUSTER, WEIGHTS, age=0.0, fair_share=1.0, assoc_priority=100)
    assert found == {
        "Age": 0.0, "Assoc": 1.0, "Fairshare": 1.0, "JobSize": 0.0875, "Partition": 1.0, "QOS": 0.0,
        "TRES:cpu": 0.125, "TRES:mem": 0.0078125, "TRES:gres/gpu": 0.25,
    }  # fmt: skip
    assert rules.total(found, WEIGHTS, request) == 5682.8125
    assert rules.priority(found, WEIGHTS, request) == 5682


def test_only_the_sum_is_truncated_and_it_is_at_least_one():
    request = rules.Request(1, 1, {"mem": 3.0}, 1.0, nice=0.0)
    weights = rules.Weights(age=1.0, tres={"mem": 1.0}, max_age=2.0)
    totals = rules.Totals({"mem": 4.0})
    found = rules.factors(request, totals, CLUSTER, weights, age=1.0, fair_share=0.0, assoc_priority=0)
    assert rules.priority(found, weights, request) == 1  # 0.5 + 0.75
    held_down = rules.Request(1, 1, {"mem": 3.0}, 1.0, nice=5.0)
    assert rules.priority(found, weights, held_down) == 1
    raised = rules.Request(1, 1, {"mem": 3.0}, 1.0, nice=-(2**33))
    assert rules.priority(found, weights, raised) == rules.LARGEST


@pytest.mark.parametrize(
    ("weights", "expected"),
    [
        (rules.Weights(), (2 / 8 + 40 / 160) / 2),
        (rules.Weights(favor_small=True), (6 / 8 + 120 / 160) / 2),
        (rules.Weights(flags=frozenset({"SMALL_RELATIVE_TO_TIME"})), 40 / 10 / 160),
        (rules.Weights(flags=frozenset({"SMALL_RELATIVE_TO_TIME"}), favor_small=True), 1 - 40 / 10 / 160),
    ],
)
def test_size(weights, expected):
    assert rules.size_factor(rules.Request(2, 40, {}, 10.0), CLUSTER, weights) == expected


@pytest.mark.parametrize("flag", ["NO_NORMAL_ASSOC", "NO_NORMAL_PART", "NO_NORMAL_QOS", "NO_NORMAL_TRES"])
def test_raw_values(flag):
    weights = rules.Weights(tres={"cpu": 1.0}, flags=frozenset({flag}))
    request = rules.Request(1, 8, {"cpu": 8.0}, 1.0, qos_priority=50)
    found = rules.factors(request, BATCH, CLUSTER, weights, age=0.0, fair_share=0.0, assoc_priority=25)
    raw = {"NO_NORMAL_ASSOC": ("Assoc", 25), "NO_NORMAL_PART": ("Partition", 1), "NO_NORMAL_QOS": ("QOS", 50),
           "NO_NORMAL_TRES": ("TRES:cpu", 8.0)}  # fmt: skip
    normal = {"Assoc": 0.25, "Partition": 0.1, "QOS": 0.5, "TRES:cpu": 0.05}
    name, value = raw[flag]
    assert {key: found[key] for key in normal} == normal | {name: value}


def test_priority_of_associations_is_inherited():
    accounts = tree()
    accounts.find("a").priority = 40
    accounts.find("a", "u2").priority = 7
    assert [accounts.find("a", user).own_priority() for user in ("u1", "u2")] == [40, 7]
    assert accounts.find("b", "u3").own_priority() == 0
    assert accounts.largest_priority() == 40


def test_usage_decays_and_is_charged():
    """Job 3 of recording 01: 9 s of 8 CPUs at a half life of 20 minutes."""
    rate = usage.decay_rate(1200.0)
    assert usage.charge(rate, 9.0, 8.0) == pytest.approx(71.626643, abs=1e-6)
    accounts = tree(u1=100.0, u3=50.0)
    usage.decay(accounts, rate, 60.0)
    assert accounts.root.usage == pytest.approx(150.0 * 0.965933769184245)
    assert accounts.find("a").usage == accounts.find("a", "u1").usage
    assert usage.decay_rate(0.0) == 1.0
    assert (usage.unpaid(100.0, 70.0, 60.0), usage.unpaid(100.0, 10.0, 60.0)) == (30.0, 40.0)
    assert usage.billing({"cpu": 4.0, "gres/gpu": 2.0}, {}) == 4.0
    weights = {"cpu": 1.0, "gres/gpu": 4.0}
    assert usage.billing({"cpu": 4.0, "gres/gpu": 2.0}, weights) == 12.0
    assert usage.billing({"cpu": 4.0, "gres/gpu": 2.0}, weights, largest=True) == 8.0


def test_seconds_of_running_jobs():
    """A limit frees in steps of the calculation period, and at the end of a job."""
    account = usage.RunSeconds()
    account.start(1, {"cpu": 8.0}, 10.0)
    account.start(2, {"cpu": 2.0, "gres/gpu": 1.0}, 1.0)
    assert (account.left("cpu"), account.left("gres/gpu"), account.left("mem")) == (4920.0, 60.0, 0.0)
    account.elapse(1, 60.0)
    account.elapse(2, 90.0)  # beyond its limit
    assert (account.left("cpu"), account.minutes("cpu"), account.left("gres/gpu")) == (4320.0, 72, 0.0)
    account.end(2)
    account.end(1)
    account.elapse(3, 60.0)  # a job that is not in the account
    assert account.left("cpu") == 0.0


def test_the_part_of_one_of_several_partitions_is_added_last():
    """Of a recorded job: 781.67 + 2400 + 37.5 + 1000 + 45.83 is 4265 or a little less, by the order."""
    weights = rules.Weights(
        age=1000, fairshare=3000, job_size=500, partition=2000, tres={"cpu": 300, "mem": 200}, max_age=1200.0
    )
    found = {"Age": 938 / 1200, "Assoc": 0.0, "Fairshare": 0.8, "JobSize": 0.075, "Partition": 0.5, "QOS": 0.0}
    found |= {"TRES:cpu": 4 / 96, "TRES:mem": 1 / 6}
    request = rules.Request(1, 4, {}, 2)
    assert rules.priority(found, weights, request) == 4264
    assert rules.priority(found, weights, request, several=True) == 4265


def test_fair_tree_ranks_depth_first():
    """All of the better account go before all of the other, whatever their own levels are."""
    accounts = tree({"a": 3}, u1=30.0, u2=10.0, u3=60.0)
    found = FairTree(accounts)
    assert level_of(accounts.find("a"), accounts.root) == (3 / 4) / (40 / 100)
    assert found.factors == {("a", "u2"): 1.0, ("a", "u1"): 2 / 3, ("b", "u3"): 1 / 3}
    assert [each.name for each, _, _ in found.levels] == ["a", "u2", "u1", "b", "u3"]


def test_fair_tree_ties_share_a_rank():
    assert FairTree(tree(u3=1.0)).factors == {("a", "u1"): 1.0, ("a", "u2"): 1.0, ("b", "u3"): 1 / 3}
    # The first user below a tied account has the rank of the user before it; 22.05 does not merge the accounts.
    assert FairTree(tree()).factors == {("a", "u1"): 1.0, ("a", "u2"): 1.0, ("b", "u3"): 1.0}
    equal = tree(u1=30.0, u2=10.0, u3=40.0)
    assert FairTree(equal).factors == {("a", "u2"): 1.0, ("a", "u1"): 2 / 3, ("b", "u3"): 2 / 3}
    assert FairTree(equal, merge_tied=True).factors == {("a", "u2"): 1.0, ("b", "u3"): 2 / 3, ("a", "u1"): 1 / 3}


def test_fairshare_parent():
    accounts = tree({"a": OF_PARENT, "u1": OF_PARENT}, u2=10.0, u3=10.0)
    assert math.isinf(level_of(accounts.find("a", "u1"), accounts.find("a")))
    found = FairTree(accounts)
    assert [each.name for each, depth, _ in found.levels if depth == 1] == ["u1", "u2", "b"]


def test_classic_fair_share():
    accounts = tree({"a": 3}, u1=30.0, u3=10.0)
    classic = Classic(accounts, 2.0)
    effective = 0.75 + (0.75 - 0.75) * 0.5
    assert classic.factor(accounts.find("a", "u1")) == 2 ** -(effective / (0.75 * 0.5) / 2)
    idle = (0.75 - 0.0) * 0.5
    assert classic.factor(accounts.find("a", "u2")) == 2 ** -(idle / (0.75 * 0.5) / 2)
    unused = tree()
    assert Classic(unused).factor(unused.find("a", "u1")) == 1.0


def test_classic_values_last_for_a_period():
    accounts = tree(u1=30.0, u3=10.0)
    classic = Classic(accounts)
    user, other = accounts.find("a", "u1"), accounts.find("a", "u2")
    before = classic.factor(user)
    usage.add(user, 100.0)
    assert classic.factor(user) == before  # computed in this period
    late = classic.effective(other)  # its account keeps the value of the beginning of the period
    assert late == pytest.approx(0.0 + (30.0 / 40.0 - 0.0) * 0.5)
    classic.begin_period()
    assert classic.factor(user) < before


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([(Association("a"), "root")], "no root"),
        ([(Association("root"), ""), (Association("a"), "x")], "unknown parent account 'x'"),
        ([(Association("root"), ""), (Association("root"), "")], "listed twice"),
        ([(Association("root"), ""), (Association("a"), "b"), (Association("b"), "a")], "parents form a circle"),
    ],
)
def test_trees_that_are_none(rows, message):
    with pytest.raises(fs.InputError, match=message):
        Accounts(rows)
