"""Jobs of several boxes (model.md#unlisted): both engines, Slurm's own answers, records, and what is refused."""

import numpy as np
import pytest

import faultsim as fs
from faultsim.errors import InputError, OptionError
from faultsim.policies import slurm_torus
from faultsim.policies.shapes import can_overlap, list_text, shapes_of
from helpers.listed_runs import differences, disjoint_shapes, random_run
from helpers.torus3d import available_in, cases_in

ENGINES = ("core", "reference")
FIXED = fs.EasyBackfill(reservation="fixed")


@pytest.mark.parametrize("first", range(0, 80, 10))
def test_engines_agree(first):
    """Columns, one row per box, events and ledger of random runs with failures, plans and all scores."""
    for seed in range(first, first + 10):
        run = random_run(seed, segments=True)
        assert differences(run.simulate(), run.simulate(engine="reference")) == [], f"seed {seed}: {run.placement}"


def test_random_runs_have_jobs_of_several_boxes():
    several = 0
    for seed in range(40):
        held = random_run(seed, segments=True).simulate().allocations
        several += len(held["job"]) > len(set(zip(held["job"].tolist(), held["begin"].tolist(), strict=True)))
    assert several >= 20


def run_of_one_job(machine, placement, free, size):
    """A job that comes where only some nodes are up: where it starts, or None if it waits for repairs."""
    down = np.flatnonzero(~free)
    failures = fs.FailureTrace(time=np.zeros(len(down)), node=down, downtime=np.full(len(down), 100.0))
    log = fs.Workload(submit=[0, 1], runtime=[0, 10], size=[int(placement.shapes_on(machine)[0].size), size])
    found = {}
    for engine in ENGINES:
        result = fs.simulate(
            log, machine, scheduler=FIXED, placement=placement, failures=failures, record=True, engine=engine
        )
        found[engine] = None if result.jobs["start"][1] > 1 else nodes_held(result, 1)
    assert found["core"] == found["reference"]
    return found["core"]


def nodes_held(result, job, rows=None):
    held, shape = result.allocations, result.machine.shape
    nodes = []
    for row in np.flatnonzero(held["job"] == job) if rows is None else rows:
        axes = [(held[b][row] + np.arange(held[e][row])) % n for b, e, n in zip("xyz", "abc", shape, strict=True)]
        nodes += np.ravel_multi_index(np.meshgrid(*axes, indexing="ij"), shape).ravel().tolist()
    return sorted(nodes)


def by_cell(numbers, dims):
    """What is given per cell, x fastest, in the order of the nodes of a torus: z fastest."""
    x, y, z = dims
    return np.asarray(numbers).reshape(z, y, x).transpose(2, 1, 0).ravel()


def test_choices_are_those_of_slurm(data_dir, monkeypatch):
    """Cases of one torus whose segments are boxes that do not overlap: the rest are checked in TorusTopology."""
    compared = 0
    for case in cases_in(data_dir):
        size, segment = case["want"][0], case.get("segment", 0)
        plain = len(case["tori"]) == 1 and not case.get("required") and len(set(case.get("weights") or [0])) == 1
        if not plain or not 1 < segment < size or segment & (segment - 1) or case["result"] not in ("OK", "NO_FIT"):
            continue
        (torus,) = case["tori"]
        dims = tuple(torus["dims"])
        shapes = [
            {key: each.get(key) or (0, 0, 0) for key in ("dims", "spacing", "seed")} for each in torus["placements"]
        ]
        listed = shapes_of(list_text("shapes", shapes), "", "", dims)
        if can_overlap([shape for shape in listed if shape.size == segment], dims):
            continue
        # A case names its segment, and has a power of two that overlaps beside it.
        monkeypatch.setattr(
            slurm_torus.SlurmTorus,
            "_segments",
            lambda _self, _torus, sizes, n=size, k=segment: np.where(np.asarray(sizes) == n, k, sizes).astype(np.int32),
        )
        monkeypatch.setattr(slurm_torus, "can_overlap", lambda _shapes, _dims: "")
        free = np.zeros(case["nodes"], bool)
        free[available_in(case)] = True
        cells = by_cell(torus["cells"], dims)
        found = run_of_one_job(fs.Torus(dims), fs.SlurmTorus(shapes, unlisted="segments"), free[cells], size)
        assert (found and sorted(cells[found].tolist())) == case["chosen"], case["id"]
        compared += 1
    assert compared >= 6


@pytest.mark.parametrize("seed", range(6))
def test_choices_are_those_of_a_topology(seed):
    """`TorusTopology`, which gives Slurm's answers to every case, chooses the same boxes."""
    rng = np.random.default_rng(seed)
    dims = [(2, 2, 4), (4, 4, 2), (3, 2, 4), (1, 4, 8)][seed % 4]
    machine = fs.Torus(dims)
    placement = fs.SlurmTorus(disjoint_shapes(rng, dims), unlisted="segments")
    sizes = np.arange(1, machine.nodes + 1)
    each = placement._segments(machine, sizes)
    parted = sizes[(each > 0) & (each < sizes)]
    if not len(parted):
        return
    size = int(rng.choice(parted))
    free = rng.random(machine.nodes) < rng.choice([0.5, 0.8, 1.0])
    number = by_cell(np.arange(machine.nodes), dims)
    shapes = [fs.TopologyShape(shape.extents, shape.spacing, shape.seed) for shape in placement.shapes_on(machine)]
    topology = fs.TorusTopology(
        [fs.TopologyTorus("a", dims, tuple(range(machine.nodes)), tuple(shapes))], machine.nodes
    )
    choice = topology.choose(number[free], size, segment=int(each[size - 1]))
    found = run_of_one_job(machine, placement, free, size)
    assert (found and sorted(number[found].tolist())) == (list(choice.nodes) or None)


LOG = fs.Workload(submit=[0, 1, 2], runtime=[10, 5, 5], size=[12, 8, 20])
TORUS = fs.Torus(1, 2, 16)


def test_largest_listed_power_of_two_that_divides():
    placement = fs.SlurmTorus("1x1x1+1x1x4+1x1x8/1x1x1+1x2x3+1x1x16", unlisted="segments")
    sizes = np.array([1, 2, 4, 6, 8, 12, 16, 20, 24, 32, 48])
    with pytest.raises(OptionError, match="those of 1x1x8/1x1x1 can"):
        fs.simulate(LOG, TORUS, scheduler=FIXED, placement=placement)
    placement = fs.SlurmTorus("1x1x1+1x1x4+1x2x3/1x1x1+1x1x16", unlisted="segments")
    assert placement._segments(TORUS, sizes).tolist() == [1, 1, 4, 6, 4, 4, 16, 4, 4, 16, 0]
    assert placement.unlisted_sizes(TORUS, sizes).tolist() == [False] * 10 + [True]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_row_for_each_box(engine):
    """12 nodes are three boxes of 4; 20 are five, and wait for two that leave."""
    result = fs.simulate(
        LOG,
        TORUS,
        scheduler=FIXED,
        placement=fs.SlurmTorus("1x1x4+1x1x8", unlisted="segments"),
        record=True,
        engine=engine,
    )
    held = result.allocations
    assert held["job"].tolist() == [0, 0, 0, 1, 2, 2, 2, 2, 2]
    assert held["begin"].tolist() == [0, 0, 0, 1, 6, 6, 6, 6, 6]
    assert held["end"].tolist() == [10, 10, 10, 6, 11, 11, 11, 11, 11]
    assert result.jobs["allocated"].tolist() == [12, 8, 20]
    assert result.ledger["useful"] == 12 * 10 + 8 * 5 + 20 * 5


def test_dispersal_and_files_have_all_boxes(tmp_path):
    """Boxes of one node at 0, 2, 3 and 4 of a ring of 5: hops 2, 2, 1, 1, 2 and 1."""
    log = fs.Workload(submit=[0, 0, 10], runtime=[9, 20, 5], size=[1, 1, 4])
    placement = fs.SlurmTorus("1x1x1", unlisted="segments")
    result = fs.simulate(log, fs.Torus(1, 1, 5), scheduler=FIXED, placement=placement, record=True)
    assert nodes_held(result, 2) == [0, 2, 3, 4]
    assert result.dispersal[2] == 1.5
    assert np.isnan(result.dispersal[:2]).all()
    result.write_batsim(tmp_path / "jobs.csv")
    assert ",0 2-4," in (tmp_path / "jobs.csv").read_text()


@pytest.mark.parametrize("seed", range(3))
def test_dispersal_of_boxes_is_that_of_their_nodes(seed):
    """The mean over all pairs of nodes, in runs in which jobs come back after failures."""
    run = random_run(seed, segments=True)
    result, shape = run.simulate(), np.array(run.machine.shape)
    held = result.allocations
    for job in np.flatnonzero(result.jobs["size"] > 1).tolist():
        rows = np.flatnonzero(held["job"] == job)
        last = rows[held["begin"][rows] == held["begin"][rows].max()]
        nodes = np.array(np.unravel_index(nodes_held(result, job, last), run.machine.shape)).T
        apart = np.abs(nodes[:, None] - nodes[None])
        hops = np.minimum(apart, shape - apart).sum()
        assert result.dispersal[job] == pytest.approx(hops / (len(nodes) * (len(nodes) - 1)))


def test_a_copy_and_a_run_in_steps_are_the_run():
    run = random_run(11, segments=True)
    whole = run.simulate()
    sim = fs.Simulation(
        run.log,
        run.machine,
        placement=run.placement,
        scheduler=run.scheduler,
        failures=run.failures,
        recovery=run.recovery,
        estimates=run.estimates,
        start_delay=run.start_delay,
        record=True,
    )
    other = sim.copy()
    while not sim.done:
        sim.step()
        other, before = sim.copy(), other
        before.run()
        assert differences(before.result(), whole) == []
    assert differences(sim.result(), whole) == []


def test_jobs_that_come_live_have_boxes():
    placement = fs.SlurmTorus("1x1x4+1x1x8", unlisted="segments")
    first, rest = (
        fs.Workload(submit=LOG.submit[part], runtime=LOG.runtime[part], size=LOG.size[part])
        for part in (slice(1), slice(1, 3))
    )
    sim = fs.Simulation(first, TORUS, scheduler=FIXED, placement=placement, live=8, record=True)
    sim.submit(rest)
    sim.run()
    assert sim.result().allocations["job"].tolist() == [0, 0, 0, 1, 2, 2, 2, 2, 2]


@pytest.mark.parametrize("scheduler", ["easy:reservation=fixed", "fcfs", "backfill:depth=3,reservation=fixed"])
def test_why_a_job_waits(scheduler):
    log = fs.synthetic.sdsc_like(60, rng=3)
    result = fs.simulate(
        log, fs.Torus(4, 4, 8), scheduler=scheduler, placement=fs.SlurmTorus(unlisted="segments"), record=True
    )
    waiting = np.flatnonzero(result.jobs["wait"] > 0)[:3]
    assert len(waiting)
    for row in waiting:
        assert f"waited {result.jobs['wait'][row]:.0f} s" in str(result.why(int(row)))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scheduler": fs.EasyBackfill()}, "reservation='any' does not plan"),
        ({"scheduler": fs.Backfill(depth=3)}, "reservation='any' does not plan"),
        ({"scheduler": FIXED, "migration": fs.Defragment()}, "does not move"),
        (
            {"scheduler": FIXED, "placement": fs.SlurmTorus("every-box", unlisted="segments")},
            "one shape per power of two",
        ),
        ({"scheduler": FIXED, "placement": fs.SlurmTorus(spacing=1, unlisted="segments")}, "those of .* can"),
    ],
)
def test_what_has_no_plan_or_may_overlap_is_refused(options, message):
    with pytest.raises(OptionError, match=message):
        fs.simulate(LOG, TORUS, **{"placement": fs.SlurmTorus(unlisted="segments"), **options})


def test_sizes_that_no_power_of_two_divides():
    placement = fs.SlurmTorus("1x1x8", unlisted="segments")
    with pytest.raises(InputError, match=r"2 of 3 jobs have a size that no shape .* \(12, 20 nodes\).*drop"):
        fs.simulate(LOG, TORUS, scheduler=FIXED, placement=placement)
    assert fs.simulate(LOG, TORUS, scheduler=FIXED, placement=placement, oversized="drop").jobs["size"].tolist() == [8]
