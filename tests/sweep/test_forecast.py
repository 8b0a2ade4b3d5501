"""`forecast` against cases by hand, and against the past of a world in which it is right."""

import json

import numpy as np
import pytest

import faultsim as fs
from faultsim.cli import main
from helpers.refusals import refused

NAN = float("nan")


def state(limits, sizes, elapsed, **options):
    jobs = fs.Workload([0] * len(limits), limits, sizes, estimate=limits)
    return fs.QueueState(jobs, elapsed, now=0, **options)


PAST = fs.Workload([0, 1, 2, 3], [25, 50, 75, 100], [1] * 4, estimate=[100] * 4, user=[9] * 4)


def test_one_job_waits_for_one():
    """It starts when the running job ends: after 25, 50, 75 or 100 s of 100, of which it has run 40: 10, 35 or 60 s."""
    found = fs.forecast(fs.Cluster(2), state([100, 100], [2, 2], [40, NAN]), PAST, arrivals=False, replicates=400)
    assert (found.low[0], found.median[0], found.high[0], found.plan[0]) == (10, 35, 60, 60)


def test_waiting_jobs_are_served_in_the_given_order():
    three = state([100, 50, 50], [2, 2, 2], [0, NAN, NAN], order=[2, 1])
    same = fs.Workload([0], [100], [1], estimate=[100])
    found = fs.forecast(fs.Cluster(2), three, same, arrivals=False, replicates=3)
    assert dict(zip(found.id.tolist(), found.plan.tolist(), strict=True)) == {3: 100, 2: 150}
    assert found.median.tolist() == found.plan.tolist()


def test_held_jobs_take_no_part():
    two = state([100, 50, 50], [2, 2, 2], [0, NAN, NAN], held=[False, True, False])
    found = fs.forecast(fs.Cluster(2), two, PAST, arrivals=False, replicates=3)
    assert found.id.tolist() == [3]
    assert found.plan.tolist() == [100]


def test_users_with_a_past_of_their_own():
    past = fs.Workload(np.arange(20), [10] * 10 + [90] * 10, [1] * 20, estimate=[100] * 20, user=[1] * 10 + [2] * 10)
    jobs = fs.Workload([0, 0], [100, 100], [2, 2], estimate=[100, 100], user=[1, 2])
    found = fs.forecast(fs.Cluster(2), fs.QueueState(jobs, [0, NAN], now=0), past, arrivals=False, replicates=9)
    assert (found.low[0], found.high[0]) == (10, 10)


def test_failures_delay():
    trace = fs.FailureTrace(np.arange(0.0, 4000.0, 40.0), np.zeros(100, int), 0.0, span=4000.0)
    waits = state([100, 100], [2, 2], [0, NAN])
    same = fs.Workload([0], [60], [1], estimate=[100])
    plain = fs.forecast(fs.Cluster(2), waits, same, arrivals=False, replicates=5)
    never = fs.forecast(fs.Cluster(2), waits, same, arrivals=False, replicates=5, failures=trace)
    assert plain.high[0] == 60
    assert never.low[0] > 1000  # a job of 60 s is killed every 40 s


def closed_world(n=3000, seed=1):
    """Jobs that run a random share of their limits, as the engine itself starts them."""
    rng = np.random.default_rng(seed)
    limit = rng.choice([3600, 7200, 14400, 43200], n).astype(float)
    log = fs.Workload(
        np.sort(rng.uniform(0, n * 1450, n)), np.ceil(limit * rng.beta(1, 2, n)), rng.choice([1, 2, 4, 8, 16], n),
        estimate=limit, user=rng.integers(0, 20, n),
    )  # fmt: skip
    run = fs.simulate(log, fs.Cluster(32), scheduler="easy", estimates="requested")
    return fs.Workload(log.submit, log.runtime, log.size, estimate=limit, user=log.user, recorded_wait=run.jobs["wait"])


def test_bands_hold_what_they_should_where_the_model_is_the_truth():
    """80 % start between the 10th and the 90th percentile, of 248 forecasts that are not independent."""
    found = fs.calibrate_forecast(fs.Cluster(32), closed_world(), times=40, replicates=100)
    assert found.jobs == 248
    assert 0.7 < found.inside < 0.9
    assert found.miss < found.plan_miss / 4
    assert found.inside + found.before + found.after == pytest.approx(1)


def test_jobs_that_do_not_fit_at_once_are_said():
    full = state([100, 100, 100], [2, 2, 1], [5, 5, NAN])
    found = fs.forecast(fs.Cluster(3), full, PAST, arrivals=False, replicates=2)
    assert found.warnings == (
        "1 of 2 running jobs do not fit beside the others where the placement puts them, and start later",
    )


def test_what_is_refused():
    busy = state([100], [2], [10])
    refused(fs.InputError, "no job waits", fs.forecast, fs.Cluster(2), busy, PAST)
    no_limits = fs.Workload([0], [10], [1])
    refused(fs.InputError, "no job with a time limit", fs.forecast, fs.Cluster(2), state([9], [2], [NAN]), no_limits)
    refused(fs.InputError, "no recorded waits", fs.calibrate_forecast, fs.Cluster(2), no_limits)
    refused(fs.InputError, "no recorded waits", fs.QueueState.of_log, no_limits, 5.0)
    refused(fs.InputError, "no job waits at any", fs.calibrate_forecast, fs.Cluster(2),
            fs.Workload([0, 50], [10, 10], [1, 1], recorded_wait=[0, 0]))  # fmt: skip
    refused(fs.InputError, "a value per job", fs.QueueState, PAST, [1.0], 0)
    refused(fs.InputError, "not the rows of the waiting jobs", state, [9, 9], [1, 1], [NAN, NAN], order=[0, 0])


CONF = "NodeName=n[1-2] CPUs=8 RealMemory=16000\nPartitionName=batch Nodes=ALL Default=YES MaxTime=1-00:00:00\n"
SACCT = "JobID|User|Submit|Start|End|Elapsed|Timelimit|NNodes|NCPUS|Partition|State\n"
for k in range(60):  # a job each ten minutes of half an hour, for 20 minutes
    begin, end = (f"2026-12-01T{k // 3:02}:{10 * (k % 3) + late:02}:00" for late in (0, 20))
    SACCT += f"{k}|ann|2026-12-01T{k // 3:02}:00:00|{begin}|{end}|00:20:00|01:00:00|1|8|batch|COMPLETED\n"
SQUEUE = (
    "JOBID|STATE|PARTITION|USER|NODES|CPUS|TIME_LIMIT|TIME|PRIORITY|REASON\n"
    "70|RUNNING|batch|ann|1|8|1:00:00|0:05:00|9|None\n71|RUNNING|batch|ann|1|8|1:00:00|0:10:00|9|None\n"
    "72|PENDING|batch|ann|1|8|1:00:00|0:00|5|(Resources)\n"
)


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in {"slurm.conf": CONF, "sacct.txt": SACCT, "squeue.txt": SQUEUE}.items():
        (tmp_path / name).write_text(text)


def test_the_command(files, capsys):
    assert main(["slurm", "forecast", "slurm.conf", "squeue.txt", "--jobs", "sacct.txt", "--no-arrivals"]) == 0
    out = capsys.readouterr().out
    assert "QueueState(2 running, 1 waiting, 0 of them held), 200 replicates" in out
    assert ["72", "ann", "10", "min", "10", "min", "10", "min", "50", "min"] in [
        line.split() for line in out.splitlines()
    ]
    command = ["slurm", "forecast", "slurm.conf", "squeue.txt", "--jobs", "sacct.txt", "--json", "--calibrate", "8"]
    assert main([*command, "--replicates", "20"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [job["id"] for job in found["jobs"]] == [72]
    assert found["calibration"]["jobs"] >= 1


def test_mistakes_of_the_command(files, capsys):
    assert main(["slurm", "forecast", "slurm.conf", "--jobs", "sacct.txt"]) == 2
    assert "give the output of squeue, or --calibrate N" in capsys.readouterr().err
    assert main(["slurm", "forecast", "slurm.conf", "sacct.txt", "--jobs", "sacct.txt"]) == 2
    assert "no column of" in capsys.readouterr().err
    assert main(["slurm", "forecast", "slurm.conf", "none.txt", "--jobs", "sacct.txt"]) == 2
    assert "none.txt: no such file" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"low": None}, "low of a Forecast must be numbers, one per job"),
        ({"plan": [1.0, 2.0]}, "a Forecast has a value per job"),
        ({"replicates": "many"}, "replicates must be a whole number"),
        ({"warnings": 3}, "warnings: expected a list of names"),
    ],
)
def test_a_forecast_of_odd_values_is_refused(changed, said):
    given = {"id": [1], "low": [0.0], "median": [1.0], "high": [2.0], "plan": [1.0], "replicates": 5}
    assert len(fs.Forecast(**given)) == 1
    with pytest.raises(fs.FaultsimError, match=said):
        fs.Forecast(**given | changed)
