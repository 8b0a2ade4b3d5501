"""How jobs, users and sizes differ: metrics, and tables by group, against pandas and plain loops."""

import math

import numpy as np
import pytest
from hypothesis import given

import faultsim as fs
from faultsim.results.groups import OF_JOBS
from faultsim.results.metrics import METRICS, size_class
from faultsim.sweep.row_schema import COLUMNS
from helpers.refusals import refused
from helpers.results import random_log
from helpers.runs import runs

SPREAD = [name for name, row in METRICS.items() if row.spread]


def percentile(values, p):
    """By the definition: linear between the two nearest of the sorted values."""
    ordered = sorted(values)
    at = (len(ordered) - 1) * p / 100
    low = math.floor(at)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (at - low) * (ordered[high] - ordered[low])


def worst(labels, values):
    groups = {}
    for label, value in zip(labels, values, strict=True):
        groups.setdefault(label, []).append(value)
    return max((sum(group) / len(group) for group in groups.values()), default=math.nan)


def plainly(result):
    jobs = {
        name: result.jobs[name].tolist() for name in ("wait", "response", "bounded_slowdown", "restarts", "lost_work")
    }
    found = {"max_restarts": max(jobs["restarts"]), "max_lost_work": max(jobs["lost_work"])}
    for name in ("wait", "response", "bounded_slowdown"):
        found |= {f"median_{name}": percentile(jobs[name], 50), f"p95_{name}": percentile(jobs[name], 95)}
        found[f"max_{name}"] = max(jobs[name])
    classes = [1 << (size - 1).bit_length() for size in result.jobs["size"].tolist()]
    known = [(user, row) for row, user in enumerate(result.workload.user.tolist()) if user >= 0]
    for short, name in (("wait", "wait"), ("slowdown", "bounded_slowdown")):
        found[f"worst_size_{short}"] = worst(classes, jobs[name])
        found[f"worst_user_{short}"] = worst([user for user, _ in known], [jobs[name][row] for _, row in known])
    return found


def test_a_user_may_have_the_number_0():
    log = fs.Workload(submit=[0, 0, 0], runtime=[50, 10, 10], size=[2, 2, 2], user=[-1, 0, 0])
    metrics = fs.simulate(log, fs.Cluster(2)).metrics
    assert metrics["worst_user_wait"] == (50 + 60) / 2
    assert metrics["worst_user_slowdown"] == (60 / 10 + 70 / 10) / 2


@given(runs())
def test_every_row_against_plain_loops(run):
    result = run.simulate()
    wanted = plainly(result)
    assert set(wanted) == set(SPREAD)
    for name, value in wanted.items():
        assert result.metrics[name] == pytest.approx(value, rel=1e-12, abs=1e-9, nan_ok=True), name


@pytest.fixture(scope="module")
def result():
    rng = np.random.default_rng(3)
    log = random_log(300, 32, seed=3)
    log = fs.Workload(**{**dict(log), "user": rng.integers(-1, 9, 300)}, columns={"queue": rng.choice(["a", "b"], 300)})
    failures = fs.synthetic.exponential_failures(
        32, float(log.submit[-1]) + 9000, mtbf=20_000, downtime=60, rng=1, any_rate=True
    )
    return fs.simulate(log, fs.Cluster(32), failures=failures)


@pytest.mark.parametrize("column", ["user", "size_class", "queue", "size", "backfilled", "labels"])
def test_groups_against_pandas(result, column):
    pytest.importorskip("pandas")
    frame = result.to_pandas().assign(user=result.workload.user)
    frame["size_class"] = [1 << (size - 1).bit_length() for size in frame["size"]]
    frame["labels"] = np.arange(len(frame)) % 7
    table = result.by(frame["labels"].to_numpy() if column == "labels" else column)
    name = "group" if column == "labels" else column
    groups = frame.groupby(column)
    assert table[name].tolist() == list(groups.groups)
    assert table["n_jobs"].tolist() == groups.size().tolist()
    np.testing.assert_allclose(table["mean_wait"], groups["wait"].mean())
    for metric, of in (("wait", "wait"), ("response", "response"), ("bounded_slowdown", "bounded_slowdown")):
        np.testing.assert_allclose(table[f"median_{metric}"], groups[of].median())
        np.testing.assert_allclose(table[f"p95_{metric}"], groups[of].quantile(0.95))
        np.testing.assert_allclose(table[f"max_{metric}"], groups[of].max())
    np.testing.assert_array_equal(table["failed_jobs"], groups["restarts"].apply(lambda restarts: (restarts > 0).sum()))
    np.testing.assert_array_equal(table["max_restarts"], groups["restarts"].max())


def test_groups_take_the_metrics_that_are_asked_for(result):
    table = result.by("user", ["p95_wait", "n_jobs"])
    assert list(table) == ["user", "p95_wait", "n_jobs"]
    assert repr(table) == "<jobs by user: 10 rows; user, p95_wait, n_jobs>"
    calm = fs.simulate(result.workload, fs.Cluster(32))
    assert {"backfilled", "metric:backfilled"} <= set(result.by("backfilled"))
    assert {"failed_jobs", "max_restarts"} & set(calm.by("user")) == set()
    refused(fs.OptionError, "unknown metric of jobs 'mean_weight'.*did you mean 'mean_wait'", result.by, "user",
            ["mean_weight"])  # fmt: skip
    refused(fs.OptionError, "unknown metric of jobs 'makespan'", result.by, "user", ["makespan"])
    refused(fs.OptionError, "unknown column 'users'.*did you mean 'user'", result.by, "users")
    refused(fs.OptionError, "expected the name of a column or 300 labels, one per job, got shape", result.by, [1, 2])


def test_classes_of_sizes():
    sizes = np.array([*range(1, 1026), 2**30, 2**30 + 1, 2**31 - 1])
    assert size_class(sizes).tolist() == [1 << (size - 1).bit_length() for size in sizes.tolist()]


def test_who_sees_them(result):
    assert not [name for name in SPREAD if f"\n{name} " in str(result)]
    assert set(SPREAD) <= set(result.metrics)
    assert not set(SPREAD) & set(COLUMNS)
    assert set(SPREAD) <= set(OF_JOBS)
    for name in SPREAD:
        if METRICS[name].zero_without:
            assert fs.simulate(result.workload, fs.Cluster(32)).metrics[name] == 0
