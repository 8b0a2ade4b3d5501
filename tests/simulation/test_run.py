"""`Run`: options are checked once, by name, before anything runs."""

import dataclasses
import math
import pickle

import numpy as np
import pytest
from hypothesis import given

import faultsim as fs
from faultsim.errors import InputError, OptionError
from helpers.refusals import refusals, refused
from helpers.runs import runs

LOG = fs.Workload(submit=[0, 1, 2], runtime=[10, 20, 30], size=[1, 2, 4], estimate=[15, -1, 25], id=[11, 12, 13])
FLAT, TORUS = fs.Cluster(4), fs.Torus(2, 2, 2)


class LastBox(fs.Placement):
    def choose(self, job, candidates, state):
        return len(candidates) - 1


def test_defaults():
    assert fs.Run(LOG, FLAT).placement == fs.FirstFit()
    assert fs.Run(LOG, TORUS).placement == fs.MaxFreePartition()
    assert fs.Run(LOG, FLAT).scheduler == fs.EasyBackfill()
    assert fs.Run(LOG, FLAT) == fs.Run(LOG, FLAT)
    with pytest.raises(dataclasses.FrozenInstanceError):
        fs.Run(LOG, FLAT).seed = 1


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            {"placement": fs.MaxFreePartition()},
            r"MaxFreePartition places boxes, and cluster:4 has none: use placement=F",
        ),
        ({"placement": LastBox()}, r"LastBox must define choose_nodes\(self, job, free, state\) for cluster:4"),
        ({"placement": fs.FirstFit(box_order="bases")}, "box_order='bases' is not supported on cluster:4"),
        ({"migration": fs.Defragment()}, "Defragment is not supported on cluster:4, .* use migration=None"),
        ({"scheduler": fs.EasyBackfill(reservation="fixed")}, "reservation='fixed' is not supported on cluster:4"),
        ({"scheduler": fs.EasyBackfill(max_growth=2)}, "max_growth=2 is not supported on cluster:4"),
        ({"scheduler": fs.ConservativeBackfill(max_growth=3)}, "max_growth=3 is not supported on cluster:4"),
    ],
)
def test_what_is_not_supported_on_a_cluster(options, said):
    refused(OptionError, said, fs.Run, LOG, FLAT, **options)
    fs.Run(LOG, TORUS, **options)


test_bad_options = refusals(
    OptionError,
    lambda options: fs.Run(LOG, TORUS, **options),
    ({"scheduler": fs.Fcfs}, r"write scheduler=Fcfs\(\), not scheduler=Fcfs"),
    ({"scheduler": None}, "scheduler must be one of Fcfs, .*, ConservativeBackfill, Preemptive, got None"),
    ({"scheduler": fs.FirstFit()}, "scheduler must be one of Fcfs"),
    ({"scheduler": "easy:oder=3"}, "unknown option 'oder=3' of scheduler 'easy'"),
    (
        {"scheduler": "none"},
        r"unknown scheduler 'none' \(it is a predictor\); known: fcfs, easy, backfill, conservative",
    ),
    ({"scheduler": "eazy"}, r"unknown scheduler 'eazy' \(did you mean 'easy'\?\)"),
    ({"placement": 3}, "placement must be one of FirstFit, MaxFreePartition, .*, got 3"),
    ({"recovery": 3}, "recovery must be one of Requeue, HotSpares, Hold, got 3"),
    ({"recovery": "mfp"}, r"unknown recovery 'mfp' \(it is a placement\); known: requeue, hot_spares, hold"),
    ({"predictor": 0.1}, "predictor must be one of Blind, Perfect, Confidence, .*, got 0.1"),
    (
        {"checkpointing": fs.Periodic},
        r"write checkpointing=Periodic\(interval=7200.0, cost=300.0\), not chec.*=Periodic$",
    ),
    ({"checkpointing": fs.Hold()}, "checkpointing must be one of NoCheckpoint, Periodic, .*, got Hold"),
    ({"placement": fs.Placement()}, r"Placement must define choose\(self, job, candidates, state\)"),
    ({"migration": fs.Defragment}, "must be an instance"),
    (
        {"estimates": "reqested"},
        r"unknown estimates 'reqested' \(did you mean 'requested'\?\); known: 'requested', ",
    ),
    ({"estimates": 0}, "estimates, as a factor of the run time, must be above 0, got 0"),
    ({"estimates": math.nan}, "estimates.* got nan"),
    ({"estimates": None}, "estimates.* must be a number, got None"),
    ({"estimates": np.array([1.0, 2.0])}, "estimates.* must be a number, got array"),
    ({"overrun": "stop"}, "unknown overrun 'stop'; known: 'extend', 'kill'"),
    ({"start_delay": -1}, "start_delay must be at least 0 seconds, got -1"),
    ({"start_delay": math.inf}, "start_delay must be at least 0 seconds and finite, got inf"),
    ({"start_delay": "1"}, "start_delay must be a number in seconds, got '1'"),
    ({"seed": 1.5}, "seed must be a whole number, got 1.5"),
    ({"seed": -1}, "seed must be at least 0, got -1"),
    ({"record": 1}, "record must be True or False, got 1"),
    ({"oversized": "ignore"}, "unknown oversized 'ignore'; known: 'error', 'drop'"),
)


FAILURES = fs.FailureTrace([5, 15, 25], [0, 3, 0], [0, 10, 0], span=100)


@pytest.mark.parametrize("options", [{}, {"failures": FAILURES}])
def test_what_requires_a_predictor(options):
    said = r"requires a predictor: give predictor=Confidence\(0.1\), or Blind\(\) for none"
    for machine, more in (
        (TORUS, {"placement": fs.Balancing()}),
        (TORUS, {"placement": fs.TieBreaking()}),
        (FLAT, {"placement": fs.SafestFirst()}),
        (FLAT, {"checkpointing": fs.RiskBased(60, 1)}),
        (TORUS, {"checkpointing": fs.RiskBased(60, 1)}),
    ):
        refused(OptionError, said, fs.Run, LOG, machine, **more, **options)
        fs.Run(LOG, machine, predictor=fs.Blind(), **more, **options)
        fs.Run(LOG, machine, predictor=fs.PredictionTrace([3], [1]), **more, **options)


@pytest.mark.parametrize(
    ("machine", "options"),
    [
        (TORUS, {"placement": fs.Balancing()}),
        (TORUS, {"placement": fs.TieBreaking()}),
        (FLAT, {"placement": fs.SafestFirst()}),
        (FLAT, {"checkpointing": fs.RiskBased(60, 1)}),
        (FLAT, {"checkpointing": fs.BeforeFailure(1)}),
    ],
)
def test_buckets_do_not_say_where(machine, options):
    said = r"must know which node will fail; Buckets\(length=14400.0\) only says when: .*PredictedWindows\('14400s'\)"
    refused(OptionError, said, fs.Run, LOG, machine, failures=FAILURES, predictor=fs.Buckets("4h"), **options)
    fs.Run(LOG, machine, failures=FAILURES, predictor=fs.Perfect(), **options)
    fs.Run(LOG, machine, failures=FAILURES, predictor=fs.Buckets("4h"), checkpointing=fs.PredictedWindows("4h"))


@pytest.mark.parametrize(
    "predictor",
    [fs.Confidence(0.1), fs.Accuracy(0.5), fs.Perfect(), fs.Buckets("4h"), fs.IntervalPredictor(0.5, 0.5, 60)],
    ids=lambda predictor: predictor.name,
)
def test_predictors_need_failures(predictor):
    with pytest.raises(OptionError, match="predicts the failures of the run, but there are none: give failures="):
        fs.Run(LOG, FLAT, predictor=predictor)
    fs.Run(LOG, FLAT, predictor=predictor, failures=FAILURES)


def test_what_needs_no_failures():
    pairs = fs.IntervalPredictor.from_pairs([0], [1], interval=10, precision=0.5)
    for predictor in (fs.Blind(), fs.PredictionTrace([1], [2]), pairs):
        fs.Run(LOG, FLAT, predictor=predictor, recovery=fs.Hold(), checkpointing=fs.PredictedWindows("4h"))


def test_recovery_is_requeue_where_something_fails():
    assert fs.Run(LOG, FLAT).recovery is None
    assert fs.Run(LOG, FLAT, failures=FAILURES).recovery == fs.Requeue()
    assert fs.Run(LOG, FLAT, failures=FAILURES, recovery=fs.Hold()).recovery == fs.Hold()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            {"placement": fs.LeastFailuresFirst()},
            r"LeastFailuresFirst chooses single nodes, and on torus:2x2x2 jobs take boxes: use placement=Balancing\(\)",
        ),
        ({"placement": fs.SafestFirst(), "predictor": fs.Blind()}, "SafestFirst chooses single nodes"),
        (
            {"migration": fs.LeastFailuresMigration()},
            r"LeastFailuresMigration moves single nodes, and on torus:2x2x2 jobs keep boxes: .*Defragment\(\)",
        ),
    ],
)
def test_what_is_not_supported_on_a_torus(options, said):
    refused(OptionError, said, fs.Run, LOG, TORUS, **options)
    fs.Run(LOG, FLAT, **options)


def test_nodes_outside_the_machine():
    trace = fs.FailureTrace(range(8), [0, 4, 5, 1, 6, 7, 8, 9], 0)
    said = (
        r"6 of 8 failures are of nodes outside cluster:4 \(0 to 3\): row 1 \(node 4\), row 2 \(node 5\), "
        r"row 4 \(node 6\), row 5 \(node 7\), row 6 \(node 8\), \.\.\.; map_nodes\(4\) or drop_outside\(4\) helps"
    )
    refused(InputError, said, fs.Run, LOG, FLAT, failures=trace)
    fs.Run(LOG, FLAT, failures=trace.map_nodes(4))
    with pytest.raises(
        InputError, match=r"1 of 1 predictions are of nodes outside cluster:4 \(0 to 3\): row 0 \(node 4"
    ):
        fs.Run(LOG, FLAT, predictor=fs.PredictionTrace([1], [4]))
    refused(InputError, "failures must be a FailureTrace, got", fs.Run, LOG, FLAT, failures=[(5, 0)])


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        (
            fs.Periodic(1e-7, 0),
            r"Periodic.* gives job 11 \(1 nodes\) 1e-07 s of work between two checkpoints",
        ),
        (fs.Young(1e-12, 1e-4, any_rate=True), r"Young.* gives job 13 \(4 nodes\) 7.07e-09 s of work"),
        (fs.RiskBased(1e-7, 0), "RiskBased.* gives job 11"),
        (
            fs.Periodic(1e-5, 0),
            r"gives job 13 \(300000 s, estimate 250000 s\) about 3e\+10 checkpoints, more than 1e",
        ),
    ],
)
def test_intervals_that_are_nothing(policy, said):
    run = fs.Run(LOG.with_runtime_factor(1e4), FLAT, checkpointing=policy, predictor=fs.Blind())
    refused(OptionError, said, run.expected_runtimes, run.log)


def test_what_is_no_log_and_no_machine():
    with pytest.raises(InputError, match=r"the log must be a Workload \(read_swf reads one from a file\), got 'x.swf'"):
        fs.Run("x.swf", FLAT)
    refused(
        OptionError,
        "the machine must be a Cluster, a Torus, a Pod or a Site, or text such as .cluster:128., got 128",
        fs.Run,
        LOG,
        128,
    )
    assert fs.Run(LOG, "cluster:4").machine == fs.Cluster(4)


@pytest.mark.parametrize(
    "options",
    [
        {"estimates": 1.7e308},
        {"start_delay": 1.7e308},
        {"migration": fs.Defragment(cost=1.7e308)},
        {"checkpointing": fs.Periodic(1.7e308, 1.7e308)},
        {"checkpointing": fs.BeforeFailure(1.7e308)},
        {"failures": fs.FailureTrace([5], [0]), "recovery": fs.Hold(1.7e308)},
    ],
)
def test_times_that_add_up_to_infinity(options):
    log = fs.Workload(submit=[0, 0], runtime=[10, 10], size=[1, 1])
    refused(InputError, "the times of this run add up to more than a float64 holds", fs.simulate, log, TORUS, **options)


def test_jobs_larger_than_the_machine():
    log = fs.Workload(submit=range(8), runtime=[1] * 8, size=[9, 1, 9, 10, 11, 12, 13, 8], id=range(100, 108))
    run = fs.Run(log, fs.Torus(2, 2, 2))
    said = (
        r"6 of 8 jobs are larger than the machine \(8 nodes\): id 100 \(9 nodes\), 102 \(9 nodes\), 103 \(10 nodes\), "
        r"104 \(11 nodes\), 105 \(12 nodes\), \.\.\.; take a larger machine or pass oversized=\"drop\""
    )
    refused(InputError, said, run.simulate)
    result = run.with_options(oversized="drop").simulate()
    assert result.jobs["id"].tolist() == [101, 107]
    assert dict(result.dropped) == {"larger than the machine": 6}
    assert "6 jobs left out: larger than the machine" in result.warnings
    with pytest.raises(InputError, match=r"all 6 jobs are larger than the machine \(8 nodes\)"):
        fs.Run(log[log.size > 8], fs.Torus(2, 2, 2), oversized="drop").simulate()


def test_policies_in_words():
    """As on the command line, for every kind."""
    words = {
        "scheduler": "easy:order=shortest", "placement": "mfp", "migration": "defragment:cost=1m", "recovery": "hold",
        "predictor": "interval:0.7,0.7,5m", "checkpointing": "young:cost=30,mtbf=56d", "rescheduling": "fars:5m,sul",
    }  # fmt: skip
    run = fs.Run(LOG, TORUS, failures=FAILURES, **words)
    assert run.scheduler == fs.EasyBackfill("shortest")
    assert run.migration == fs.Defragment(cost=60)
    assert run.checkpointing == fs.Young(30, 56 * 86_400)
    assert run.rescheduling == fs.Fars(300, fs.ServiceUnitLoss())
    assert run.with_options(migration="none", rescheduling=" None").rescheduling is None
    assert fs.simulate(LOG, FLAT, scheduler="fcfs").settings["scheduler"]["name"] == "fcfs"
    table = fs.Sweep(
        {"log": LOG, "machine": FLAT}, {"scheduler": ["fcfs", "easy"], "scheduler.order": ["largest"]}
    ).run()
    assert table["scheduler"].tolist() == ["fcfs", "easy"]


def test_estimates():
    run = fs.Run(LOG, FLAT)
    assert run.expected_runtimes(LOG).tolist() == [15, 20, 25]
    assert run.with_options(estimates="actual").expected_runtimes(LOG).tolist() == [10, 20, 30]
    assert run.with_options(estimates=np.float32(2)).expected_runtimes(LOG).tolist() == [20, 40, 60]
    complete = LOG.with_runtime_factor(1)[LOG.estimate > 0]
    assert run.expected_runtimes(complete) is complete.estimate


@given(runs())
def test_runs_can_be_sent_to_other_processes(run):
    assert pickle.loads(pickle.dumps(run)) == run


def test_a_policy_by_name_needs_its_parameters():
    with pytest.raises(OptionError, match="needs cost and mtbf, for instance young:cost=30,mtbf=56d"):
        fs.Run(LOG, fs.Cluster(4), checkpointing="young")


def test_two_different_buckets_are_refused():
    trace = fs.FailureTrace([5], [0])
    windows = fs.PredictedWindows("4h")
    fs.Run(LOG, fs.Cluster(4), failures=trace, checkpointing=windows, predictor=fs.Buckets("4h"))
    with pytest.raises(OptionError, match="PredictedWindows has its own buckets"):
        fs.Run(LOG, fs.Cluster(4), failures=trace, checkpointing=windows, predictor=fs.Buckets("2h"))
