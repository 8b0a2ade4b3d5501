"""`Preemptive`: who is stopped, what it loses, and both engines alike (model.md#preemptive)."""

import numpy as np
import pytest
from hypothesis import given, settings

import faultsim as fs
from faultsim.errors import OptionError
from helpers.drawn_policies import policies
from helpers.engine_inputs import simulate as plainly
from helpers.engines import both_agree, runs_agree
from helpers.failure_strategies import failure_cases
from helpers.refusals import refused
from helpers.rescheduling_strategies import fars_cases
from helpers.runs import runs
from helpers.strategies import engine_cases

STOP = 4
#: Submit, run time, size and priority of jobs that wait for nobody, unless others stop them.
THREE = [(0, 100, 2, 1), (1, 100, 2, 0), (2, 100, 2, 0)]


def agree_on(cases, examples, budget=7):
    @given(cases)
    @settings(max_examples=examples)
    def agree(case):
        both_agree(case, budget)

    agree()


CASES = {
    "alone": lambda: engine_cases(("cluster",), ("preemptive",), migration=False),
    "failing": lambda: failure_cases(("cluster",), ("preemptive",)),
    "moving": lambda: fars_cases(("cluster",), ("preemptive",)),
}


@pytest.mark.parametrize("cases", CASES)
def test_both_engines_stop_the_same(cases):
    agree_on(CASES[cases](), 2 * settings.default.max_examples)


@pytest.mark.slow
@pytest.mark.parametrize("cases", CASES)
def test_both_engines_stop_the_same_in_many_cases(cases):
    agree_on(CASES[cases](), 3000, budget=3)


def test_the_cases_stop_jobs():
    """Nobody fails in these: each restart is a stop."""
    stops = []

    @given(CASES["alone"]())
    def count(case):
        config, columns = case
        result = plainly(config, **columns)
        if config["record"]:
            assert (result["events_table"]["kind"] == STOP).sum() == result["restarts"].sum()
        stops.append(int(result["restarts"].sum()))

    count()
    assert sum(n > 0 for n in stops) > len(stops) / 4


@given(runs(torus=False), policies("scheduler", "cluster", names=("preemptive",)))
def test_whole_runs_agree(run, scheduler):
    runs_agree(run.with_options(scheduler=scheduler))


@given(runs(torus=False, failing=False), policies("scheduler", "cluster", names=("preemptive",)))
def test_a_copy_goes_on_as_its_original(run, scheduler):
    placed = {"placement": run.placement, "estimates": run.estimates, "overrun": run.overrun}
    sim = fs.Simulation(run.log, run.machine, scheduler=scheduler, start_delay=run.start_delay, **placed)
    sim.run(until=float(run.log.submit.mean()))
    copy = sim.copy()
    sim.run()
    copy.run()
    for name, column in sim.result().jobs.items():
        np.testing.assert_array_equal(copy.result().jobs[name], column)


def test_without_ranks_to_tell_apart_it_is_easy_backfilling():
    log = fs.synthetic.sdsc_like(500, rng=2)
    for backfill, other in ((True, fs.EasyBackfill()), (False, fs.Fcfs())):
        result = fs.simulate(log, fs.Cluster(128), scheduler=fs.Preemptive("0 * size", backfill=backfill))
        same = fs.simulate(log, fs.Cluster(128), scheduler=other)
        for name, column in same.jobs.items():
            np.testing.assert_array_equal(result.jobs[name], column)


# -- by hand


def stopped(jobs, nodes, **options):
    """Starts and restarts of jobs (submit, run time, size, priority), and the result."""
    submit, runtime, size, priority = zip(*jobs, strict=True)
    log = fs.Workload(submit=submit, runtime=runtime, size=size).with_columns(priority=priority)
    options = {"scheduler": fs.Preemptive(backfill=False), "record": True, **options}
    result = fs.simulate(log, fs.Cluster(nodes), **options)
    return result.jobs["start"].tolist(), result.jobs["restarts"].tolist(), result


def test_the_lowest_rank_and_the_latest_is_stopped_first():
    start, restarts, result = stopped([*THREE, (50, 10, 2, 5)], 6)
    assert (start, restarts) == ([0, 1, 60, 50], [0, 0, 1, 0])
    assert result.jobs["lost_work"].tolist() == [0, 0, 96, 0]
    assert result.jobs["failure_wait"].tolist() == [0, 0, 10, 0]
    assert result.metrics["failures_hit"] == 0
    assert result.ledger["lost"] == 96
    kinds = result.events["kind"][result.events["time"] == 50].tolist()
    assert kinds == [5, STOP, 6]  # it arrives, another is stopped, it starts


def test_of_equal_starts_the_last_job_is_stopped():
    start, restarts, _ = stopped([(0, 100, 2, 0), (0, 100, 2, 0), (0, 100, 2, 0), (50, 10, 2, 5)], 6)
    assert (start, restarts) == ([0, 0, 60, 50], [0, 0, 1, 0])


def test_nobody_is_stopped_if_that_is_not_enough():
    start, restarts, _ = stopped([(0, 100, 2, 1), (0, 110, 2, 0), (50, 10, 4, 1)], 4)  # one job has the same rank
    assert (start, restarts) == ([0, 110, 100], [0, 1, 0])  # the other is stopped as soon as that is enough


def test_who_is_not_needed_goes_on():
    """Taken in turn are the jobs of 1 and of 4 nodes; the second alone is enough."""
    start, restarts, _ = stopped([(0, 100, 4, 1), (1, 100, 1, 0), (50, 10, 4, 5)], 5)
    assert (start, restarts) == ([60, 1, 50], [1, 0, 0])


def test_who_is_stopped_may_stop_others():
    start, restarts, _ = stopped([(0, 100, 2, 1), (0, 100, 2, 0), (50, 10, 2, 5)], 4)
    assert (start, restarts) == ([0, 60, 50], [0, 1, 0])
    # The job of rank 1 gives its nodes to that of rank 5, and takes those of rank 0 at the same instant.
    start, restarts, _ = stopped([(0, 100, 3, 0), (0, 100, 1, 1), (50, 10, 4, 5), (50, 10, 1, 0)], 4)
    assert (start, restarts) == ([60, 60, 50, 160], [1, 1, 0, 0])


def test_nobody_who_ends_now_or_has_not_started_is_stopped():
    start, restarts, _ = stopped([(0, 50, 2, 0), (50, 10, 2, 5)], 2)
    assert (start, restarts) == ([0, 50], [0, 0])
    start, restarts, _ = stopped([(0, 50, 2, 0), (5, 10, 2, 5)], 2, start_delay=10)
    assert (start, restarts) == ([10, 70], [0, 0])  # it is asked once, when the other arrives
    start, restarts, _ = stopped([(0, 50, 2, 0), (15, 10, 2, 5)], 2, start_delay=10)
    assert (start, restarts) == ([45, 25], [1, 0])


def test_what_is_saved_is_kept():
    jobs = [(0, 100, 2, 0), (65, 10, 2, 5)]
    start, _, result = stopped(jobs, 2, checkpointing=fs.Periodic(20, 1), recovery=fs.Requeue(restart_cost=3))
    assert start == [75, 65]
    # 65 s are 20 + 1 + 20 + 1 + 20 + 1 + 2: three checkpoints, and 2 s that are lost; 40 s and 1 checkpoint are left.
    assert result.jobs["lost_work"].tolist() == [4, 0]
    assert result.jobs["finish"].tolist() == [75 + 3 + 41, 75]


def test_the_tail_is_the_place_of_who_is_stopped():
    jobs = [(0, 100, 2, 0), (10, 100, 2, 0), (50, 10, 2, 5)]
    for place, expected in (("arrival", [60, 160, 50]), ("tail", [160, 60, 50])):
        start, restarts, _ = stopped(jobs, 2, recovery=fs.Requeue(place))
        assert (start, restarts) == (expected, [1, 0, 0])


def test_stops_come_before_backfilling():
    """The third job would be backfilled at 50 and stopped at once; the head stops first."""
    jobs = [(0, 100, 3, 0), (50, 100, 4, 5), (50, 10, 1, 1)]
    start, restarts, _ = stopped(jobs, 4, scheduler=fs.Preemptive())
    assert (start, restarts) == ([150, 50, 150], [1, 0, 0])


# -- what is refused


@pytest.mark.parametrize("order", [None, "arrival", "wfp3", "size - wait", "-restarts", fs.Unicef()], ids=str)
def test_orders_that_rank_nobody_once_and_for_all(order):
    refused(OptionError, "order of Preemptive must rank jobs once and for all, which .* does not", fs.Preemptive, order)


def test_runs_that_are_refused():
    log = fs.Workload(submit=[0], runtime=[1], size=[1])
    said = "^Preemptive ranks jobs by a column 'priority', which the log has not: give it one, by log.with_columns"
    refused(OptionError, said, fs.Run, log, fs.Cluster(2), scheduler=fs.Preemptive())
    said = "Preemptive stops jobs for their nodes, and on torus:2x2x2 jobs have places: use EasyBackfill"
    refused(OptionError, said, fs.Run, log, fs.Torus(2, 2, 2), scheduler=fs.Preemptive("-size"))
    refused(OptionError, "backfill must be True or False", fs.Preemptive, backfill=1)
    assert fs.Run(log, fs.Cluster(2), scheduler="preemptive:order=shortest").scheduler == fs.Preemptive("shortest")
