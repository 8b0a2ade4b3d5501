"""Plans that could say a wrong number without a word: horizons, records that begin late, held-back cubes, notes."""

import numpy as np
import pytest

import faultsim as fs
from faultsim.planning import training
from faultsim.plot import plot_promises

DAY = 86_400.0


def long_waits(**options):
    """A slice of a whole pod whose hosts are all up for 3 % of the time."""
    rules = {"checkpointing": "periodic:1h,60", "runtime": "1d", "simulate": True}
    return fs.plan("pod:tpu-v4", [4096], mtbf="100d", downtime="8h", **rules, **options).ettr


@pytest.mark.parametrize("longer", [0.02, 20.0, 60.0])
def test_a_ratio_does_not_depend_on_how_long_failures_are_drawn(monkeypatch, longer):
    """A slice of the whole pod waits for repairs most of the time."""
    monkeypatch.setattr(training, "_LONGER", longer)
    row = long_waits()[0]
    assert 0.015 < row["low"] < row["simulated"] < 0.03 < row["high"] < 0.04
    assert row["hits"] > 100


def test_a_job_that_does_not_end_while_failures_last_has_no_ratio(monkeypatch):
    monkeypatch.setattr(training, "_LONGER", 0.02)
    monkeypatch.setattr(training, "_MOST_FAILURES", 100)
    found = long_waits()
    assert np.isnan(found["simulated"][0])
    assert any(note.startswith("not simulated in 1 of 1 rows: jobs did not end") for note in found.notes)


def test_a_slice_that_is_hardly_ever_up_is_not_simulated():
    found = fs.plan("pod:tpu-v4", [4096], mtbf="100d", downtime="24h", checkpointing="daly:60,100d", simulate=True).ettr
    assert found["renewal"][0] > 0.8
    assert np.isnan(found["simulated"][0])
    assert found.notes[-1] == "not simulated in 1 of 1 rows: less than 2 % of the time is expected"


def test_the_horizon_with_a_trace(monkeypatch):
    """The only cube works three quarters of each day, however short the first horizon is."""
    trace = fs.FailureTrace(np.arange(1, 10) * DAY, [0] * 9, DAY / 4, span=10 * DAY)
    ratios = []
    for longer in (0.05, 20.0):
        monkeypatch.setattr(training, "_LONGER", longer)
        rules = {"checkpointing": "periodic:1h,1m", "simulate": True, "runtime": "20d"}
        ratios.append(fs.plan(fs.Pod((1, 1, 1)), 64, failures=trace, **rules).ettr[0]["simulated"])
    assert ratios[0] == pytest.approx(ratios[1], abs=0.02) == pytest.approx(0.75, abs=0.03)


def test_a_record_that_begins_late_is_refused():
    times = 1.6e9 + np.arange(50) * DAY
    with pytest.raises(fs.InputError, match=r"first failure is at 1,600,000,000 s.*trace\.window\(begin, end"):
        fs.plan("pod:tpu-v4", 64, failures=fs.FailureTrace(times, np.arange(50), "1h"))
    late = fs.FailureTrace(times, np.arange(50), "1h")
    own = fs.plan("pod:tpu-v4", 64, failures=late.window(1.6e9, late.span, under_way=True))
    assert own.availability == pytest.approx(1 - 49 * 3600 / (1024 * 49 * DAY), rel=1e-6)
    assert fs.plan("pod:tpu-v4", 64, failures=late, any_rate=True).availability > own.availability
    quiet = fs.FailureTrace([3 * DAY, 8 * DAY], [0, 1], "1h", span=10 * DAY)
    assert fs.plan("pod:tpu-v4", 64, failures=quiet).availability < 1.0, "few failures may begin late by chance"


def test_cubes_held_back_take_slices_from_the_share():
    plan = fs.plan(fs.Pod(spares=32), "4x4x4", availability=0.999)
    assert plan.promises["share_97"].tolist() == [0.5]
    assert plan.promised_share("4x4x4", [0.9999, 0.999], 0.97, "ocs").tolist() == [0.5, 0.5]
    circles = [line.get_ydata()[0] for line in plot_promises(plan).lines if line.get_marker() == "o"]
    assert circles == [50.0]


@pytest.mark.parametrize(
    ("availability", "probability", "message"),
    [
        (99.9, 0.97, "availability must be above 0 and below 1"),
        ([0.9, float("nan")], 0.97, "availability must be finite"),
        (0.999, 97, r"probability must be above 0 and below 1, .* \(is that in %\?\)"),
    ],
)
def test_shares_of_no_availability(availability, probability, message):
    with pytest.raises(fs.OptionError, match=message):
        fs.plan("pod:tpu-v4", 64, availability=0.999).promised_share("4x4x4", availability, probability, "ocs")


def test_what_is_said_of_the_formulas():
    exact = "renewal: exact if failures are independent and exponential and a restart waits for no host"
    notes = fs.plan("pod:tpu-v4", [1024, 4096], mtbf="100d", downtime="4h").ettr.notes
    assert notes[1:] == ("first_order is off by more than a point in 1 of 10 rows", exact)
    rules = {"checkpointing": "daly:60,50d", "simulate": True}
    notes = fs.plan("pod:2x2x2", [512, 64], mtbf="50d", downtime="8h", **rules).ettr.notes
    assert "simulated is off renewal by more than a point in 1 of 2 rows: restarts wait for hosts" in notes
    trace = fs.synthetic.renewal_failures(1024, 100 * DAY, 100 * DAY, "4h", rng=1)
    notes = fs.plan("pod:tpu-v4", 4096, failures=trace).ettr.notes
    assert len(notes) == 2
    assert "renewal" not in notes[1]


def test_static_blocks_that_are_needed():
    """Nine cubes, one block of four."""
    notes = fs.plan("pod:1x3x3,wiring=static", "4x8x8=1", availability=0.999).spares.notes
    assert notes == ("1 of 4x8x8 with 97 %: 2 blocks are needed, 1 is there; none can be promised",)


def test_notes_of_a_trace_say_so():
    """A rack of half the pod is down for a tenth of the time: what independent hosts need is another matter."""
    trace = fs.FailureTrace(np.full(512, 40_000.0), np.arange(512), 10_000, span=100_000)
    notes = fs.plan("pod:tpu-v4", {"4x4x4": 40}, failures=trace, probabilities=[0.97]).spares.notes
    assert [note.split(":")[0] for note in notes] == ["by the trace", "independent hosts"]
    assert notes[0].endswith("at most 32 of 4x4x4 can be promised")


def test_a_drawn_chance_promises_nothing_of_others():
    found = fs.plan("pod:tpu-v4,wiring=static", {"4x4x16": 4, "8x8x8": 3}, availability=0.99).spares
    assert found["chance"][-1] < 0.5
    assert not any(note.startswith("4 of 4x4x16 and 3 of 8x8x8 with") for note in found.notes)


def test_far_too_many_slices_are_refused_at_once():
    with pytest.raises(fs.OptionError, match="at most 64 of 4x4x4 fit"):
        fs.plan("pod:tpu-v4", {"4x4x4": 10**15}, availability=0.999)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"probabilities": [0.9, "0.97"]}, "probability must be"),
        ({"probabilities": [[0.9]]}, "probability must be"),
        ({"probabilities": [0.9, 0.9000000000000001]}, "two would have columns"),
        ({"downtime": "1h", "checkpointing": fs.Periodic}, "checkpointing: expected rules such as"),
        ({"any_rate": 1}, "any_rate must be True or False"),
    ],
)
def test_what_was_a_bare_error_or_ignored(options, message):
    with pytest.raises(fs.OptionError, match=message):
        fs.plan("pod:tpu-v4", 64, **{"availability": 0.99} | options)


def test_a_slice_that_is_never_up_in_a_trace():
    trace = fs.FailureTrace([0, 0], [0, 16], [100, 100], span=100)
    found = fs.plan(fs.Pod((1, 1, 2)), 64, failures=trace, simulate=True).ettr
    assert np.isnan(found["renewal"]).all()
    assert np.isnan(found["simulated"]).all()


def test_spares_of_more_than_ten_pods_are_printed_as_such():
    found = fs.plan("pod:4x4x9,wiring=static", {"16x16x24": 1}, availability=0.995, probabilities=[0.9]).spares
    assert found["spare_90"][0] > 100_000
    assert "> 1,440" in str(found)


@pytest.mark.parametrize("said", [{"cost": "5m"}, {"interval": "2h"}, {"restart_cost": 0}, {"runtime": "1d"}], ids=str)
def test_what_no_table_takes_is_refused(said):
    """An availability alone does not say how often hosts fail, so that there are no ratios."""
    with pytest.raises(fs.OptionError, match=f"{next(iter(said))}= needs to know how often hosts fail"):
        fs.plan("pod:tpu-v4", "4x4x8", availability=0.999, **said)
    assert len(fs.plan("pod:tpu-v4", "4x4x8", availability=0.999, downtime="4h", **said).ettr) == 5


def test_rules_have_their_own_costs():
    with pytest.raises(fs.OptionError, match="cost= is for the usual rules"):
        fs.plan("pod:tpu-v4", "4x4x8", mtbf="100d", downtime="4h", checkpointing="young:60,100d", cost="2m")
