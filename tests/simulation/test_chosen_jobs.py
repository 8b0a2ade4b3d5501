"""`d.queue[0]`, slices, masks and names: of the compiled engine and of the reference, and what they cost."""

import time

import numpy as np
import pytest

import faultsim as fs

LOG = fs.synthetic.lublin(60, rng=2).with_columns(priority=np.arange(60) % 7)
ENGINES = pytest.mark.parametrize("engine", ["core", "reference"])
COLUMNS = {
    "queue": ("index", "submit", "wait", "estimate", "size", "restarts", "saved", "fits", "priority", "user"),
    "running": ("index", "submit", "estimate", "size", "start", "expected_end", "progress", "saved", "priority"),
}


def decision(engine="core", waiting=6, machine=None, **options):
    """One at which jobs wait and others run."""
    sim = fs.Simulation(LOG, machine or fs.Cluster(128), scheduler=fs.External(**options), engine=engine)
    while len((d := sim.advance()).queue) < waiting or len(d.running) < 3:
        for job in d.queue.tolist():
            if d.fits(job) and job % 3:
                d.start(job)
    return sim, d


@ENGINES
@pytest.mark.parametrize("kind", COLUMNS)
@pytest.mark.parametrize("order", ["arrival", "largest"])
def test_what_brackets_choose(engine, kind, order):
    _, d = decision(engine, order=order)
    jobs = getattr(d, kind)
    rows = jobs.tolist()
    n = len(rows)
    assert [jobs[i] for i in range(-n, n)] == rows * 2
    assert type(jobs[0]) is int
    assert jobs[np.int64(1)] == rows[1]
    assert list(jobs) == list(iter(jobs)) == rows
    mask = np.arange(n) % 2 == 0
    for key in (
        slice(None),
        slice(1, 3),
        slice(None, None, -1),
        slice(5, 1),
        slice(-2, None),
        mask,
        np.array([2, 0, -1]),
    ):
        some = jobs[key]
        assert some.tolist() == list(np.array(rows)[key]) == list(some)
        assert len(some) == len(some.tolist())
        for name in COLUMNS[kind]:
            assert np.array_equal(some[name], np.asarray(jobs[name])[key])
            assert np.array_equal(getattr(some, name), some[name])
    assert jobs[[1, 0]].tolist() == rows[1::-1]
    assert jobs[1:4][1] == jobs[1:4][1:][0] == rows[2]
    assert jobs[mask.tolist()].tolist() == jobs[mask].tolist()
    assert jobs[[]].tolist() == []


@ENGINES
def test_chosen_jobs_leave_with_the_queue(engine):
    sim, d = decision(engine, waiting=8)
    fitting = [job for job in d.queue if d.fits(job)]
    some, others = d.queue[:], d.queue[1:3]
    d.start(fitting[0])
    assert some.tolist() == d.queue.tolist()
    assert fitting[0] not in some.tolist() + others.tolist()
    run = d.running[:]
    d.requeue(run[0])
    assert run.tolist() == d.running.tolist()
    assert len(run.progress) == len(run)
    sim.advance()
    with pytest.raises(fs.DecisionError, match="is over"):
        some.tolist()


def test_rows_of_a_log_with_dropped_jobs():
    log = fs.Workload(submit=[0, 0, 0, 0], runtime=[9, 9, 9, 9], size=[99, 2, 1, 1])
    sim = fs.Simulation(log, fs.Cluster(2), scheduler=fs.External(), oversized="drop")
    d = sim.advance()
    assert (d.queue[0], d.queue[-1], d.queue[1:].tolist(), list(d.queue)) == (1, 3, [2, 3], [1, 2, 3])


@pytest.mark.parametrize(
    ("key", "error", "words"),
    [
        (99, IndexError, r"there are \d+ of these jobs, got 99"),
        (-99, IndexError, "got -99"),
        (2**70, IndexError, f"got {2**70}"),
        (np.array([True]), IndexError, r"a mask of these jobs has \d+ booleans, got an array of shape \(1,\)"),
        ([0, 99], IndexError, r"there are \d+ of these jobs, got \[0, 99\]"),
        (np.array([0.0]), IndexError, "by a slice, a mask or whole numbers"),
        (np.zeros((2, 2), int), IndexError, "by a slice, a mask or whole numbers"),
        (1.0, TypeError, "by a whole number, a slice, a mask or the name of a column, got 1.0"),
        (True, TypeError, "by a whole number"),
        (None, TypeError, "by a whole number"),
        ("sizes", KeyError, r"no column 'sizes' of these jobs \(did you mean 'size'\?\); known: index, .*priority"),
        ("tolist", KeyError, "no column 'tolist'"),
    ],
    ids=str,
)
def test_what_brackets_refuse(key, error, words):
    _, d = decision()
    for jobs in (d.queue, d.running, d.queue[:3]):
        with pytest.raises(error, match=words):
            jobs[key]


def test_true_run_times_are_hidden_by_their_name_too():
    _, d = decision()
    with pytest.raises(fs.OptionError, match="run time"):
        d.queue["runtime"]


def test_the_head_costs_the_same_however_long_the_queue():
    def seconds(jobs, look):
        log = fs.Workload(submit=np.zeros(jobs), runtime=np.ones(jobs), size=np.full(jobs, 2))
        d = fs.Simulation(log, fs.Cluster(2), scheduler=fs.External()).advance()
        best = 1.0
        for _ in range(30):
            begin = time.perf_counter()
            for _ in range(20):
                look(d.queue)
            best = min(best, time.perf_counter() - begin)
        return best

    for look in (lambda queue: queue[0], lambda queue: queue[:5].size):
        assert seconds(100_000, look) < 5 * seconds(10, look)  # in 163 us at 10,000 jobs, a list of all was made
