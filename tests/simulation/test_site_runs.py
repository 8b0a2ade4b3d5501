"""Runs on sites whose nodes jobs share: what else takes them, and what says that it does not."""

import numpy as np
import pytest

import faultsim as fs

SITE = fs.Site(
    [fs.NodeClass("cpu", 4, cores=8, memory="64G"), fs.NodeClass("gpu", 2, cores=16, memory="64G", gpus="v100:2")],
    [fs.Partition("all", "cpu,gpu", default=True), fs.Partition("gpus", "gpu")],
)


def log_of(n=60, seed=3):
    rng = np.random.default_rng(seed)
    runtime = rng.integers(10, 400, n)
    columns = {
        "cores": rng.choice([1, 2, 4, 8, 16], n), "nodes": rng.choice([0, 1, 1], n),
        "memory": rng.choice([1000, 20000], n), "gpus": rng.choice([0, 0, 1], n),
        "partition": rng.choice(["all", "all", "gpus"], n), "account": rng.choice(["a", "b"], n),
    }  # fmt: skip
    columns["nodes"][columns["cores"] == 16] = 0
    return fs.Workload(np.sort(rng.integers(0, 2000, n)), runtime, [1] * n, estimate=runtime * 2, columns=columns)


LOG = log_of()
FAILURES = fs.FailureTrace([100, 400, 900], [0, 4, 4], [50, 200, 0], span=10**6)


@pytest.fixture(scope="module")
def result():
    return fs.simulate(LOG, SITE, failures=FAILURES, record=True)


def test_a_saved_result_is_the_same(result, tmp_path):
    result.save(tmp_path / "run.npz")
    again = fs.load_result(tmp_path / "run.npz")
    assert again.machine == SITE
    assert again.capacity == SITE.cores == 64
    assert again.jobs["allocated"].max() > SITE.nodes
    assert dict(again.metrics) == dict(result.metrics)
    assert fs.rerun(again).jobs["finish"].tolist() == result.jobs["finish"].tolist()


def test_groups_of_jobs_have_waits_of_their_own(result):
    table = result.by("partition", ["mean_wait"])
    for name, wait in zip(table["partition"].tolist(), table["mean_wait"].tolist(), strict=True):
        assert wait == pytest.approx(result.jobs["wait"][LOG.columns["partition"] == name].mean())
    assert "core-seconds" in str(result)


def test_never_more_is_held_than_a_node_has(result):
    """From the recorded stays alone: at each begin, cores and GPUs of the jobs on a node are within what it has."""
    held, jobs = result.allocations, result.jobs
    first, nodes = held["node_offsets"], held["nodes"]
    one = np.diff(first) == 1
    rows = np.flatnonzero(one)
    job, node = held["job"][rows], nodes[first[:-1][rows]]
    for begin in np.unique(held["begin"]):
        now = (held["begin"][rows] <= begin) & (held["end"][rows] > begin)
        cores = np.bincount(node[now], jobs["size"][job[now]], SITE.nodes)
        gpus = np.bincount(node[now], LOG.columns["gpus"][job[now]], SITE.nodes)
        assert (cores <= [8] * 4 + [16] * 2).all()
        assert (gpus <= [0] * 4 + [2] * 2).all()


def test_sweeps_and_lists_of_runs_take_sites():
    runs = [fs.Run(LOG, SITE, scheduler=name) for name in ("fcfs", "easy", "backfill:depth=2")]
    waits = [each.metrics["mean_wait"] for each in fs.simulate_many(runs)]
    sweep = fs.Sweep({"log": LOG}, {"machine": [SITE, SITE.with_nodes("gpu", 4)], "scheduler": ["fcfs", "easy"]})
    table = sweep.run()
    assert table["mean_wait"].tolist()[:2] == waits[:2]
    assert table["mean_wait"].tolist()[3] < waits[1]
    assert table["utilization"].max() <= 1


def test_loads_are_of_cores():
    """The sizes that the user's log has mean nothing where it says how many cores jobs ask for."""
    table = fs.Sweep({"log": LOG, "machine": SITE}, {"load": [0.4, 0.8]}).run()
    assert LOG.size.max() == 1
    assert table["capacity_utilized"].tolist() == pytest.approx([0.4, 0.8], rel=0.2)
    assert table["mean_wait"][0] < table["mean_wait"][1]


def test_the_part_in_use_is_that_of_cores(result):
    pytest.importorskip("matplotlib")
    from faultsim.plot import plot_utilization

    axes = plot_utilization(result)
    assert axes.get_ylabel() == "cores in use (%)"
    assert max(max(line.get_ydata()) for line in axes.get_lines()) <= 100


def test_jobs_of_one_node_are_drawn_one_on_top_of_another(result):
    pytest.importorskip("matplotlib")
    from faultsim.plot import plot_gantt
    from faultsim.plot.gantt import _few

    (row, first, high), _ = _few(result, None)
    held = result.allocations
    begin, end = held["begin"][row], held["end"][row]
    for one in range(len(row)):
        meets = (begin < end[one]) & (end > begin[one]) & (first < first[one] + high[one]) & (first + high > first[one])
        assert np.flatnonzero(meets & (begin < end)).tolist() in ([one], [])
    assert plot_gantt(result).get_ylabel() == "node"


def test_a_page_is_made_of_a_run(result, tmp_path):
    pytest.importorskip("matplotlib")
    from faultsim.report import report_run

    report_run(result).write(tmp_path / "any.html")  # jobs of any number of nodes
    assert "how its cores are shared out is not recorded" in (tmp_path / "any.html").read_text()
    log = LOG.with_columns(nodes=np.where(LOG.columns["cores"] == 16, 2, 1))
    report_run(fs.simulate(log, SITE, failures=FAILURES, record=True)).write(tmp_path / "run.html")
    text = (tmp_path / "run.html").read_text()
    for words in ("What jobs waited for", "GPU-s", "Waits by partition", "Who ran where"):
        assert words in text, words


def test_a_log_as_a_file_keeps_what_jobs_ask_for(tmp_path):
    LOG.write_csv(tmp_path / "log.csv")
    again = fs.read_jobs(tmp_path / "log.csv")
    assert fs.simulate(again, SITE).jobs["start"].tolist() == fs.simulate(LOG, SITE).jobs["start"].tolist()


def test_sacct_records_run_on_a_site(tmp_path):
    (tmp_path / "sacct.txt").write_text(
        "JobID|User|Submit|Start|End|Elapsed|Timelimit|NNodes|NCPUS|ReqMem|AllocTRES|Partition|State\n"
        "1|a|2024-01-31T12:00:00|2024-01-31T12:00:00|2024-01-31T12:10:00|00:10:00|01:00:00|2|16|8G|"
        "cpu=16,mem=8G,node=2|all|COMPLETED\n"
        "2|b|2024-01-31T12:00:01|2024-01-31T12:00:01|2024-01-31T12:10:01|00:10:00|01:00:00|1|4|4G|"
        "cpu=4,mem=4G,node=1,gres/gpu=2|gpus|COMPLETED\n"
    )
    log = fs.read_sacct(tmp_path / "sacct.txt")
    asks = SITE.asks(SITE.prepared(log))
    assert asks.nodes.tolist() == [2, 1]
    assert asks.cores.tolist() == [8, 4]
    assert asks.memory.tolist() == [4096, 4096]
    assert asks.gpus.tolist() == [0, 2]
    assert fs.simulate(log, SITE).jobs["size"].tolist() == [16, 4]


@pytest.mark.parametrize("engine", ["core", "reference"])
def test_rates_of_failures_are_of_nodes(engine):
    """A job of one node plans as many checkpoints with all cores of the node as with one."""
    log = fs.Workload([0, 0, 0, 0], [90000.0] * 4, [1] * 4, columns={"cores": [1, 8, 16, 1], "nodes": [1, 1, 2, 0]})
    run = fs.Run(log, "site:n=8x8c", checkpointing=fs.Young(30, "1d"))
    found = run.simulate(engine=engine).jobs["checkpoint_time"]
    whole = fs.simulate(
        fs.Workload([0, 0, 0], [90000.0] * 3, [1, 1, 2]), fs.Cluster(8), checkpointing=fs.Young(30, "1d")
    ).jobs["checkpoint_time"]
    assert found.tolist() == [*whole.tolist(), whole[0]]


@pytest.mark.parametrize("engine", ["core", "reference"])
@pytest.mark.parametrize("scheduler", ["easy", "backfill:depth=3", "conservative"])
def test_jobs_and_failures_that_are_told_are_as_if_known(engine, scheduler):
    jobs = LOG.with_columns(nodes=np.where(LOG.columns["cores"] == 16, 2, 1))
    known = fs.simulate(jobs, SITE, scheduler=scheduler, failures=FAILURES, record=True)
    parts = [jobs[:1], jobs[1:40], jobs[40:]]
    sim = fs.Simulation(parts[0], SITE, live=len(jobs), scheduler=scheduler, engine=engine)
    for log in parts[1:]:
        sim.submit(log)
    why = []
    for time, node, downtime in zip(FAILURES.time, FAILURES.node, FAILURES.downtime, strict=True):
        sim.advance(float(time))
        why.append([str(sim.why(job)) for job in sim.queue.tolist()[:3]])
        sim.fail(int(node), float(downtime))
    sim.run()
    told = sim.result()
    for name in ("start", "finish", "restarts", "allocated", "lost_work"):
        assert told.jobs[name].tolist() == known.jobs[name].tolist()
    assert told.utilization == known.utilization
    assert told.stranded == known.stranded
    assert any("waits for" in text for each in why for text in each), why


def test_jobs_that_no_nodes_hold_are_refused_when_they_are_submitted():
    sim = fs.Simulation(LOG, SITE, live=100)
    for columns, message in [
        ({"gpus": [4]}, "asks for 4 GPUs"),
        ({"partition": ["night"]}, "night"),
        ({"cores": None}, "cores"),
    ]:
        with pytest.raises(fs.InputError, match=message):
            sim.submit(log_of(1).with_columns(**columns))
