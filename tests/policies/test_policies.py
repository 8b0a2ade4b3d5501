"""Policies: the table, lowered forms, text forms, and what is refused."""

import dataclasses
import json
import math
import pickle
import re
from operator import call

import numpy as np
import pytest
from hypothesis import given

import faultsim as fs
from faultsim.errors import InputError, OptionError
from faultsim.policies import POLICIES, Policy, PolicyRow, from_lowered, known_policies, parse_policy
from faultsim.policies.adapters import CheckedOrder, CheckedPlacement, guarded
from faultsim.policies.registry import MACHINES
from faultsim.simulation.run import Run
from helpers.refusals import refusals, refused
from helpers.runs import runs


def made(row: PolicyRow) -> Policy:
    """The policy of a row, with parameters where it needs some."""
    if row.name == "trace":
        return fs.PredictionTrace([5, 3], [1, 0])
    return parse_policy(row.kind, row.example or row.name)


@pytest.mark.parametrize("row", POLICIES, ids=lambda row: f"{row.kind}-{row.name}")
def test_every_row_of_the_table(row):
    policy = made(row)
    assert isinstance(policy, Policy)
    assert type(policy) is row.cls
    assert (policy.kind, policy.name) == (row.kind, row.name)
    assert dataclasses.is_dataclass(row.cls)
    assert row.cls.__dataclass_params__.frozen
    assert json.loads(json.dumps(policy.lower())) == policy.lower()
    assert from_lowered(row.kind, policy.lower(), policy.arrays()) == policy
    assert pickle.loads(pickle.dumps(policy)) == policy
    assert hash(policy) == hash(made(row))
    if not row.example and row.name != "trace":
        for name in (row.name, row.name.replace("_", "-"), row.cls.__name__, *row.aliases):
            assert parse_policy(row.kind, name) == policy == row.cls()
    assert getattr(fs, row.cls.__name__) is row.cls
    assert set(row.machines) <= {"resources", *MACHINES}
    assert row.source
    assert row.summary.endswith((".", ";"))


def lacks(row: PolicyRow) -> bool:
    """Whether a parameter has no default."""
    nothing = dataclasses.MISSING
    return any(each.init and each.default is each.default_factory is nothing for each in dataclasses.fields(row.cls))


@pytest.mark.parametrize("row", [row for row in POLICIES if row.example and lacks(row)], ids=lambda row: row.name)
def test_policies_without_defaults_say_what_they_need(row):
    with pytest.raises(OptionError, match=rf"{row.kind} '{row.name}' needs .*, for instance {re.escape(row.example)}"):
        parse_policy(row.kind, row.name)


def test_a_trace_cannot_be_written_as_text():
    with pytest.raises(OptionError, match="predictor 'trace' needs columns: create a PredictionTrace in Python"):
        parse_policy("predictor", "trace")
    with pytest.raises(OptionError, match="unknown option 'time=3' of predictor 'trace'; known: none"):
        parse_policy("predictor", "trace:time=3")


def test_names_are_unique():
    for kind in {row.kind for row in POLICIES}:
        names = [name for row in POLICIES if row.kind == kind for name in (row.name, *row.aliases)]
        assert len(names) == len(set(names))


@given(runs())
def test_lowered_policies_come_back(run: Run):
    lowered = json.loads(json.dumps(run.lower()))
    for kind in ("scheduler", "placement", "migration", "recovery", "checkpointing", "rescheduling"):
        assert from_lowered(kind, lowered[kind]) == getattr(run, kind)


@pytest.mark.parametrize("scheduler", [fs.Fcfs, fs.EasyBackfill, fs.ConservativeBackfill])
def test_orders(scheduler):
    assert scheduler() == scheduler(order="arrival") == scheduler(order=fs.ArrivalOrder()) == scheduler(None)
    assert scheduler(order="shortest").order == fs.ShortestFirst()
    with pytest.raises(OptionError, match=r"unknown queue order 'shortst' \(did you mean 'shortest'\?\); known: 'arr"):
        scheduler(order="shortst")
    refused(OptionError, r"write order=Wfp3\(\), not order=Wfp3", scheduler, order=fs.Wfp3)
    refused(OptionError, r"order must be one of 'arrival', .* or a QueueOrder, got 7", scheduler, order=7)


test_bad_options = refusals(
    OptionError,
    call,
    (lambda: fs.EasyBackfill(reservation="all"), "unknown reservation 'all'; known: 'any', 'fixed'"),
    (lambda: fs.EasyBackfill(max_growth=-1), "max_growth must be at least 0 nodes, got -1"),
    (lambda: fs.ConservativeBackfill(max_growth=1.5), "max_growth must be a whole number, got 1.5"),
    (lambda: fs.EasyBackfill(repairs="soon"), "unknown value of repairs 'soon'"),
    (lambda: fs.MaxFreePartition(box_order="bases-first"), r"unknown box_order .*did you mean 'bases'"),
    (lambda: fs.FirstFit(box_order=1), "box_order must be one of 'extents-descending'"),
    (lambda: fs.Defragment(min_free=1.5), "min_free must be at least 0 and at most 1, got 1.5"),
    (lambda: fs.Defragment(max_concentration=math.nan), "max_concentration must be .*, got nan"),
    (lambda: fs.Defragment(cost=-1), "cost of a migration must be at least 0 seconds, got -1"),
    (lambda: fs.Defragment(cost=math.inf), "cost of a migration must be at least 0 seconds and finite, got inf"),
    (lambda: fs.Defragment(when="never"), "unknown value of when 'never'"),
    (lambda: fs.Defragment(keep_promise=1), "keep_promise must be True or False, got 1"),
    (lambda: fs.LeastFailuresMigration(threshold=-1), "threshold must be at least 0 failures, got -1"),
    (lambda: fs.LeastFailuresMigration(cost=math.nan), "cost of a migration must be .* got nan"),
    (lambda: fs.Balancing(rule="sum"), "unknown rule 'sum'; known: 'prod', 'max'"),
    (lambda: fs.TieBreaking(box_order="base"), r"unknown box_order 'base' \(did you mean 'bases'"),
    (lambda: fs.Requeue(place="head"), "unknown place of a requeued job 'head'; known: 'arrival', 'tail'"),
    (lambda: fs.Requeue(restart_cost=-1), "restart_cost must be at least 0 seconds, got -1"),
    (lambda: fs.Hold(restart_cost=math.inf), "restart_cost must be at least 0 seconds and finite, got inf"),
    (lambda: fs.Confidence(1.5), "probability of Confidence must be at least 0 and at most 1, got 1.5"),
    (lambda: fs.Confidence(math.nan), "probability of Confidence must be .* got nan"),
    (lambda: fs.Confidence(True), "probability of Confidence must be a number, got True"),
    (lambda: fs.Accuracy(-0.1), "probability of Accuracy must be at least 0 and at most 1, got -0.1"),
    (lambda: fs.Accuracy("0.1"), "probability of Accuracy must be a number, got '0.1'"),
    (lambda: fs.Buckets(0), "length of a bucket must be above 0 and at most 86400 seconds, got 0"),
    (lambda: fs.Buckets("25h"), "length of a bucket must be above 0 and at most 86400 seconds, got '25h'"),
    (fs.Buckets, r"Buckets takes the length of a bucket: Buckets\('4h'\)"),
    (lambda: fs.IntervalPredictor(0, 1, 60), "precision must be above 0 and at most 1, got 0"),
    (lambda: fs.IntervalPredictor(1, 1.1, 60), "recall must be above 0 and at most 1, got 1.1$"),
    (lambda: fs.IntervalPredictor(1, 0, 60), r"recall must be above 0 .* got 0: to report nothing, use Blind\(\)"),
    (lambda: fs.IntervalPredictor(1, -0.1, 60), "recall must be above 0 and at most 1, got -0.1"),
    (lambda: fs.IntervalPredictor(1, math.nan, 60), "recall must be above 0 and at most 1, got nan"),
    (lambda: fs.IntervalPredictor(1.1, 1, 60), "precision must be above 0 and at most 1, got 1.1"),
    (lambda: fs.IntervalPredictor(1, None, 60), "recall must be a number, got None"),
    (lambda: fs.IntervalPredictor(1, 1, 0), "interval of a predictor must be above 0 seconds, got 0"),
    (lambda: fs.Periodic(0, 1), "interval of checkpoints must be above 0 seconds, got 0"),
    (lambda: fs.Periodic(math.nan, 1), "interval of checkpoints must be above 0 seconds, got nan"),
    (lambda: fs.Periodic(1, -1), "cost of a checkpoint must be at least 0 seconds, got -1"),
    (lambda: fs.Young(0, 1), "cost of a checkpoint must be above 0 seconds, got 0"),
    (lambda: fs.Young(1, 0), "mtbf, the mean time between failures of one node, must be above 0 seconds, got 0"),
    (lambda: fs.MaxAvailability(1, 1, -1), "downtime, .* must be at least 0 seconds, got -1"),
    (lambda: fs.Backfill(0), "depth must be at least 1 job, got 0"),
    (lambda: fs.Backfill("deep"), "depth must be a number of jobs or 'unlimited', got 'deep'"),
    (lambda: fs.Daly(1, -math.inf), "mtbf, .* must be above 0 seconds, got -inf"),
    (lambda: fs.BeforeFailure(-1), "cost of a checkpoint must be at least 0 seconds, got -1"),
    (lambda: fs.PredictedWindows(0), "length of a bucket must be above 0 and at most 86400 seconds, got 0"),
    (lambda: fs.PredictedWindows("4h", interval=0), "interval of checkpoints must be above 0 seconds, got 0"),
    (lambda: fs.PredictedWindows("4h", victims="bigg"), r"unknown victims 'bigg' \(did you mean 'big'\?\)"),
    (lambda: fs.PredictedWindows("4h", victims=fs.BigJobs), r"write victims=BigJobs\(\), not BigJobs"),
    (lambda: fs.PredictedWindows("4h", victims=3), r"victims must be AllJobs\(\), .* got 3"),
    (lambda: fs.LongJobs(-1), "least time of a long job must be at least 0 seconds, got -1"),
    (lambda: fs.BigJobs(0), "count of BigJobs must be at least 1, got 0"),
    (lambda: fs.BigJobs(1.0), "count of BigJobs must be a whole number, got 1.0"),
    (lambda: fs.RiskBased(0, 1), "interval of checkpoints must be above 0 seconds, got 0"),
)


test_bad_columns = refusals(
    InputError,
    call,
    (lambda: fs.PredictionTrace([1, 2], [0]), "predictions: 2 times for 1 nodes; give one node per time"),
    (lambda: fs.PredictionTrace([math.nan], [0]), "time, row 0: nan is not a finite number"),
    (lambda: fs.PredictionTrace([1], [-1]), "node, row 0: -1 is negative"),
    (lambda: fs.PredictionTrace([1], [0.5]), "node, row 0: 0.5 is not a whole number"),
    (lambda: pairs([0, 1], [3]), "pairs: 2 intervals for 1 nodes; give one node per interval"),
    (lambda: pairs([-1], [3]), "index, row 0: -1 is negative"),
    (lambda: pairs([1, 0, 1], [3, 3, 3]), "pairs: interval 1, node 3 appears more than once"),
)


def pairs(index, node):
    return fs.IntervalPredictor.from_pairs(index, node, interval=60, precision=0.5)


def test_columns_of_predictors():
    trace = fs.PredictionTrace([5, 3, 5], [1, 0, 0])
    assert (trace.time.tolist(), trace.node.tolist()) == ([3, 5, 5], [0, 1, 0])
    assert trace == fs.PredictionTrace([3, 5, 5], [0, 1, 0])
    assert trace != fs.PredictionTrace([3, 5, 5], [0, 0, 1])
    assert not trace.time.flags.writeable
    given = pairs([7, 0, 7], [3, 1, 0])
    assert (given.index.tolist(), given.node.tolist()) == ([0, 7, 7], [1, 0, 3])
    assert not given.needs_failures
    assert fs.IntervalPredictor(0.5, 1, 60).needs_failures
    with pytest.raises(OptionError, match="this PredictionTrace has 3 predictions, which were not saved with it"):
        from_lowered("predictor", trace.lower())


def test_intervals_of_checkpoints_by_hand():
    size = np.array([1, 64])
    assert fs.Periodic(7200, 300).work_between(size).tolist() == [7200, 7200]
    assert fs.RiskBased(7200, 300).work_between(size).tolist() == [7200, 7200]
    # [young1974]: sqrt(2 C M / n)
    young = fs.Young(cost=30, mtbf=56 * 86400).work_between(size)
    assert young.tolist() == pytest.approx([math.sqrt(2 * 30 * 4838400), math.sqrt(2 * 30 * 4838400 / 64)], rel=1e-15)
    # [daly2006] equation 37
    for n, work in zip(size, fs.Daly(cost=30, mtbf=56 * 86400).work_between(size), strict=True):
        m = 56 * 86400 / n
        x = 30 / (2 * m)
        assert work == pytest.approx(math.sqrt(2 * 30 * m) * (1 + math.sqrt(x) / 3 + x / 9) - 30, rel=1e-14)
    assert fs.Daly(cost=30, mtbf=20, any_rate=True).work_between(size).tolist() == pytest.approx([
        math.sqrt(1200) * (1 + math.sqrt(0.75) / 3 + 0.75 / 9) - 30, 20 / 64
    ])  # fmt: skip
    # [saxena2024]
    available = fs.MaxAvailability(cost=30, mtbf=56 * 86400, downtime=600).work_between(size)
    assert available.tolist() == pytest.approx([math.sqrt(2 * (4838400 / n + 600) * 30 + 900) for n in size], rel=1e-15)
    assert fs.NoCheckpoint().work_between(size) is None
    assert [p.planned for p in (fs.Periodic(1, 1), fs.Young(1, 1e6), fs.Daly(1, 1e6))] == [True] * 3
    assert not any(p.planned for p in (fs.NoCheckpoint(), fs.BeforeFailure(1), fs.RiskBased(1, 1)))


def test_parse_policy_options():
    assert parse_policy("checkpointing", "periodic:7200,300") == fs.Periodic(interval=7200, cost=300)
    assert parse_policy("checkpointing", "periodic:7200, cost=300") == fs.Periodic(interval=7200, cost=300)
    assert parse_policy("predictor", "Confidence:.1") == fs.Confidence(0.1)
    assert parse_policy("checkpointing", "windows:8h,victims=big:2,cost=1m") == fs.PredictedWindows(
        fs.Buckets("8h"), fs.BigJobs(2), cost=60
    )
    assert parse_policy("recovery", "requeue:place=tail,restart-cost=30") == fs.Requeue("tail", 30)
    assert parse_policy("scheduler", "easy:order=wfp3,max-growth=2, reservation=fixed") == fs.EasyBackfill(
        "wfp3", reservation="fixed", max_growth=2
    )
    assert parse_policy("migration", "defragment:cost=1.5,keep_promise=true") == fs.Defragment(
        cost=1.5, keep_promise=True
    )


test_bad_text = refusals(
    OptionError,
    parse_policy,
    (
        "scheduler",
        "eazy",
        r"unknown scheduler 'eazy' \(did you mean 'easy'\?\); known: fcfs, easy, backfill",
    ),
    ("placement", "worst-fit", "known: first_fit, max_free_partition"),
    ("scheduler", "easy:odrer=wfp3", r"unknown option 'odrer=wfp3' of scheduler 'easy' \(did you mean 'order'\?\)"),
    ("scheduler", "easy:fast", "unknown option 'fast'"),
    ("scheduler", "fcfs:order=fastest", "unknown queue order 'fastest'"),
    ("predictor", "blind:a=1", "known: none"),
    ("predictor", "blind:1", "unknown option '1' of predictor 'blind'; known: none"),
    ("predictor", "confidence:0.1,probability=0.2", "option 'probability' of predictor 'confidence' is given twice"),
    ("checkpointing", "windows:4,victims=larg", r"unknown victims 'larg'.* known: all, long, big"),
    ("checkpointing", "windows:4,victims=long:k=3", "unknown option 'k=3' of victims 'long'; known: seconds"),
    ("checkpointing", "periodic:cost=3", "checkpointing 'periodic' needs interval, for instance periodic:2h,5m"),
)


@pytest.mark.parametrize("text", ["flaw", "rank-hybd:across=descending"])
def test_policies_of_another_kind_are_told(text):
    refused(OptionError, "it is a workflow scheduler", parse_policy, "scheduler", text)


def test_from_lowered_refuses_what_it_does_not_know():
    assert from_lowered("migration", None) is None
    refused(OptionError, "unknown placement 'worst_fit'", from_lowered, "placement", {"name": "worst_fit"})
    refused(OptionError, "cannot be made from", from_lowered, "placement", {"name": "first_fit", "speed": 3})
    with pytest.raises(OptionError, match=r"written in Python \(mine.Order\), which is not saved"):
        from_lowered("order", {"name": "python", "class": "mine.Order"})


def test_known_policies():
    assert list(known_policies("order")) == ["arrival", "shortest", "largest", "wfp3", "unicef", "key"]


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

    refused(OptionError, said, CheckedOrder(Bad()).keys, Queue(), 5.0)


@pytest.mark.parametrize("given", [-1, 2, 1.0, None, "0"])
def test_bad_choices(given):
    class Bad(fs.Placement):
        def choose(self, job, candidates, state):
            return given

    with pytest.raises(OptionError, match=r"Bad.choose must return a whole number from 0 to 1, got"):
        CheckedPlacement(Bad()).choose(None, np.zeros((2, 6), np.int32), None)


def test_base_classes_need_an_override():
    refused(OptionError, r"must define keys\(self, queue, now\)", fs.Fcfs, order=fs.QueueOrder())
    refused(OptionError, r"must define keys\(self, queue, now\)", fs.QueueOrder().keys, Queue(), 0.0)
    with pytest.raises(OptionError, match=r"must define choose\(self, job, candidates, state\)"):
        fs.Placement().choose(None, np.zeros((1, 6), np.int32), None)
    assert fs.FirstFit().choose(None, np.zeros((1, 6), np.int32), None) == 0


@pytest.mark.parametrize(
    ("text", "order"),
    [
        ("easy:order=f1", fs.Key(fs.Key.presets["f1"].text)),
        ("easy:order=where(size > 4, 1, 2),max_growth=3", fs.Key("where(size > 4, 1, 2)")),
        ("easy:max_growth=3,order='max(1, size)'", fs.Key("max(1, size)")),
        ('easy:order="size == 2"', fs.Key("size == 2")),
        ("easy:order=key:'size'", fs.Key("size")),
        ("easy:order='size'", fs.Key("size")),
        ("easy:order=wfp3", fs.Wfp3()),
    ],
)
def test_orders_that_are_expressions_as_text(text, order):
    assert parse_policy("scheduler", text).order == order
    if "order=" in text and "max" not in text:
        assert parse_policy("order", text.partition("order=")[2]) == order


def test_orders_that_are_expressions():
    for name, preset in fs.Key.presets.items():
        assert name == preset.name
        assert fs.Fcfs(order=name).order in (fs.Key(preset.text), fs.Wfp3(), fs.Unicef())
        assert parse_policy("order", f"'{preset.text}'") == fs.Key(preset.text)
        assert preset.source
    assert parse_policy("order", "size + 1") == fs.Fcfs(order="size + 1").order == fs.Key("size + 1")
    with pytest.raises(
        OptionError, match=r"unknown order 'wpf3' \(did you mean 'wfp3'\?\); known: arrival, .*, f4, .*"
    ):
        parse_policy("order", "wpf3")
    with pytest.raises(OptionError, match=r"key 'size \+', column 7"):
        parse_policy("scheduler", "easy:order=size +")
    for name in ("submit", "estimate", "size", "index", "restarts", "wait"):
        for order in (
            fs.Fcfs(order=name).order,
            parse_policy("order", name),
            parse_policy("scheduler", f"easy:order={name}").order,
        ):
            assert order == fs.Key(name)
    for name in ("F1", "SAF"):
        assert fs.Fcfs(order=name).order == parse_policy("order", name) == fs.Key(fs.Key.presets[name.lower()].text)
    with pytest.raises(OptionError, match=r"unknown queue order 'now'; known: 'arrival', .*'wait'$"):
        fs.Fcfs(order="now")
    with pytest.raises(
        OptionError, match=r"unknown queue order 'priority'.*another column of the log is fs.Key\('prio"
    ):
        fs.Fcfs(order="priority")


@pytest.mark.parametrize(
    ("kind", "base", "said"),
    [
        ("scheduler", fs.Scheduler, r"Scheduler must define schedule\(self, decision\)"),
        ("placement", fs.Placement, r"Placement must define choose_nodes\(self, job, free, state\) for cluster:4"),
        ("predictor", fs.Predictor, r"Predictor must define predict\(self, trace, machine, rng\)"),
        ("checkpointing", fs.Checkpointing, r"Checkpointing.cost must be a number in seconds, got None"),
        ("recovery", fs.Recovery, r"Recovery must define react\(self, decision\)"),
        ("rescheduling", fs.Rescheduling, r"Rescheduling must define tick\(self, decision\)"),
    ],
)
def test_the_base_of_a_kind_says_what_it_lacks(kind, base, said):
    log, failures = fs.Workload(submit=[0], runtime=[5], size=[1]), fs.FailureTrace([1], [0], 1)
    refused(OptionError, said, fs.simulate, log, fs.Cluster(4), failures=failures, **{kind: base()})
