"""Cubes that a pod holds back (model.md#held-back), by hand and by a law; random runs are in test_pod_engines.py."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import faultsim as fs
from faultsim.machines import parse_machine

SIX = fs.Pod((1, 1, 6), (2, 2, 2), 2, spares=2)


def starts(pod, submit, runtime, size, engine, **options):
    log = fs.Workload(submit=submit, runtime=runtime, size=size)
    return fs.simulate(log, pod, engine=engine, **options)


@pytest.mark.parametrize("engine", ["core", "reference"])
def test_new_jobs_leave_the_spare_cubes_alone(engine):
    """Four of six cubes are for jobs: the third waits for the first; half a cube goes into one that is in use."""
    found = starts(SIX, [0, 0, 1, 2, 3], [10, 20, 5, 30, 5], [4, 2, 4, 1, 1], engine, scheduler=fs.Fcfs())
    assert found.jobs["start"].tolist() == [0, 0, 10, 10, 10]
    found = starts(SIX, [0, 0, 1, 2, 3], [10, 20, 5, 8, 7], [4, 2, 4, 1, 1], engine)
    assert found.jobs["start"].tolist() == [0, 0, 10, 2, 3]


@pytest.mark.parametrize("engine", ["core", "reference"])
@pytest.mark.parametrize(("down", "again"), [([0], 5), ([0, 9], 5), ([0, 9, 11], 10)])
def test_a_spare_cube_takes_the_place_of_one_that_is_down(engine, down, again):
    """Two jobs have cubes 0-1 and 2-3; 4 and 5 are spare, but no longer if they are down themselves."""
    times = [4] * (len(down) - 1) + [5]
    failures = fs.FailureTrace(times, down[1:] + down[:1], [20] * len(down))
    found = starts(SIX, [0, 0], [10, 10], [4, 4], engine, failures=failures)
    assert found.jobs["start"].tolist() == [again, 0]


@pytest.mark.parametrize("engine", ["core", "reference"])
def test_who_comes_first_has_what_a_killed_job_leaves(engine):
    """The head waits for three cubes; a job of one was backfilled, and is again when its cube fails, on a spare one."""
    log = ([0, 1, 2], [10, 10, 5], [4, 6, 2])
    failures = fs.FailureTrace([4], [4], [100])
    found = starts(SIX, *log, engine, failures=failures)
    assert found.jobs["start"].tolist() == [0, 10, 4]
    assert found.jobs["finish"].tolist() == [10, 20, 9]


@pytest.mark.parametrize("wiring", ["ocs", "static"])
def test_no_job_is_as_large_as_what_is_held_back_allows(wiring):
    pod = fs.Pod((2, 2, 2), wiring=wiring, spares=3)
    assert pod.most_hosts == (80 if wiring == "ocs" else 64)
    log = fs.Workload(submit=[0], runtime=[10], size=[96])
    with pytest.raises(fs.InputError, match=r"larger than the largest slice of pod:2x2x2.*spares=3"):
        fs.simulate(log, pod)


def test_static_wiring_counts_cubes_wherever_they_are():
    """Of two blocks of two cubes and one of four, the second block of two would leave less than three cubes."""
    pod = fs.Pod((1, 1, 6), (2, 2, 2), 2, "static", spares=3)
    found = starts(pod, [0, 0, 0], [10, 20, 30], [4, 4, 2], "core")
    assert found.jobs["start"].tolist() == [0, 10, 0]


@settings(deadline=None)
@given(st.data())
def test_with_no_more_cubes_down_than_are_held_back_nobody_waits_for_a_repair(data):
    """Fcfs, whole cubes, switches: each killed job starts again at once."""
    draw = data.draw
    spares = draw(st.integers(1, 3))
    pod = fs.Pod((1, 2, 4), (2, 2, 2), 2, spares=spares)
    n = draw(st.integers(1, 25))
    numbers = [draw(st.lists(st.integers(low, high), min_size=n, max_size=n)) for low, high in ((0, 9), (1, 30))]
    size = [2 * draw(st.integers(1, 8 - spares)) for _ in range(n)]
    log = fs.Workload(submit=np.cumsum(numbers[0]), runtime=numbers[1], size=size)
    # As many cubes as are held back fail in turn, each for less than its part of the period.
    many = draw(st.integers(1, 60))
    cubes = draw(st.permutations(range(8)))
    node = [2 * cubes[i % 8] + draw(st.integers(0, 1)) for i in range(many)]
    failures = fs.FailureTrace([3 * i for i in range(many)], node, [3 * spares - 1] * many)
    run = fs.Simulation(log, pod, scheduler=fs.Fcfs(), failures=failures)
    for until in range(0, 200, 7):
        run.run(until=until)
        run.verify()
    run.run()
    assert not run.result().jobs["failure_wait"].any()


def test_some_jobs_wait_where_nothing_is_held_back():
    """What the law above says would not hold without the spare cubes."""
    log = fs.Workload(submit=[0, 0], runtime=[20, 20], size=[8, 8])
    failures = fs.FailureTrace([5], [0], [2])
    waits = [
        fs.simulate(log, fs.Pod((1, 2, 4 + spares), (2, 2, 2), 2, spares=2 * spares), failures=failures).jobs[
            "failure_wait"
        ]
        for spares in (0, 1)
    ]
    assert [wait.tolist() for wait in waits] == [[2, 0], [0, 0]]


def test_as_text():
    pod = fs.Pod((1, 2, 4), wiring="static", spares=3)
    assert str(pod) == "pod:1x2x4,wiring=static,spares=3"
    assert parse_machine(str(pod)) == pod == fs.Pod(**{k: v for k, v in pod.lower().items() if k != "name"})
    assert parse_machine("pod:tpu-v5p,spares=4").spares == 4
    assert fs.Pod.tpu_v5p(spares=60).largest == 80
    assert "spares" not in fs.Pod().lower()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: fs.Pod(spares=64), "spares must be at least 0 and at most 63, got 64"),
        (lambda: fs.Pod(spares=-1), "spares must be at least 0"),
        (lambda: fs.Pod(spares=1.5), "spares must be a whole number"),
        (lambda: fs.Pod.tpu_v5p(spares=140), "at most 139, got 140"),
        (lambda: fs.Pod(spares=60, largest=5), "cubes of the largest slice must be at least 1 and at most 4"),
        (lambda: parse_machine("pod:4x4x4,spares=two"), "spares must be a whole number, got 'two'"),
    ],
)
def test_what_is_no_number_of_spare_cubes_is_refused(make, message):
    with pytest.raises(fs.OptionError, match=message) as caught:
        make()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("scheduler", "message"),
    [
        (fs.ConservativeBackfill(), "ConservativeBackfill does not hold back the spare cubes of pod:4x4x4,spares=2"),
        (fs.Backfill(depth=2), "Backfill does not hold back"),
        (fs.EasyBackfill(reservation="fixed"), "use reservation='any'"),
    ],
)
def test_schedulers_that_plan_by_places_are_refused(scheduler, message):
    log = fs.Workload(submit=[0], runtime=[10], size=[16])
    with pytest.raises(fs.OptionError, match=message):
        fs.simulate(log, fs.Pod(spares=2), scheduler=scheduler)
