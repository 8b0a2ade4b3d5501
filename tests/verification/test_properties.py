"""What must hold between two runs, whatever the right answer is: equalities to the bit, on slices of real logs."""

import dataclasses

import numpy as np
import pytest

import faultsim as fs
from helpers.results import assert_equal

CLUSTER, TORUS, MESH = fs.Cluster(128), fs.Torus.bluegene_l(), fs.Torus(4, 4, 8, wrap=False)
FCFS, EASY, CONSERVATIVE = fs.Fcfs(), fs.EasyBackfill(), fs.ConservativeBackfill()
#: Kinds of runs that share no code path of the scheduling pass.
KINDS = {
    "cluster-fcfs": (CLUSTER, {"scheduler": FCFS}),
    "cluster-easy": (CLUSTER, {"scheduler": EASY}),
    "cluster-shortest": (CLUSTER, {"scheduler": fs.EasyBackfill(order=fs.ShortestFirst())}),
    "cluster-kill": (CLUSTER, {"scheduler": EASY, "overrun": "kill"}),
    "cluster-conservative": (CLUSTER, {"scheduler": CONSERVATIVE}),
    "torus-fcfs": (TORUS, {"scheduler": FCFS, "placement": fs.FirstFit()}),
    "torus-easy": (TORUS, {"scheduler": EASY}),
    "torus-fixed": (TORUS, {"scheduler": fs.EasyBackfill(reservation="fixed"), "placement": fs.FirstFit()}),
    "torus-both": (TORUS, {"scheduler": EASY, "migration": fs.Defragment(cost=8.0), "start_delay": 1.0}),
    "mesh-conservative": (MESH, {"scheduler": CONSERVATIVE, "placement": fs.FirstFit()}),
}
all_kinds = pytest.mark.parametrize("kind", KINDS)


@pytest.fixture(scope="module")
def logs(data_dir):
    """Kind of machine -> a busy slice of SDSC-SP2, overruns and missing requests included."""
    log = fs.read_swf(data_dir / "swf" / "SDSC-SP2-1998-4.2-cln.swf.gz")
    return {"cluster": log[3000:6000], "torus": log[3000:3200], "mesh": log[3000:3120]}


def run_of(kind, logs, **changes):
    machine, options = KINDS[kind]
    return fs.Run(logs[kind.split("-")[0]], machine, **{**options, **changes})


@all_kinds
def test_something_happens(logs, kind):
    """The other tests of this file would hold for an empty machine as well."""
    jobs = run_of(kind, logs).simulate().jobs
    assert (jobs["wait"] > 0).mean() > 0.15
    assert jobs["backfilled"].any() == (KINDS[kind][1]["scheduler"] != FCFS)
    if kind == "torus-both":
        assert jobs["moves"].any()


# -- the same run in other ways


@all_kinds
def test_recording_changes_nothing(logs, kind):
    assert_equal(run_of(kind, logs).simulate(), run_of(kind, logs, record=True).simulate())


@all_kinds
def test_step_by_step_and_in_slices(logs, kind):
    run = run_of(kind, logs)
    machine, options = KINDS[kind]
    whole = run.simulate()
    stepped, sliced = (fs.Simulation(run.log, machine, **options) for _ in range(2))
    while stepped.step():
        pass
    for until in np.linspace(run.log.submit[0], whole.span[1], 37):
        sliced.run(until=until)
        assert sliced.now <= until
    assert_equal(stepped.result(), whole)
    assert_equal(sliced.result(), whole)


@all_kinds
@pytest.mark.parametrize("record", [False, True])
def test_copies_go_on_alike(logs, kind, record):
    run = run_of(kind, logs, record=record)
    machine, options = KINDS[kind]
    whole = run.simulate()
    sim = fs.Simulation(run.log, machine, record=record, **options)
    forks = []
    for until in np.quantile(run.log.submit, [0.1, 0.35, 0.6, 0.85]):
        sim.run(until=until)
        forks.append(sim.copy())
        forks.append(forks[-1].copy())
    sim.run()
    for fork in reversed(forks):  # the original has gone on, and the copies share nothing with each other
        fork.run()
        fork.verify()
        assert_equal(fork.result(), whole)


def test_any_number_of_threads_gives_the_same_bytes(logs):
    runs = [run_of(kind, logs, start_delay=delay) for kind in KINDS for delay in (0.0, 4.0)]
    alone = fs.simulate_many(runs, threads=1)
    for threads in (2, 5):
        for one, other in zip(alone, fs.simulate_many(runs, threads=threads), strict=True):
            assert_equal(one, other)


@all_kinds
def test_again(logs, kind):
    result = run_of(kind, logs).simulate()
    assert_equal(result, fs.rerun(result))


# -- other runs with a known answer


def changed(log, **columns):
    return fs.Workload(**{**log.columns, **columns})


@all_kinds
@pytest.mark.parametrize("factor", [0.125, 1024.0])
def test_time_has_no_unit(logs, kind, factor):
    """A power of two scales doubles without rounding."""
    run = run_of(kind, logs)
    log = run.log
    scaled = changed(log, submit=log.submit * factor, runtime=log.runtime * factor, estimate=log.requested * factor)
    migration = run.migration and dataclasses.replace(run.migration, cost=run.migration.cost * factor)
    one = run.simulate()
    other = run_of(
        kind, {kind.split("-")[0]: scaled}, start_delay=run.start_delay * factor, migration=migration
    ).simulate()
    for name in ("start", "finish", "runtime"):
        assert np.array_equal(one.jobs[name] * factor, other.jobs[name])
    for name in ("allocated", "moves", "backfilled"):
        assert np.array_equal(one.jobs[name], other.jobs[name])
    assert {account: value * factor for account, value in one.ledger.items()} == other.ledger


@all_kinds
def test_time_has_no_origin(logs, kind):
    """Whole seconds are exact in doubles."""
    run = run_of(kind, logs)
    moved = run_of(kind, {kind.split("-")[0]: changed(run.log, submit=run.log.submit + 1_535_348_017.0)})
    one, other = run.simulate(), moved.simulate()
    assert np.array_equal(one.jobs["wait"], other.jobs["wait"])
    assert one.ledger == other.ledger


@all_kinds
def test_who_comes_when_all_is_over_changes_nothing(logs, kind):
    run = run_of(kind, logs)
    one = run.simulate()
    late = fs.Workload(submit=[one.span[1] + 1], runtime=[100], estimate=[100], size=[128])
    both = run_of(kind, {kind.split("-")[0]: fs.concat([run.log, late])}).simulate()
    for name in one.jobs:
        if name != "id":
            assert np.array_equal(one.jobs[name], both.jobs[name][:-1]), name
    assert both.jobs["wait"][-1] == KINDS[kind][1].get("start_delay", 0.0)


@pytest.mark.parametrize("kind", ["cluster-fcfs", "torus-fcfs", "cluster-conservative"])
def test_who_comes_later_never_delays(logs, kind):
    """Under first come, first served; and under conservative backfilling where nobody ends early or late."""
    run = run_of(kind, logs, estimates="actual")
    whole = run.simulate()
    for share in (0.3, 0.7):
        n = int(share * len(run.log))
        first = run_of(kind, {kind.split("-")[0]: run.log[:n]}, estimates="actual").simulate()
        assert np.array_equal(first.jobs["start"], whole.jobs["start"][:n])


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind.startswith("cluster")])
def test_a_cluster_and_its_jobs_may_be_any_number_of_times_larger(logs, kind):
    log = logs["cluster"]
    one = run_of(kind, logs).simulate()
    larger = fs.simulate(changed(log, size=log.size.astype(np.int64) * 1000), fs.Cluster(128_000), **KINDS[kind][1])
    assert np.array_equal(one.jobs["start"], larger.jobs["start"])
    assert np.array_equal(one.jobs["backfilled"], larger.jobs["backfilled"])


def test_first_come_first_served_starts_in_order(logs):
    for kind in ("cluster-fcfs", "torus-fcfs"):
        assert (np.diff(run_of(kind, logs).simulate().jobs["start"]) >= 0).all()


def test_without_overruns_reservations_are_kept(logs):
    """Conservative backfilling with exact estimates: nobody starts later than under first come, first served."""
    log = logs["cluster"]
    fcfs = fs.simulate(log, CLUSTER, scheduler=FCFS, estimates="actual").jobs["start"]
    conservative = fs.simulate(log, CLUSTER, scheduler=CONSERVATIVE, estimates="actual").jobs["start"]
    assert (conservative <= fcfs).all()
    assert (conservative < fcfs).mean() > 0.3
