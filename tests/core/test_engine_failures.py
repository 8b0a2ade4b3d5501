"""The compiled engine equals the reference engine, job by job, when things fail, on real logs."""

import numpy as np
import pytest

import faultsim as fs
from helpers.engines import LOGS, head_of, runs_agree

# -- real logs, by the face of the package, so that it prepares the predictions and requests

HOUR = 3600.0
POLICIES = {
    "none": {"recovery": fs.Requeue(restart_cost=30)},
    "periodic": {"checkpointing": fs.Periodic(HOUR, 60), "recovery": fs.Requeue("tail", restart_cost=120)},
    "young": {"checkpointing": fs.Young(60, 50 * HOUR), "recovery": fs.Hold(restart_cost=120)},
    "daly": {"checkpointing": fs.Daly(60, 50 * HOUR)},
    "max-availability": {"checkpointing": fs.MaxAvailability(60, 50 * HOUR, 900), "recovery": fs.Hold(restart_cost=60)},
    "before-failure": {"checkpointing": fs.BeforeFailure(300), "predictor": fs.Accuracy(0.7)},
    "windows": {"checkpointing": fs.PredictedWindows("3h", fs.LongJobs(300)), "recovery": fs.Hold()},
    "risk-based": {"checkpointing": fs.RiskBased(HOUR, 60), "predictor": fs.Perfect()},
}
SCHEDULING = {
    "fcfs": fs.Fcfs("wfp3"),
    "easy": fs.EasyBackfill(),
    "backfill-unknown": fs.Backfill(2, "shortest", repairs="unknown"),
    "easy-unknown": fs.EasyBackfill("shortest", repairs="unknown"),
    "conservative": fs.ConservativeBackfill(),
    "conservative-unknown": fs.ConservativeBackfill("largest", repairs="unknown"),
}
ON_CLUSTER = [
    {"placement": fs.LeastFailuresFirst(), "migration": fs.LeastFailuresMigration()},
    {"placement": fs.SafestFirst(), "predictor": fs.Accuracy(0.5)},
    {},
]
ON_TORUS = {
    "balancing": {"placement": fs.Balancing(), "predictor": fs.Confidence(0.1)},
    "balancing-max": {"placement": fs.Balancing("max"), "predictor": fs.IntervalPredictor(0.8, 0.6, 6 * HOUR)},
    "tie-breaking": {"placement": fs.TieBreaking(), "predictor": fs.Accuracy(0.5), "migration": fs.Defragment(cost=60)},
}


def failures(log, nodes, downtime, count=300):
    """About `count` failures while the log lasts, in bursts, and more of them on some nodes than on others."""
    begin, end = float(log.submit[0]), float((log.submit + log.runtime).max())
    trace = fs.synthetic.weibull_failures(
        nodes, end - begin, 0.65, (end - begin) / count, window=8, zipf=0.5, downtime=downtime, permute=True, rng=7
    )
    time = np.maximum(begin - 9 * HOUR + trace.time, 0.0)
    return fs.FailureTrace(time, trace.node, trace.downtime, coin=trace.coin)


def both_engines_agree(log, machine, downtime, **options):
    run = fs.Run(log, machine, failures=failures(log, machine.nodes, downtime), seed=1, **options)
    assert runs_agree(run).counters["failures_hit"] > 0


#: So many nodes with names take the reference engine half a minute, or a quarter.
LARGE = ("CEA-Curie-2011-2.1-cln", "mira_walltime")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name in LARGE else name for name in LOGS]
)
def test_first_jobs_of_each_log_on_a_failing_cluster(data_dir, name):
    """The logs take turns with the policies and schedulers."""
    turn = list(LOGS).index(name)
    options = {
        "scheduler": list(SCHEDULING.values())[turn % len(SCHEDULING)],
        **ON_CLUSTER[turn % len(ON_CLUSTER)],
        **list(POLICIES.values())[turn % len(POLICIES)],
    }
    log, nodes = head_of(data_dir, name), LOGS[name]
    both_engines_agree(log, fs.Cluster(nodes), 2 * HOUR * (turn % 3), record=nodes < 1000, **options)


@pytest.mark.slow
@pytest.mark.parametrize("scheduler", SCHEDULING)
@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("name", ["KTH-SP2-1996-2.1-cln", "CTC-SP2-1996-3.1-cln"])
def test_every_policy_on_the_first_jobs_of_two_logs(data_dir, name, policy, scheduler):
    log, machine = head_of(data_dir, name), fs.Cluster(LOGS[name])
    for placing in ON_CLUSTER:
        options = {"scheduler": SCHEDULING[scheduler], **placing, **POLICIES[policy]}
        both_engines_agree(log, machine, 0.0 if name.startswith("CTC") else 7200.0, record=True, **options)


ON_A_TORUS = [
    (200, "periodic", "easy", "balancing"),
    (200, "young", "easy-unknown", "balancing-max"),
    (150, "none", "fcfs", "tie-breaking"),
]
MORE_ON_A_TORUS = [
    (n, policy, scheduler, placing)
    for n, scheduler in ((500, "fcfs"), (500, "easy-unknown"), (80, "conservative"), (80, "conservative-unknown"))
    for policy in ("none", "periodic", "young", "daly")
    for placing in ON_TORUS
]


def on_a_torus(data_dir, n, policy, scheduler, placing):
    options = {"scheduler": SCHEDULING[scheduler], **ON_TORUS[placing], **POLICIES[policy]}
    log = head_of(data_dir, "SDSC-SP2-1998-4.2-cln").head(n)
    both_engines_agree(log, fs.Torus.bluegene_l(), 2 * HOUR, start_delay=1.0, record=True, **options)


@pytest.mark.parametrize(("n", "policy", "scheduler", "placing"), ON_A_TORUS)
def test_first_jobs_of_krevats_log_on_a_failing_torus(data_dir, n, policy, scheduler, placing):
    on_a_torus(data_dir, n, policy, scheduler, placing)


@pytest.mark.slow
@pytest.mark.parametrize(("n", "policy", "scheduler", "placing"), MORE_ON_A_TORUS)
def test_more_jobs_of_krevats_log_on_a_failing_torus(data_dir, n, policy, scheduler, placing):
    on_a_torus(data_dir, n, policy, scheduler, placing)
