"""`Backfill` of the reference engine: worked by hand, against a plan second by second, and its promise
(model.md#backfill).
"""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import helpers.engine_inputs as engine
from faultsim.reference.scheduling import depth, schedulers
from faultsim.reference.torus.boxes import BoxTable
from helpers.by_hand import CONSERVATIVE, EASY, FIRST_FIT, REQUEUE, cluster, run, starts, torus
from helpers.strategies import engine_cases


def deep(k, **options):
    return {**EASY, "name": "backfill", "depth": k, **options}


def test_so_many_jobs_have_reservations():
    """Job 2 (all nodes) is promised 20 where two jobs have reservations: job 3 (30 s) may use job 1's extra node only
    where job 2 has none.
    """
    jobs = [(0, 10, 3), (0, 10, 3), (0, 10, 4), (0, 30, 1)]
    assert starts(cluster(4), EASY, jobs) == starts(cluster(4), deep(1), jobs) == [0, 10, 30, 0]
    for k in (2, "unlimited"):
        assert starts(cluster(4), deep(k), jobs) == [0, 10, 20, 30]


def test_a_job_that_starts_is_none_of_the_first_k():
    """Job 2 starts at once, so job 3 is the second that waits: with k = 2 it is promised 20, and job 4 waits."""
    jobs = [(0, 10, 3), (0, 10, 3), (0, 2, 1), (0, 10, 4), (0, 30, 1)]
    assert starts(cluster(4), deep(1), jobs) == [0, 10, 0, 32, 2]
    assert starts(cluster(4), deep(2), jobs) == [0, 10, 0, 20, 30]


def test_a_job_moves_up_into_the_hole_of_a_later_one():
    """At 0 job 1 is promised 3 and job 3 is promised 1; at 1 jobs 0, early, and 2 end.  Rebuilt, the plan lets job 1
    go first; kept, job 3 has its reservation.
    """
    jobs = [(0, 1, 1, 3), (0, 1, 2, 3), (0, 1, 1), (0, 1, 1)]
    assert starts(cluster(2), deep("unlimited"), jobs) == [0, 1, 0, 2]
    assert starts(cluster(2), CONSERVATIVE, jobs) == [0, 2, 0, 1]


@pytest.mark.parametrize("machine", [cluster(4), torus(1, 1, 4)])
def test_nothing_extends_across_a_reservation_of_zero_length(machine):
    """Job 2, of zero length, is promised all nodes at 20, and job 3 (15 s) may not run across that (compare
    conservative backfilling); a job that begins at 20 itself may be promised the same nodes.
    """
    jobs = [(0, 10, 4), (0, 10, 3), (0, 0, 4), (2, 15, 1)]
    assert starts(machine, deep("unlimited"), jobs) == [0, 10, 20, 20]
    assert starts(machine, CONSERVATIVE, jobs) == [0, 10, 25, 10]


def test_a_job_without_a_time_counts():
    """Job 1 asks for a node of which nobody knows when it is up.  It is one of the k all the same: only with k = 2 is
    job 2 promised 10, so that job 3 has to wait.
    """
    world = {"failures": {"time": np.array([1.0]), "node": np.array([2]), "downtime": np.array([30.0])}}
    jobs = [(0, 10, 1), (2, 5, 3), (2, 5, 2), (2, 50, 1)]
    for k, start in [(1, [0, 52, 31, 2]), (2, [0, 65, 10, 15])]:
        result = run(cluster(3), deep(k, repairs="unknown"), jobs, world, recovery=REQUEUE)
        assert result["start"].tolist() == start


# -- against a plan of whole seconds


def sweep(machine, jobs):
    """Conservative backfilling anew at every event, on a calendar with one row a second."""
    table = None if machine["name"] == "cluster" else BoxTable((machine["x"], machine["y"], machine["z"]), True, ORDER)
    nodes = machine["nodes"] if table is None else table.nodes
    begin, held, now = {}, {}, 0
    events = sorted({job[0] for job in jobs})
    while events:
        now = events.pop(0)
        calendar = {}  # second -> nodes (a number, or a mask) in use then

        def book(job, at, what, until, calendar=calendar):
            for second in range(at, until):
                calendar[second] = calendar.get(second, 0) + what

        waiting = [i for i, job in enumerate(jobs) if job[0] <= now and i not in begin]
        for i, at in begin.items():
            if at + jobs[i][1] > now:
                book(i, now, held[i], at + jobs[i][3])
        first = True
        for i in waiting:
            _, runtime, size, estimate = jobs[i]
            for at in range(now, now + 1000):
                seconds = [calendar.get(second, 0) for second in range(at, at + estimate)]
                if table is None:
                    what = size if max(seconds) + size <= nodes else 0
                else:
                    taken = 0
                    for mask in seconds:
                        taken |= mask
                    sizes = table.sizes_between(table.round_up(size), nodes if first else table.round_up(size) + 1)
                    boxes = [box for q in sizes for box in table.free_of_size(taken, q)]
                    what = boxes[0].mask if boxes else 0
                if what:
                    break
            book(i, at, what, at + estimate)
            if at == now:
                begin[i], held[i] = now, what
                events = sorted({*events, now + runtime})
            else:
                first = False
    return [float(begin[i]) for i in range(len(jobs))]


ORDER = FIRST_FIT["box_order"]
MACHINES = [cluster(1), cluster(5), cluster(9), torus(1, 1, 6), torus(2, 3, 2), torus(3, 3, 1)]


@given(
    machine=st.sampled_from(MACHINES),
    rows=st.lists(
        st.tuples(st.integers(0, 4), st.integers(1, 8), st.integers(1, 9), st.integers(0, 6)), min_size=1, max_size=14
    ),
)
def test_unlimited_is_a_plan_of_all_jobs_anew(machine, rows):
    """Estimates are never too short, times are whole, and boxes are first fit: a calendar of seconds has every hole."""
    nodes = machine.get("nodes") or machine["x"] * machine["y"] * machine["z"]
    submit, jobs = 0, []
    for gap, runtime, size, more in rows:
        submit += gap
        jobs.append((submit, runtime, min(size, nodes), runtime + more))
    assert starts(machine, deep("unlimited", reservation="fixed"), jobs) == sweep(machine, jobs)


# -- what is promised


@pytest.fixture
def plans(monkeypatch):
    """[(time, job, begin or None)] of the reservations of each pass, and a check that the pass has delayed none."""
    given_out = []
    found, scan = depth.earliest, depth.backfill_in_depth

    def earliest(state, plan, job, first):
        promise = found(state, plan, job, first)
        given_out.append((state.now, job.index, promise))
        return promise

    def backfill(state, order):
        before = len(given_out)
        scan(state, order)
        during = [row[1:] for row in given_out[before:]]
        del given_out[before + len(during) :]
        waiting = [job for job in order if job in state.queue]
        again = depth.promises(state, waiting)
        del given_out[before + len(during) :]
        assert [seen(promise) for _, promise in during if promise is not None] == [seen(promise) for promise in again]

    def seen(promise):
        return promise.begin, promise.end, promise.size, promise.box

    monkeypatch.setattr(depth, "earliest", earliest)
    monkeypatch.setattr(schedulers, "backfill_in_depth", backfill)
    return given_out


@pytest.mark.parametrize("machine", ["cluster", "torus"])
def test_a_pass_delays_no_reservation(machine, plans):
    """The first k that wait after a pass would be given the same reservations again: with the jobs that the pass has
    started, which are first fit on a torus.
    """

    @given(engine_cases((machine,), ("backfill",), migration=False))
    def holds(case):
        settings, columns = case
        if machine == "torus":
            settings["placement"] = {"name": "first_fit", "box_order": settings["placement"]["box_order"]}
        plans.clear()
        engine.simulate({**settings, "verify": True}, **columns)

    holds()


def test_reservations_come_no_later_as_long_as_estimates_are_true(plans):
    """On a cluster, with true estimates and in order of arrival: a job's reservation never becomes later, and the job
    starts by it.
    """

    @given(engine_cases(("cluster",), ("backfill",)))
    def holds(case):
        settings, columns = case
        assume(settings["scheduler"]["order"]["name"] == "arrival")
        columns["estimate"] = columns["runtime"]
        plans.clear()
        start = engine.simulate({**settings, "start_delay": 0.0}, **columns)["start"]
        earliest = {}
        for _, job, promise in plans:
            assert promise is not None
            assert promise.begin <= earliest.get(job, promise.begin)
            earliest[job] = promise.begin
        assert all(start[job] <= begin for job, begin in earliest.items())

    holds()
