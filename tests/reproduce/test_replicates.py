"""Means over replicates and their confidence intervals."""

import numpy as np
import pytest

from faultsim.sweep.jackknife import half_width, jackknife


def test_intervals_of_paired_ratios_leave_out_what_both_share():
    rng = np.random.default_rng(1)
    common = rng.lognormal(size=(1, 12))
    ratio = jackknife(lambda a, b: float(a.mean() / b.mean()), 3 * common, common)
    assert ratio.value == pytest.approx(3)
    assert ratio.half == pytest.approx(0, abs=1e-12)
    assert half_width(common)[0] > 0.1


def test_one_replicate_has_no_interval():
    single = jackknife(lambda a: float(a.mean()), np.array([[2.0]]))
    assert single.value == 2
    assert np.isnan(single.half)
    assert single.percent() == "+200 %"
    assert np.isnan(half_width(np.array([[2.0]]))).all()


def test_intervals_cover_the_truth_about_as_often_as_they_say():
    rng = np.random.default_rng(2)
    inside = 0
    for _ in range(400):
        found = jackknife(lambda a: float(a.mean()), rng.normal(5, 2, size=(1, 8)))
        inside += found.low <= 5 <= found.high
    assert 0.92 <= inside / 400 <= 0.98
