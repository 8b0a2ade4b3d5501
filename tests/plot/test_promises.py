"""`plot_promises`: its lines are what the plan says, and its marks."""

import numpy as np
import pytest

import faultsim as fs
from faultsim.plot import plot_promises


def shares(ax, line=0):
    return ax.lines[line].get_xdata(), ax.lines[line].get_ydata()


def marks(ax, marker):
    return [(line.get_xdata()[0], line.get_ydata()[0]) for line in ax.lines if line.get_marker() == marker]


def test_lines_of_both_wirings_and_the_planned_point():
    plan = fs.plan("pod:tpu-v4,wiring=static", "8x8x16,4x4x4", availability=0.999)
    ax = plot_promises(plan)
    styles = [line.get_linestyle() for line in ax.lines]
    assert styles.count("--") == 1, "single cubes do not depend on the wiring"
    down, switched = shares(ax, styles.index("-"))
    at = np.argmin(abs(down - 0.004))
    assert switched[at] == 100 * fs.plan("pod:tpu-v4", 1024, availability=1 - down[at]).promises["share_97"][0]
    assert marks(ax, "o") == [(pytest.approx(0.001), 25.0), (pytest.approx(0.001), pytest.approx(95.3125))]
    assert not marks(ax, "X")
    assert {"99 %", "99.9 %", "99.99 %"} <= {text.get_text() for text in ax.get_xticklabels()}


def test_marks_of_a_trace():
    trace = fs.FailureTrace(np.zeros(64), np.arange(64), "1d", span=864_000)
    plan = fs.plan("pod:tpu-v4", "4x4x4", failures=trace, probabilities=[0.9, 0.97])
    assert marks(plot_promises(plan, 0.9), "X") == [(pytest.approx(0.00625), 100.0)]
    assert marks(plot_promises(plan), "X") == [(pytest.approx(0.00625), 93.75)]
    assert not marks(plot_promises(plan, 0.5), "X"), "the plan does not have it"


def test_many_shapes_and_none_that_fail():
    plan = fs.plan("pod:tpu7x", failures=fs.FailureTrace([], [], span=10))
    ax = plot_promises(plan, title="calm")
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert texts[0] == "4x4x4"
    assert texts[6] == str(plan.wanted[-1].slice)
    assert not marks(ax, "o")


@pytest.mark.parametrize("probability", [0, 1, 97])
def test_a_probability(probability):
    with pytest.raises(fs.OptionError, match="probability must be"):
        plot_promises(fs.plan("pod:tpu-v4", 64, availability=0.99), probability)
