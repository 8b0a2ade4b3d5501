"""Parts of nodes that fail: cases by hand, and both engines on random runs (model.md#site-parts)."""

import numpy as np
import pytest

import faultsim as fs
from helpers.engines import assert_same
from helpers.site_runs import both, drawn_run, with_parts

ENGINES = pytest.mark.parametrize("engine", ["core", "reference"])


@pytest.mark.parametrize("part", range(8))
def test_both_engines_agree(part):
    rng = np.random.default_rng([45, part])
    done = 0
    while done < 12:
        run = with_parts(rng, drawn_run(rng, int(rng.integers(2, 40))))
        if run is None:
            continue
        assert_same(*both(run))
        done += 1


def test_a_simulation_with_parts_that_are_down_can_be_copied():
    rng = np.random.default_rng(9)
    drawn = (with_parts(rng, drawn_run(rng, 30)) for _ in range(50))
    run = next(found for found in drawn if found is not None and found.failures.part is not None)
    whole = run.simulate()
    sim = fs.Simulation(run.log, run.machine, **{name: getattr(run, name) for name in fs.Run.__dataclass_fields__
                                                if name not in ("log", "machine", "_")})  # fmt: skip
    for _ in range(12):
        sim.step()
    for each in (sim.copy(), sim):
        each.run()
        assert each.result().jobs["finish"].tolist() == whole.jobs["finish"].tolist()


def site(**given):
    return fs.Site([fs.NodeClass("n", 1, **{"cores": 8, "memory": "8M", "gpus": {"v100": 4}, **given})])


def jobs(runtime=(100,), **columns):
    n = len(runtime)
    columns = {"cores": [1] * n, "nodes": [1] * n, **columns}
    return fs.Workload([0] * n, list(runtime), [1] * n, columns=columns)


def traced(*rows, coin=0.5, of=fs.FailureTrace):
    """(time, part, downtime) on node 0."""
    time, part, down = zip(*rows, strict=True)
    return of(time, [0] * len(rows), down, coin=[coin] * len(rows), part=part, span=1e6)


def run(log, failures, engine, **options):
    options = {"scheduler": "easy", "recovery": fs.Requeue(), "record": True, **options}
    return fs.Run(log, options.pop("machine", site()), failures=failures, **options).simulate(engine=engine)


@ENGINES
def test_a_gpu_that_fails_kills_the_jobs_that_hold_it_alone(engine):
    """All four GPUs are held, by jobs of one each: one is killed, and waits until the GPU is back."""
    found = run(jobs([100] * 4, gpus=[1] * 4), traced((10, "gpus:1", 500)), engine)
    restarts = found.jobs["restarts"]
    assert restarts.sum() == 1
    hit = int(np.argmax(restarts))
    # It starts again when another job returns its GPU.
    assert found.jobs["start"].tolist() == [100 if row == hit else 0 for row in range(4)]
    assert found.counters["failures_hit"] == 1


@ENGINES
def test_the_unit_is_uniform_over_those_that_are_up(engine):
    """Of many failures of one GPU of four, where jobs hold two and one, half and a quarter hit them."""
    n = 1000
    trace = fs.FailureTrace(np.arange(1, n + 1) * 1000.0, [0] * n, 0, part=["gpus:1"] * n, span=1e9)
    x = trace.part_units()
    assert np.histogram(x, 4, (0, 1))[0] == pytest.approx([n / 4] * 4, rel=0.15)
    assert abs(np.corrcoef(x, trace.coin)[0, 1]) < 0.06
    found = run(jobs([1.5e6, 1.5e6], gpus=[2, 1]), trace, engine, checkpointing=fs.Periodic(1000, 0))
    unit = np.floor(x * 4)
    assert found.jobs["restarts"].tolist() == [int((unit < 2).sum()), int((unit == 2).sum())]


@ENGINES
def test_a_part_that_jobs_do_not_hold_kills_none_and_plans_know_it(engine):
    """Half of the memory is down until 300: a job that needs more waits, a smaller one is backfilled."""
    log = jobs([50, 50], memory=[6, 2])
    failures = traced((0, "memory:4", 300))
    found = run(log, failures, engine)
    assert found.jobs["start"].tolist() == [300, 0]
    assert found.counters["failures_hit"] == 0
    unknown = run(log, failures, engine, scheduler=fs.EasyBackfill(repairs="unknown"))
    assert unknown.jobs["start"].tolist() == [300, 0]


@ENGINES
def test_consecutive_units_go_round(engine):
    """Three of four GPUs fail where each is held by a job: three jobs are killed, whichever is first."""
    for coin in (0.1, 0.4, 0.6, 0.9):
        trace = fs.FailureTrace([10], [0], [0], coin=[coin], part=["gpus:3"], span=1e6)
        found = run(jobs([100] * 4, gpus=[1] * 4), trace, engine)
        first = int(np.floor(trace.part_units()[0] * 4))
        hit = {(first + i) % 4 for i in range(3)}
        assert [bool(n) for n in found.jobs["restarts"]] == [row in hit for row in range(4)]


@ENGINES
def test_parts_that_are_down_do_not_fail_again(engine):
    """Of four GPUs three are down; two more fail, of which one is up."""
    failures = traced((5, "gpus:3", 100), (10, "gpus:2", 20))
    found = run(jobs([1, 10], gpus=[0, 4]).with_columns(begin=[0.0, 12.0]), failures, engine)
    assert found.jobs["start"].tolist()[1] == 105
    # The one that is back at 30 serves.
    found = run(jobs([1, 10], gpus=[0, 1]).with_columns(begin=[0.0, 12.0]), failures, engine)
    assert found.jobs["start"].tolist()[1] == 30


@ENGINES
def test_an_exclusive_job_needs_all_of_the_node(engine):
    found = run(jobs([10], exclusive=[True]), traced((0, "gpus:1", 77)), engine)
    assert found.jobs["start"].tolist() == [77]


@ENGINES
def test_a_part_outlasts_an_outage_of_its_node(engine):
    failures = fs.FailureTrace([5, 10], [0, 0], [100, 20], part=["cores:6", ""], span=1e6)
    log = jobs([10, 10, 10], cores=[8, 8, 2]).with_columns(begin=[6.0, 7.0, 12.0])
    found = run(log, failures, engine)
    assert found.jobs["start"].tolist() == [105, 115, 30]
    # From 5 to 10 six cores are down, to 30 all, then six again; the run begins at 0 with the first submit.
    assert found.ledger["down"] == 6 * 5 + 8 * 20 + 6 * 75


@ENGINES
def test_the_ledger_of_each_resource_counts_parts(engine):
    """One GPU of four is down from 10 to 60 of 100 s; cores and memory are not."""
    found = run(jobs([100], gpus=[0]), traced((10, "gpus:1", 50)), engine)
    table = found.resources
    down = dict(zip(table["resource"].tolist(), table["down"].tolist(), strict=True))
    assert down == {"cores": 0.0, "memory": 0.0, "gpus": 50.0}
    assert found.ledger["down"] == 0.0
    cores = run(jobs([100], gpus=[0]), traced((10, "cores:3", 50), (20, "cores:1", 10)), engine)
    table = cores.resources
    assert table["down"].tolist()[0] == pytest.approx(cores.ledger["down"])
    assert (table["held"] + table["stranded"] + table["down"] + table["idle"]).tolist() == table["capacity"].tolist()


@ENGINES
def test_early_parts_are_down_when_the_run_begins(engine):
    """Before the first submit: two GPUs until 50, of the other two one until 200; a third failure finds three down."""
    log = fs.Workload([40, 40], [10, 10], [1, 1], columns={"cores": [1, 1], "nodes": [1, 1], "gpus": [2, 4]})
    rows = (1, "gpus:2", 49), (2, "gpus:1", 198), (3, "gpus:4", 7)
    found = run(log, traced(*rows), engine)
    # At 40 one is up; at 50 three are; at 200 all are.
    assert found.jobs["start"].tolist() == [50, 200]


@ENGINES
def test_a_held_job_keeps_its_units_and_goes_on_when_they_are_up(engine):
    """Each of two jobs has two GPUs; the first failure hits the first job, which holds them and its core."""
    log = jobs([100, 100, 10], gpus=[2, 2, 1])
    found = run(log, traced((10, "gpus:1", 50), coin=0.9), engine, recovery=fs.Hold(restart_cost=5))
    unit = int(np.floor(traced((10, "gpus:1", 50), coin=0.9).part_units()[0] * 4))
    hit = unit // 2
    assert found.jobs["restarts"].tolist() == [int(row == hit) for row in range(3)]
    # Nothing is saved: it begins again at 60, after its restart cost.
    assert found.jobs["finish"].tolist() == [165.0 if row == hit else 100.0 for row in range(2)] + [110.0]
    assert found.jobs["failure_wait"][hit] == 50.0
    assert found.ledger["held_for_repair"] == 50.0
    table = found.resources
    assert dict(zip(table["resource"].tolist(), table["down"].tolist(), strict=True))["gpus"] == 0.0


@ENGINES
def test_a_held_job_waits_for_all_that_is_down_of_it(engine):
    """All eight cores fail until 60 and the node until 40, then a GPU of the held job that fails is no kill."""
    rows = (10, "cores:8", 50), (12, "", 28), (20, "gpus:4", 80)
    found = run(jobs([100], gpus=[4], cores=[8]), traced(*rows), engine, recovery=fs.Hold())
    assert found.jobs["restarts"].tolist() == [1]
    assert found.jobs["finish"].tolist() == [200.0]
    assert found.counters["failures_hit"] == 1


@ENGINES
def test_units_that_no_job_has_are_down_beside_those_of_a_held_job(engine):
    """All GPUs fail until 60: the job holds two of them, two are down; one that is up again serves from 60 on."""
    log = jobs([100, 10], gpus=[2, 1]).with_columns(begin=[0.0, 20.0])
    found = run(log, traced((10, "gpus:4", 50)), engine, recovery=fs.Hold())
    assert found.jobs["start"].tolist() == [0.0, 60.0]
    assert found.jobs["finish"].tolist() == [160.0, 70.0]
    table = found.resources
    assert dict(zip(table["resource"].tolist(), table["down"].tolist(), strict=True))["gpus"] == 2 * 50.0


@ENGINES
def test_a_part_that_fails_for_no_time_holds_no_job(engine):
    found = run(jobs([100], gpus=[4]), traced((10, "gpus:4", 0)), engine, recovery=fs.Hold(restart_cost=3))
    assert found.jobs["finish"].tolist() == [113.0]


@pytest.mark.parametrize("part", range(4))
def test_the_ledger_of_cores_is_that_of_the_engine(part):
    """What held jobs keep of parts is read from the record, and counted by the engine."""
    rng = np.random.default_rng([47, part])
    done = 0
    while done < 20:
        run = with_parts(rng, drawn_run(rng, int(rng.integers(2, 40))))
        if run is None:
            continue
        found = run.simulate()
        try:
            table = found.resources
        except fs.OptionError:  # a job on several nodes, of which how much is not known
            continue
        assert table["down"][0] == pytest.approx(found.ledger["down"], abs=1e-6)
        done += 1


@ENGINES
def test_slurm_drains_a_node_of_which_a_part_is_down(engine):
    """The GPU that fails is not that of the job that runs; the others wait until it is up."""
    log = fs.Workload(
        [0, 5, 20], [100, 30, 30], [1] * 3, columns={"cores": [1] * 3, "nodes": [1] * 3, "gpus": [1, 1, 0]}
    )
    trace = traced((10, "gpus:1", 500), coin=0.2)
    assert trace.part_units()[0] * 4 >= 2
    found = run(log, trace, engine, scheduler=fs.Slurm())
    assert found.jobs["restarts"].tolist() == [0, 0, 0]
    assert found.jobs["start"].tolist()[:2] == [0, 5]
    assert 510 <= found.jobs["start"][2] <= 540


@ENGINES
def test_changes_name_parts(engine):
    log = jobs([100, 100], gpus=[2, 2])
    options = {"failures": traced((10, "gpus:3", 50), (20, "gpus:4", 0)), "recovery": fs.Hold(), "record": True}
    sim = fs.Simulation(log, site(), scheduler=fs.External(), engine=engine, **options)
    sim.advance()
    for job in (0, 1):
        sim.decision.start(job)
    changes = sim.advance().changes
    assert changes.kind == ["started", "started", "part down", "killed", "held", "killed", "held"]
    assert (changes.part[2:], changes.rows[2]) == (["gpus:3", "", "", "", ""], ("part down", -1, 10.0, [0]))
    changes = sim.advance().changes
    assert (changes.kind, changes.part[0]) == (["part up", "continued", "continued"], "gpus:3")


def test_why_knows_parts_of_held_jobs():
    """The other job needs all four GPUs, of which the held one has two, one of them down until 300."""
    log = jobs([50, 50], gpus=[4, 4])
    sim = fs.Simulation(log, site(), failures=traced((10, "gpus:1", 290)), recovery=fs.Hold(), scheduler="easy")
    sim.run(until=15)
    assert sim.why(1).cause == "nodes down"
    assert sim.why(1).until == 350


def test_why_knows_parts():
    sim = fs.Simulation(jobs([50], gpus=[4]), site(), failures=traced((0, "gpus:1", 300)), recovery=fs.Requeue())
    sim.run(until=5)
    assert sim.why(0).cause == "nodes down"
    assert sim.why(0).until == 300


def test_waits_know_parts():
    found = run(jobs([50], gpus=[4]), traced((0, "gpus:1", 3600)), "core")
    table = found.waits_for()
    assert table["reason"].tolist() == ["nodes down"]
    assert table["hours"].tolist() == [1.0]


REFUSED = [
    ({"scheduler": fs.Slurm(), "recovery": fs.Hold()}, "Slurm keeps no job on a node that fails, as Hold("),
    ({"machine": fs.Cluster(1)}, "cluster:1 take whole nodes"),
    (
        {"scheduler": fs.External(at=("schedule", "failure"))},
        "External(at=('schedule', 'failure')) is about nodes that fail as a whole",
    ),
    ({"part": "gpus:5"}, "row 0: gpus:5 of node 0, and a node of the class 'n' has 8 cores, 8 MiB and 4 GPUs"),
]


@pytest.mark.parametrize(("given", "said"), REFUSED)
def test_what_overlooks_parts_is_refused(given, said):
    failures = traced((0, given.pop("part", "gpus:1"), 300))
    log = jobs([50])
    options = {"recovery": fs.Requeue(), "machine": site(), **given}
    with pytest.raises(fs.FaultsimError) as error:
        fs.Run(log, options.pop("machine"), failures=failures, **options)
    assert said in str(error.value)


def test_logs_of_whole_nodes_have_no_parts():
    with pytest.raises(fs.OptionError, match="take whole nodes"):
        fs.simulate(fs.Workload([0], [1], [1]), site(), failures=traced((0, "gpus:1", 300)), recovery="requeue")
