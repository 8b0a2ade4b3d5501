"""The search for lists of shapes: what it tries, what it finds, and what it refuses."""

import numpy as np
import pytest

import faultsim as fs
from faultsim.errors import InputError, OptionError


def odd_sizes(jobs=600):
    """Jobs of 3 nodes on a line of 12: rounded to 4, three fit; with a shape of their own, four."""
    rng = np.random.default_rng(3)
    submit = np.sort(rng.uniform(0, 60 * 86_400, jobs))
    runtime = rng.uniform(1, 5, jobs) * 86_400 * 0.35
    return fs.Workload(submit=submit, runtime=runtime, size=np.full(jobs, 3), estimate=runtime)


def test_a_list_of_the_sizes_wins_and_the_gain_is_measured_on_other_weeks():
    advice = fs.advise_shapes(odd_sizes(), "torus:1x1x12", candidates=["1x1x4", "1x1x3", "1x1x12"])
    assert advice.placement == fs.SlurmTorus("1x1x3", unlisted="round_up")
    assert 1 < advice.low <= advice.gain <= advice.high
    assert advice.weeks == 4
    assert [len(candidates) for _, candidates in advice.rounds] == [3, 2]
    assert "better" in str(advice)


def test_the_same_list_gains_nothing():
    advice = fs.advise_shapes(odd_sizes(), fs.Torus(1, 1, 12), candidates=["powers-of-two"])
    assert (advice.gain, advice.low, advice.high) == (1, 1, 1)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"torus": "cluster:12"}, OptionError, "about tori"),
        ({"candidates": []}, OptionError, "candidates is empty"),
        ({"metric": "mean_wiat"}, OptionError, "did you mean 'mean_wait'"),
        ({"week": "30d"}, InputError, "the log has 2 weeks"),
        ({"week": 0}, OptionError, "week"),
        ({"candidates": ["2x2"]}, OptionError, "three numbers"),
    ],
)
def test_what_is_refused(options, error, message):
    with pytest.raises(error, match=message):
        fs.advise_shapes(odd_sizes(), **{"torus": "torus:1x1x12", **options})
