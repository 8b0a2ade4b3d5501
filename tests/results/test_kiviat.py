"""Kiviat graphs against polygons computed otherwise, their edges, and the picture."""

import itertools
import math
from operator import call

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import faultsim as fs
from faultsim.errors import OptionError
from faultsim.plot import plot_kiviat
from faultsim.results.kiviat import AXES, kiviat_area, kiviat_radii, kiviat_values
from helpers.refusals import refusals

NAMES = [axis.metric for axis in AXES]
LOG = fs.Workload(submit=[0, 1, 2], runtime=[10, 10, 5], size=[2, 4, 2])
FAILURES = fs.FailureTrace([3, 15], [0, 1], [5, 0], span=60)


def metrics(response=100.0, utilization=0.5, throughput=0.1, loss=1.0, rate=1.0, slowdown=1.0):
    return dict(zip(NAMES, (response, utilization, throughput, loss, rate, slowdown), strict=True))


METHODS = st.builds(
    metrics,
    st.floats(1, 1e6), st.floats(0, 1), st.floats(1e-6, 10), st.floats(0, 1e9), st.floats(0, 1), st.floats(0, 1e3),
)  # fmt: skip


def shoelace(radii):
    """Area by the shoelace formula, on corners that are 60 degrees apart."""
    angles = 2 * math.pi * np.arange(6) / 6 + 0.3
    x, y = np.cos(angles) * radii, np.sin(angles) * radii
    return abs(float(x @ np.roll(y, 1) - y @ np.roll(x, 1))) / 2


def table(methods):
    """Less is better, each column from 0 to its largest value; a column of zeros stays."""
    raw = np.array([
        [m["mean_response"], 1 - m["utilization"], 1 / m["throughput"], *(m[name] for name in NAMES[3:])]
        for m in methods
    ])  # fmt: skip
    top = raw.max(axis=0)
    return raw / np.where(top > 0, top, 1)


@given(st.lists(st.floats(0, 1), min_size=6, max_size=6))
def test_area_is_that_of_the_polygon(radii):
    assert kiviat_area(radii) == pytest.approx(shoelace(np.array(radii)), rel=1e-12, abs=1e-300)


@given(st.lists(METHODS, min_size=2, max_size=5))
def test_gain_and_its_spread_by_polygons(methods):
    radii = table(methods)
    areas = np.array([[shoelace(row[list(order)]) for row in radii] for order in itertools.permutations(range(6))])
    got = fs.kiviat_gain(methods[0], methods[1], among=methods[2:])
    if areas[:, 1].min() < 1e-9:
        return  # next to nothing in some order: see the test of areas of 0
    gains = 1 - areas[:, 0] / areas[:, 1]
    assert got.gain == pytest.approx(gains[0], rel=1e-9, abs=1e-9)
    assert (got.lowest, got.highest) == pytest.approx((gains.min(), gains.max()), rel=1e-9, abs=1e-9)
    assert got.lowest <= got.gain <= got.highest
    assert list(kiviat_radii({str(i): m for i, m in enumerate(methods)}).values()) == pytest.approx(radii, abs=1e-9)


def test_by_hand():
    # Twice as good on every axis: half the radii, a quarter of the area, in whatever order.
    better, worse = metrics(50, 0.75, 0.2, 0.5, 0.5, 0.5), metrics()
    assert fs.kiviat_gain(better, worse) == pytest.approx((0.75, 0.75, 0.75))
    assert fs.kiviat_gain(worse, better) == pytest.approx((-3, -3, -3))
    assert fs.kiviat_gain(worse, worse) == (0, 0, 0)
    # Half the loss only: 2 of the 6 products are halved, wherever the axis is.
    assert fs.kiviat_gain(metrics(loss=0.5), worse) == pytest.approx((1 / 6,) * 3)
    # Two axes halved: neighbours (two products of 1/2, one of 1/4), or not (four of 1/2).
    assert fs.kiviat_gain(metrics(loss=0.5, rate=0.5), worse) == pytest.approx((1.75 / 6, 1.75 / 6, 2 / 6))
    # A third method with ten times the loss makes that axis matter less: it has 0.1 and 0.05 then.
    gain = fs.kiviat_gain(metrics(loss=0.5), worse, among=[metrics(loss=10)]).gain
    assert gain == pytest.approx((2 * 0.1 - 2 * 0.05) / (4 + 2 * 0.1))


def test_where_nobody_failed():
    # Three axes without a value: what is left is the product of Resp and 1-Util, and that of 1-Util and MTBC.
    ours, theirs = (metrics(response, 0.5, 0.1, 0, 0, 0) for response in (50, 100))
    assert fs.kiviat_gain(ours, theirs).gain == pytest.approx(1 - 1.5 / 2)
    assert kiviat_radii({"a": ours})["a"] == (1, 1, 1, 0, 0, 0)
    # Somebody else failed: then they are zero on an axis that has a rim.
    assert fs.kiviat_gain(ours, theirs, among=[metrics()]).gain == pytest.approx(1 - 1.5 / 2)


def test_areas_of_zero():
    none, one = metrics(100, 1, 0.1, 0, 0, 0), metrics(100, 0.5, 0.1, 0, 0, 0)
    assert fs.kiviat_gain(none, none).gain == 0
    assert fs.kiviat_gain(none, one).gain == 1
    assert fs.kiviat_gain(one, none).gain == -math.inf


def test_results_and_mappings_are_the_same():
    results = [fs.simulate(LOG, fs.Cluster(4), failures=FAILURES, **more) for more in ({}, {"scheduler": fs.Fcfs()})]
    by_name = [dict(result.metrics) for result in results]
    assert fs.kiviat_gain(*results) == fs.kiviat_gain(*by_name) == fs.kiviat_gain(results[0], by_name[1])
    assert fs.kiviat_gain(*results) == fs.kiviat_gain(*results, among=results)
    values = kiviat_values(results[0])
    assert values[2] == pytest.approx(results[0].metrics["makespan"] / 3)
    assert values[1] == pytest.approx(1 - results[0].metrics["utilization"])
    assert values[3] > 0
    assert kiviat_values(metrics(utilization=1 + 1e-12))[1] == 0


test_what_is_refused = refusals(
    OptionError,
    call,
    (lambda: fs.kiviat_gain({}, metrics()), "method has no mean_response, utilization, .*; a Kiviat graph needs"),
    (lambda: fs.kiviat_gain(metrics(), 3), "baseline must be a Result, or metrics by name .* got 3"),
    (lambda: fs.kiviat_gain(metrics(), metrics(), among=metrics()), "among must be a list of results"),
    (lambda: fs.kiviat_gain(metrics(), metrics(), among=3), "among must be a list of results .* got 3"),
    (
        lambda: fs.kiviat_gain(metrics(), metrics(), among=[metrics(loss=-1)]),
        r"service_unit_loss of among\[0\] must be at least 0, got -1",
    ),
    (lambda: fs.kiviat_gain(metrics(), metrics(math.nan)), "mean_response of baseline must be at least 0, got nan"),
    (lambda: fs.kiviat_gain(metrics(utilization=70.0), metrics()), "utilization must be a fraction, .* got 70"),
    (lambda: fs.kiviat_gain(metrics(throughput=0), metrics()), "throughput must be above 0 jobs per second, got 0"),
    (lambda: kiviat_area([1, 2]), "a Kiviat graph has 6 radii, got 2"),
    (lambda: plot_kiviat([metrics()]), r"plot_kiviat takes a mapping of labels to Results .*; got \[\{'mean_response'"),
    (lambda: plot_kiviat(metrics()), "'mean_response' must be a Result, or metrics by name .*, got 100"),
    (lambda: plot_kiviat({}), "a Kiviat graph needs at least one"),
    (lambda: plot_kiviat({"EASY": metrics()}, baseline="easy"), r"unknown baseline 'easy' \(did you mean 'EASY'"),
)


def test_the_picture_shows_the_polygons():
    methods = {"EASY": metrics(), "moved": metrics(80, 0.6, 0.1, 0.2, 0.5, 0)}
    ax = plot_kiviat(methods, baseline="EASY", title="Two")
    lines = [line for line in ax.lines if not line.get_label().startswith("_")]
    for line, radii in zip(lines, kiviat_radii(methods).values(), strict=True):
        x, y = (column[:-1] for column in line.get_data())
        assert np.hypot(x, y) == pytest.approx(radii)
        drawn = abs(float(x @ np.roll(y, 1) - y @ np.roll(x, 1))) / 2
        assert drawn == pytest.approx(kiviat_area(radii))
    said = [text.get_text() for text in ax.get_legend().get_texts()]
    assert said == ["EASY", f"moved, gain {100 * fs.kiviat_gain(methods['moved'], methods['EASY']).gain:.0f} %"]
    labels = [text.get_text().split("\n")[0] for text in ax.texts]
    assert labels == ["Resp", "1-Util", "MTBC", "SUL", "JFR", "FSD"]
    assert ax.get_title() == "Two"
    assert plot_kiviat(methods, ax=ax) is ax
