"""What places on a torus cost: counted, so that a slip back fails."""

import numpy as np
import pytest

import faultsim as fs
from faultsim.simulation.execution import Execution


def work_of(run):
    """What the engine has done in a run, and the result."""
    one = Execution(run)
    one.go_on()
    one.engine.verify()
    return one.engine.work, one.result()


def at_once(jobs, largest, *, exact=False):
    """Jobs that all wait from the beginning, of up to `largest` nodes."""
    draw = np.random.default_rng(3)
    runtime = draw.integers(60, 7200, jobs).astype(float)
    estimate = runtime if exact else runtime * draw.uniform(1, 5, jobs)
    return fs.Workload(
        submit=np.zeros(jobs), runtime=runtime, estimate=estimate, size=draw.integers(1, largest + 1, jobs)
    )


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("placement", [fs.FirstFit(), fs.MaxFreePartition()])
def test_the_shadow_of_a_head_that_stays_is_not_searched_for_again(placement, exact):
    """A bisection in each pass would ask for about five places."""
    log = at_once(2_000, 64, exact=exact)
    work, result = work_of(fs.Run(log, fs.Torus.bluegene_l(), placement=placement))
    passes = result.counters["passes"]
    assert passes > 1_900
    assert work["probes"] < (0.6 if exact else 1.5) * passes


@pytest.mark.parametrize("jobs", [500, 2_000])
def test_sizes_that_had_no_place_are_not_asked_for_in_each_pass(jobs):
    """Of up to 64 sizes that wait, as a rule those that the last job has left room for."""
    log = at_once(jobs, 64)
    work, result = work_of(fs.Run(log, fs.Torus(16, 16, 16), placement=fs.FirstFit()))
    assert result.counters["passes"] > 0.9 * jobs
    assert work["tried"] < 12 * jobs
    # When the head can start follows from what is free beside the jobs that leave next, not from the whole machine.
    assert work["near"] < 1.5 * jobs
    assert work["probes"] < 0.02 * jobs


@pytest.mark.parametrize(
    ("sizes", "times", "words"),
    [(range(1, 513), 1.6, 110_000), (range(512, 8_193, 512), 4.5, 2_600_000)],
    ids=["small", "supernodes"],
)
def test_easy_looks_at_little_more_of_a_large_torus_than_fcfs(sizes, times, words):
    """What a small job leaves, and what must stay for the head of the queue, is found beside the places of a few jobs.

    Searches of the whole machine would look at four times as much for small jobs.  Large ones are searched for in the
    whole machine, which looks at more words, and takes less time.
    """
    draw, jobs, machine = np.random.default_rng(4), 400, fs.Torus.bluegene_l_nodes()
    runtime, size = draw.integers(60, 7200, jobs).astype(float), draw.choice(sizes, jobs)
    span = float(np.sum(size * runtime)) / (0.9 * machine.nodes)
    log = fs.Workload(
        submit=np.sort(draw.uniform(0, span, jobs)),
        runtime=runtime,
        estimate=runtime * draw.uniform(1, 5, jobs),
        size=size,
    )
    kinds = (fs.EasyBackfill(), fs.Fcfs())
    easy, fcfs = (work_of(fs.Run(log, machine, scheduler=kind, placement=fs.FirstFit()))[0] for kind in kinds)
    assert easy["searched"] < words * jobs
    assert easy["searched"] < times * fcfs["searched"]
