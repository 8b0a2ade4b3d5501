"""Listed shapes in the reference: answers of Slurm's own code, and what is worked by hand (model.md#slurm-torus)."""

import pytest

from faultsim.reference.torus.listed_shapes import PLACED, Grid, ListedShapes, ListedTorus, members, positions, runs
from helpers.torus3d import LEFT_OUT, OUTCOMES, available_in, cases_in, mask_of, reference_of

#: The cases are checked in so many parts, of which the quick selection takes two.
PARTS = 12


@pytest.mark.parametrize("part", range(PARTS))
def test_every_answer_of_slurm_is_the_same(data_dir, part):
    """Chosen nodes, outcome and fragmentation."""
    for case in cases_in(data_dir)[part::PARTS]:
        plain, available = reference_of(case), mask_of(available_in(case))
        assert plain.fragmentation(available) == case["fragmentation"], case["id"]
        least, _, most = case["want"]
        found = plain.choose(
            least, available, segment=case.get("segment", 0), required=mask_of(case.get("required", ())), most=most
        )
        if found is None:
            assert case["kind"] in LEFT_OUT, case["id"]
            if "required" not in case:
                assert list(members(runs(available, case.get("weights"), least))) == case["chosen"], case["id"]
            continue
        chosen = list(members(found.nodes)) if found.outcome == PLACED else None
        assert (found.outcome, chosen) == (OUTCOMES[case["result"]], case["chosen"]), case["id"]


def test_the_walk_visits_every_multiple_of_the_common_divisor():
    """On a length of 5, extent 2 with the default spacing."""
    assert positions(5, 2, 0) == [0, 2, 4, 1, 3]
    assert positions(8, 2, 3) == [3, 5, 7, 1]


def test_a_later_shape_of_the_size_is_not_compared():
    """The first shape has a free box that breaks one of the larger, the second one that breaks none."""
    line = ListedTorus((1, 1, 8), range(8), [Grid((1, 1, 2)), Grid((1, 1, 2), seed=(0, 0, 1)), Grid((1, 1, 4))])
    available = mask_of([1, 2, 4, 5, 6, 7])
    found = ListedShapes([line]).choose(2, available)
    assert found is not None
    assert list(members(found.nodes)) == [4, 5]


def test_the_fullest_torus_is_filled_first():
    tori = [ListedTorus((1, 1, 4), range(first, first + 4), [Grid((1, 1, 2))]) for first in (0, 4)]
    found = ListedShapes(tori).choose(2, mask_of([0, 1, 2, 3, 6, 7]))
    assert found is not None
    assert list(members(found.nodes)) == [6, 7]
