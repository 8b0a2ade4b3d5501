"""Durations: seconds everywhere, with units in every text, and Python's and NumPy's timedelta."""

import warnings
from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest

import faultsim as fs
from faultsim import checks
from faultsim.errors import InputError, OptionError
from faultsim.policies import from_lowered, parse_policy
from faultsim.policies.registry import POLICIES
from faultsim.sweep.labels import word
from helpers import command
from helpers.refusals import refused

LOG = fs.Workload(submit=[0, 1, 2], runtime=[1000, 1000, 500], size=[2, 4, 2])
HOUR = [3600, 3600.0, "1h", "60m", "3600s", " 1 h ", "3.6e3s", timedelta(hours=1), np.timedelta64(1, "h")]
HOUR += [np.timedelta64(3_600_000_000_000, "ns"), np.array(3600, "m8[s]"), np.float32(3600)]


@pytest.mark.parametrize("hour", HOUR, ids=repr)
def test_an_hour(hour):
    assert checks.number("x", hour, unit="s") == 3600.0
    assert fs.Requeue(restart_cost=hour) == fs.Requeue(restart_cost=3600)


def test_every_duration_of_every_policy():
    """By the units of the registry."""
    seen = 0
    for row in POLICIES:
        names = [parameter.name for parameter in row.parameters if parameter.unit == "s"]
        if not names:
            continue
        plain = parse_policy(row.kind, row.example or row.name)
        for name in names:
            rates = {"any_rate": True} if hasattr(plain, "any_rate") else {}
            made = [replace(plain, **rates, **{name: hour}) for hour in HOUR]
            assert all(policy == made[0] for policy in made), (row.name, name)
            assert parse_policy(row.kind, word(made[0])) == made[0]
            seen += 1
    assert seen > 20


def without_unit(value):
    """A duration of NumPy that says no unit, which NumPy 2.5 deprecates."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return np.array(value, "m8")[()]


def test_what_is_no_duration():
    said = r"interval of checkpoints must be a number in seconds, got '2 months' \(as text with its unit: '90s', "
    refused(OptionError, said, fs.Periodic, "2 months", 1)
    for value in ("7200", "h", "", "-", None, True, np.timedelta64(1, "M"), without_unit(3), [1]):
        refused(OptionError, "interval of checkpoints must be a number in seconds", fs.Periodic, value, 1)
    refused(OptionError, "interval of checkpoints must be above 0 seconds, got '-1h'", fs.Periodic, "-1h", 1)
    refused(OptionError, "is missing, got np.timedelta64", fs.Periodic, np.timedelta64("NaT", "s"), 1)
    for value in (timedelta(1), np.timedelta64(1, "s"), "1s"):  # float(np.timedelta64(1, "h")) is 1.0
        refused(OptionError, "probability of Confidence must be a number, got", fs.Confidence, value)


def test_in_python():
    day = timedelta(days=1)
    synthetic = fs.synthetic
    drawn = synthetic.exponential_failures(8, 10 * day, "5d", downtime=timedelta(minutes=2), rng=1)
    assert drawn == synthetic.exponential_failures(8, 864_000, 432_000, downtime=120, rng=1)
    drawn = synthetic.renewal_failures(8, "10d", "5d", "1h", rng=1)
    assert drawn == synthetic.renewal_failures(8, 864_000, 432_000, 3600, rng=1)
    assert drawn == synthetic.renewal_failures(8, "10d", "5d", np.timedelta64(1, "h"), rng=1)
    drawn = synthetic.weibull_failures(8, "10d", 0.8, "5h", downtime=synthetic.LognormalTimes("6h", "12h"), rng=1)
    times = synthetic.LognormalTimes(6 * 3600, 12 * 3600)
    assert drawn == synthetic.weibull_failures(8, 864_000, 0.8, 18_000, downtime=times, rng=1)
    assert synthetic.ExponentialTimes("1h").mean == 3600
    assert synthetic.WeibullTimes(1, "1h").scale == 3600
    assert drawn.window(day, "3d") == drawn.window(86_400, 3 * 86_400)
    assert drawn.with_span("20d").span == 20 * 86_400
    assert drawn.summary(burst_gap="5m") == drawn.summary(burst_gap=300)
    assert fs.Run(LOG, fs.Cluster(4), start_delay="1m").start_delay == 60
    sim = fs.Simulation(LOG, fs.Cluster(4))
    sim.run(until=timedelta(minutes=5))
    assert sim.now == 2.0
    assert sim.advance("20m").now == 1200
    drawn = synthetic.exponential(9, rng=1, mean_gap="1m", mean_runtime=np.timedelta64(1, "h"))
    assert drawn == synthetic.exponential(9, rng=1, mean_gap=60, mean_runtime=3600)
    live = fs.Simulation(LOG, fs.Cluster(4), live=5)
    live.advance("500s")
    live.extend(0, "1h")
    live.fail(3, timedelta(minutes=1))
    live.run()
    assert live.result().jobs["finish"][0] == 4600
    assert fs.FailureTrace([5], [0], "2h").downtime.tolist() == [7200]


def test_columns():
    """NumPy counts nanoseconds where pandas made the column."""
    time = np.array([1, 2], "m8[h]")
    for given in (time, time.astype("m8[ns]"), [timedelta(hours=1), timedelta(hours=2)]):
        assert fs.FailureTrace(given, [0, 1], given).time.tolist() == [3600, 7200]
        assert fs.Workload(submit=given, runtime=given, size=[1, 1]).runtime.tolist() == [3600, 7200]
    for bad in (without_unit([1, 2]), np.array([1, 2], "m8[M]")):
        refused(InputError, "time, row 0: .* is not a number", fs.FailureTrace, bad, [0, 1])
    mixed = ["1h", timedelta(minutes=2), np.timedelta64(3, "m"), 4]
    assert fs.Workload([0] * 4, mixed, [1] * 4).runtime.tolist() == [3600, 120, 180, 4]
    assert fs.Workflow([mixed, mixed]).cost.tolist() == [[3600, 120, 180, 4]] * 2
    assert fs.PredictionTrace(np.array(["1h", "2m"]), [0, 1]).time.tolist() == [120, 3600]
    refused(InputError, "cost, job 1, node 0: '2 moons' is not a number", fs.Workflow, [["1h"], ["2 moons"]])
    refused(InputError, "node, row 0: .* is not a number", fs.FailureTrace, [0, 1], time)


@pytest.mark.parametrize("hour", [np.timedelta64(1, "h"), "1h", timedelta(hours=1)])
def test_transfers(hour):
    """NumPy takes `timedelta64(1, "h")` for 1."""
    edges = [(0, 1, hour), (0, 2, 5)]
    assert fs.Workflow([1, 2, 3], edges).transfer.tolist() == [3600, 5]
    assert fs.Workflow([1, 2], [(0, 1)]).with_transfer([hour]).transfer.tolist() == [3600]
    refused(InputError, "edges: expected numbers", fs.Workflow, [1, 2, 3], edges, transfer_unit="bytes")
    refused(InputError, "transfer: expected numbers", fs.Workflow([1, 2], [(0, 1)]).with_transfer, [hour], "bytes")
    refused(InputError, "edges: expected numbers", fs.Workflow, [1, 2], [(0, hour)])


@pytest.mark.parametrize("half", [30, "30s", timedelta(seconds=30), np.timedelta64(30, "s")])
def test_policies_in_python(half):
    class Planned(fs.Checkpointing):
        cost = half

        def intervals(self, jobs):
            return [half] * len(jobs)

    class Asked(fs.Checkpointing):
        cost = interval = half

        def wants(self, decision):
            return True

    class Again(fs.Recovery):
        restart_cost = half

        def react(self, decision):
            decision.requeue(decision.job)

    class Seer(fs.Predictor):
        def predict(self, trace, machine, rng):
            return {"begin": [0], "end": [half], "node": [0]}

    log = fs.Workload([0], [100], [2])
    paused = [fs.simulate(log, fs.Cluster(2), checkpointing=own()) for own in (Planned, Asked)]
    assert [float(each.jobs["checkpoint_time"][0]) for each in paused] == [60, 60]
    failures = fs.FailureTrace([50], [0], [5], span=200)
    assert fs.simulate(log, fs.Cluster(2), failures=failures, recovery=Again()).jobs["finish"][0] == 185
    seen = fs.simulate(log, fs.Cluster(4), failures=failures, predictor=Seer(), placement="safest")
    assert seen.jobs["restarts"][0] == 0


def test_drawn_durations():
    def draw(n, rng):
        return np.full(n, np.timedelta64(1, "h"))

    assert set(fs.synthetic.exponential_failures(8, "10d", "1d", downtime=draw, rng=1).downtime.tolist()) == {3600.0}


def test_in_text():
    assert parse_policy("checkpointing", "periodic:2h,5m") == fs.Periodic(7200, 300)
    assert parse_policy("checkpointing", "young:cost=0.5m,mtbf=56d") == fs.Young(30, 56 * 86_400)
    assert parse_policy("rescheduling", "fars:5m,sul").interval == 300
    refused(OptionError, "unknown option '2h' of predictor 'confidence'", parse_policy, "predictor", "confidence:2h")
    said = "probability of Confidence must be a number, got '2h'"
    refused(OptionError, said, parse_policy, "predictor", "confidence:probability=2h")


def test_in_sweeps(tmp_path):
    path = tmp_path / "sweep.toml"
    path.write_text("""
[base]
log = { synthetic = "nasa_like", jobs = 50 }
machine = "cluster:128"
failures = { synthetic = "renewal", mtbf = "2d", downtime = "1h" }
checkpointing = "periodic:2h,5m"
start_delay = "1m"
[grid]
checkpointing.interval = ["1h", 7200]
failure_span = ["3d"]
""")
    table = fs.read_sweep(path).run()
    assert table["checkpointing.interval"].tolist() == ["1h", 7200]
    base = {
        "log": lambda rng: fs.synthetic.nasa_like(50, rng=rng), "machine": fs.Cluster(128), "start_delay": 60,
        "checkpointing": fs.Periodic(7200, 300), "failure_span": timedelta(days=3),
        "failures": lambda rng, machine, log: fs.synthetic.renewal_failures(
            128, float(log.submit[-1] + log.runtime.max()), 172_800, 3600, rng=rng),
    }  # fmt: skip
    same = fs.Sweep(base, {"checkpointing.interval": [timedelta(hours=1), np.timedelta64(2, "h")]}).run()
    assert same["mean_wait"].tolist() == table["mean_wait"].tolist()
    assert same["failures"].tolist() == table["failures"].tolist()


# -- what was in other units


def test_hours_of_buckets_go_on_with_a_warning():
    for old in (lambda: fs.Buckets(4), lambda: fs.Buckets(hours=4), lambda: fs.PredictedWindows(4).bucket):
        with pytest.warns(DeprecationWarning, match=r"is in hours, and all else in seconds: write .*\('4h'\)") as said:
            assert old() == fs.Buckets("4h")
        assert said[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for length in ("4h", 14_400, timedelta(hours=4)):
            assert fs.Buckets(length) == fs.Buckets(length=14_400) == fs.PredictedWindows(length).bucket
        short = fs.Buckets("10s")
        assert short.length == 10
        assert eval(repr(short), {"Buckets": fs.Buckets}) == short
        assert parse_policy("predictor", word(short)) == short
        windows = fs.PredictedWindows("10s")
        assert parse_policy("checkpointing", word(windows)) == windows
        for policy in (short, windows, fs.PredictedWindows("4h", "big")):
            assert from_lowered(policy.kind, policy.lower()) == policy
        # As saved before.
        assert from_lowered("predictor", {"name": "buckets", "hours": 4.0}) == fs.Buckets("4h")
        lowered = {**fs.PredictedWindows("4h").lower(), "bucket": 4.0}
        assert from_lowered("checkpointing", lowered) == fs.PredictedWindows("4h")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--failures", "synthetic:exponential,mtbf=56"], "argument --mtbf: 56 was in days before: write 56d, or 56s"),
        (["--failures", "synthetic:renewal,mtbf=x"], "'x' is no duration: write 90 or 90s, 5m, 2h, 56d, 1w"),
        (["--predictor", "buckets:4"], "was in hours before: write length=4h, or length=4s"),
        (["--checkpointing", "predicted-windows:bucket=4"], "was in hours before: write bucket=4h, or bucket=4s"),
        (["--start-delay", "1 y"], "argument --start-delay: '1 y' is no duration"),
    ],
)
def test_what_could_be_mistaken_is_refused(capsys, words, said):
    assert said in command.refused(capsys, "run", *words)


def test_on_the_command_line(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    made = command.run(
        capsys, "failures", "generate", "renewal", "x.csv", "--nodes", 8, "--mtbf", "5d", "--downtime", "1h"
    )
    assert made[0] == 0
    expected = fs.synthetic.renewal_failures(8, 62 * 86_400, 5 * 86_400, 3600, rng=0)
    assert fs.read_failures("x.csv") == expected
    words = ["failures", "convert", "x.csv", "y.csv", "--from", "10d", "--to", "20d", "--span", "1w"]
    assert command.run(capsys, *words)[0] == 0
    assert fs.read_failures("y.csv") == expected.window("10d", "20d").with_span("1w")
