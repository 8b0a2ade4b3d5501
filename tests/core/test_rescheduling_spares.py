"""`Fars` worked by hand, in both engines: spare nodes, suspicious ones, stealing, and the torus."""

import numpy as np
import pytest

import faultsim as fs
from faultsim.errors import OptionError
from helpers.by_hand import (
    CONSERVATIVE,
    DEFRAGMENT,
    EASY,
    FCFS,
    HOLD,
    LEAST_FAILURES,
    REQUEUE,
    TAIL,
    cluster,
    config,
    places,
    rows,
    torus,
)
from helpers.engine_inputs import simulate
from helpers.moving import FARS, LIVE, ledger, moves, moving, stays

LINE = torus(1, 1, 8, wrap=False)
STEAL = {"strategy": {"name": "node_stealing"}}


# -- spare nodes


def test_nothing_is_promised_while_repairs_are_unknown():
    """Three nodes are down; the head of 4 cannot be promised anything, so both free nodes are spare."""
    jobs, down = [(0, 30, 2), (0, 30, 1), (6, 10, 8)], [(5, 5, 99), (5, 6, 99), (5, 7, 99)]
    known = moving(jobs, cluster(8), {1: [0, 1]}, {**EASY, "repairs": "known"}, failures=down)
    unknown = moving(jobs, cluster(8), {1: [0, 1]}, {**EASY, "repairs": "unknown"}, failures=down)
    assert (known["moves"].tolist(), unknown["moves"].tolist()) == ([0, 0, 0], [1, 0, 0])


def test_conservative_backfilling_keeps_what_it_promised_to_all():
    """Job 0 has 2 of 7 nodes until 30. Job 2, of 4, is promised 12-22, which leaves one, and job 3 22-32: of 4 nodes,
    it leaves one as well, of 5 none.
    """
    for size, moved in ((4, [(10, 0)]), (5, [])):
        jobs = [(0, 30, 2), (0, 12, 3), (6, 10, 4), (7, 10, size)]
        assert moves(moving(jobs, cluster(7), {1: [0]}, CONSERVATIVE)) == moved


class FailsAtTen(fs.QueueOrder):
    """An order that cannot be computed at 10, when a tick counts spare nodes."""

    def keys(self, queue, now):
        if now == 10:
            raise ZeroDivisionError("no order at 10")
        return queue.submit


@pytest.mark.parametrize("engine", ["core", "reference"])
@pytest.mark.parametrize("name", ["easy", "backfill"])
def test_an_error_of_the_order_ends_the_count_of_spare_nodes(name, engine):
    """Node 0 is predicted to fail at 15 s, and the head, of all nodes, waits."""
    scheduler = fs.EasyBackfill(FailsAtTen()) if name == "easy" else fs.Backfill(3, order=FailsAtTen())
    log = fs.Workload(submit=[0, 1, 1, 1], runtime=[100, 10, 10, 10], size=[2, 4, 3, 1])
    failures = fs.FailureTrace([15.0], [0], [5.0], span=1000)
    options = {"checkpointing": fs.Periodic(5, 1), "rescheduling": fs.Fars(10, fs.NodeStealing())}
    options |= {"scheduler": scheduler, "failures": failures, "predictor": fs.Perfect(), "engine": engine}
    with pytest.raises(ZeroDivisionError, match="no order at 10"):
        fs.simulate(log, fs.Cluster(4), **options)


@pytest.mark.parametrize("machine", [cluster(5), torus(1, 1, 5, wrap=False)], ids=["cluster", "torus"])
def test_a_promise_that_was_missed_stays_excused_when_a_tick_plans_anew(machine):
    """Job 1, of no length, is promised 8, and nothing is kept clear for it: jobs 2 and 3 take its nodes. At 10 the tick
    makes the reservations anew, but no node is free for job 2 to move to; job 1 starts when it ends.
    """
    jobs = [(0, 8, 3), (1, 0, 4), (2, 100, 2), (4, 7, 3)]
    result = moving(jobs, machine, {1: [3]}, CONSERVATIVE)
    assert result["start"].tolist() == [0, 102, 2, 8]
    assert moves(result) == []


def test_a_waiting_job_promised_nothing_by_fcfs():
    jobs = [(0, 30, 2), (0, 12, 3), (6, 10, 5)]
    assert moves(moving(jobs, cluster(7), {1: [0]}, FCFS)) == [(10, 0)]
    assert moves(moving(jobs, cluster(7), {1: [0]}, EASY)) == []


def test_suspicious_idle_nodes_are_no_spare_nodes():
    assert moves(moving([(0, 15, 1)], cluster(3), {1: [0, 1]})) == [(10, 0)]
    assert moves(moving([(0, 15, 1)], cluster(3), {1: [0, 1, 2]})) == []


@pytest.mark.parametrize("scheduler", [FCFS, EASY, CONSERVATIVE], ids=["fcfs", "easy", "conservative"])
def test_all_are_spare_while_nobody_waits(scheduler):
    assert moves(moving([(0, 15, 2)], cluster(4), {1: [0, 1]}, scheduler)) == [(10, 0)]


def test_what_is_not_promised_may_be_suspicious():
    """One node more than the head needs at 12, but the idle one is suspicious."""
    jobs = [(0, 30, 1), (0, 12, 2), (5, 9, 2)]
    assert moves(moving(jobs, cluster(4), {1: [0]}, EASY)) == [(10, 0)]
    assert moves(moving(jobs, cluster(4), {1: [0, 3]}, EASY)) == []


def test_a_promise_that_a_failure_has_just_broken():
    """At 10 the idle node fails, which job 2 was promised for 12: one too few, so nothing is spare, not less."""
    jobs = [(0, 20, 2), (0, 12, 1), (5, 9, 2)]
    result = moving(jobs, cluster(4), {1: [0]}, CONSERVATIVE, failures=[(10, 3, 99)])
    assert (result["migrations_attempted"], moves(result)) == (1, [])


def test_reservations_that_a_requested_checkpoint_has_made_void():
    """33 of 40 nodes are idle. Job 2, of 36, is promised 20, and 23 once job 1 has taken its checkpoint from 8 to 11:
    of 38 nodes that are free then two are spare.
    """
    jobs = [(0, 100, 2), (0, 20, 5), (6, 10, 36)]
    saving = {"alarms": [(8.0, 2)], "checkpointing": {"name": "before_failure", "cost": 3.0}}
    for machine in (cluster(40), torus(1, 1, 40, wrap=False)):
        result = moving(jobs, machine, {1: [0]}, CONSERVATIVE, **saving)
        assert ((10, 0) in moves(result), result["start"][2]) == (True, 23)


STATIC = {"spares": {"name": "static", "nodes": 2}}


@pytest.mark.parametrize("scheduler", [FCFS, EASY, CONSERVATIVE], ids=["fcfs", "easy", "conservative"])
def test_a_pool_is_left_alone(scheduler):
    """Of 6 nodes, jobs get 4: the second waits, and the third is backfilled only where it fits beside."""
    jobs = [(0, 12, 3), (1, 30, 2), (2, 5, 1), (3, 9, 2)]
    result = moving(jobs, cluster(6), {1: [0, 1, 2]}, scheduler, fars=STATIC, recovery=TAIL)
    assert (
        result["start"].tolist()[:3]
        == {"fcfs": [0, 15, 15], "easy": [0, 15, 2], "conservative": [0, 15, 2]}[scheduler["name"]]
    )
    # Two spare nodes for a job with three suspicious ones: it moves as far as it can.
    assert [stay[3] for stay in stays(result) if stay[0] == 0] == [[0, 1, 2], [2, 3, 4]]


@pytest.mark.parametrize("scheduler", [FCFS, EASY, CONSERVATIVE], ids=["fcfs", "easy", "conservative"])
def test_a_pool_is_left_alone_at_every_time(scheduler):
    """Jobs get 4 of 6 nodes at 12 too, so that the last may not be in the way of the second.  And 3 of 4, where job 0
    holds two of them for longer than it said.
    """
    jobs = [(0, 12, 3), (1, 30, 4), (2, 20, 1)]
    assert moving(jobs, cluster(6), {}, scheduler, fars=STATIC)["start"].tolist() == [0, 12, 42]
    late = [(0, 20, 2, 5), (6, 5, 2)]
    one = {"spares": {"name": "static", "nodes": 1}}
    assert moving(late, cluster(4), {}, scheduler, fars=one)["start"].tolist() == [0, 20]


def test_a_pool_is_left_alone_by_who_is_backfilled():
    """At 12 four nodes are open and the head takes three: one is extra, not three."""
    jobs = [(0, 12, 2), (1, 30, 3), (2, 40, 2)]
    assert moving(jobs, cluster(6), {}, EASY, fars=STATIC)["start"].tolist() == [0, 12, 42]


# -- suspicious nodes at starts


def test_a_start_takes_suspicious_nodes_last():
    jobs = [(12, 5, 2), (13, 5, 1)]
    taken = {rule: stays(moving(jobs, cluster(3), {1: [0]}, fars={"suspicious": rule})) for rule in ("last", "ignore")}
    assert [stay[3] for stay in taken["last"]] == [[1, 2], [0]]
    assert [stay[3] for stay in taken["ignore"]] == [[0, 1], [2]]


def test_ticks_before_the_first_submit_say_what_is_suspicious():
    """At 15 node 0 is suspicious since 10, at 35 no longer."""
    assert stays(moving([(15, 5, 1)], cluster(2), {1: [0]}))[0][3] == [1]
    assert stays(moving([(35, 5, 1)], cluster(2), {1: [0]}))[0][3] == [0]


@pytest.mark.parametrize("scheduler", [FCFS, EASY, CONSERVATIVE], ids=["fcfs", "easy", "conservative"])
def test_on_a_torus_boxes_without_a_suspicious_node_come_first(scheduler):
    """On a line of 8, node 1 is suspicious: the job of 4 goes to 2-5; one of 6 has no other box."""
    for rule, base in (("last", 2), ("ignore", 0)):
        result = moving([(12, 5, 4)], LINE, {1: [1]}, scheduler, fars={"suspicious": rule})
        assert places(result)[0] == [(0, 0, base, 1, 1, 4)]
    assert places(moving([(12, 5, 7)], LINE, {1: [1]}, scheduler))[0] == [(0, 0, 0, 1, 1, 7)]


def test_who_is_backfilled_takes_a_box_without_a_suspicious_node_too():
    """On a line of 8, job 0 holds 0-2, the head of 6 waits, and node 3 is suspicious."""
    result = moving([(0, 40, 3), (11, 9, 6), (12, 5, 2)], LINE, {1: [3]}, EASY)
    assert places(result)[2] == [(0, 0, 4, 1, 1, 2)]


def test_the_order_of_the_placement_rule_stays():
    """Node 0 failed once and node 2 is suspicious."""
    result = moving(
        [(12, 5, 2), (12, 5, 1), (12, 5, 1)], cluster(4), {1: [2]}, failures=[(11, 0, 0)],
        placement={"name": "least_failures_first"},
    )  # fmt: skip
    assert [stay[3] for stay in stays(result)] == [[1, 3], [0], [2]]


# -- stealing


def thefts(result):
    return [job for _, kind, job, _ in rows(result) if kind == "reschedule"]


def test_stealing_from_the_job_that_loses_least():
    """Job 0, of 3 nodes, has a suspicious one, and nothing is free. Job 1 (from 0) would lose 20 s, job 2 (from 5) 15
    s: it is stopped and waits, and starts again when job 1 ends.
    """
    jobs = [(0, 60, 3), (0, 30, 1), (5, 30, 1)]
    result = moving(jobs, cluster(5), {2: [0]}, fars=STEAL)
    assert [row for row in rows(result) if row[0] == 20][:2] == [(20, "reschedule", 2, -1), (20, "move", 0, -1)]
    assert stays(result)[2:4] == [(2, 5, 20, [4]), (0, 20, 63, [1, 2, 4])]
    assert result["restarts"].tolist() == [0, 0, 1]
    assert (result["lost_work"][2], result["failures_hit"]) == (15, 0)
    # The empty suspicious node is taken last, but it is taken.
    assert stays(result)[4] == (2, 20, 50, [0])


def test_nobody_is_robbed_for_less_than_he_loses():
    """Gains of 18, 21, 20 and 22; job 1 would lose 20."""
    for begin, size, robbed in ((16, 3, 0), (15, 3, 1), (12, 2, 0), (11, 2, 1)):
        result = moving([(0, 60, 1), (begin, 60, size)], cluster(1 + size), {2: [1]}, fars=STEAL)
        assert len(thefts(result)) == robbed


def test_a_larger_or_suspicious_or_held_job_is_not_robbed():
    assert moves(moving([(0, 60, 2), (5, 30, 2)], cluster(4), {2: [0]}, fars=STEAL)) == []
    assert moves(moving([(0, 60, 3), (5, 30, 1)], cluster(4), {2: [0, 3]}, fars=STEAL)) == []
    held = {"failures": [(19, 3, 50)], "recovery": HOLD}
    assert moves(moving([(0, 60, 3), (5, 30, 1)], cluster(4), {2: [0]}, fars=STEAL, **held)) == []


def test_a_robbed_job_does_not_hold():
    """Recovery is `Hold`: what is stolen has gone, so the job goes back to the queue and pays the same restart cost."""
    recovery = {**HOLD, "restart_cost": 4.0}
    result = moving(
        [(0, 60, 3), (5, 30, 1)], cluster(4), {2: [0]}, fars=STEAL, recovery=recovery, failures=[(99, 0, 1)]
    )
    assert [kind for time, kind, job, _ in rows(result) if job == 1 and time == 20] == ["reschedule", "start"]
    assert (result["restart_time"][1], result["finish"][1]) == (4, 54)


def test_what_is_left_of_a_theft_serves_the_next():
    """Job 0 needs one node, job 1 one: the two nodes of job 2 serve both."""
    jobs = [(0, 60, 3), (1, 60, 3), (10, 30, 2)]
    result = moving(jobs, cluster(8), {2: [0, 3]}, fars=STEAL)
    assert moves(result) == [(20, 0), (20, 1)]
    assert thefts(result) == [2]


def test_the_largest_gain_robs_first_and_nobody_is_robbed_twice():
    """Job 0 would gain 44, job 1 84; there is one victim."""
    result = moving([(0, 60, 2), (1, 60, 4), (10, 30, 1)], cluster(7), {2: [0, 2]}, fars=STEAL)
    assert moves(result) == [(20, 1)]
    assert thefts(result) == [2]


def test_a_loss_counts_nodes():
    """Job 1 would lose 8 s on one node, job 2 5 s on two."""
    result = moving([(0, 60, 3), (12, 30, 1), (15, 30, 2)], cluster(6), {2: [0]}, fars=STEAL)
    assert thefts(result) == [1]


def test_the_spare_nodes_that_are_left_come_first():
    """One spare node and the one of job 1 are enough for two; what two jobs leave of two nodes is nothing."""
    result = moving([(0, 60, 3), (10, 30, 1)], cluster(5), {2: [0, 1]}, fars=STEAL)
    assert (moves(result), thefts(result)) == ([(20, 0)], [1])
    jobs = [(0, 60, 3), (1, 60, 3), (2, 60, 3), (10, 30, 2)]
    result = moving(jobs, cluster(11), {2: [0, 3, 6]}, fars=STEAL)
    assert (moves(result), thefts(result)) == ([(20, 0), (20, 1)], [3])


def test_nobody_moves_for_nothing():
    """A spare node, but the move costs more than it saves."""
    fars = {**STEAL, "checkpoint_cost": 9.0, "suspicious": "ignore"}
    assert moves(moving([(18, 60, 1)], cluster(2), {2: [0]}, fars=fars)) == []


@pytest.mark.parametrize(("recovery", "next_job"), [(REQUEUE, 2), (TAIL, 3)])
def test_where_a_robbed_job_waits(recovery, next_job):
    """Job 2 is robbed while job 3 waits; one of them gets the node that job 0 left."""
    jobs = [(0, 60, 3), (0, 30, 1), (5, 30, 1), (15, 10, 1)]
    result = moving(jobs, cluster(5), {2: [0]}, fars=STEAL, recovery=recovery)
    assert thefts(result) == [2]
    assert [job for time, kind, job, _ in rows(result) if (time, kind) == (20, "start")] == [next_job]


# -- on a torus


def test_a_job_moves_as_a_whole_and_may_use_its_own_nodes_again():
    """On a line of 8 a job of 4 holds 0-3, node 0 fails: it moves to 1-4. With node 2 suspicious, 3-6."""
    for node, base in ((0, 1), (2, 3)):
        result = moving([(0, 15, 4)], LINE, {1: [node]})
        assert places(result)[0] == [(0, 0, 0, 1, 1, 4), (0, 0, base, 1, 1, 4)]
    assert moving([(0, 15, 6)], LINE, {1: [2]})["moves"][0] == 0


def test_the_weight_of_a_job_on_a_torus_is_its_box():
    """Line of 8: job 0 of 4 could go from 0-3 to 1-4, but three nodes are spare, and its weight is 4."""
    jobs = [(0, 15, 4), (0, 5, 3), (0, 15, 1)]
    assert moves(moving(jobs, LINE, {1: [0]})) == []
    assert moves(moving(jobs[:2], LINE, {1: [0]})) == [(10, 0)]


@pytest.mark.parametrize(
    ("reservation", "size", "base"), [("any", 5, 5), ("fixed", 5, None), ("any", 6, 6), ("fixed", 6, 6)]
)
def test_a_move_leaves_the_head_its_box(reservation, size, base):
    """Line of 8: job 0 on 0-1 and job 2 on 3-4 end at 14, job 1 on 2 would go to one of 5-7 and stay beyond T.

    A head of 5 is promised 3-7 at 14: any box will do if it finds one at 0-4 then. A head of 6 is promised one at 40.
    """
    easy = {**EASY, "reservation": reservation}
    result = moving([(0, 14, 2), (0, 40, 1), (0, 14, 2), (5, 9, size)], LINE, {1: [2]}, easy)
    assert [box[2] for box in places(result)[1]] == [2] + [base] * (base is not None)
    assert result["start"][3] == 14


def test_a_job_that_has_ended_by_then_is_in_nobodys_way():
    """The head is promised 2-6 at 14; job 1, on 2, will end at 14 with the move, and goes to 5."""
    easy = {**EASY, "reservation": "fixed"}
    result = moving([(0, 40, 2), (0, 11, 1), (0, 14, 2), (5, 9, 5)], LINE, {1: [2]}, easy)
    assert (moves(result), result["start"][3]) == ([(10, 1)], 14)


def test_a_move_keeps_clear_of_conservative_reservations():
    """Line of 8: jobs 0, 1 and 2 hold 0-2, 3 and 4-5 (until 20); job 3, of 4, is promised 4-7 at 20. At 10 job 1, which
    would run until 33, could go to 6 or 7 and stays; if it ends by 20 it moves.
    """
    jobs = [(0, 40, 3), (0, 30, 1), (0, 20, 2), (5, 9, 4)]
    kept = moving(jobs, LINE, {1: [3]}, CONSERVATIVE)
    assert (kept["moves"].tolist(), kept["start"][3]) == ([0, 0, 0, 0], 20)
    short = moving([(0, 40, 3), (0, 17, 1), (0, 20, 2), (5, 9, 4)], LINE, {1: [3]}, CONSERVATIVE)
    assert (short["moves"].tolist(), short["start"][3]) == ([0, 1, 0, 0], 20)


def test_a_live_move_in_a_pause_of_defragment_breaks_it_off():
    """Job 1 begins a checkpoint of 3 s at 8; at 9 job 0 ends, and it pauses for 4 s. After 1 s of that it moves, at 10,
    for 2 s, and is moved back for 4: 7 s in all, and the checkpoint, of which 1 s was written, is repeated.
    """
    result = moving(
        [(0, 9, 2), (0, 20, 1)], LINE, {1: [0]}, fars={**LIVE, "restart_cost": 2.0},
        migration={**DEFRAGMENT, "max_concentration": 1.0, "cost": 4.0, "when": "always"},
        checkpointing={"name": "periodic", "interval": 8.0, "cost": 3.0},
    )  # fmt: skip
    assert moves(result) == [(9, 1), (10, 1), (10, 1)]
    assert ledger(result) == {"useful": 9 * 2 + 20, "checkpoint": 1 + 2 * 3, "migration": 7}
    assert result["finish"][1] == 34


def test_a_safe_point_that_has_passed_is_not_moved_by_defragment():
    """A move at 10 is safe at 12 and works again at 22. At 14 job 0 ends, and job 1 pauses for 4 s; at 20 it has 13 s
    at stake since 12, and not 9 since 16, so that it moves for 12.
    """
    result = moving(
        [(0, 14, 2), (0, 40, 1)], LINE, {1: [2], 2: [0]},
        fars={"strategy": {"name": "service_unit_loss"}, "checkpoint_cost": 2.0, "restart_cost": 10.0},
        migration={**DEFRAGMENT, "min_free": 0.7, "max_concentration": 1.0, "cost": 4.0, "when": "always"},
    )  # fmt: skip
    assert moves(result)[:3] == [(10, 1), (14, 1), (20, 1)]


def test_least_failures_migration_breaks_off_a_live_move():
    """Job 1 pauses from 10 to 16; at 12 job 0 ends, and job 1 leaves node 1, which failed twice."""
    result = moving(
        [(0, 12, 1), (3, 20, 1)], cluster(4), {1: [1]}, failures=[(1, 2, 0), (2, 2, 0), (2, 2, 0)],
        fars={**LIVE, "restart_cost": 6.0}, migration={**LEAST_FAILURES, "threshold": 0.0, "cost": 3.0},
    )  # fmt: skip
    assert result["moves"][1] == 2
    assert result["ledger"]["migration"] == 2 + 3


@pytest.mark.parametrize("fars", [STATIC, STEAL])
def test_what_only_a_cluster_has(fars):
    rule = {**FARS, **fars}
    with pytest.raises(OptionError, match="cluster"):
        simulate(config(LINE, recovery=REQUEUE, rescheduling=rule), [0.0], [1.0], [1.0], np.array([1]))
