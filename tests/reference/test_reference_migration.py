"""Migration in the reference engine, worked by hand (model.md#migration)."""

import pytest

from faultsim.data.event_kinds import EventKind
from helpers.by_hand import (
    CONSERVATIVE,
    DEFRAGMENT,
    EASY,
    FCFS,
    HOLD,
    LEAST_FAILURES,
    REQUEUE,
    cluster,
    failing,
    places,
    rows,
    run,
    torus,
)

# A line of 8; jobs 1 (nodes 2-3) and 3 (6-7) end at 5 and 6.  Then 4 nodes are free, but no box of more than 2.
SCATTERED = [(0, 100, 2), (0, 5, 2), (0, 100, 2), (0, 6, 2)]
LINE = torus(1, 1, 8, wrap=False)


def scattered(*more, scheduler=FCFS, **options):
    return run(LINE, scheduler, [*SCATTERED, *more], migration={**DEFRAGMENT, **options})


def test_defragment():
    """ "the placement rule places the running jobs again [...]. The arrangement is adopted if the MFP grows
    [...]; then Fcfs runs again"."""
    result = scattered((0, 1, 4))
    assert result["start"][4] == 6
    assert result["moves"].tolist() == [0, 0, 1, 0, 0]
    assert (result["migrations_attempted"], result["migrations_successful"]) == (1, 1)
    assert places(result)[2] == [(0, 0, 4, 1, 1, 2), (0, 0, 2, 1, 1, 2)]
    moved = result["events_table"]["kind"] == EventKind.MOVE
    assert result["events_table"]["job"][moved].tolist() == [2]
    assert result["finish"][2] == 100


def test_the_largest_is_placed_first():
    """ "largest allocated size first": job 2 (nodes 3-5) to 0-2, then job 0 (node 0) to 3."""
    result = run(LINE, FCFS, [(0, 100, 1), (0, 5, 2), (0, 100, 3), (0, 6, 2), (0, 1, 4)], migration=DEFRAGMENT)
    assert result["start"][4] == 6
    assert places(result)[2][1] == (0, 0, 0, 1, 1, 3)
    assert places(result)[0][1] == (0, 0, 3, 1, 1, 1)


def test_bounds_are_quotients():
    """ "an MFP of 63 is 0.7 of 90 free nodes", though 0.7 * 90 is 62.99...; so are 7 nodes 0.28 of 25."""
    result = run(torus(1, 1, 91, wrap=False), FCFS, [(0, 5, 63), (0, 100, 1), (0, 1, 64)], migration=DEFRAGMENT)
    assert result["start"][2] == 5
    jobs = [(0, 5, 3), (0, 100, 18), (0, 1, 7)]
    result = run(torus(1, 1, 25, wrap=False), FCFS, jobs, migration={**DEFRAGMENT, "min_free": 0.28})
    assert result["start"][2] == 5


@pytest.mark.parametrize(
    ("option", "value", "pairs", "start"),
    [
        ("max_concentration", 1 / 3, 3, 5),  # less than a third, as a decimal
        ("min_free", 5 / 9, 5, 5),  # more than five ninths
        ("max_concentration", 1 / 3 - 1e-16, 3, 100),
        ("min_free", 5 / 9 + 2e-16, 5, 100),
        ("max_concentration", 1e-300, 3, 100),
    ],
)
def test_bounds_are_quotients_of_any_kind(option, value, pairs, start):
    """ "30 is 1/3 of them": every other node of a line becomes free at 5, and the last job asks for all of these."""
    jobs = [(0, 5, 1), (0, 100, 1)] * (pairs - 1) + [(0, 5, 1), (0, 1, pairs)]
    if option == "max_concentration":
        jobs.insert(-1, (0, 100, 1))
    rule = {**DEFRAGMENT, option: value}
    assert run(torus(1, 1, len(jobs) - 1, wrap=False), FCFS, jobs, migration=rule)["start"][-1] == start


@pytest.mark.parametrize(
    ("option", "value", "moves"),
    [("min_free", 0.5, 1), ("min_free", 0.51, 0), ("max_concentration", 0.5, 1), ("max_concentration", 0.49, 0)],
)
def test_conditions_are_inclusive(option, value, moves):
    """ "if free / N >= `min_free`, MFP / free <= `max_concentration`": 4 of 8 are free, 2 of these in one box."""
    assert scattered((0, 1, 4), **{option: value})["moves"].sum() == moves


def test_migration_costs_a_phase():
    """ "Begin of work, finish and expected end each shift by `cost`" (model.md#pause)."""
    result = scattered((0, 1, 4), cost=3.0)
    assert result["finish"].tolist() == [100, 5, 103, 6, 7]
    assert result["ledger"]["migration"] == 6


def test_migration_with_an_empty_queue():
    """ "somebody waits (or `when="always"`)"."""
    assert scattered()["migrations_attempted"] == 0
    assert scattered(when="always")["migrations_successful"] == 1


def test_no_second_attempt_while_nothing_changes():
    """ "the occupancy [...] differs from that after the last attempt": job 4's arrival changes nothing, nor does job
    5's.
    """
    result = scattered((0, 1, 8), (7, 1, 8), (8, 1, 8), max_concentration=0.6)
    assert result["migrations_attempted"] == 1  # at 6; then all free nodes are in one box
    everything = scattered((0, 1, 8), (7, 1, 8), (8, 1, 8), max_concentration=1.0)
    assert everything["migrations_attempted"] == 2  # at 5 and 6, not at 0 (none free), 7, 8 or 100


def test_keep_promise():
    """ "with `keep_promise=True`, only if the head's T does not become later".

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
    """ "Migration is tried after the sweep"."""
    result = scattered((0, 1, 4), scheduler=CONSERVATIVE)
    assert result["start"][4] == 6
    assert result["migrations_successful"] == 1


# -- LeastFailuresMigration


def test_least_failures_migration():
    """At 5 job 0 ends, and job 1 (since 1, on node 1 with 2 failures) moves to node 0: 4 s done, a phase over [5, 8),
    then 6 s.
    """
    result = swapped([])
    assert (result["finish"][1], result["moves"][1]) == (14, 1)
    assert (result["migrations_attempted"], result["migrations_successful"]) == (1, 1)
    assert rows(result)[6:8] == [(5, "finish", 0, -1), (5, "move", 1, -1)]
    assert result["allocations"]["nodes"].tolist() == [0, 1, 0]
    assert result["allocations"]["end"].tolist() == [5, 5, 14]
    assert result["ledger"]["migration"] == 3


def swapped(failures, jobs=((0, 5, 1), (1, 10, 1)), **options):
    """Node 1 has failed twice, at 0.5, while it was free."""
    migration = {**LEAST_FAILURES, "cost": 3.0, **options}
    return failing(jobs, [(0.5, 1, 0), (0.5, 1, 0), *failures], cluster(2), migration=migration)


def test_a_failure_in_a_migration():
    """ "work that was not safe stays unsafe until the end of the phase"."""
    result = swapped([(7, 0, 0)])
    assert (result["finish"][1], result["lost_work"][1], result["ledger"]["migration"]) == (17, 4, 2)
    result = swapped([(8, 0, 0)])
    assert (result["finish"][1], result["lost_work"][1], result["restarts"][1]) == (14, 0, 1)


def test_who_may_migrate():
    """ "differ by more than `threshold` failures"; "the running jobs whose last start is later than that of the job
    that finished".
    """
    tolerant = swapped([], threshold=2.0)
    assert (tolerant["moves"].tolist(), tolerant["migrations_attempted"]) == ([0, 0], 1)
    together = swapped([], jobs=[(0.6, 5, 1), (0.6, 10, 1)])
    assert (together["moves"].tolist(), together["migrations_attempted"]) == ([0, 0], 0)


@pytest.mark.parametrize(("submit", "moves"), [(5, 1), (6, 0)])
def test_a_job_in_its_start_delay_does_not_migrate(submit, moves):
    """With a start delay of 2 s job 0 ends at 7; job 1 has started then if it came at 5."""
    jobs, worn = [(0, 5, 1), (submit, 10, 1)], [(0.5, 1, 0), (0.5, 1, 0)]
    result = failing(jobs, worn, cluster(2), migration=LEAST_FAILURES, start_delay=2.0)
    assert result["moves"][1] == moves


def test_ties_go_to_the_lowest_node():
    """Nodes 1 and 2, held by job 1, failed twice each; then job 0 leaves node 0.  Or node 1 failed twice, and nodes 0
    and 3 are idle.
    """
    worn = [(0.5, 1, 0), (0.5, 1, 0), (0.5, 2, 0), (0.5, 2, 0)]
    result = failing([(0, 5, 1), (1, 10, 2)], worn, cluster(3), migration=LEAST_FAILURES)
    assert result["allocations"]["nodes"].tolist() == [0, 1, 2, 0, 2]
    result = failing([(0, 5, 1), (1, 10, 2)], worn[:2], cluster(4), migration=LEAST_FAILURES)
    assert result["allocations"]["nodes"].tolist() == [0, 1, 2, 0, 2]


def test_a_migration_disturbs_the_plans():
    """Job 2 (both nodes) was promised 11, when job 1 is expected to end.  At 5 job 1 pays for a migration until 8 and
    is expected at 14; job 3 (8 s) starts on node 1 at once.
    """
    jobs = [(0, 5, 1), (1, 10, 1), (1, 5, 2), (2, 8, 1)]
    worn = [(0.5, 1, 0), (0.5, 1, 0)]
    options = {"migration": {**LEAST_FAILURES, "cost": 3.0}}
    assert failing(jobs, worn, cluster(2), CONSERVATIVE, **options)["start"].tolist() == [0, 1, 14, 5]
    assert failing(jobs, worn, cluster(2), CONSERVATIVE)["start"].tolist() == [0, 1, 11, 16]


def test_a_migration_breaks_off_a_restart():
    """Job 1 is killed at 4 and restarts over [4, 6) on node 1, the only free one; at 5 it moves: 1 s of restart, then
    [5, 8), then all its 10 s.
    """
    recovery = {**REQUEUE, "restart_cost": 2.0}
    failures = [(0.5, 1, 0), (0.5, 1, 0), (4, 1, 0)]
    migration = {**LEAST_FAILURES, "cost": 3.0}
    result = failing([(0, 5, 1), (1, 10, 1)], failures, cluster(2), migration=migration, recovery=recovery)
    assert (result["finish"][1], result["restart_time"][1], result["lost_work"][1]) == (18, 1, 3)
    assert result["ledger"]["migration"] == 3


def test_a_migration_breaks_off_a_planned_checkpoint():
    """Job 1 (since 1, W = 3, C = 2) is at 5 in its checkpoint over [4, 6): 1 s of it is spent, 3 s of work are carried
    to 8; then 7 s with one checkpoint more.  A failure at 7 loses the 3 s.
    """
    rule = {"name": "periodic", "interval": 3.0, "cost": 2.0}
    options = {"migration": {**LEAST_FAILURES, "cost": 3.0}, "checkpointing": rule}
    worn = [(0.5, 1, 0), (0.5, 1, 0)]
    jobs = [(0, 5, 1), (1, 10, 1)]  # job 0 ends at 5: 5 - 3 <= 2, so it plans no checkpoint
    result = failing(jobs, worn, cluster(2), **options)
    # 10 s from 1: checkpoints planned after 3 and 6 (10 - 6 > 2, 10 - 9 = 1).  From 8 on 7 s: one after 3 (7 - 6 = 1).
    assert (result["finish"][1], result["checkpoint_time"][1]) == (8 + 7 + 2, 1 + 2)
    result = failing(jobs, [*worn, (7, 0, 0)], cluster(2), **options)
    assert result["lost_work"][1] == 3
    assert result["finish"][1] == 7 + 10 + 4


# -- Defragment and failures


def test_jobs_killed_at_one_instant_and_their_ties_in_a_new_arrangement():
    """ "Jobs killed at one instant stand there in the order of the failures that kill them": 2, 1, 0, so that they
    start again on 0-1, 2-3 and 4-5.  Job 2 ends at 6, and of 0 and 1, equal in size and decision, 0 is placed first,
    "wherever it stood in the queue".
    """
    jobs = [(0, 100, 2), (0, 100, 2), (0, 5, 2), (2, 1, 4)]
    result = failing(
        jobs, [(1, 4, 0), (1, 2, 0), (1, 0, 0)], LINE, migration=DEFRAGMENT, recovery={**REQUEUE, "place": "tail"}
    )
    assert [[box[2] for box in places(result)[job]] for job in range(3)] == [[0, 4, 0], [2, 2], [4, 0]]
    assert result["start"][3] == 6


# As above: job 2 (nodes 4 and 5) is moved to 2 and 3 at 6, when jobs 1 and 3 have ended and job 4 wants 4 nodes.
def defragmented(failures, **options):
    rule = {**DEFRAGMENT, "cost": 3.0}
    return failing([*SCATTERED, (0, 1, 4)], failures, LINE, migration=rule, **options)


def test_a_failure_in_a_pause():
    """Paused over [6, 9), killed at 8: 6 s of work are lost, 2 s of the pause are spent."""
    result = defragmented([(8, 2, 0)])
    assert (result["moves"][2], result["finish"][2], result["lost_work"][2]) == (1, 108, 12)
    assert result["ledger"]["migration"] == 4


def test_a_failure_after_a_pause():
    """Killed at 10: 7 s of work are lost."""
    result = defragmented([(10, 2, 0)])
    assert (result["finish"][2], result["lost_work"][2], result["ledger"]["migration"]) == (110, 14, 6)


def test_a_pause_is_no_safe_point_and_takes_no_request():
    """At 8 job 2 is paused; at 10 it works: 7 s are done, its checkpoint is over [10, 11)."""
    rule = {"name": "before_failure", "cost": 1.0}
    result = defragmented([(11, 2, 0)], alarms=[(8, 2), (10, 2)], checkpointing=rule)
    assert (result["checkpoints"], result["lost_work"][2], result["finish"][2]) == (1, 0, 11 + 93)


def test_down_nodes_are_blocked():
    """With node 3 down, job 2 has no better place: nothing moves.  With node 7 down it does, but the largest free box
    has 3 nodes only, and job 4 waits for the repair.
    """
    assert defragmented([(5.5, 3, 500)])["moves"].tolist() == [0, 0, 0, 0, 0]
    result = defragmented([(6, 7, 50)])
    assert places(result)[2][1] == (0, 0, 2, 1, 1, 2)
    assert result["start"][4] == 56


def test_held_jobs_stay_where_they_are():
    """Job 2 is held over [5.5, 20), so the attempt at 6 finds nothing better.  At 20 the occupancy is that of the last
    attempt, so there is no other; job 4 waits for job 0.
    """
    result = defragmented([(5.5, 4, 14.5)], recovery=HOLD)
    assert (result["migrations_attempted"], result["moves"].sum()) == (1, 0)
    assert result["start"][4] == 100


def test_nothing_runs_while_all_are_held():
    """Job 1 (nodes 3 and 4) is held over [2, 11), with 3 free nodes on either side: the attempt for job 2 is at 11."""
    jobs = [(0, 1, 3), (0, 100, 2), (3, 1, 4)]
    result = failing(jobs, [(2, 3, 9)], LINE, migration=DEFRAGMENT, recovery=HOLD)
    assert (result["start"][2], result["migrations_attempted"]) == (11, 1)
    assert [row[0] for row in rows(result) if row[1] == "move"] == [11]


def test_down_nodes_are_part_of_the_occupancy():
    """ "the occupancy, down nodes included, differs from that after the last attempt": attempts at 5, 6, 8 (node 7 goes
    down) and 58 (it is up), and none for the arrivals at 9 and 10.
    """
    rule = {**DEFRAGMENT, "max_concentration": 1.0}
    result = failing([*SCATTERED, (0, 1, 8), (9, 1, 8), (10, 1, 8)], [(8, 7, 50)], LINE, migration=rule)
    assert result["migrations_attempted"] == 4


@pytest.mark.parametrize(("predictions", "z"), [([], 2), ([(50, 2)], 6), ([(5, 2)], 2), ([(101, 2)], 2)])
def test_running_jobs_are_placed_for_the_time_that_is_left(predictions, z):
    """Job 2 is re-placed at 6 and expected to end at 100: two boxes leave as much, at 2 and at 6."""
    placement = {"name": "tie_breaking", "box_order": "extents-descending"}
    jobs = [*SCATTERED, (0, 1, 4)]
    result = failing(jobs, [], LINE, migration=DEFRAGMENT, placement=placement, predictions=predictions)
    assert places(result)[2] == [(0, 0, 4, 1, 1, 2), (0, 0, z, 1, 1, 2)]


def test_what_ends_with_the_job_that_finishes_has_ended():
    """ "Phases and checkpoints that end at this instant have ended, whatever the index of their job": at 10, when job 0
    finishes, job 1 has just saved the 4 s that it has worked, which the failure at 11 does not take.
    """
    failures = [(0.5, 1, 0), (0.75, 1, 0), (11, 0, 0)]
    result = failing(
        [(0, 9, 1), (5, 20, 1)], failures, cluster(2), migration={**LEAST_FAILURES, "threshold": 0.0, "cost": 3.0},
        checkpointing={"name": "periodic", "interval": 4.0, "cost": 1.0},
    )  # fmt: skip
    assert [row[1] for row in rows(result) if row[0] == 10] == ["finish", "move"]
    assert (result["lost_work"][1], result["restarts"][1]) == (0, 1)


def test_jobs_that_finish_at_one_instant_do_not_move():
    """ "another job that finishes at this instant holds its nodes until its own turn": the younger ends at 10 as well,
    on node 1, which failed twice, and the third may move to node 0 alone at the first finish.
    """
    jobs = [(0, 10, 1), (1, 9, 1), (2, 20, 1)]
    failures = [(0.5, 2, 0), (0.6, 2, 0), (0.7, 2, 0), (0.8, 1, 0)]
    result = failing(jobs, failures, cluster(3), migration={**LEAST_FAILURES, "threshold": 0.0, "cost": 1.0})
    assert result["moves"].tolist() == [0, 0, 1]
    assert result["allocations"]["nodes"].tolist() == [0, 1, 2, 0]
