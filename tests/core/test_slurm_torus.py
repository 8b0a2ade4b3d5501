"""SlurmTorus: Slurm's own answers through the compiled rule, both engines, plans, and what is refused
(model.md#slurm-torus).
"""

from dataclasses import replace

import numpy as np
import pytest

import faultsim as fs
from faultsim._core.torus.listed_face import ListedRule
from faultsim.errors import InputError, OptionError
from faultsim.policies.registry import from_lowered
from faultsim.policies.shapes import shapes_of
from helpers.listed_runs import differences, random_run
from helpers.torus3d import LEFT_OUT, available_in, cases_in

TORUS = fs.Torus(4, 4, 8)


def compiled_of(case):
    """The compiled rule for the tori of a case: cells with z fastest, shapes by size."""
    tori = []
    for torus in case["tori"]:
        x, y, z = torus["dims"]
        cells = np.array(torus["cells"]).reshape(z, y, x).transpose(2, 1, 0).ravel()
        rows = [
            [*each["dims"], *(each.get("spacing") or (0, 0, 0)), *(each.get("seed") or (0, 0, 0))]
            for each in sorted(torus["placements"], key=lambda each: np.prod(each["dims"]))
        ]
        tori.append((x, y, z, cells, rows))
    return ListedRule(tori, case["nodes"])


def test_compiled_choices_are_those_of_slurm(data_dir):
    """Chosen nodes and fragmentation of all cases of one box."""
    compared = 0
    for case in cases_in(data_dir):
        rule, free = compiled_of(case), np.zeros(case["nodes"], np.uint8)
        free[available_in(case)] = 1
        assert rule.fragmentation(free) == case["fragmentation"], case["id"]
        size, weight = case["want"][0], np.array(case.get("weights", ()), np.int64)
        in_parts = 0 < case.get("segment", 0) <= size
        if case["result"] not in ("OK", "NO_FIT") or case["kind"] in LEFT_OUT or in_parts:
            continue
        found = rule.best(free, size, weight, case.get("required", []))
        assert (found and sorted(found[2])) == case["chosen"], case["id"]
        compared += 1
    assert compared > 2000


@pytest.mark.parametrize("first", range(0, 400, 50))
def test_engines_agree(first):
    """Columns, allocations, events and ledger of random runs with failures, plans, migration and all scores."""
    for seed in range(first, first + 50):
        run = random_run(seed)
        assert differences(run.simulate(), run.simulate(engine="reference")) == [], f"seed {seed}: {run.placement}"


@pytest.mark.parametrize("first", range(0, 120, 40))
def test_engines_agree_where_larger_boxes_stand_in(first):
    for seed in range(first, first + 40):
        run = random_run(seed, larger=True)
        assert differences(run.simulate(), run.simulate(engine="reference")) == [], f"seed {seed}: {run.placement}"


@pytest.mark.parametrize("first", range(0, 80, 20))
def test_engines_agree_on_several_tori(first):
    for seed in range(first, first + 20):
        kinds = {"segments": seed % 4 == 3, "larger": seed % 4 == 1, "foreseeing": seed % 3 == 2}
        run = random_run(seed, several=True, **kinds)
        assert differences(run.simulate(), run.simulate(engine="reference")) == [], f"seed {seed}: {run.placement}"


def held_on_two(log, engine, shapes, **options):
    """Nodes and boxes of jobs on two rings of eight nodes, as they are decided."""
    listed = fs.SlurmTorus(shapes, tori=2, **options)
    fixed = fs.EasyBackfill(reservation="fixed")
    result = fs.simulate(log, fs.Torus(2, 1, 8), placement=listed, scheduler=fixed, engine=engine, record=True)
    held = result.allocations
    return [tuple(int(held[name][row]) for name in ("job", *"xyzabc")) for row in range(len(held["job"]))]


@pytest.mark.parametrize("engine", ["core", "reference"])
def test_the_fullest_torus_is_filled_first(engine):
    """After a job of 4 in the first ring those of 2 go there until it is full, although the second breaks nothing."""
    log = fs.Workload(submit=[0, 1, 2, 3, 4], runtime=[100] * 5, size=[4, 2, 2, 2, 8])
    held = held_on_two(log, engine, "1x1x2+1x1x4+1x1x8")
    assert [(job, x, z, c) for job, x, _, z, _, _, c in held] == [
        (0, 0, 0, 4), (1, 0, 4, 2), (2, 0, 6, 2), (3, 1, 0, 2), (4, 0, 0, 8),
    ]  # fmt: skip
    # A job without a box in the fullest torus gets one of the other, and one of segments has them in both.
    log = fs.Workload(submit=[0, 1, 2], runtime=[100] * 3, size=[2, 8, 4])
    assert [row[:2] for row in held_on_two(log, engine, "1x1x2+1x1x4+1x1x8")] == [(0, 0), (1, 1), (2, 0)]
    log = fs.Workload(submit=[0, 1], runtime=[100] * 2, size=[4, 12])
    held = held_on_two(log, engine, "1x1x4+1x1x8", unlisted="segments")
    assert [(job, x, z) for job, x, _, z, *_ in held] == [(0, 0, 0), (1, 0, 4), (1, 1, 0), (1, 1, 4)]


@pytest.mark.parametrize("engine", ["core", "reference"])
def test_boxes_wrap_around_within_their_torus(engine):
    """Along x a box that wraps is two boxes of the joined torus; along the other axes it is one."""
    listed = fs.SlurmTorus("2x1x1/3x1x1@3x0x0", tori=2)
    log = fs.Workload(submit=[0, 1, 2], runtime=[10] * 3, size=[2, 2, 2])
    result = fs.simulate(log, fs.Torus(8, 1, 1), placement=listed, scheduler="fcfs", engine=engine, record=True)
    held = result.allocations
    assert [tuple(int(held[name][row]) for name in ("job", "x", "a")) for row in range(4)] == [
        (0, 3, 1), (0, 0, 1), (1, 1, 2), (2, 7, 1),
    ]  # fmt: skip
    assert result.jobs["start"].tolist() == [0, 1, 2]


def test_one_torus_of_several_is_as_one_alone():
    """While no job is in the second torus, which is down, decisions are those of a single one."""
    listed = fs.SlurmTorus("one-per-size", unlisted="round_up")
    log = fs.synthetic.sdsc_like(150, rng=4)
    log = fs.Workload(log.submit, log.runtime, np.minimum(log.size, 32), estimate=log.estimate)
    down = fs.FailureTrace(time=[0.0] * 32, node=range(32, 64), downtime=1e9)
    easy = {"scheduler": fs.EasyBackfill(reservation="fixed"), "recovery": fs.Requeue()}
    alone = fs.simulate(log, fs.Torus(4, 2, 4), placement=listed, **easy)
    two = fs.simulate(log, fs.Torus(8, 2, 4), placement=replace(listed, tori=2), failures=down, **easy)
    assert two.jobs["start"].tolist() == alone.jobs["start"].tolist()


@pytest.mark.parametrize("engine", ["core", "reference"])
def test_larger_boxes_stand_in(engine):
    """A box of 4 for 2 nodes: for the head at once, for a backfilled job only with max_growth."""
    shapes = "1x1x2/1x1x16+1x1x4+1x1x16"

    def found(submit, size, larger, growth):
        log = fs.Workload(submit=submit, runtime=[10, 10, 5][: len(size)], size=size)
        result = fs.simulate(
            log,
            fs.Torus(1, 1, 16),
            placement=fs.SlurmTorus(shapes, unlisted="round_up", larger=larger),
            scheduler=fs.EasyBackfill(reservation="fixed", max_growth=growth),
            engine=engine,
        )
        return result.jobs["start"].tolist(), result.jobs["allocated"].tolist()

    assert found([0, 1], [2, 2], False, 2) == ([0, 10], [2, 2])
    assert found([0, 1], [2, 2], True, 0) == ([0, 1], [2, 4])
    for larger, growth in ((False, 2), (True, 0), (True, 1)):
        assert found([0, 1, 2], [2, 16, 2], larger, growth) == ([0, 10, 20], [2, 16, 2])
    assert found([0, 1, 2], [2, 16, 2], True, 2) == ([0, 10, 2], [2, 16, 4])


@pytest.mark.parametrize("first", range(0, 240, 60))
def test_engines_agree_with_predictors(first):
    for seed in range(first, first + 60):
        run = random_run(seed, segments=seed % 3 == 2, larger=seed % 3 == 1, foreseeing=True)
        assert differences(run.simulate(), run.simulate(engine="reference")) == [], f"seed {seed}: {run.placement}"


@pytest.mark.parametrize("first", [0, 50])
def test_without_predictions_scores_are_those_that_look_at_none(first):
    """Of Blind, tie-breaking is Slurm's own choice and balancing is that of MFP, decision by decision."""
    for seed in range(first, first + 50):
        run = random_run(seed, foreseeing=True)
        plain = replace(run.placement, score={"tie-breaking": "slurm", "balancing": "mfp"}[run.placement.score])
        blind, without = (
            replace(run, placement=placement, predictor=fs.Blind()) for placement in (run.placement, plain)
        )
        assert differences(blind.simulate(), without.simulate()) == [], f"seed {seed}: {run.placement}"


def foreseen_base(score, nodes, size, engine):
    """Where the one job of a ring begins, these nodes being predicted to fail, each with probability 1/2."""
    failures = fs.FailureTrace(time=[5.0] * len(nodes), node=nodes, downtime=1.0)
    result = fs.simulate(
        fs.Workload(submit=[0], runtime=[10], size=[size]),
        fs.Torus(1, 1, 12),
        placement=fs.SlurmTorus("1x1x1+1x1x2/1x1x1+1x1x4", score=score),
        failures=failures,
        recovery=fs.Requeue(),
        predictor=fs.Confidence(0.5),
        record=True,
        engine=engine,
    )
    return int(result.allocations["z"][0])


@pytest.mark.parametrize("engine", ["core", "reference"])
def test_what_scores_with_predictions_take(engine):
    """Free are the boxes of 4 [0, 4), [4, 8) and [8, 12).  Every box of 1 breaks two of 2.  Those of 2 break one of 4,
    but [3, 5), [7, 9) and [11, 1) break two.  All leave a box of 4.
    """
    for score in ("tie-breaking", "balancing"):
        assert foreseen_base(score, [5], 1, engine) == 0
        assert foreseen_base(score, [0, 1], 1, engine) == 2
        assert foreseen_base(score, list(range(12)), 1, engine) == 0
    # All boxes of 2 that break one box have a node that is predicted to fail; [3, 5) has none, and breaks two.
    nodes = [1, 2, 5, 6, 8, 9, 10, 11]
    assert foreseen_base("tie-breaking", nodes, 2, engine) == 0
    assert foreseen_base("balancing", nodes, 2, engine) == 3
    # The fewest that fail count in balancing, and none or some in the breaking of ties.
    nodes = [0, 1, 3, 4, 5, 6, 7, 8, 9, 10, 11]
    assert foreseen_base("tie-breaking", nodes, 2, engine) == 0
    assert foreseen_base("balancing", nodes, 2, engine) == 1


def test_scores_with_predictions_need_them():
    """Of a place: Buckets only say when."""
    log, failures = fs.Workload(submit=[0], runtime=[10], size=[4]), fs.FailureTrace(time=[5.0], node=[1], downtime=1.0)
    given = {"failures": failures, "recovery": fs.Requeue()}
    for score in ("tie-breaking", "balancing"):
        listed = fs.SlurmTorus(score=score)
        for predictor in (None, fs.Buckets("1h")):
            with pytest.raises(OptionError, match=rf"score='{score}'.* which nodes may fail: give predictor"):
                fs.simulate(log, TORUS, placement=listed, predictor=predictor, **given)
        seen = fs.simulate(log, TORUS, placement=listed, predictor=fs.Perfect(), **given)
        assert not any("predictor" in said for said in seen.warnings)
    unseen = fs.simulate(log, TORUS, placement=fs.SlurmTorus(), predictor=fs.Perfect(), **given)
    assert any("no policy of this run uses what it predicts" in said for said in unseen.warnings)


@pytest.mark.parametrize("kinds", [{}, {"several": True}, {"several": True, "segments": True}, {"foreseeing": True}])
def test_a_copy_of_a_simulation_goes_on_as_it_would(kinds):
    run = random_run(8, **kinds)
    given = {name: getattr(run, name) for name in ("scheduler", "placement", "failures", "recovery", "predictor")}
    sim = fs.Simulation(run.log, run.machine, **given)
    for _ in range(5):
        sim.step()
    other = sim.copy()
    sim.run()
    other.run()
    assert other.result().jobs["start"].tolist() == sim.result().jobs["start"].tolist()


def box_of(result, job):
    held = result.allocations
    row = held["job"].tolist().index(job)
    return tuple(int(held[name][row]) for name in "xyzabc")


def test_no_larger_box_stands_in():
    """Two free boxes of 2 nodes that touch are no box of 3, and a box of 4 is none of 2."""
    log = fs.Workload(submit=[0, 1], runtime=[10, 5], size=[4, 2])
    machine, listed = fs.Torus(1, 1, 8), fs.SlurmTorus("1x1x4+1x1x2/1x1x8@0x0x1")
    assert fs.simulate(log, machine, placement=listed).jobs["wait"].tolist() == [0, 9]
    assert fs.simulate(log, machine, placement=fs.FirstFit()).jobs["wait"].tolist() == [0, 0]


def test_what_a_reservation_claims_is_not_available():
    """Job 1 waits for [0, 16).  Of the rest, [16, 24), the boxes at both ends break one box of 4; with nodes 14 and 15
    available the first would break two.
    """
    log = fs.Workload(submit=[0, 1, 2], runtime=[10, 10, 50], size=[2, 16, 2])
    machine, listed = fs.Torus(1, 1, 24), fs.SlurmTorus("1x1x2+1x1x4/1x1x2+1x1x16/1x1x24")
    fixed = fs.EasyBackfill(reservation="fixed")
    for scheduler in (fixed, fs.Backfill(depth=2, reservation="fixed")):
        result = fs.simulate(log, machine, placement=listed, scheduler=scheduler, record=True)
        assert result.jobs["start"].tolist() == [0, 10, 2]
        assert box_of(result, 2) == (0, 0, 16, 1, 1, 2)


def test_a_plan_has_a_box_of_the_rule():
    """The head needs all of one half, and a job that would outlive its start there stays out."""
    log = fs.Workload(submit=[0, 0, 1, 2], runtime=[10, 30, 10, 50], size=[2, 4, 4, 2])
    machine, listed = fs.Torus(1, 1, 8), fs.SlurmTorus("1x1x2+1x1x4")
    fixed = fs.simulate(log, machine, placement=listed, scheduler=fs.EasyBackfill(reservation="fixed"), record=True)
    assert fixed.jobs["start"].tolist() == [0, 0, 10, 20]
    assert fs.simulate(log, machine, placement=listed, scheduler=fs.Fcfs()).jobs["start"].tolist() == [0, 0, 10, 20]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"shapes": "power-of-two"}, "did you mean 'powers-of-two'"),
        ({"shapes": "2x2"}, "three numbers"),
        ({"shapes": "1x1x2@0x0x1/1x1x8"}, "a shape is AxBxC"),
        ({"shapes": "2x2x2@1x1x-1"}, "at least 0"),
        ({"shapes": []}, "must be shapes"),
        ({"shapes": [{"dims": [2, 2, 2], "space": 1}]}, "dims, spacing and seed"),
        ({"spacing": "2x2"}, "spacing of SlurmTorus has three numbers"),
        ({"score": "slurn"}, "did you mean 'slurm'"),
        ({"unlisted": "round"}, "unknown unlisted"),
        ({"salt": 3}, "salt=3 has no effect"),
        ({"larger": True, "unlisted": "segments"}, "gives a job one box"),
        ({"score": "safest"}, "unknown score"),
    ],
)
def test_what_is_no_list_is_refused(given, message):
    with pytest.raises(OptionError, match=message):
        fs.SlurmTorus(**given)


LOG = fs.Workload(submit=[0, 1, 2], runtime=[10, 5, 5], size=[3, 4, 128])
TWO_TORI = fs.TorusTopology(
    [
        fs.TopologyTorus(name, (1, 1, 4), cells, (fs.TopologyShape((1, 1, 2), (1, 1, 2)),))
        for name, cells in (("a", (0, 1, 2, 3)), ("b", (4, 5, 6, 7)))
    ],
    8,
)


@pytest.mark.parametrize(
    ("machine", "options", "message"),
    [
        (fs.Cluster(8), {}, "SlurmTorus places boxes, and cluster:8 has none"),
        (TWO_TORI, {}, "a topology has tori, and simulations equal ones without empty cells"),
        (fs.Torus(4, 4, 8, wrap=False), {}, "wrap around"),
        (TORUS, {"placement": fs.SlurmTorus(tori=3)}, "extent of torus:4x4x8 there is 4: give a Torus whose first"),
        (TORUS, {"placement": fs.SlurmTorus("4x1x1", tori=2)}, "does not fit into 2x4x8"),
        (
            TORUS,
            {"placement": fs.SlurmTorus(tori=2), "scheduler": fs.EasyBackfill()},
            "several tori has jobs of several",
        ),
        (
            TORUS,
            {"placement": fs.SlurmTorus(tori=2), "scheduler": fs.Fcfs(), "migration": fs.Defragment()},
            "several tori has jobs of several boxes, .* does not move",
        ),
        (TORUS, {"placement": fs.SlurmTorus("5x1x1")}, "its extent along x is 5, of 4"),
        (TORUS, {"placement": fs.SlurmTorus("1x1x1/5x1x1")}, "its spacing along x must be 1 to 4"),
        (TORUS, {"placement": fs.SlurmTorus("1x1x1", seed="0x4x0")}, "its seed along y must be 0 to 3"),
        (TORUS, {"scheduler": fs.ConservativeBackfill()}, "do not plan"),
    ],
)
def test_where_lists_do_not_fit_is_refused(machine, options, message):
    with pytest.raises(OptionError, match=message):
        fs.simulate(LOG, machine, **{"placement": fs.SlurmTorus(), **options})


def test_sizes_without_a_shape():
    """They are refused by name, left out, or rounded up; those above the largest are never rounded."""
    with pytest.raises(InputError, match=r"1 of 3 jobs have a size that no shape .* \(3 nodes\).*round_up.*drop"):
        fs.simulate(LOG, TORUS, placement=fs.SlurmTorus())
    dropped = fs.simulate(LOG, TORUS, placement=fs.SlurmTorus(), oversized="drop")
    assert dropped.jobs["size"].tolist() == [4, 128]
    rounded = fs.simulate(LOG, TORUS, placement=fs.SlurmTorus(unlisted="round_up"))
    assert rounded.jobs["allocated"].tolist() == [4, 4, 128]
    with pytest.raises(InputError, match=r"\(128 nodes\)"):
        fs.simulate(LOG, TORUS, placement=fs.SlurmTorus("1x1x4", unlisted="round_up"))


@pytest.mark.parametrize(
    "placement",
    [
        fs.SlurmTorus(),
        fs.SlurmTorus([(2, 2, 2), "1x1x2@0x0x1"], spacing=1, seed=(0, 1, 0), score="random", salt=7),
        fs.SlurmTorus([{"dims": [2, 2, 4], "spacing": [1, 0, 4], "seed": [0, 0, 3]}], unlisted="round_up"),
    ],
)
def test_text_and_plain_form_lead_back(placement):
    options = ",".join(f"{name}={value}" for name, value in placement.lower().items() if name != "name" and value != "")
    assert fs.parse_policy("placement", f"slurm_torus:{options}") == placement
    assert from_lowered("placement", placement.lower()) == placement


@pytest.mark.parametrize("dims", [(4, 4, 8), (3, 5, 2), (1, 1, 7)])
def test_named_lists(dims):
    nodes = int(np.prod(dims))
    powers = {shape.size for shape in shapes_of("powers-of-two", "", "", dims)}
    assert {1, nodes} <= powers
    assert all(size & (size - 1) == 0 for size in powers - {nodes})
    sizes = [shape.size for shape in shapes_of("one-per-size", "", "", dims)]
    assert sizes == sorted(set(sizes))
    boxes = shapes_of("every-box", "", "", dims)
    assert len({shape.extents for shape in boxes}) == len(boxes) == nodes
    assert {shape.size for shape in boxes} == set(sizes)


@pytest.mark.parametrize("scheduler", ["easy:reservation=fixed", "easy", "fcfs", "backfill:depth=3,reservation=fixed"])
def test_why_a_job_waits(scheduler):
    log = fs.synthetic.sdsc_like(60, rng=3)
    listed = fs.SlurmTorus(unlisted="round_up")
    result = fs.simulate(log, TORUS, scheduler=scheduler, placement=listed, record=True)
    waiting = np.flatnonzero(result.jobs["wait"] > 0)[:3]
    assert len(waiting)
    for row in waiting:
        assert f"waited {result.jobs['wait'][row]:.0f} s" in str(result.why(int(row)))
