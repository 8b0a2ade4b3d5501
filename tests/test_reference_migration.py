"""`Defragment` in the reference engine, worked by hand (MODEL.md section 8, reading R3)."""

import pytest

from tests.by_hand import CONSERVATIVE, DEFRAGMENT, EASY, FCFS, MOVE, places, run, torus

# A line of 8; jobs 1 (nodes 2-3) and 3 (6-7) end at 5 and 6.  Then 4 nodes are free, but no box of more than 2.
SCATTERED = [(0, 100, 2), (0, 5, 2), (0, 100, 2), (0, 6, 2)]
LINE = torus(1, 1, 8, wrap=False)


def scattered(*more, scheduler=FCFS, **options):
    return run(LINE, scheduler, [*SCATTERED, *more], migration={**DEFRAGMENT, **options})


def test_defragment():
    """ "re-place the running jobs [...] adopt only if the MFP grows; then FCFS again"."""
    result = scattered((0, 1, 4))
    assert result["start"][4] == 6
    assert result["moves"].tolist() == [0, 0, 1, 0, 0]
    assert (result["migrations_attempted"], result["migrations_successful"]) == (1, 1)
    assert places(result)[2] == [(0, 0, 4, 1, 1, 2), (0, 0, 2, 1, 1, 2)]
    moved = result["events_table"]["kind"] == MOVE
    assert result["events_table"]["job"][moved].tolist() == [2]
    assert result["finish"][2] == 100


def test_the_largest_is_placed_first():
    """ "largest allocated size first": job 2 (nodes 3-5) to 0-2, then job 0 (node 0) to 3."""
    result = run(LINE, FCFS, [(0, 100, 1), (0, 5, 2), (0, 100, 3), (0, 6, 2), (0, 1, 4)], migration=DEFRAGMENT)
    assert result["start"][4] == 6
    assert places(result)[2][1] == (0, 0, 0, 1, 1, 3)
    assert places(result)[0][1] == (0, 0, 3, 1, 1, 1)


@pytest.mark.parametrize(
    ("option", "value", "moves"),
    [("min_free", 0.5, 1), ("min_free", 0.51, 0), ("max_concentration", 0.5, 1), ("max_concentration", 0.49, 0)],
)
def test_conditions_are_inclusive(option, value, moves):
    """ "free >= min_free*N and MFP <= max_concentration*free (inclusive)": 4 of 8 are free, 2 of these in one box."""
    assert scattered((0, 1, 4), **{option: value})["moves"].sum() == moves


def test_migration_costs_a_phase():
    """Reading R3: "its finish and expected end move by c"; "migration = size*cost per move"."""
    result = scattered((0, 1, 4), cost=3.0)
    assert result["finish"].tolist() == [100, 5, 103, 6, 7]
    assert result["ledger"]["migration"] == 6


def test_migration_with_an_empty_queue():
    """ "`when="always"` also attempts with an empty queue"."""
    assert scattered()["migrations_attempted"] == 0
    assert scattered(when="always")["migrations_successful"] == 1


def test_no_second_attempt_while_nothing_changes():
    """ "the occupancy differs from that after the last attempt": job 4's arrival changes nothing, nor does job 5's."""
    result = scattered((0, 1, 8), (7, 1, 8), (8, 1, 8), max_concentration=0.6)
    assert result["migrations_attempted"] == 1  # at 6; then all free nodes are in one box
    everything = scattered((0, 1, 8), (7, 1, 8), (8, 1, 8), max_concentration=1.0)
    assert everything["migrations_attempted"] == 2  # at 5 and 6, not at 0 (none free), 7, 8 or 100


def test_keep_promise():
    """ "`keep_promise=True` refuses an arrangement that would make the head's reservation later".

    The head wants 6 nodes; the move at 6 would have job 2 end at 103, not 100.
    """
    options = {"cost": 3.0, "max_concentration": 0.6}
    assert scattered((0, 1, 6), **options)["start"][4] == 103
    result = scattered((0, 1, 6), **options, keep_promise=True)
    assert result["start"][4] == 100
    assert result["moves"].sum() == 0
    assert result["migrations_attempted"] == 1


def test_migration_comes_before_backfilling():
    """Krevat's B+M: FCFS, migrate, FCFS, backfill; job 4 is no backfilled job."""
    result = scattered((0, 1, 4), (0, 1, 4), scheduler=EASY)
    assert result["start"][4:].tolist() == [6, 7]
    assert not result["backfilled"].any()


def test_conservative_rebuilds_after_a_migration():
    """R5: "after the sweep [...] attempt; if adopted, rebuild, which may start jobs"."""
    result = scattered((0, 1, 4), scheduler=CONSERVATIVE)
    assert result["start"][4] == 6
    assert result["migrations_successful"] == 1
