"""The reference engine of workflows: the worked example of [yu2010] event by event, and each rule by hand."""

import math

import numpy as np
import pytest
from hypothesis import given, settings

from helpers.engine_inputs import plain_workflows as WorkflowEngine
from helpers.workflow_cases import (
    ARRIVAL,
    EXAMPLE_COST,
    EXAMPLE_EDGES,
    EXAMPLE_FAILURES,
    EXAMPLE_PREDICTIONS,
    FAILURE,
    FINISH,
    KILL,
    REPAIR,
    START,
    WAKE_UP,
    check_output,
    rows_of,
    settings_of,
    tables_of,
    workflow_cases,
    world_of,
)


def plainly(tables, world=None, sources_kill=True, **rule):
    config = settings_of(**rule)
    engine = WorkflowEngine(config, tables, world, sources_kill=sources_kill)
    assert engine.run() == "done"
    output = engine.output()
    if sources_kill:
        check_output(config, tables, world, output)
    return output


def happened(output, *, but=()):
    """(time, kind, job, node) of the events."""
    rows = rows_of(output["events_table"], "time", "kind", "job", "node")
    return [row for row in rows if row[1] not in but]


def placed(output):
    return rows_of(output["decisions"], "time", "job", "node")


# -- the worked example (workflow-example.md#traces)

EXAMPLE = tables_of([(EXAMPLE_COST, EXAMPLE_EDGES)])
RANK_HYBD = [
    (0, ARRIVAL, -1, -1), (0, START, 0, 0),
    (5, FAILURE, -1, 2), (10, REPAIR, -1, 2),
    (15, FAILURE, -1, 0), (15, KILL, 0, 0), (15, START, 0, 1),
    (20, REPAIR, -1, 0),
    (55, FINISH, 0, 1), (55, START, 3, 1), (55, START, 1, 0), (55, START, 2, 2),
    (60, FAILURE, -1, 1), (60, KILL, 3, 1), (60, KILL, 1, 0), (60, KILL, 2, 2),
    (65, REPAIR, -1, 1), (65, START, 3, 1), (65, START, 1, 0), (65, START, 2, 2),
    (95, FINISH, 2, 2), (100, FINISH, 3, 1), (105, FINISH, 1, 0), (105, START, 4, 0),
    (155, FINISH, 4, 0),
]  # fmt: skip
FLAW = [
    (0, ARRIVAL, -1, -1), (0, START, 0, 1),
    (5, FAILURE, -1, 2), (10, REPAIR, -1, 2), (15, FAILURE, -1, 0), (20, REPAIR, -1, 0),
    (40, FINISH, 0, 1), (40, START, 3, 1), (40, START, 1, 0), (40, START, 2, 2),
    (60, FAILURE, -1, 1), (60, KILL, 3, 1),
    (65, REPAIR, -1, 1), (65, START, 3, 1),
    (70, FINISH, 2, 2), (80, FINISH, 1, 0), (100, FINISH, 3, 1), (100, START, 4, 0),
    (150, FINISH, 4, 0),
]  # fmt: skip


def test_worked_example_without_prediction():
    output = plainly(EXAMPLE, world_of(EXAMPLE_FAILURES, EXAMPLE_PREDICTIONS))
    assert happened(output) == RANK_HYBD
    assert (output["finish"].max(), output["loss_time"], output["reschedulings"]) == (155, 30, 4)
    assert output["kills"].tolist() == [1, 1, 1, 1, 0]


def test_worked_example_with_prediction():
    output = plainly(EXAMPLE, world_of(EXAMPLE_FAILURES, EXAMPLE_PREDICTIONS), scheduler="flaw")
    assert happened(output) == FLAW
    assert (output["finish"].max(), output["loss_time"], output["reschedulings"]) == (150, 20, 1)
    assert output["questions"] == (10, 9, 7, 6)
    assert output["decisions"]["asked"].tolist() == [2, 1, 1, 1, 1, 1]


def test_without_the_rule_that_a_source_kills_its_transfers_the_example_is_another():
    world = world_of(EXAMPLE_FAILURES)
    output = plainly(EXAMPLE, world, sources_kill=False)
    assert (output["finish"].max(), output["loss_time"], output["reschedulings"]) == (150, 20, 2)


def test_without_predictions_flaw_is_rank_hybd_in_the_example():
    """Questions included: "A scheduler that does not ask (`RankHybd`, `Fifo`) counts as one that is always answered
    no".
    """
    blind = plainly(EXAMPLE, world_of(EXAMPLE_FAILURES), scheduler="flaw")
    hybd = plainly(EXAMPLE, world_of(EXAMPLE_FAILURES))
    assert happened(blind) == happened(hybd) == RANK_HYBD
    # Wrong: at 0 P0 and P2 fail before T0 would end there, and T0 goes to P0; at 55 P1 fails under T3.  At 60 all three
    # are blocked, and nobody is asked about.
    assert blind["questions"] == hybd["questions"] == (3 + 2 + 3 + 3 + 3, 1 + 2 + 2 + 3 + 3, 1 + 1 + 3 + 3 + 1, 7)


@pytest.mark.parametrize(
    ("rule", "facts"),
    [
        # With copies elsewhere only T0 and T3 are killed, by failures of their own nodes.
        ({"outputs": 0.0}, (150, 20, 2)),
        # T4 waits for 10 + 20 s of data on P0, not for the longer 20.
        ({"transfers": "in_turn"}, (165, 30, 4)),
        # T1 takes P1 before T3 can; T3 ends on P0 at 65 + 10 + 45, where T4 follows in 10 + 30.
        ({"scheduler": "fifo"}, (160, 30, 4)),
    ],
)
def test_other_rules_make_another_example(rule, facts):
    output = plainly(EXAMPLE, world_of(EXAMPLE_FAILURES), **rule)
    assert (output["finish"].max(), output["loss_time"], output["reschedulings"]) == facts


# -- moving data


def test_data_move_at_the_assignment_and_hold_the_node():
    # The second job is alone on the fast node 1, to which 4 s of data must move: 2 + (4 + 1) < 2 + 9.
    output = plainly(tables_of([([[2, 20], [9, 1]], [(0, 1, 4)])]))
    assert placed(output) == [(0, 0, 0), (2, 1, 1)]
    assert output["decisions"]["begin"].tolist() == [0, 6]
    assert output["finish"].tolist() == [2, 7]


def test_bandwidth_divides_and_a_matrix_goes_by_the_pair():
    slow = plainly(tables_of([([[2, 20], [30, 1]], [(0, 1, 4)])], bandwidth=2))
    assert slow["finish"][1] == 2 + 2 + 1
    matrix = plainly(tables_of([([[2, 20], [30, 1]], [(0, 1, 4)])], bandwidth=[[1, 0.5], [8, 1]]))
    assert matrix["finish"][1] == 2 + 8 + 1


@pytest.mark.parametrize(("transfers", "begin"), [("parallel", 5), ("in_turn", 8)])
def test_transfers_in_parallel_or_in_turn(transfers, begin):
    # Jobs 0, 1 and 2 end at 1 on nodes 0, 1 and 2; the last runs on node 2, which has the third input.
    join = tables_of([([[1, 9, 9], [9, 1, 9], [9, 9, 1], [90, 90, 2]], [(0, 3, 4), (1, 3, 3), (2, 3, 5)])])
    output = plainly(join, transfers=transfers)
    assert output["decisions"]["begin"][-1] == begin
    assert output["finish"][-1] == begin + 2


def test_a_transfer_in_turn_ends_with_those_before_it():
    """The data of node 1 come second, from 5 to 8: node 0 may fail at 5, node 1 at 7 must not."""
    join = tables_of([([[1, 9, 9], [9, 1, 9], [90, 90, 2]], [(0, 2, 4), (1, 2, 3)])])
    assert plainly(join, world_of([(5, 0, 1)]), transfers="in_turn")["reschedulings"] == 0
    assert plainly(join, world_of([(7, 1, 1)]), transfers="in_turn")["reschedulings"] == 1
    assert plainly(join, world_of([(4, 1, 1)]), transfers="parallel")["reschedulings"] == 0
    assert plainly(join, world_of([(7, 1, 1)]), transfers="parallel")["reschedulings"] == 0


@pytest.mark.parametrize(("time", "kills"), [(5, 1), (6, 0), (7, 0)])
def test_a_transfer_that_has_ended_or_ends_now_is_not_disturbed(time, kills):
    output = plainly(tables_of([([[2, 20], [90, 3]], [(0, 1, 4)])]), world_of([(time, 0, 1)]))
    assert output["reschedulings"] == kills
    if kills:
        assert happened(output)[-3:] == [(6, REPAIR, -1, 0), (6, START, 1, 1), (13, FINISH, 1, 1)]
        assert output["loss_time"] == 5 - 2


def test_a_source_that_fails_for_no_time_kills_its_transfers_too():
    output = plainly(tables_of([([[2, 20], [90, 3]], [(0, 1, 4)])]), world_of([(3, 0, 0)]))
    assert happened(output)[4:] == [(3, FAILURE, -1, 0), (3, KILL, 1, 1), (3, START, 1, 1), (10, FINISH, 1, 1)]


def test_shared_storage_costs_a_copy_and_needs_no_source():
    tables = tables_of([([[2, 20], [90, 3]], [(0, 1, 4)])])
    output = plainly(tables, world_of([(4, 0, 50)]), outputs=1.5)
    assert output["finish"].tolist() == [3.5, 3.5 + 4 + 3]
    down = plainly(tables, world_of([(3, 0, 50)]), outputs=0.5)
    assert down["finish"].tolist() == [2.5, 9.5]
    # A job without a successor copies nothing.
    assert plainly(tables_of([([5], [])], nodes=1), outputs=3.0)["finish"].tolist() == [5]


def test_sums_are_doubles_in_the_order_of_the_page():
    output = plainly(tables_of([([[0.1, 9], [90, 0.3]], [(0, 1, 0.2)])]))
    assert output["finish"][1] == (0.1 + 0.2) + 0.3 != 0.1 + (0.2 + 0.3)


# -- blocking


def test_a_job_whose_input_is_on_a_node_that_is_down_waits_though_nodes_are_free():
    tables = tables_of([([[2, 20], [2, 20], [90, 3]], [(0, 2, 0), (1, 2, 0)])])
    output = plainly(tables, world_of([(4, 0, 10)]))
    # Jobs 0 and 1 run on node 0 and end at 2 and 4: with edges of no size too, the last waits until 14.
    assert placed(output) == [(0, 0, 0), (0, 1, 1), (20, 2, 1)]
    quick = tables_of([([[2, 90], [3, 1]], [(0, 1, 0)])])
    assert placed(plainly(quick, world_of([(2, 0, 10)]))) == [(0, 0, 0), (12, 1, 1)]
    assert placed(plainly(quick, world_of([(2, 0, 10)]), outputs=0.0)) == [(0, 0, 0), (2, 1, 1)]


def test_a_blocked_job_lets_the_next_one_pass():
    # Job 1 needs the output on node 0, which is down from 2 to 12; job 2 is of another workflow.
    tables = tables_of([([[2, 90], [3, 1]], [(0, 1, 0)]), ([[9, 4]], [], 3)])
    assert placed(plainly(tables, world_of([(2, 0, 10)]))) == [(0, 0, 0), (3, 2, 1), (12, 1, 1)]


# -- failures


def test_a_job_that_ends_when_its_node_fails_is_done():
    output = plainly(tables_of([([4], [])], nodes=1), world_of([(4, 0, 1)]))
    assert (output["finish"][0], output["reschedulings"]) == (4, 0)


def test_a_failure_of_no_time_kills_and_frees_the_node_at_once():
    output = plainly(tables_of([([4], [])], nodes=1), world_of([(3, 0, 0)]))
    assert happened(output)[2:] == [(3, FAILURE, -1, 0), (3, KILL, 0, 0), (3, START, 0, 0), (7, FINISH, 0, 0)]


@pytest.mark.parametrize(("second", "up"), [((3, 0, 9), 12), ((3, 0, 1), 6), ((3, 0, 0), 6)])
def test_a_failure_while_down_extends_the_outage_but_never_shortens_it(second, up):
    output = plainly(tables_of([([4], [], 2)], nodes=1), world_of([(1, 0, 5), second]))
    assert placed(output) == [(up, 0, 0)]
    assert [row for row in happened(output) if row[1] == REPAIR] == [(up, REPAIR, -1, 0)]


def test_a_node_is_usable_at_the_instant_of_its_repair_unless_it_fails_again():
    output = plainly(tables_of([([4], [], 2)], nodes=1), world_of([(1, 0, 5), (6, 0, 2)]))
    assert placed(output) == [(8, 0, 0)]
    assert (6, REPAIR, -1, 0) in happened(output)


def test_failures_before_the_first_arrival_take_nodes_down():
    output = plainly(tables_of([([[4, 5]], [], 10)]), world_of([(1, 0, 20)]))
    assert placed(output) == [(10, 0, 1)]


def test_all_failures_of_an_instant_come_before_the_pass():
    output = plainly(tables_of([([[4, 5, 9]], [])]), world_of([(3, 0, 1), (3, 1, 1)]))
    assert placed(output) == [(0, 0, 0), (3, 0, 2)]


# -- order


def fork(n):
    return [(0, v, 0) for v in range(1, n + 1)]


def test_one_workflow_goes_by_rank_descending_with_ties_by_number():
    output = plainly(tables_of([([1, 3, 5, 5], fork(3))], nodes=1))
    assert [job for _, job, _ in placed(output)] == [0, 2, 3, 1]


def test_several_workflows_go_by_rank_ascending_or_descending():
    tables = tables_of([([4, 6], []), ([5, 7], [])], nodes=1)
    # With jobs of the second workflow only, the longest is first again.
    assert [job for _, job, _ in placed(plainly(tables))] == [0, 2, 1, 3]
    assert [job for _, job, _ in placed(plainly(tables, across="descending"))] == [3, 1, 2, 0]
    last = tables_of([([4], []), ([5, 7], [])], nodes=1)
    assert [job for _, job, _ in placed(plainly(last))] == [0, 2, 1]


def test_ties_across_workflows_go_by_number():
    tables = tables_of([([4, 6], []), ([6, 4], [])], nodes=1)
    assert [job for _, job, _ in placed(plainly(tables))] == [0, 3, 1, 2]
    assert [job for _, job, _ in placed(plainly(tables, across="descending"))] == [1, 2, 0, 3]


def test_fifo_goes_by_the_time_of_entering_the_pool():
    # Job 2 is ready at 2, jobs 1 and 3 were there at 1 already; job 1 is killed at 3.5 and goes to the end.
    tables = tables_of([([1, 3, 9], [(0, 2, 0)], 1), ([4], [], 1)], nodes=1)
    assert [job for _, job, _ in placed(plainly(tables, scheduler="fifo"))] == [0, 1, 3, 2]
    killed = plainly(tables, world_of([(3.5, 0, 0)]), scheduler="fifo")
    assert [job for _, job, _ in placed(killed)] == [0, 1, 3, 2, 1]


def test_nodes_by_earliest_finish_then_number():
    assert placed(plainly(tables_of([([[5, 4, 4]], [])]))) == [(0, 0, 1)]


def test_no_job_waits_for_a_better_node_that_is_busy():
    assert placed(plainly(tables_of([([[2, 50], [1, 40]], [])]))) == [(0, 0, 0), (0, 1, 1)]


def test_jobs_of_no_length_end_at_once_and_release_their_successors():
    output = plainly(tables_of([([0, 0, 3], [(0, 1, 0), (1, 2, 0)])], nodes=1))
    assert happened(output, but=(ARRIVAL,)) == [
        (0, START, 0, 0), (0, FINISH, 0, 0), (0, START, 1, 0), (0, FINISH, 1, 0), (0, START, 2, 0), (3, FINISH, 2, 0),
    ]  # fmt: skip


# -- asking


def asked(world, cost=10.0, arrival=0.0, **rule):
    return plainly(tables_of([([cost], [], arrival)], nodes=1), world, scheduler="flaw", **rule)


@pytest.mark.parametrize(
    ("prediction", "start"),
    [
        ((12, 0), 2), ((11.9, 0), 11.9), ((2, 0), 2), ((2.1, 0), 2.1),  # the window (2, 12) is open
        ((0, 2, 0), 2), ((0, 2.5, 0), 2.5), ((12, 30, 0), 2), ((11, 30, 0), 30), ((3, 4, 0), 4),
    ],
)  # fmt: skip
def test_the_window_is_open_and_a_lone_job_is_tried_again_when_the_prediction_is_over(prediction, start):
    output = asked(world_of([], [prediction]), arrival=2)
    assert placed(output) == [(start, 0, 0)]
    assert [row for row in happened(output) if row[1] == WAKE_UP] == ([(start, WAKE_UP, -1, -1)] if start > 2 else [])


def test_the_wake_up_is_at_the_earliest_end_and_moves_on_with_each_pass():
    output = asked(world_of([], [(3, 9, 0), (1, 5, 0)]))
    assert [row[0] for row in happened(output) if row[1] == WAKE_UP] == [5, 9]
    assert output["questions"] == (3, 1, 3, 1)


def test_no_wake_up_while_something_runs():
    # Job 1 is refused until 4; job 0 runs on node 1 until 8 (all predictions are about node 0).
    tables = tables_of([([[90, 8], [3, 50]], [])])
    output = plainly(tables, world_of([], [(1, 4, 0), (20, 1)]), scheduler="flaw")
    assert placed(output) == [(0, 0, 1), (8, 1, 0)]
    assert all(row[1] != WAKE_UP for row in happened(output))


def test_a_pass_drops_the_wake_up_of_the_one_before():
    # Node 0 is refused until 9; at 5 node 1 is back, takes the job, and nobody need look again at 9.
    output = plainly(tables_of([([[9, 10]], [])]), world_of([(0, 1, 5)], [(8, 9, 0)]), scheduler="flaw")
    assert happened(output)[2:] == [(5, REPAIR, -1, 1), (5, START, 0, 1), (15, FINISH, 0, 1)]


def test_the_node_that_holds_the_data_is_not_asked_about():
    tables = tables_of([([[2, 20], [90, 3]], [(0, 1, 4)])])
    output = plainly(tables, world_of([(3, 0, 1)], [(3, 0)]), scheduler="flaw")
    # Job 0 ends at 2, before the failure; job 1 goes to node 1 and loses its transfer at 3.
    assert placed(output) == [(0, 0, 0), (2, 1, 1), (4, 1, 1)]


def test_the_next_best_node_takes_a_refused_job_and_the_next_job_follows_one_that_nobody_takes():
    two = plainly(tables_of([([[4, 6, 5]], [])]), world_of([], [(3, 0), (4, 2)]), scheduler="flaw")
    assert placed(two) == [(0, 0, 1)]
    assert two["decisions"]["asked"].tolist() == [3]
    shorter = plainly(tables_of([([9, 2], [])], nodes=1), world_of([], [(5, 0)]), scheduler="flaw")
    assert placed(shorter) == [(0, 1, 0), (5, 0, 0)]


def test_fifo_asks_when_it_is_told_to():
    tables = tables_of([([[4, 6]], [])])
    world = world_of([(3, 0, 1)], [(3, 0)])
    assert placed(plainly(tables, world, scheduler="fifo")) == [(0, 0, 0), (3, 0, 1)]
    assert placed(plainly(tables, world, scheduler="fifo", aware=True)) == [(0, 0, 1)]


def test_right_answers_are_about_the_window_not_about_the_failure_that_was_meant():
    """yu2010#L4: down from 100 to 120, the job would end at 140, and the prediction of 130 is false; still the
    yes is right.
    """
    world = world_of([(100, 0, 20)], [(130, 0)])
    elsewhere = plainly(tables_of([([[140, 150]], [])]), world, scheduler="flaw")
    assert placed(elsewhere) == [(0, 0, 1)]
    assert elsewhere["questions"] == (2, 2, 2, 2)
    # Alone it is back at 120 and refused, wrongly; at 130 the prediction is over.
    output = asked(world, cost=140)
    assert placed(output) == [(130, 0, 0)]
    assert output["questions"] == (3, 2, 3, 2)


def test_a_pass_counts_once_a_free_node_and_blocked_jobs_do_not_count():
    # Two jobs, two nodes: the first one asks about both in the count by pass, each about one in the other.
    output = plainly(tables_of([([[5, 9], [9, 5]], [])]))
    assert output["questions"] == (2, 2, 2, 2)
    blocked = plainly(tables_of([([[2, 90], [3, 1]], [(0, 1, 0)])]), world_of([(2, 0, 10)]))
    # 0: two free nodes, of which P0 does not fail in (0, 2) and P1 never; 2: blocked; 12: two again.
    assert blocked["questions"] == (4, 4, 2, 2)


# -- Heft


def planned(workflows, nodes, world=None):
    output = plainly(tables_of(workflows, nodes), world, scheduler="heft")
    assert not output["decisions"]["asked"].any()
    assert output["questions"] == (0, 0, 0, 0)
    return output


def test_heft_goes_into_gaps():
    # Job 2 waits until 8 for data, wherever it is; job 3, of the lowest rank, fits before it, to the last second.
    output = planned([([2, 2, 7, 6], [(0, 2, 6), (1, 2, 6)])], 2)
    assert output["decisions"]["job"].tolist() == [0, 1, 2, 3]
    assert output["node"].tolist() == [0, 1, 0, 0]
    assert output["start"].tolist() == [0, 0, 8, 2]
    assert output["finish"].tolist() == [2, 2, 15, 8]


def test_heft_plans_each_workflow_when_it_arrives():
    output = planned([([3], [], 5), ([7], [], 0), ([1, 2], [], 9)], 1)
    assert output["decisions"]["job"].tolist() == [1, 0, 3, 2]
    assert output["decisions"]["time"].tolist() == [0, 5, 9, 9]
    assert output["start"].tolist() == [7, 0, 12, 10]
    assert planned([([3], [], 5)], 1)["start"].tolist() == [5]


def test_a_plan_that_is_delayed_keeps_its_order_and_its_nodes():
    # By the plan jobs 0 and 1 have node 0 until 9, and job 2 node 1.
    flow = [([[4, 40], [5, 50], [50, 5]], [(0, 1, 0)])]
    quiet = planned(flow, 2)
    assert (quiet["node"].tolist(), quiet["start"].tolist()) == ([0, 0, 1], [0, 4, 0])
    output = planned(flow, 2, world_of([(3, 0, 2)]))
    assert (output["node"].tolist(), output["start"].tolist()) == ([0, 0, 1], [5, 9, 0])
    assert (output["loss_time"], output["reschedulings"], output["kills"].tolist()) == (3, 1, [1, 0, 0])
    # Decisions are the plan's.
    assert output["decisions"]["begin"].tolist() == quiet["decisions"]["begin"].tolist()


def test_a_job_does_not_overtake_the_one_planned_before_it():
    # Node 1 has job 1, which waits for data, and then job 2, which waits for nothing; node 0 fails under job 0.
    flow = [([[2, 90], [90, 9], [90, 4]], [(0, 1, 1)])]
    quiet = planned(flow, 2)
    assert (quiet["node"].tolist(), quiet["start"].tolist()) == ([0, 1, 1], [0, 3, 12])
    assert planned(flow, 2, world_of([(1, 0, 50)]))["start"].tolist() == [51, 54, 63]


# Job 0 ends at 2 on node 0; its data would be on node 1 at 6.
MOVING = [([[2, 90], [90, 3]], [(0, 1, 4)])]


@pytest.mark.parametrize(
    ("failure", "start"),
    [
        ((3, 0, 1), 8), ((3, 0, 0), 7), ((3, 1, 1), 8), ((3, 1, 0), 7),  # broken off, and from the beginning
        ((6, 0, 9), 6), ((6, 1, 2), 8), ((5.5, 1, 2), 11.5),  # data that are there stay there
        ((2, 0, 3), 9), ((1, 1, 3), 8), ((2, 1, 0), 6),  # both nodes must be up
    ],
)  # fmt: skip
def test_transfers_of_a_plan_need_both_nodes(failure, start):
    output = planned(MOVING, 2, world_of([failure]))
    assert output["start"].tolist() == [0, start]
    assert output["reschedulings"] == 0


def test_a_killed_job_of_a_plan_still_has_its_data():
    output = planned(MOVING, 2, world_of([(7, 1, 1), (7.5, 0, 100)]))
    assert output["finish"].tolist() == [2, 11]
    assert output["loss_time"] == 1
    assert happened(output, but=(ARRIVAL,)) == [
        (0, START, 0, 0), (2, FINISH, 0, 0), (6, START, 1, 1), (7, FAILURE, -1, 1), (7, KILL, 1, 1),
        (7.5, FAILURE, -1, 0), (8, REPAIR, -1, 1), (8, START, 1, 1), (11, FINISH, 1, 1),
    ]  # fmt: skip


def test_plans_take_no_notice_of_delays():
    # Node 0 is late by 5 when the second workflow arrives; its plan still goes to node 0 at 4, and is late too.
    flow = [([[4, 40]], []), ([[3, 6]], [], 3)]
    output = planned(flow, 2, world_of([(0, 0, 5)]))
    assert output["node"].tolist() == [0, 0]
    assert output["decisions"]["begin"].tolist() == [0, 4]
    assert output["start"].tolist() == [5, 9]


# -- random cases


@given(workflow_cases())
@settings(max_examples=2 * settings.default.max_examples)
def test_what_must_hold_holds_on_random_cases(case):
    config, tables, world = case
    engine = WorkflowEngine({**config, "record": True}, tables, world)
    engine.run()
    check_output({**config, "record": True}, tables, world, engine.output())
    assert engine.n_done == len(tables["cost"])
    assert math.isfinite(engine.now)


@given(workflow_cases(schedulers=({"name": "flaw", "across": "ascending"}, {"name": "fifo", "aware": True})))
def test_without_predictions_asking_changes_nothing(case):
    config, tables, world = case
    world = world and {**world, "predictions": {"begin": [], "end": [], "node": [], "p": 1.0}}
    blind = {**config, "scheduler": {**config["scheduler"], "name": "rank_hybd"}}
    if config["scheduler"]["name"] == "fifo":
        blind = {**config, "scheduler": {"name": "fifo", "aware": False}}
    outputs = []
    for which in (config, blind):
        engine = WorkflowEngine(which, tables, world)
        engine.run()
        outputs.append(engine.output())
    for name, value in outputs[0].items():
        np.testing.assert_equal(outputs[1][name], value, name)
