"""Placement with failures and predictions in the reference engine, worked by hand (model.md#placement)."""

import pytest

from helpers.by_hand import (
    CONSERVATIVE,
    EASY,
    cluster,
    failing,
    torus,
)

LINE = torus(1, 1, 4, wrap=False)


def test_least_failures_first():
    """ "every failure counts as soon as it is handled, whatever it hits": 1, 2 and 1 failures,
    those before the first submit and on node 1 while it is down too.
    """
    failures = [(0, 0, 0), (1, 1, 3), (2, 1, 0), (11, 2, 0)]
    result = failing(
        [(10, 1, 1), (12, 1, 1), (12, 1, 1)], failures, cluster(3), placement={"name": "least_failures_first"}
    )
    assert result["allocations"]["nodes"].tolist() == [2, 0, 2]


def test_the_window_begins_at_the_decision_and_ends_with_the_estimate():
    """With a start delay of 3 s, 5 s end at 8; 8 itself is not in it."""
    for predicted, node in ((7.5, 1), (8, 0)):
        result = failing(
            [(0, 5, 1)],
            [],
            cluster(2),
            predictions=[(predicted, 0)],
            placement={"name": "safest_first"},
            start_delay=3.0,
        )
        assert result["allocations"]["nodes"].tolist() == [node]


@pytest.mark.parametrize(("estimate", "predicted", "node"), [(10, 5, 1), (5, 5, 0), (10, 0, 0), (10, 9.5, 1)])
def test_safest_first(estimate, predicted, node):
    """ "those that are not predicted to fail in the job's window"; the window (0, estimate) is open."""
    result = failing(
        [(0, estimate, 1)], [], cluster(2), predictions=[(predicted, 0)], placement={"name": "safest_first"}
    )
    assert result["allocations"]["nodes"].tolist() == [node]


def base(placement, predictions, p=1.0):
    """Where a job of 2 nodes and 10 s goes on an empty line of 4.

    The boxes at 0, 1 and 2 leave an MFP of 2, 1 and 2 of 4.
    """
    placement = {"box_order": "extents-descending", **placement}
    result = failing([(0, 10, 2)], [], LINE, predictions=[(5, node) for node in predictions], p=p, placement=placement)
    return int(result["allocations"]["z"][0])


@pytest.mark.parametrize(
    ("rule", "predictions", "p", "chosen"),
    [
        ("prod", [0], 1.0, 2),  # 2 + 2, 3, 2
        ("prod", [0, 3], 1.0, 1),  # 2 + 2, 3, 2 + 2
        ("prod", [0, 3], 0.4, 0),  # 2 + 0.8, 3, 2 + 0.8
        ("prod", [0, 1, 2], 1.0, 0),  # 2 + 2, 3 + 2, 2 + 2
        ("prod", [0, 1, 3], 0.5, 2),  # 2 + 1.5, 3 + 1, 2 + 1
        ("max", [0, 1, 3], 0.5, 0),  # 2 + 1, 3 + 1, 2 + 1
        ("prod", [], 1.0, 0),
    ],
)
def test_balancing(rule, predictions, p, chosen):
    """ "the box of least (MFP before - MFP after) + P q"."""
    assert base({"name": "balancing", "rule": rule}, predictions, p) == chosen


@pytest.mark.parametrize(("predictions", "chosen"), [([], 0), ([0], 2), ([0, 3], 0), ([3], 0)])
def test_tie_breaking(predictions, chosen):
    """ "among the candidates that leave the largest free box, the first without a node that is predicted to fail":
    never the one in the middle.
    """
    assert base({"name": "tie_breaking"}, predictions) == chosen


@pytest.mark.parametrize("scheduler", [{**EASY, "reservation": "fixed"}, CONSERVATIVE])
@pytest.mark.parametrize(("predictions", "starts"), [([], [0, 10, 0]), ([(15, 0)], [0, 10, 10])])
def test_a_reservation_looks_ahead_from_its_own_time(scheduler, predictions, starts):
    """Job 0 has nodes 0 to 2 until 10; job 1 (3 nodes, 10 s) will have them too, or nodes 2 to 4, if node 0 is going to
    fail at 15: then job 2 (30 s) cannot start on node 3.
    """
    result = failing(
        [(0, 10, 3), (0, 10, 3), (0, 30, 1)], [], torus(1, 1, 5, wrap=False), scheduler, predictions=predictions,
        placement={"name": "balancing", "rule": "prod", "box_order": "extents-descending"},
    )  # fmt: skip
    assert result["start"].tolist() == starts
