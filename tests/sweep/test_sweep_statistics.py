"""Intervals and paired tests against SciPy, and what the notes say."""

import numpy as np
import pytest
from scipy import stats

import faultsim as fs
from faultsim.sweep.hypothesis_tests import POWER, holm, needed, student, student_p, wilcoxon_p
from faultsim.sweep.statistics import compare, summary
from helpers.refusals import refused
from helpers.sweep_tables import table


@pytest.mark.parametrize("n", [2, 3, 8, 30])
def test_tests_are_those_of_scipy(n):
    rng = np.random.default_rng(n)
    d = rng.normal(0.4, 1.0, n)
    assert student_p(d) == pytest.approx(stats.ttest_1samp(d, 0.0).pvalue, rel=1e-10)
    assert wilcoxon_p(d) == pytest.approx(stats.wilcoxon(d, method="exact").pvalue, rel=1e-10)
    assert student(n - 1, 0.975) == pytest.approx(stats.t.ppf(0.975, n - 1), rel=1e-10)


def test_wilcoxon_with_ties_and_many_pairs():
    d = np.array([1.0, -1.0, 2.0, 2.0, 3.0, 0.0])
    # All 32 signs of the ranks 1.5 1.5 3.5 3.5 5, counted out: a sum of at most 1.5 comes up three times a side.
    assert wilcoxon_p(d) == 2 * 3 / 32
    rng = np.random.default_rng(0)
    many = rng.normal(0.2, 1.0, 80)
    expected = stats.wilcoxon(many, method="asymptotic", correction=False).pvalue
    assert wilcoxon_p(many) == pytest.approx(expected, rel=1e-6)
    assert wilcoxon_p(np.zeros(4)) == 1.0


def test_holm_is_the_textbook_one():
    np.testing.assert_allclose(holm(np.array([0.01, 0.02, 0.03, 0.04])), [0.04, 0.06, 0.06, 0.06])
    assert np.isnan(holm(np.array([np.nan]))).all()


def test_needed_replicates_show_the_difference_as_often_as_said():
    n = int(needed(0.5, 1.0, 0.975))
    rng = np.random.default_rng(1)
    shown = np.mean([student_p(rng.normal(0.5, 1.0, n)) < 0.05 for _ in range(4000)])
    assert abs(shown - POWER) < 0.04
    assert needed(1e-9, 1.0, 0.975) > 1e9
    assert np.isnan(needed(0.0, 1.0, 0.975))


def test_a_summary_is_a_mean_with_its_interval():
    rng = np.random.default_rng(0)
    values = rng.normal(10, 2, (2, 6))
    found = summary(table(values), "mean_wait", confidence=0.9)
    for row in range(2):
        low, high = stats.t.interval(0.9, 5, values[row].mean(), stats.sem(values[row]))
        assert (found["low"][row], found["high"][row]) == pytest.approx((low, high))
    assert found["n"].tolist() == [6, 6]
    assert found.notes == ()


def test_intervals_cover_the_truth_as_often_as_they_say():
    rng = np.random.default_rng(3)
    hits = 0
    for _ in range(1000):
        found = summary(table(rng.normal(5, 1, (1, 5))), "mean_wait")
        hits += found["low"][0] <= 5 <= found["high"][0]
    assert 930 <= hits <= 970


def test_pairs_cancel_what_replicates_have_in_common():
    rng = np.random.default_rng(0)
    common = rng.normal(100, 30, 8)
    found = compare(table([common, common - 1 + rng.normal(0, 0.2, 8)]), "mean_wait", "policy", "a")
    assert found["significant"].tolist() == [True]
    assert found["correlation"][0] > 0.99
    assert found["low"][0] < found["difference"][0] < found["high"][0] < 0
    assert found["relative"][0] == found["difference"][0] / found["baseline"][0]
    assert not found.notes


def test_too_few_replicates_are_said():
    rng = np.random.default_rng(2)
    a = rng.normal(100, 10, 4)
    b = a + np.array([10.0, -6.0, 8.0, -4.0])
    found = compare(table([a, b]), "mean_wait", "policy", "a")
    assert not found["significant"][0]
    assert any("policy=b: 4 replicates do not show a difference of +" in note for note in found.notes)
    assert any("would be needed" in note for note in found.notes)
    assert any("p_wilcoxon of 4 pairs cannot be below 0.125" in note for note in found.notes)
    assert "note: policy=b" in str(found)


def test_one_run_has_no_interval():
    runs = ["x", "x", "x", "y", "y", "y"]
    same = table([[1, 1, 1], [2, 2, 2]], runs)
    found = summary(same, "mean_wait")
    assert found["n"].tolist() == [1, 1]
    assert np.isnan(found["half"]).all()
    assert "they have no random inputs" in found.notes[0]
    test = compare(same, "mean_wait", "policy", "a")
    assert test["n"].tolist() == [1]
    assert np.isnan(test["p"][0])
    assert not test["significant"][0]


def test_a_baseline_of_one_run_pairs_with_every_replicate():
    found = compare(table([[1, 1, 1], [2, 3, 4]], ["x", "x", "x", "p", "q", "r"]), "mean_wait", "policy", "a")
    assert found["n"].tolist() == [3]
    assert found["difference"].tolist() == [2.0]


def test_failed_runs_are_left_out():
    found = compare(table([[1, 2, np.nan], [2, 3, 9]]), "mean_wait", "policy", "a")
    assert found["n"].tolist() == [2]
    assert "1 of 6 rows have no mean_wait" in summary(table([[1, 2, np.nan], [2, 3, 9]]), "mean_wait").notes[0]


def test_none_among_numbers_is_a_value_like_others():
    base = {"log": lambda rng: fs.synthetic.nasa_like(60, rng=rng), "machine": fs.Cluster(128)}
    rows = fs.Sweep(base, {"load": [None, 0.7, 0.9]}, replicates=3).run()
    assert rows.select(load=None).n_rows == rows.select(load=float("nan")).n_rows == 3
    for none in (None, float("nan")):
        found = rows.compare("mean_wait", "load", none)
        assert found["load"].tolist() == [0.7, 0.9]
        assert found["n"].tolist() == [3, 3]
    found = rows.compare("mean_wait", "load", 0.7)
    np.testing.assert_array_equal(found["load"], [np.nan, 0.9])
    expected = rows.select(load=None)["mean_wait"] - rows.select(load=0.7)["mean_wait"]
    assert found["difference"][0] == pytest.approx(expected.mean())
    for wrong in (lambda: rows.select(load=3), lambda: rows.compare("mean_wait", "load", 3)):
        refused(fs.OptionError, r"axis load has no value 3; it has: None, 0\.7, 0\.9$", wrong)


def test_an_axis_of_seeds_stays_one_where_replicates_have_seeds_of_their_own():
    trace = fs.FailureTrace(np.arange(0.0, 9000.0, 300.0), np.arange(30) % 16, 5)
    base = {
        "log": fs.synthetic.nasa_like(60, rng=0),
        "machine": fs.Cluster(128),
        "failures": trace,
        "predictor": fs.IntervalPredictor(0.5, 0.5, 300),
    }
    table = fs.Sweep(base, {"seed": [0, 1]}, replicates=2).run()
    assert table["seed"].tolist() == [0, 0, 1, 1]
    assert len(set(table["run:seed"].tolist())) == 4
    assert table.summary("mean_wait")["n"].tolist() == [2, 2]


def test_cells_in_which_every_run_failed_are_not_said_to_be_single_runs():
    nothing = table([[np.nan, np.nan], [2, 3]])
    assert summary(nothing, "mean_wait").notes == ("2 of 4 rows have no mean_wait and are excluded",)
    test = compare(nothing, "mean_wait", "policy", "a")
    assert test["n"].tolist() == [0]
    assert test.notes == ("1 of 1 rows have no replicate in which both runs succeeded",)


def test_wrong_names_are_refused():
    one = table([[1, 2], [2, 3]])
    refused(fs.OptionError, r"no metric 'mean_wat' \(did you mean 'mean_wait'", one.summary, "mean_wat")
    refused(fs.OptionError, "no axis 'polic'", one.compare, "mean_wait", "polic", "a")
    refused(fs.OptionError, "has no value 'z'; it has: 'a', 'b'", one.compare, "mean_wait", "policy", "z")


def test_a_sweep_compares_over_its_other_axes():
    base = {"log": lambda rng: fs.synthetic.nasa_like(80, rng=rng), "machine": fs.Cluster(128)}
    grid = {"load": [0.7, 0.9], "scheduler": [fs.Fcfs(), fs.EasyBackfill(), fs.ConservativeBackfill()]}
    found = fs.Sweep(base, grid, replicates=4).run().compare("mean_wait", "scheduler", "fcfs")
    assert found["load"].tolist() == [0.7, 0.7, 0.9, 0.9]
    assert found["scheduler"].tolist() == ["easy", "conservative"] * 2
    assert found["n"].tolist() == [4] * 4
