"""The compiled engine equals the reference engine, job by job, when jobs move away from predicted failures."""

from functools import cache
from pathlib import Path

import pytest

import faultsim as fs
from helpers.engines import LOGS, head_of, runs_agree

# -- the first jobs of real logs, under real failure records; each policy of Fars in turn

HOUR = 3600.0
MINUTE = 60.0
FARS = {
    "loss": fs.Fars(HOUR, fs.ServiceUnitLoss()),
    "rate": fs.Fars(HOUR / 2, fs.JobFailureRate(), residual="difference", suspicious="ignore"),
    "slowdown": fs.Fars(2 * HOUR, fs.FailureSlowdown(), queue_cost="mean", live=True),
    "stealing": fs.Fars(HOUR, fs.NodeStealing(), restart_cost=60),
    "pool": fs.Fars(HOUR, fs.ServiceUnitLoss(), spares=fs.Static(4), live=True),
}
BESIDE = {
    "none": {"recovery": fs.Requeue(restart_cost=30)},
    "periodic": {"checkpointing": fs.Periodic(HOUR, MINUTE), "recovery": fs.Requeue("tail", restart_cost=120)},
    "young": {"checkpointing": fs.Young(MINUTE, 50 * HOUR), "recovery": fs.Hold(restart_cost=120)},
    "before-failure": {"checkpointing": fs.BeforeFailure(300)},
    "windows": {"checkpointing": fs.PredictedWindows("3h", fs.LongJobs(300)), "recovery": fs.Hold()},
    "risk-based": {"checkpointing": fs.RiskBased(HOUR / 4, MINUTE), "recovery": fs.Requeue()},
}
PLACING = {
    "plain": {},
    "least-failures": {"placement": fs.LeastFailuresFirst(), "migration": fs.LeastFailuresMigration()},
    "safest": {"placement": fs.SafestFirst()},
}
SCHEDULERS_BY_NAME = {
    "fcfs": fs.Fcfs("wfp3"),
    "easy": fs.EasyBackfill("shortest"),
    "backfill": fs.Backfill(2),
    "easy-unknown": fs.EasyBackfill(repairs="unknown"),
    "conservative": fs.ConservativeBackfill(),
}
TORUS = {
    "balancing": {"placement": fs.Balancing(), "migration": fs.Defragment(cost=60)},
    "tie-breaking": {"placement": fs.TieBreaking()},
}
PREDICTOR = fs.IntervalPredictor(0.7, 0.7, HOUR)


@cache
def record(data_dir: Path, name: str, nodes: int, span: float) -> fs.FailureTrace:
    """A real failure record, brought to a machine of that many nodes and to a log that lasts `span` seconds."""
    folder = data_dir / "failures"
    if name == "grid5000":  # dense: the first days of 2006, at their own pace
        trace = fs.read_fta(folder / "event_trace.tab.xz", begin="2006-01-01", end="2006-02-01", min_downtime=60)
        trace = trace.window(0, min(span, trace.span))
    else:  # sparse: three years and a half of 512 nodes in the time of the log
        trace = fs.read_lanl(folder / "LA-UR-05-7318-failure-data-1996-2005.csv.gz", 20).with_span(span)
    trace = trace.map_nodes(nodes)
    return trace.with_count(min(len(trace), 400)).merge_overlaps()


def agree_on_a_log(log, machine, source, data_dir, **options):
    span = float((log.submit + log.runtime).max() - log.submit[0])
    trace = record(data_dir, source, machine.nodes, span)
    log = fs.Workload(
        submit=log.submit - log.submit[0], runtime=log.runtime, size=log.size, estimate=log.estimate, name=log.name
    )
    slow = runs_agree(fs.Run(log, machine, failures=trace, predictor=PREDICTOR, seed=3, record=True, **options))
    assert slow.jobs["moves"].any()
    return slow


@pytest.mark.parametrize("name", [name for name, nodes in LOGS.items() if nodes < 1000])
def test_first_jobs_of_each_log_under_a_real_failure_record(data_dir, name):
    """The logs take turns with records, schedulers and policies."""
    turn = list(LOGS).index(name)

    def of(table):
        return list(table.values())[turn % len(table)]

    options = {"scheduler": of(SCHEDULERS_BY_NAME), "rescheduling": of(FARS), **of(BESIDE), **of(PLACING)}
    if isinstance(options["rescheduling"].strategy, fs.NodeStealing) and "checkpointing" not in options:
        options["checkpointing"] = fs.Periodic(HOUR, MINUTE)
    source = ("grid5000", "lanl")[turn % 2]
    log = head_of(data_dir, name)
    log = log[log.size <= LOGS[name] - 4]  # what a pool leaves
    agree_on_a_log(log, fs.Cluster(LOGS[name]), source, data_dir, **options)


@pytest.mark.slow
@pytest.mark.parametrize("scheduler", SCHEDULERS_BY_NAME)
@pytest.mark.parametrize("beside", BESIDE)
@pytest.mark.parametrize("fars", FARS)
def test_every_combination_on_the_first_jobs_of_two_logs(data_dir, fars, beside, scheduler):
    """Logs, records and placement rules take turns."""
    turn = list(FARS).index(fars) + list(BESIDE).index(beside) + list(SCHEDULERS_BY_NAME).index(scheduler)
    name, source = (("KTH-SP2-1996-2.1-cln", "lanl"), ("SDSC-SP2-1998-4.2-cln", "grid5000"))[turn % 2]
    placing = list(PLACING.values())[turn % 3]
    options = {"scheduler": SCHEDULERS_BY_NAME[scheduler], "rescheduling": FARS[fars], **BESIDE[beside], **placing}
    if fars == "stealing" and beside == "none":
        options["checkpointing"] = fs.Periodic(HOUR, MINUTE)
    log = head_of(data_dir, name)
    agree_on_a_log(log[log.size <= LOGS[name] - 4], fs.Cluster(LOGS[name]), source, data_dir, **options)


def on_a_torus(data_dir, n, fars, beside, scheduler, placing):
    log = head_of(data_dir, "SDSC-SP2-1998-4.2-cln").head(n)
    options = {
        "scheduler": SCHEDULERS_BY_NAME[scheduler],
        "rescheduling": FARS[fars],
        **BESIDE[beside],
        **TORUS[placing],
    }
    agree_on_a_log(log, fs.Torus.bluegene_l(), "grid5000", data_dir, start_delay=1.0, **options)


@pytest.mark.parametrize(
    ("n", "fars", "beside", "scheduler", "placing"),
    [
        (200, "loss", "none", "fcfs", "balancing"),
        (200, "slowdown", "periodic", "easy", "tie-breaking"),
        (80, "rate", "young", "conservative", "balancing"),
    ],
)
def test_first_jobs_of_krevats_log_on_a_torus(data_dir, n, fars, beside, scheduler, placing):
    on_a_torus(data_dir, n, fars, beside, scheduler, placing)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "scheduler", "placing"),
    [(500, "fcfs", "tie-breaking"), (200, "easy", "balancing"), (80, "conservative", "balancing")],
)
@pytest.mark.parametrize("beside", BESIDE)
@pytest.mark.parametrize("fars", ["loss", "rate", "slowdown"])
def test_more_jobs_of_krevats_log_on_a_torus(data_dir, fars, beside, n, scheduler, placing):
    on_a_torus(data_dir, n, fars, beside, scheduler, placing)
