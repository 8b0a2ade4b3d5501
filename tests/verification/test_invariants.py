"""The invariants (model.md#invariants) on real logs: looked at while the simulation runs, and again from outside."""

import ctypes
import math
import re

import numpy as np
import pytest

import faultsim as fs
from faultsim.data.event_kinds import EventKind
from faultsim.errors import EngineError
from helpers.results import nodes_of

#: Log -> nodes of a cluster.
LOGS = {
    "SDSC-SP2-1998-4.2-cln": 128,
    "KTH-SP2-1996-2.1-cln": 100,
    "CTC-SP2-1996-3.1-cln": 338,
    "NASA-iPSC-1993-3.1-cln": 128,
    "lublin_256": 256,
}
LARGE = {"mira_walltime": 49_152, "CEA-Curie-2011-2.1-cln": 80_640}
SCHEDULERS = {
    "fcfs": fs.Fcfs(),
    "easy": fs.EasyBackfill(),
    "backfill": fs.Backfill(3),
    "conservative": fs.ConservativeBackfill(),
}
#: The four of [krevat2002]: with backfilling or without, with migration or without.
KREVAT = {
    "fcfs": {"scheduler": fs.Fcfs()},
    "backfilling": {"scheduler": fs.EasyBackfill()},
    "migration": {"scheduler": fs.Fcfs(), "migration": fs.Defragment()},
    "both": {"scheduler": fs.EasyBackfill(), "migration": fs.Defragment()},
}


def read(data_dir, name):
    return fs.read_swf(data_dir / "swf" / f"{name}.swf.gz")


def run_and_verify(log, machine, looks=60, **options):
    """The result of a run that was stopped and verified `looks` times on the way."""
    sim = fs.Simulation(log, machine, **options)
    waited = 0
    for until in np.quantile(log.submit, np.linspace(0, 1, looks)):
        sim.run(until=until)
        sim.verify()  # among the rest: no start promised by a reservation was missed without an excuse
        waited += len(sim.queue) > 0
    assert waited > 0  # some of the looks fell on moments at which there was something to schedule
    sim.run()
    sim.verify()
    assert sim.done
    return sim.result()


def check(result, log):
    jobs = result.jobs
    begin, end = result.span
    assert math.isclose(sum(result.ledger.values()), result.machine.nodes * (end - begin), rel_tol=1e-9)
    assert min(result.ledger.values()) >= 0
    assert (jobs["start"] >= log.submit).all()
    assert (jobs["allocated"] >= log.size).all()
    assert np.array_equal(jobs["finish"], jobs["start"] + log.runtime)


def check_records(result, log):
    events, stays, machine = result.events, result.allocations, result.machine
    assert (np.diff(events["time"]) >= 0).all()
    for kind in (EventKind.ARRIVAL, EventKind.START, EventKind.FINISH):  # everybody comes, starts and ends exactly once
        of_kind = events["job"][events["kind"] == kind]
        assert np.array_equal(np.sort(of_kind), np.arange(len(log)))
    nodes = nodes_of(stays, machine.shape)
    if isinstance(machine, fs.Torus):
        assert [len(box) for box in nodes] == (stays["a"] * stays["b"] * stays["c"]).tolist()
    node, stay = np.concatenate(nodes), np.repeat(np.arange(len(nodes)), [len(held) for held in nodes])
    assert node.min() >= 0
    assert node.max() < machine.nodes
    # On every node a stay ends before the next begins.  Stays of length 0 hold nothing.
    begin, end = stays["begin"][stay], stays["end"][stay]
    order = np.lexsort((end, begin, node))
    order = order[(end > begin)[order]]
    same = np.diff(node[order]) == 0
    assert (end[order][:-1] <= begin[order][1:])[same].all()


@pytest.mark.parametrize("scheduler", SCHEDULERS.values(), ids=SCHEDULERS)
@pytest.mark.parametrize(("name", "nodes"), LOGS.items())
def test_flat_machines(data_dir, name, nodes, scheduler):
    log = read(data_dir, name).head(20_000)
    if name.startswith("NASA"):
        log = log.with_gap_factor(0.5)  # as it is, hardly anybody waits
    result = run_and_verify(log, fs.Cluster(nodes), scheduler=scheduler, record=True)
    check(result, log)
    check_records(result, log)


@pytest.mark.slow
@pytest.mark.parametrize("scheduler", SCHEDULERS.values(), ids=SCHEDULERS)
@pytest.mark.parametrize(("name", "nodes"), {**LOGS, **LARGE}.items())
def test_flat_machines_whole_logs(data_dir, name, nodes, scheduler):
    log = read(data_dir, name)
    if name.startswith("NASA"):
        log = log.with_gap_factor(0.5)
    check(run_and_verify(log, fs.Cluster(nodes), looks=1000, scheduler=scheduler), log)


def krevat_span(data_dir, which):
    return fs.krevat_span(
        read(data_dir, {"nasa": "NASA-iPSC-1993-3.1-cln", "sdsc": "SDSC-SP2-1998-4.2-cln"}[which]), which
    )


def check_torus(log, **options):
    options |= {"record": True, "estimates": "actual", "start_delay": 1.0}
    result = run_and_verify(log, fs.Torus.bluegene_l(), looks=200, **options)
    jobs = result.jobs
    begin, end = result.span
    assert math.isclose(sum(result.ledger.values()), 128 * (end - begin), rel_tol=1e-9)
    assert np.array_equal(jobs["finish"], jobs["start"] + log.runtime)
    assert np.array_equal(jobs["first_start"], jobs["start"])
    check_records(result, log)
    assert len(result.allocations["job"]) == len(log) + jobs["moves"].sum()
    return result


@pytest.mark.parametrize("options", KREVAT.values(), ids=KREVAT)
@pytest.mark.parametrize("which", ["nasa", "sdsc"])
def test_the_torus_of_krevat(data_dir, which, options):
    log = krevat_span(data_dir, which).head(1000).with_runtime_factor(1.3 if which == "nasa" else 1.0)
    check_torus(log, placement=fs.FirstFit(), **options)


@pytest.mark.slow
@pytest.mark.parametrize("options", KREVAT.values(), ids=KREVAT)
@pytest.mark.parametrize("which", ["nasa", "sdsc"])
def test_the_torus_of_krevat_whole_spans(data_dir, which, options):
    result = check_torus(krevat_span(data_dir, which), **options)
    assert ("migration" in options) == (result.metrics["migrations_successful"] > 0)


@pytest.mark.slow
@pytest.mark.parametrize("which", ["nasa", "sdsc"])
def test_conservative_on_the_torus(data_dir, which):
    check_torus(krevat_span(data_dir, which).head(3000), scheduler=fs.ConservativeBackfill(), placement=fs.FirstFit())


@pytest.mark.parametrize(
    "log",
    [
        pytest.param({"submit": [1e9 + 0.1, 1e9 + 0.3], "runtime": [0.1, 0.7], "size": [3, 2]}, id="late-and-short"),
        pytest.param({"submit": [0, 0], "runtime": [1e-9, 1e9], "size": [1, 4]}, id="far-apart"),
        pytest.param({"submit": [5, 5, 5], "runtime": [0, 0, 0], "size": [1, 4, 2]}, id="nothing"),
    ],
)
def test_the_ledger_of_odd_times(log):
    sim = fs.Simulation(fs.Workload(**log), fs.Cluster(4))
    while sim.step():
        sim.verify()
    begin, end = sim.result().span
    # To the last bit of the times themselves: 1e9 s are known to 1e-7 s only.
    assert math.isclose(sum(sim.result().ledger.values()), 4 * (end - begin), rel_tol=1e-9, abs_tol=16 * math.ulp(end))


def accounts_of(sim):
    """The accounts of the ledger where the compiled engine holds them, found by what is in them."""
    engine, ledger = sim._execution.engine, [*sim.result().ledger.values()]
    doubles = (ctypes.c_double * (type(engine).__basicsize__ // 8)).from_address(id(engine))
    (first,) = (i for i, value in enumerate(doubles) if value == ledger[0])
    assert doubles[first + 12] == ledger[13]  # those between have no drained nodes, which are summed elsewhere
    assert doubles[first + 13] == ledger[14]
    return (ctypes.c_double * 14).from_buffer(doubles, 8 * first)


def test_accounts_that_are_negative_or_do_not_sum_are_reported():
    log = fs.Workload(submit=[0, 1.0625], runtime=[1234.56789, 77.1234], size=[3, 3])
    sim = fs.Simulation(log, fs.Cluster(4))
    sim.run()
    accounts = accounts_of(sim)
    sim.verify()
    for i, before in enumerate(accounts):
        accounts[i] -= 0.01
        with pytest.raises(EngineError, match=r"ledger is negative|does not sum to N\*T"):
            sim.verify()
        accounts[i] = before
        sim.verify()
        other = (i + 1) % len(accounts)
        kept = accounts[other]
        accounts[i], accounts[other] = -0.01, kept + before + 0.01
        with pytest.raises(EngineError, match="an account of the ledger is negative"):
            sim.verify()
        accounts[i], accounts[other] = before, kept
    sim.verify()


@pytest.mark.parametrize(
    ("count", "said"),
    [
        (37, "running jobs or repairs are counted wrongly"),
        (53, "jobs are lost or counted twice"),
        (37_187, "the queue's demand is not the sum of its sizes"),
        (741, r"free \+ busy \+ down is not the number of nodes"),
    ],
)
def test_counts_that_are_wrong_are_reported(count, said):
    """53 jobs have ended, 37 of 7 nodes run, so that 741 of 1,000 nodes are free, and 41 of 907 nodes wait."""
    log = fs.Workload(
        submit=[0] * 53 + [1] * 37 + [2] * 41, runtime=[1] * 53 + [99] * 78, size=[1] * 53 + [7] * 37 + [907] * 41
    )
    sim = fs.Simulation(log, fs.Cluster(1000), scheduler="fcfs", record=True)
    sim.run(until=3)
    sim.verify()
    engine, found = sim._execution.engine, []
    numbers = (ctypes.c_int32 * (type(engine).__basicsize__ // 4)).from_address(id(engine))
    for i in [i for i, number in enumerate(numbers) if number == count]:
        numbers[i] -= 1
        try:
            sim.verify()
        except EngineError as error:
            found.append(str(error))
        numbers[i] += 1
    assert any(re.search(said, each) for each in found), found
    sim.verify()
    sim.run()
    sim.verify()
