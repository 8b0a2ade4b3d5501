"""What a site would gain: claims on made-up numbers, the stand-in, kinds of jobs, and what is kept of a run."""

from types import SimpleNamespace

import numpy as np
import pytest

import faultsim as fs
from faultsim.reproduce.claims import Verdict
from faultsim.reproduce.site import CLAIMS
from faultsim.reproduce.site.inputs import ALL, GPU, JITTER, KINDS, LARGE, LIGHT, SMALL, failures, jittered, load
from faultsim.reproduce.site.runs import (
    ARRIVAL,
    COLUMNS,
    DAYS,
    EASY,
    MORE,
    NOW,
    Evidence,
    Key,
    Plan,
    lost,
    plan,
    run_list,
)

RULES = {claim.id: claim for claim in CLAIMS}


def made(wait=lambda key, kind: 10.0, slowdown=lambda key, kind: 1.0, lost=lambda key: 1.0):
    """Evidence in which a day has 100 jobs of each kind, and all days and replicates are almost alike."""
    what = Plan(replicates=4)
    noise = 1 + 1e-4 * np.array([-1.0, 1.0, 0.5, -0.5])
    runs = {}
    for key in what.settings():
        columns = {"lost": lost(key) * noise, "killed": noise}
        for kind in KINDS:
            for day in range(DAYS):
                columns[f"jobs {kind} {day}"] = np.full(4, 100.0)
                columns[f"wait {kind} {day}"] = 100 * wait(key, kind) * noise * (1 + 1e-4 * day)
                columns[f"delay {kind} {day}"] = columns[f"wait {kind} {day}"]
                columns[f"slowdown {kind} {day}"] = 100 * slowdown(key, kind) * noise
        runs[key] = columns
    return Evidence(SimpleNamespace(real=True), runs, what)


def verdicts(evidence):
    return {label: rule.judge(evidence).verdict for label, rule in RULES.items()}


def test_claims_follow_the_numbers():
    def wait(key, kind):
        found = {"bf_max_job_user=0": 8.0, "bf_max_job_user=20": 12.0, EASY: 7.0, ARRIVAL: 9.0}.get(key.change, 10.0)
        found += (key.change == "bf_window=1d") * (kind == LARGE)
        found *= 0.3 if key.change == MORE else 1.0
        return found * (1 + 0.01 * key.rate * (0.5 if key.checkpoints else 1.0))

    def slowdown(key, kind):
        return {"fair share x4": 0.5, "no fair share": 2.0, EASY: 0.5}.get(key.change, 1.0)

    def loss(key):
        return 0.2 + key.rate * 0.1 if key.checkpoints else 0.25 * key.rate

    found = verdicts(made(wait, slowdown, loss))
    assert found == dict.fromkeys(RULES, Verdict.HOLDS)
    same = verdicts(made())
    assert {label for label, each in same.items() if each is Verdict.HOLDS} == {"W1", "W5", "W11"}


def test_the_largest_day():
    evidence = made()
    key = Key("bf_window=1d")
    assert np.isnan(evidence.largest_day("wait", Key(NOW), Key(NOW)))
    evidence.runs[key][f"wait {ALL} 2"] = 3 * evidence.runs[key][f"wait {ALL} 2"]
    assert evidence.largest_day("wait", Key(NOW), key) == 1.0


def test_kinds_of_jobs_and_the_column():
    week = load(None, seed=0, jobs=300)
    log = week.log
    gpu, large, small = (week.rows_of(kind) for kind in (GPU, LARGE, SMALL))
    assert week.rows_of(ALL).all()
    assert (gpu.astype(int) + large + small == 1).all()
    assert (gpu == (np.asarray(log.columns["gpus"]) > 0)).all()
    work = np.asarray(log.columns["cores"]) * log.runtime
    assert 0 < work[week.rows_of(LIGHT)].sum() <= 0.1 * work.sum()
    assert week.larger.nodes == week.site.nodes + 8


def test_replicates_move_submissions_and_keep_the_jobs():
    log = load(None, seed=0, jobs=300).log
    other = jittered(log, 2, 0)
    by = np.argsort(log.id)
    moved = other.submit[np.argsort(other.id)] - log.submit[by]
    assert 0 <= moved.min() < moved.max() < JITTER
    np.testing.assert_array_equal(
        np.asarray(other.columns["kinds"])[np.argsort(other.id)], np.asarray(log.columns["kinds"])[by]
    )
    assert failures(load(None, seed=0).site, 0.0, 0, 0) is None


def test_what_is_kept_of_a_run():
    week, what = load(None, seed=0, jobs=200), Plan(2, 200, (16.0,))
    runs = run_list(week, what, 0)
    made = {key: runs.at(place).run for place, (key, point) in enumerate(runs._points) if point == (1,)}
    result = made[Key(NOW, 16.0, True)].simulate()
    jobs, log = result.jobs, result.workload
    np.testing.assert_array_equal(jobs["id"], log.id)
    total = {
        what: sum(COLUMNS[f"{what} {ALL} {day}"](result) for day in range(DAYS)) for what in ("jobs", "wait", "delay")
    }
    assert total["jobs"] == len(log)
    assert total["wait"] == pytest.approx(jobs["wait"].sum() / 3600)
    assert total["delay"] == pytest.approx((jobs["finish"] - jobs["submit"] - log.runtime).sum() / 3600)
    assert made[Key(MORE, 16.0, True)].machine == week.larger
    assert isinstance(made[Key(EASY)].scheduler, fs.EasyBackfill)
    assert made[Key(NOW, 16.0)].scheduler.JobRequeue


def test_lost_work_is_in_core_seconds():
    result = SimpleNamespace(
        jobs={"lost_work": np.array([320.0, 0.0]), "checkpoint_time": np.array([0.0, 5.0]), "size": np.array([32, 8])},
        workload=SimpleNamespace(runtime=np.array([10.0, 10.0])),
    )
    assert lost(result) == pytest.approx(100 * (320 + 40) / 400)


def test_the_week_is_read_as_published(data_dir):
    if not (data_dir / "slurm" / "ub-hpc" / "week.csv.gz").is_file():
        pytest.skip("no week of UB-HPC: FAULTSIM_DATA has no slurm/ub-hpc")
    week = load(data_dir, seed=0)
    assert week.real
    assert (len(week.log), week.site.nodes, week.larger.nodes) == (19_483, 217, 225)
    assert plan(True).jobs == 2000
