"""Clusters of hundreds to thousands of nodes, where jobs take whole words of nodes, 64 at once, and give them back."""

from itertools import pairwise

import numpy as np
import pytest

import faultsim as fs
from faultsim.simulation.execution import Execution
from helpers.engines import copies_agree, runs_agree

# Of words, the last of them without all of its nodes; of 64 words; and of more than two times as many.
SIZES = [700, 1023, 4096, 8200]
SECONDS = 900


class Highest(fs.Placement):
    """Free nodes with the highest numbers, but every third job gets the lowest."""

    def choose_nodes(self, job, free, state):
        return free[: job.size] if job.index % 3 == 0 else free[-job.size :]


def fars(**options):
    return fs.Fars(40, fs.JobFailureRate(), checkpoint_cost=1, restart_cost=1, **options)


RULES = {
    "first-fit": {},
    "held": {"recovery": fs.Hold()},
    "hot-spares": {"recovery": fs.HotSpares(70, restart_cost=2)},
    "safest": {"placement": fs.SafestFirst()},
    "least-failures": {"placement": fs.LeastFailuresFirst()},
    "away": {"migration": fs.LeastFailuresMigration()},
    "fars": {"rescheduling": fars()},
    "fars-safest": {"rescheduling": fars(live=True), "placement": fs.SafestFirst()},
    "fars-ignores": {"rescheduling": fars(suspicious="ignore"), "placement": fs.LeastFailuresFirst()},
    "python": {"placement": Highest(), "rescheduling": fars()},
    "unpredicted": {"predictor": None},
}


def sizes(draw, nodes, n):
    """Of jobs: multiples of 64, one more or less, powers of two, nearly everything, and any."""
    kind = draw.integers(0, 6, n)
    whole = 64 * draw.integers(1, nodes // 128, n)
    near = whole + draw.integers(-1, 2, n)
    powers = 2 ** draw.integers(0, int(np.log2(nodes)), n)
    most = nodes - draw.integers(0, 130, n)
    few = draw.integers(1, 9, n)
    return np.choose(kind, [whole, near, powers, few, draw.integers(1, nodes // 2, n), np.where(few < 3, most, few)])


def a_run(nodes, seed, *, n=90, **options):
    """Jobs, failures that often hit the same nodes as others, and predictions of some."""
    draw = np.random.default_rng([nodes, seed])
    log = fs.Workload(
        submit=np.cumsum(draw.integers(0, 6, n)), runtime=draw.integers(5, 120, n), size=sizes(draw, nodes, n)
    )
    favourites = draw.integers(0, nodes, 20)
    k = 300
    at = np.sort(draw.integers(0, SECONDS, k))
    where = np.where(draw.random(k) < 0.3, draw.choice(favourites, k), draw.integers(0, nodes, k))
    failures = fs.FailureTrace(at, where, draw.choice([0, 2, 15, 60], k))
    seen = np.sort(draw.integers(0, SECONDS, 3 * k))
    predicted = fs.PredictionTrace(seen, draw.integers(0, nodes, 3 * k))
    options = {
        "predictor": predicted,
        "checkpointing": fs.Periodic(20, 1),
        "record": True,
        "oversized": "drop",
        **options,
    }
    return fs.Run(log, fs.Cluster(nodes), failures=failures, **options)


@pytest.mark.parametrize(
    ("rules", "nodes"),
    [
        pytest.param(rules, nodes, id=f"{name}-{nodes}")
        for name, rules in RULES.items()
        for nodes in SIZES
        if name != "hot-spares" or nodes < 4096  # which take minutes in the reference engine
    ],
)
def test_runs_agree(rules, nodes):
    run = a_run(nodes, 1, **rules)
    assert runs_agree(run).counters["failures_hit"] > 5
    one = Execution(run)
    for second in range(0, SECONDS, 15):
        one.go_on(until=second)
        one.engine.verify()


@pytest.mark.parametrize("seed", range(6))
def test_jobs_that_share_words_agree(seed):
    """Without records and predictions, as in most runs, and with other schedulers."""
    scheduler = [fs.EasyBackfill(), fs.Fcfs(), fs.EasyBackfill(order=fs.ShortestFirst())][seed % 3]
    for nodes in SIZES:
        runs_agree(a_run(nodes, 10 + seed, record=False, predictor=None, scheduler=scheduler))


@pytest.mark.parametrize("rules", RULES.values(), ids=RULES)
def test_a_copy_goes_on_alike(rules):
    run = a_run(4160, 2, n=60, **rules)
    for when in (30, 95, 200, 380):
        copies_agree(run, when)


def test_a_last_word_without_all_of_its_nodes():
    """All of them are free, and a job asks for more nodes than there are that will not fail."""
    run = fs.Run(
        fs.Workload(submit=[0, 20], runtime=[10, 10], size=[700, 690]),
        fs.Cluster(700),
        placement=fs.SafestFirst(),
        predictor=fs.PredictionTrace([5] * 20 + [25] * 20, list(range(20)) * 2),
        record=True,
    )
    assert runs_agree(run).allocations["nodes"].tolist() == [*range(700), *range(10), *range(20, 700)]


def test_words_that_a_killed_job_had_are_free():
    """Migration has looked at all nodes while it ran, and nothing has ended since, after which it looks again."""
    log = fs.Workload(submit=[0, 0, 25, 26], runtime=[100, 10, 60, 60], size=[690, 5, 100, 10])
    failures = fs.FailureTrace([20] * 16, list(range(16)), [500] * 16)
    run = fs.Run(log, fs.Cluster(700), failures=failures, migration=fs.LeastFailuresMigration(), record=True)
    held = runs_agree(run).allocations["nodes"].tolist()
    assert held[695:805] == list(range(16, 126))


def test_a_curve_through_whole_words():
    """A rule that takes words, or parts of them, in another order than by number."""
    run = a_run(1024, 3)
    runs_agree(fs.Run(run.log, fs.Cluster(1024, shape=(8, 8, 16)), failures=run.failures, record=True,
                      placement=fs.CurveBestFit()))  # fmt: skip


@pytest.mark.parametrize("nodes", [300, 4160])
def test_a_caller_sees_who_is_where(nodes):
    """`occupancy` is the nodes of running jobs and those that are down, also of words that nobody wrote to since."""
    run = a_run(nodes, 4, n=60, predictor=None, scheduler=fs.External())
    sim = fs.Simulation(
        run.log, run.machine, failures=run.failures, scheduler=run.scheduler, checkpointing=run.checkpointing
    )
    looked = 0
    while (d := sim.advance()) is not None:
        for job, size in zip(d.queue.index.tolist(), d.queue.size.tolist(), strict=True):
            free = np.flatnonzero(~d.occupancy)
            if size > len(free):
                break
            if job % 2:
                d.start(job)
                assert d.running.where[d.running.index.tolist().index(job)].tolist() == free[:size].tolist()
            else:
                d.start(job, nodes=free[len(free) - size :])
            looked += size >= 128
        busy = np.zeros(nodes, bool)
        busy[d.down] = True
        for where in d.running.where:
            assert not busy[where].any()
            busy[where] = True
        np.testing.assert_array_equal(d.occupancy, busy)
        sim.verify()
    assert looked > 4


@pytest.mark.parametrize("live", [False, True])
def test_a_job_moves_node_by_node_between_whole_words(live):
    """From words that it alone has to words that are free, with neighbours before and behind."""
    log = fs.Workload(submit=[0, 0, 0, 50, 60], runtime=[20, 200, 200, 20, 30], size=[200, 640, 192, 328, 900])
    nodes = 64 * 30
    sim = fs.Simulation(log, fs.Cluster(nodes), scheduler=fs.External())
    d = sim.advance()
    for job in range(3):
        d.start(job)
    mine = d.running.where[1].tolist()
    assert mine == list(range(200, 840))
    for out, into in [((256, 320), 1100), ((500, 501), 1280), ((700, 840), 1600), ((200, 210), 1900)]:
        kept = [node for node in mine if not out[0] <= node < out[1]]
        mine = sorted([*kept, *range(into, into + out[1] - out[0])])
        d.move(1, nodes=mine, restart_cost=0, **({"live": True} if live else {"checkpoint_cost": 0}))
        assert d.running.where[d.running.index.tolist().index(1)].tolist() == mine
        free = np.flatnonzero(~d.occupancy)
        assert sorted([*free.tolist(), *mine, *range(200), *range(840, 1032)]) == list(range(nodes))
        sim.verify()
    while d is not None:
        for job, size in zip(d.queue.index.tolist(), d.queue.size.tolist(), strict=True):
            free = np.flatnonzero(~d.occupancy)
            if size <= len(free):
                d.start(job)
                where = d.running.where[d.running.index.tolist().index(job)]
                assert where.tolist() == free[:size].tolist()
        sim.verify()
        d = sim.advance()
    assert sim.result().jobs["finish"].size == 5


def test_ranges_cross_words_and_sixty_fours_of_them():
    """A job has one range of nodes, although 64 words end within it."""
    log = fs.Workload(submit=[0, 1, 2], runtime=[100, 100, 100], size=[30, 8100, 70])
    result = fs.Run(
        log, fs.Cluster(8200), failures=fs.FailureTrace([50], [4096], [5]), recovery=fs.Hold(), record=True
    ).simulate()
    assert result.allocations.ranges.tolist()[:3] == [[0, 30], [30, 8100], [8130, 70]]
    starts = np.cumsum([0, *(count for _, count in result.allocations.ranges.tolist())])
    assert all(a < b for a, b in pairwise(starts.tolist()))
