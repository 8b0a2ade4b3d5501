"""`Fars` worked by hand, in both engines: which jobs move, and what a move does to them (model.md#rescheduling).

Ticks come every 10 s, a checkpoint of a move takes 2 s and its restart 1 s, unless a case says otherwise.
"""

import pytest

from helpers.by_hand import CONSERVATIVE, EASY, FCFS, HOLD, REQUEUE, TAIL, cluster, failing, rows
from helpers.moving import FARS, LIVE, ledger, moves, moving, stays

# -- Fig. 2


def test_figure_2_of_li_2009():
    """Two suspicious jobs, two idle nodes, one of which the first queued job needs.

    ::

              0    5         15   20   25   30        40   43
        n5    .............................. 4444444444
        n4    .................... 2222222222222222222222
        n3    .....111111111111111?11111x
        n2    333333333333333333333333333333 4444444444
        n1    333333333333333333333333333333 4444444444
        n0    22222222222222222222?....x

    At 20 the nodes of j1 and j2 are suspicious (?), and both will fail (x). Two nodes are idle. j4 has a reservation
    for 30, when j3 ends and four nodes are free; it needs three of them. So one node is spare, and it goes to j2, which
    has run for longer; j1 fails, and j4 starts when it was told.
    """
    jobs = [(0, 40, 1), (0, 30, 2), (5, 30, 1), (15, 10, 3)]  # j2, j3, j1, j4
    result = moving(
        jobs, cluster(6), {2: [0, 3]}, EASY, failures=[(25, 0, 100), (26, 3, 100)], recovery=TAIL,
        fars={"strategy": {"name": "service_unit_loss"}},
    )  # fmt: skip
    assert moves(result) == [(20, 0)]
    assert stays(result)[0] == (0, 0, 20, [0])
    assert (result["start"][3], result["finish"][0]) == (30, 43)
    assert result["restarts"].tolist() == [0, 0, 1, 0]
    assert (result["migrations_attempted"], result["migrations_successful"]) == (1, 1)


# -- what a move does


def test_a_move_is_a_checkpoint_and_a_restart():
    """15 s of work, of which 10 s are done at the tick: 3 s of migration, then the other 5."""
    result = moving([(0, 15, 1)], cluster(2), {1: [0]}, failures=[(12, 0, 1)])
    assert rows(result) == [
        (0, "arrival", 0, -1), (0, "start", 0, -1), (10, "move", 0, -1), (12, "failure", -1, 0), (13, "repair", -1, 0),
        (18, "finish", 0, -1),
    ]  # fmt: skip
    assert stays(result) == [(0, 0, 10, [0]), (0, 10, 18, [1])]
    assert ledger(result) == {"useful": 15, "migration": 3, "down": 1}
    assert (result["moves"][0], result["start"][0], result["events"], result["passes"]) == (1, 0, 5, 5)


@pytest.mark.parametrize(
    ("fails", "lost", "migration", "finish"), [(11, 10, 1, 26), (12, 0, 2, 17), (12.5, 0, 2.5, 17.5), (14, 1, 3, 19)]
)
def test_the_checkpoint_of_a_move_is_safe_when_it_is_written(fails, lost, migration, finish):
    """Progress 10 is safe from 12 on: a failure of the new node at 11 loses it all, one at 14 the second since 13."""
    result = moving([(0, 15, 1)], cluster(2), {1: [0]}, failures=[(fails, 1, 0)])
    assert ledger(result) == {
        key: value for key, value in (("useful", 15), ("lost", lost), ("migration", migration)) if value
    }
    assert result["finish"][0] == finish


def test_a_second_move_before_the_first_is_safe_carries_what_is_not():
    """Work of 10 s; the first move (at 10, safe at 22) is broken off at 20, and a failure at 25 loses the 10 s."""
    result = moving([(0, 30, 1)], cluster(3), {1: [0], 2: [1]}, failures=[(25, 0, 0)], fars={"checkpoint_cost": 12.0})
    assert moves(result) == [(10, 0), (20, 0)]
    assert ledger(result) == {"useful": 30, "lost": 10, "migration": 15}
    assert result["finish"][0] == 55


def test_a_move_out_of_a_planned_checkpoint():
    """Work 0-9, checkpoint from 9 on, broken off at 10: its second stays a checkpoint's, and the move saves the 9 s."""
    rule = {"name": "periodic", "interval": 9.0, "cost": 2.0}
    result = moving([(0, 16, 1)], cluster(2), {1: [0]}, failures=[(12, 1, 0)], checkpointing=rule)
    assert ledger(result) == {"useful": 16, "checkpoint": 1, "migration": 2}
    assert result["finish"][0] == 12 + 7  # no restart cost in this recovery


def test_a_move_out_of_a_restart():
    """Killed at 8, a restart of 5 s from 8 to 13, broken off at 10."""
    result = moving([(0, 10, 1)], cluster(2), {1: [0]}, failures=[(8, 0, 0)], recovery={**REQUEUE, "restart_cost": 5.0})
    assert ledger(result) == {"useful": 10, "lost": 8, "restart": 2, "migration": 3}
    assert result["finish"][0] == 23


# -- live moves


def test_a_live_move_is_a_pause_and_no_safe_point():
    result = moving([(0, 15, 1)], cluster(2), {1: [0]}, fars=LIVE)
    assert (result["finish"][0], ledger(result)) == (16, {"useful": 15, "migration": 1})
    result = moving([(0, 15, 1)], cluster(2), {1: [0]}, failures=[(12, 1, 0)], fars=LIVE)
    assert (result["finish"][0], ledger(result)) == (27, {"useful": 15, "lost": 11, "migration": 1})


def test_a_failure_in_a_live_move_gives_the_rest_of_the_pause_back():
    result = moving([(0, 15, 1)], cluster(2), {1: [0]}, failures=[(11, 1, 0)], fars={**LIVE, "restart_cost": 4.0})
    assert ledger(result) == {"useful": 15, "lost": 10, "migration": 1}


def test_a_live_move_in_a_pause_breaks_it_off():
    """A pause from 10 to 25, and one from 20 to 35: the 20 s of work that are left end at 55, not at 60."""
    result = moving([(0, 30, 1)], cluster(3), {1: [0], 2: [1]}, fars={**LIVE, "restart_cost": 15.0})
    assert moves(result) == [(10, 0), (20, 0)]
    assert (result["finish"][0], ledger(result)) == (55, {"useful": 30, "migration": 25})
    short = [(8, 10, 0), (10, 12, 1)]
    result = failing(
        [(0, 20, 1)], [], cluster(3), predictions=short, interval=2.0,
        rescheduling={**FARS, **LIVE, "interval": 2.0, "restart_cost": 3.0},
    )  # fmt: skip
    assert (moves(result), result["finish"][0]) == ([(8, 0), (10, 0)], 25)


@pytest.mark.parametrize(("fails", "lost"), [(14.5, 9), (15, 0)])
def test_a_live_move_in_the_pause_of_one_out_of_a_planned_checkpoint(fails, lost):
    """The checkpoint of 9-11 is left at 10 and put off to 12.5, when a second pause goes from 10.5 to 13."""
    rule = {"name": "periodic", "interval": 9.0, "cost": 2.0}
    result = failing(
        [(0, 16, 1)], [(fails, 0, 0)], cluster(3), predictions=[(10, 10.5, 0), (10.5, 11, 1)], interval=0.5,
        checkpointing=rule, rescheduling={**FARS, **LIVE, "interval": 0.5, "restart_cost": 2.5},
    )  # fmt: skip
    assert moves(result) == [(10, 0), (10.5, 0)]
    assert ledger(result).get("lost", 0) == lost
    if not lost:
        assert ledger(result) == {"useful": 16, "checkpoint": 3, "migration": 3}


def test_a_live_move_in_the_pause_of_one_out_of_a_requested_checkpoint():
    """Asked at 8; the first pause is from 10 to 25, the second from 20 to 35; then 7 of 15 s are left."""
    result = moving(
        [(0, 15, 1)], cluster(3), {1: [0], 2: [1]}, fars={**LIVE, "restart_cost": 15.0}, alarms=[(8.0, 0)],
        checkpointing={"name": "before_failure", "cost": 4.0},
    )  # fmt: skip
    assert (result["finish"][0], ledger(result)) == (42, {"useful": 15, "checkpoint": 2, "migration": 25})


def test_a_live_move_in_a_planned_checkpoint_makes_it_anew():
    """The checkpoint of 9-11 is left at 10 and made from 11 to 13: 3 s of checkpoints."""
    rule = {"name": "periodic", "interval": 9.0, "cost": 2.0}
    result = moving([(0, 16, 1)], cluster(2), {1: [0]}, fars=LIVE, checkpointing=rule)
    assert (result["finish"][0], ledger(result)) == (20, {"useful": 16, "checkpoint": 3, "migration": 1})
    for fails, lost in ((12.5, 9), (13, 0)):
        result = moving([(0, 16, 1)], cluster(2), {1: [0]}, fars=LIVE, checkpointing=rule, failures=[(fails, 1, 0)])
        assert ledger(result).get("lost", 0) == lost


def test_a_live_move_in_a_restart():
    result = moving(
        [(0, 10, 1)], cluster(2), {1: [0]}, fars=LIVE, failures=[(8, 0, 0)], recovery={**REQUEUE, "restart_cost": 5.0}
    )
    assert ledger(result) == {"useful": 10, "lost": 8, "restart": 2, "migration": 1}
    assert result["finish"][0] == 21


@pytest.mark.parametrize(("fails", "lost", "finish"), [(99, 0, 18), (10.5, 8, 25.5), (13, 10, 28)])
def test_a_live_move_in_a_requested_checkpoint(fails, lost, finish):
    """Asked at 8 for a checkpoint of 4 s, which is left at 10: at 11 the job goes on, with 8 s of work that are not
    safe.
    """
    result = moving(
        [(0, 15, 1)], cluster(2), {1: [0]}, fars=LIVE, failures=[(fails, 1, 0)], alarms=[(8.0, 0)],
        checkpointing={"name": "before_failure", "cost": 4.0},
    )  # fmt: skip
    assert (ledger(result).get("lost", 0), ledger(result)["checkpoint"]) == (lost, 2)
    assert result["finish"][0] == finish


def test_a_live_move_in_a_live_move_out_of_a_restart():
    """The restart from 2 on becomes a phase from 10 to 22, then from 20 to 32, then from 30 to 42; each time the gain
    counts from its begin.
    """
    result = moving(
        [(0, 50, 1)], cluster(4), {1: [0], 2: [1], 3: [0]}, failures=[(2, 0, 0)],
        recovery={**REQUEUE, "restart_cost": 30.0},
        fars={**LIVE, "restart_cost": 12.0, "strategy": {"name": "service_unit_loss"}},
    )  # fmt: skip
    assert moves(result) == [(10, 0), (20, 0), (30, 0)]
    assert ledger(result) == {"useful": 50, "lost": 2, "restart": 8, "migration": 32}


def test_requests_go_on_after_a_live_move():
    """Every 4 s of work the job asks for a checkpoint of 8 s, if 8 s are at risk: taken at 8, broken off at 10, and
    taken again at the end of the pause, at 15, since the 8 s are still at risk.
    """
    result = moving(
        [(0, 40, 1)], cluster(2), {1: [0], 2: [1]}, fars={**LIVE, "restart_cost": 5.0},
        checkpointing={"name": "risk_based", "interval": 4.0, "cost": 8.0},
    )  # fmt: skip
    assert [time for time, kind, _, _ in rows(result) if kind == "checkpoint"][:2] == [8, 15]


# -- which jobs are suspicious


def test_who_does_not_move():
    """At 10 one job ends, one is in its start delay, one is held; so there is no attempt."""
    assert moving([(0, 10, 1)], cluster(2), {1: [0]})["migrations_attempted"] == 0
    assert (
        moving([(8, 10, 1)], cluster(2), {1: [0]}, start_delay=3.0, fars={"suspicious": "ignore"})[
            "migrations_attempted"
        ]
        == 0
    )
    result = moving([(0, 15, 2)], cluster(4), {1: [0]}, failures=[(9, 1, 4)], recovery=HOLD)
    assert (result["migrations_attempted"], result["moves"][0]) == (0, 0)
    # One second later each of them moves.
    assert moving([(0, 11, 1)], cluster(2), {1: [0]})["moves"][0] == 1
    assert moving([(7, 10, 1)], cluster(2), {1: [0]}, start_delay=3.0, fars={"suspicious": "ignore"})["moves"][0] == 1
    assert moving([(0, 15, 2)], cluster(4), {1: [0]}, failures=[(9, 1, 1)], recovery=HOLD)["moves"][0] == 1


def test_a_tick_comes_after_the_failures_and_before_the_arrivals_of_its_instant():
    """At 10 node 1 goes down, so that node 2 is the lowest; what arrives then gets what is left."""
    result = moving([(0, 15, 1), (10, 5, 1)], cluster(4), {1: [0]}, failures=[(10, 1, 5)])
    assert stays(result)[1:] == [(0, 10, 18, [2]), (1, 10, 15, [3])]
    assert [row[1] for row in rows(result) if row[0] == 10] == ["failure", "move", "arrival", "start"]


def test_a_tick_comes_after_the_requested_checkpoints_of_its_instant():
    """The checkpoint of the job on node 0 begins at 10 and is broken off at once."""
    result = moving(
        [(0, 15, 1)], cluster(2), {1: [0]}, alarms=[(10.0, 0)], checkpointing={"name": "before_failure", "cost": 4.0}
    )
    assert [kind for time, kind, _, _ in rows(result) if time == 10] == ["checkpoint", "move"]


def test_a_pass_follows_a_move_but_not_an_idle_tick():
    assert moving([(0, 15, 1)], cluster(2), {1: [1]})["passes"] == 2
    assert moving([(0, 15, 1)], cluster(2), {1: [0]})["passes"] == 3


def test_a_job_killed_at_the_instant_of_a_tick_waits_for_the_pass_after_it():
    """At 10 job 1 is killed, which leaves three nodes: it is promised one, job 0 moves to the lowest, and in the one
    pass of the instant job 1 starts beside it.
    """
    for scheduler in (FCFS, EASY, CONSERVATIVE):
        result = moving([(0, 15, 1), (0, 15, 1)], cluster(4), {1: [0]}, scheduler, failures=[(10, 1, 0)])
        assert [row[1:3] for row in rows(result) if row[0] == 10] == [("failure", 1), ("move", 0), ("start", 1)]
        assert (stays(result)[2:], result["passes"]) == ([(0, 10, 18, [1]), (1, 10, 25, [2])], 4)
    # Two nodes: what is left is promised to the job that was killed.
    result = moving([(0, 15, 1), (0, 15, 1)], cluster(2), {1: [0]}, CONSERVATIVE, failures=[(10, 1, 0)])
    assert (moves(result), result["start"][1]) == ([], 10)


def test_a_failure_without_an_effect_runs_no_pass():
    """On a free node, for no time; then on a node that is down for longer."""
    for downtime, passes in ((0, 2), (1, 4)):
        result = failing([(0, 15, 1)], [(5, 1, downtime), (5.5, 1, 0)], cluster(2))
        assert (result["failures"], result["passes"]) == (2, passes)


# -- gains

BY_GAIN = [(0, 40, 4, 40), (5, 40, 1, 11), (6, 40, 1, 90)]


@pytest.mark.parametrize(
    ("strategy", "moved"), [("service_unit_loss", 0), ("job_failure_rate", 0), ("failure_slowdown", 1)]
)
def test_who_is_worth_most(strategy, moved):
    """One spare node, one suspicious node each: the large job would lose most, the short one be slowed down most, and
    at equal gains the first item stays.
    """
    result = moving(BY_GAIN, cluster(7), {2: [0, 4, 5]}, fars={"strategy": {"name": strategy}})
    assert moves(result)[0] == (20, moved)
    assert len(moves(result)) == 1


def test_a_job_that_would_lose_less_than_the_move_costs_stays():
    """Started at 18, 2 s before the tick at 20; half the interval is 5 s: the move pays below 7 s of overhead."""
    for cost, moved in ((6.0, 0), (5.9, 1)):
        result = moving(
            [(18, 20, 1)], cluster(2), {2: [0]},
            fars={"strategy": {"name": "service_unit_loss"}, "checkpoint_cost": cost, "suspicious": "ignore"},
        )  # fmt: skip
        assert (result["migrations_attempted"], result["moves"][0]) == (1, moved)


def test_a_live_move_costs_no_checkpoint():
    """7 s are at stake, and a live move costs the restart."""
    for live, restart, moved in ((False, 1.0, 0), (True, 6.9, 1), (True, 7.0, 0)):
        fars = {"live": live, "checkpoint_cost": 99.0, "restart_cost": restart, "suspicious": "ignore"}
        rule = {**fars, "strategy": {"name": "service_unit_loss"}}
        assert moving([(18, 20, 1)], cluster(2), {2: [0]}, fars=rule)["moves"][0] == moved


def test_a_slowdown_is_relative_to_ten_seconds_at_least():
    """Estimates of 2 and 9 s count as 10 s: the job that has run for longer moves."""
    jobs = [(0, 40, 1, 9), (5, 40, 1, 2)]
    result = moving(jobs, cluster(3), {2: [0, 1]}, fars={"strategy": {"name": "failure_slowdown"}})
    assert moves(result) == [(20, 0)]


@pytest.mark.parametrize(("queue_cost", "moved"), [("last", 1), ("mean", 0)])
def test_what_a_killed_job_would_wait(queue_cost, moved):
    """Waits of 0, 0 and 12 s: their mean is 4 s, the last of them makes the move worth while."""
    jobs = [(0, 12, 2), (0, 12, 1), (0, 99, 2)]
    fars = {"strategy": {"name": "failure_slowdown"}, "checkpoint_cost": 18.0, "queue_cost": queue_cost}
    result = moving(jobs, cluster(4), {2: [0]}, fars={**fars, "suspicious": "ignore"})
    assert result["start"].tolist() == [0, 0, 12]
    assert result["moves"].tolist() == [0, 0, moved]


def test_the_gain_counts_from_the_last_checkpoint():
    """Two jobs of equal size; the one with a checkpoint at 17 has 3 s at stake, the other 12."""
    jobs = [(0, 50, 1), (8, 50, 1)]
    result = moving(
        jobs, cluster(3), {2: [0, 1]}, fars={"strategy": {"name": "service_unit_loss"}}, alarms=[(16.0, 0)],
        checkpointing={"name": "before_failure", "cost": 1.0},
    )  # fmt: skip
    assert moves(result) == [(20, 1)]
    without = moving(jobs, cluster(3), {2: [0, 1]}, fars={"strategy": {"name": "service_unit_loss"}})
    assert moves(without) == [(20, 0)]


@pytest.mark.parametrize(
    ("first", "costs"),
    [
        (1, (2.0, 9.0)),  # at 20 the job restarts; what is at risk counts from 12, when its progress was safe
        (2, (16.0, 1.0)),  # at 30 it writes its checkpoint; from 0 on all is at risk
    ],
)
def test_the_gain_in_a_move(first, costs):
    fars = {"strategy": {"name": "service_unit_loss"}, "checkpoint_cost": costs[0], "restart_cost": costs[1]}
    result = moving([(0, 60, 1)], cluster(2), {first: [0], first + 1: [1]}, fars=fars)
    assert moves(result) == [(10 * first, 0), (10 * first + 10, 0)]


@pytest.mark.parametrize(
    ("submit", "seen", "fars", "more"),
    [
        # Moved at 8, where that progress is safe, it works again at 11; the failure at 12.5 would lose all since 8.
        (0, {8: 0, 12: 1}, {"checkpoint_cost": 0.0, "restart_cost": 3.0}, {}),
        # Killed at 5, it restarts until 9; a failure would lose that, too.
        (0, {10: 0}, {"checkpoint_cost": 0.0, "restart_cost": 3.0}, {"failures": [(5, 0, 0)]}),
        # Started at 18, it pauses from 20 to 22.5; at 22 it can be started again from 18, not from 20.5.
        (18, {20: 0, 22: 1}, {"live": True, "restart_cost": 2.5}, {}),
        # Its checkpoint ended at 5; the pause from 8 to 11.5 does not bring that closer.
        (0, {8: 0, 10: 1}, {"live": True, "restart_cost": 3.5},
         {"checkpointing": {"name": "periodic", "interval": 4.0, "cost": 1.0}}),
    ],
    ids=["move", "restart", "pause", "checkpoint"],
)  # fmt: skip
def test_the_gain_counts_by_the_clock(submit, seen, fars, more):
    """Ticks come every 2 s, the last of which would gain nothing if restarts and pauses did not count."""
    rule = {**FARS, "strategy": {"name": "service_unit_loss"}, "interval": 2.0, "suspicious": "ignore", **fars}
    options = {"recovery": {**REQUEUE, "restart_cost": 4.0}, **more}
    last, node = list(seen.items())[-1]
    fails = [*options.pop("failures", []), (last + 0.5, node, 0)]
    result = failing(
        [(submit, 40, 1)], fails, cluster(3), predictions=[(t, t + 2, node) for t, node in seen.items()],
        interval=2.0, rescheduling=rule, **options,
    )  # fmt: skip
    assert moves(result) == [(t, 0) for t in seen]
    assert result["restarts"][0] == len(fails) - 1


def test_a_killed_job_has_waited_since_the_kill():
    """Killed at 14 and started at once: it waited for 0 s, not 14, so that the move at 20 does not pay."""
    fars = {"strategy": {"name": "failure_slowdown"}, "checkpoint_cost": 15.0, "suspicious": "ignore"}
    result = moving([(0, 99, 1)], cluster(2), {2: [0]}, failures=[(14, 0, 0)], fars=fars)
    assert (result["migrations_attempted"], moves(result)) == (1, [])


# -- the residual rule


@pytest.mark.parametrize(("residual", "moved"), [("printed", [0]), ("difference", [1])])
def test_one_more_job_moves_as_far_as_it_can(residual, moved):
    """One spare node, and nobody fits. With p = 0.1, job 0 with 4 suspicious nodes would keep 3 (f = 0.271), job 1 with
    2 would keep 1 (f = 0.1); leaving one takes off 0.0729 and 0.09.
    """
    result = moving([(0, 20, 4), (0, 20, 2)], cluster(7), {1: range(6)}, p=0.1, fars={"residual": residual})
    assert [job for _, job in moves(result)] == moved
    assert stays(result)[2][3] == ([1, 2, 3, 6] if moved == [0] else [5, 6])


def test_of_equal_jobs_the_first_moves_as_far_as_it_can():
    assert moves(moving([(0, 20, 2), (0, 20, 2)], cluster(5), {1: range(4)}, p=0.5)) == [(10, 0)]


def test_who_fits_is_chosen_before_one_more_moves():
    """Two spare nodes: the second job fits; nothing is left for the first."""
    result = moving([(0, 20, 3), (0, 20, 2)], cluster(7), {1: range(5)})
    assert (result["moves"].tolist(), stays(result)[2][3]) == ([0, 1], [5, 6])
