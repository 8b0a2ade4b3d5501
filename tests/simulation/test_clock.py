"""The range and the resolution of the clock (model.md#time): what is refused, what does not end, and the ledger."""

import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import faultsim as fs
from faultsim import checks
from faultsim.errors import DecisionError, InputError, OptionError
from faultsim.results.ledger import without_negative
from helpers.engines import runs_agree
from helpers.refusals import refused
from helpers.runs import runs

LATEST = 2**33
ENGINES = pytest.mark.parametrize("engine", ["core", "reference"])
#: The last whole second, and the next double after it.
BEYOND = float(np.nextafter(LATEST, math.inf))


def test_doubles_resolve_a_microsecond_up_to_the_end_of_the_clock():
    assert checks.LATEST == LATEST
    assert np.spacing(np.nextafter(float(LATEST), 0)) <= 1e-6 < np.spacing(2.0 * LATEST)


# -- what is refused


@pytest.mark.parametrize("late", [BEYOND, 1e12, 1e15, 9.2e15, 1e17, 2**63 - 1, 1e300])
@pytest.mark.parametrize("column", ["submit", "runtime", "estimate"])
def test_jobs_beyond_the_clock(column, late):
    given = {"submit": [0, 1], "runtime": [1, 1], "size": [1, 1], "estimate": [1, 1]}
    given[column] = [0, late]
    refused(InputError, rf"^{column}, row 1: .* is beyond 8589934592 s \(272 years\)", fs.Workload, **given)
    fs.Workload(**given | {column: [0, LATEST]})


@pytest.mark.parametrize(
    ("late", "unit"), [(1.7e12, "milliseconds"), (1.7e15, "microseconds"), (1.7e18, "nanoseconds")]
)
def test_moments_in_other_units_are_guessed(late, unit):
    refused(InputError, rf"; is it in {unit}\?$", fs.Workload, submit=[late], runtime=[1], size=[1])


def test_failures_beyond_the_clock():
    refused(InputError, r"^time, row 1: .* is beyond 8589934592 s", fs.FailureTrace, [0, BEYOND], [0, 0])
    refused(InputError, r"^downtime, row 1: 1e\+17 is beyond", fs.FailureTrace, [0, 1], [0, 0], [0, 1e17])
    refused(OptionError, r"^span must be at least 0 and at most 8589934592 s", fs.FailureTrace, [0], [0], span=1e12)
    trace = fs.FailureTrace([0, 5], [0, 1], [1, math.inf], span=10)
    refused(OptionError, "span of with_span.* at most 8589934592", trace.with_span, 1e12)
    late = fs.Workload(submit=[LATEST - 5], runtime=[1], size=[1])
    refused(InputError, r"^span: 8589934597 s is beyond 8589934592 s", trace.align, late)
    long = fs.FailureTrace([0], [0], span=LATEST - 1)
    refused(InputError, r"is beyond 8589934592 s", long.with_count, 3, repeat=True)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"start_delay": 1e12}, r"^start_delay: 1e\+12 s is beyond 8589934592 s \(272 years\)"),
        ({"recovery": fs.Requeue(restart_cost=1e12)}, "^restart_cost: "),
        ({"checkpointing": fs.Periodic(1e12, 1e12)}, "^the cost of a checkpoint: "),
        ({"migration": fs.Defragment(cost=1e12)}, "^the cost of the migration: "),
        ({"rescheduling": fs.Fars(300, "sul", restart_cost=1e12), "predictor": "perfect"}, "^restart_cost of a move: "),
        (
            {"rescheduling": fs.Fars(300, "sul", checkpoint_cost=1e12), "predictor": "perfect"},
            "^checkpoint_cost of a move: ",
        ),
    ],
)
def test_durations_of_a_run_beyond_the_clock(options, said):
    log, trace = fs.Workload([0], [1], [1]), fs.FailureTrace([1], [0], span=9)
    refused(InputError, said, fs.simulate, log, fs.Torus(1, 1, 2), failures=trace, **options)


def test_other_entries_beyond_the_clock():
    refused(OptionError, "downtime of domains must be .* at most 8589934592", fs.Domains.hosts, 4, downtime=1e12)
    for flow, options in (([1e12], {}), ([1.0], {"arrivals": [1e12]}), ([1.0], {"outputs": fs.SharedOutputs(1e12)})):
        said = r"^(cost of a job: |arrivals, row 0: |copy: )1(e\+12 s|0{12}) is beyond 8589934592 s"
        refused(InputError, said, fs.simulate_workflows, fs.Workflow(flow), fs.Resources(1), **options)


def test_files_beyond_the_clock_name_file_and_row(tmp_path):
    path = tmp_path / "jobs.csv"
    path.write_text("submit,runtime,size\n0,1,1\n1700000000000,1,1\n")
    refused(InputError, r"jobs\.csv: column 'submit': 1.7e\+12 s .* are they in ms\?", fs.read_jobs, path)
    path = tmp_path / "jobs.swf"
    path.write_text("1 0 -1 9200000000000000 1 -1 -1 1 -1 -1 1 1 1 -1 -1 -1 -1 -1\n")
    refused(InputError, r"jobs\.swf: runtime, row 0: .* is beyond 8589934592 s", fs.read_swf, path)
    path = tmp_path / "failures.csv"
    path.write_text("time,node,downtime\n0,0,1\n5,0,1e17\n")
    refused(InputError, r"failures\.csv, line 3: downtime, row 1: .* is beyond 8589934592 s", fs.read_failures, path)


@ENGINES
def test_what_is_told_beyond_the_clock(engine):
    sim = fs.Simulation(fs.Workload([0], [10], [1]), fs.Cluster(2), live=5, engine=engine)
    sim.advance(until=1)
    refused(OptionError, "downtime must be at least 0 and at most 8589934592 seconds", sim.fail, 1, 1e12)
    refused(DecisionError, "the clock ends at 8589934592 s", sim.extend, 0, 1e12)
    refused(OptionError, "until must be at most 8589934592 seconds", sim.advance, until=1e12)
    refused(OptionError, "until must be at most 8589934592 seconds", sim.run, until=1e12)
    sim.fail(1, math.inf)
    sim.run()
    assert sim.result().jobs["finish"].tolist() == [10]
    assert sim.result().ledger["down"] == 9


@ENGINES
def test_a_pass_beyond_the_clock(engine):
    sim = fs.Simulation(fs.Workload([0], [10], [1]), fs.Cluster(2), scheduler=fs.External(), engine=engine)
    refused(DecisionError, "later than now .* and at most 8589934592 s", sim.advance().wake, 1e12)


# -- down times that do not end


@ENGINES
def test_a_node_that_does_not_return(engine):
    log = fs.Workload(submit=[0, 0], runtime=[20, 10], size=[2, 1])
    trace = fs.FailureTrace([5], [0], [math.inf], span=100)
    result = fs.Run(log, fs.Cluster(3), scheduler="fcfs", failures=trace, record=True).simulate(engine=engine)
    assert result.jobs["start"].tolist() == [10, 0]
    assert result.ledger["down"] == 30 - 5
    assert not (result.events["kind"] == 1).any()
    said = r"deadlock: 1 jobs have not ended, none runs, .* after 15 s; 1 of 2 nodes do not return"
    refused(DecisionError, said, fs.Run(log, fs.Cluster(2), failures=trace).simulate, engine=engine)


@ENGINES
def test_a_workflow_whose_nodes_do_not_return(engine):
    chain = fs.Workflow([10.0, 10.0], [(0, 1)])
    nodes = fs.Resources(2)
    one = fs.FailureTrace([5], [0], math.inf, span=100)
    result = fs.simulate_workflows(chain, nodes, failures=one, engine=engine, record=True)
    assert result.metrics["makespan"] in (20, 25)
    both = fs.FailureTrace([5, 5], [0, 1], math.inf, span=100)
    said = "deadlock: 2 jobs have not ended, none runs, and nothing else will happen: nodes do not return"
    refused(DecisionError, said, fs.simulate_workflows, chain, nodes, failures=both, engine=engine)


@given(runs(failing=True), st.data())
def test_both_engines_agree_where_nodes_do_not_return(run, data):
    trace = run.failures
    last = data.draw(st.lists(st.booleans(), min_size=len(trace), max_size=len(trace)))
    downtime = np.where(last, math.inf, trace.downtime)
    run = run.with_options(failures=fs.FailureTrace(trace.time, trace.node, downtime, coin=trace.coin, span=trace.span))
    try:
        run.simulate()
    except DecisionError:  # too few nodes are left
        with pytest.raises(DecisionError):
            run.simulate(engine="reference")
        return
    assert min(runs_agree(run).ledger.values()) >= 0


def test_traces_with_outages_that_do_not_end(tmp_path):
    trace = fs.FailureTrace([10, 20, 30], [0, 1, 0], [5, math.inf, 5], span=100)
    trace.write_csv(tmp_path / "trace.csv")
    assert fs.read_failures(tmp_path / "trace.csv") == trace
    assert trace.window(25, 80, under_way=True).downtime.tolist() == [math.inf, 5]
    assert trace.summary(nodes=2)["availability"] == 1 - (5 + 80 + 5) / 200
    assert fs.FailureTrace([10, 20], [1, 1], [math.inf, 3], span=50).merge_overlaps().downtime.tolist() == [math.inf]
    assert len(trace.exclude_lemons(2, 50, any_rate=True)) == 3
    parts = fs.Domains({"left": [0, 1], "right": [2]}, 3, downtime=math.inf)
    assert fs.FailureTrace([1], [0], span=9).map_domains(parts).downtime.tolist() == [math.inf] * 2
    foreseen = fs.PredictionTrace.at_accuracy(trace, 1.0, 0.0, rng=1)
    assert (foreseen.time <= 100).all()
    result = fs.simulate(fs.Workload([0], [40], [1]), fs.Cluster(3), failures=trace, record=True)
    result.save(tmp_path / "run.npz")
    assert fs.load_result(tmp_path / "run.npz").failures == trace


@ENGINES
def test_slowness_that_does_not_end(engine):
    network = fs.Domains({"network": range(4)}, 4, effect=fs.Slowdown(0.5))
    trace = fs.FailureTrace([60], [0], math.inf, span=600).map_domains(network)
    run = fs.Run(fs.Workload([0, 500], [100, 10], [4, 2]), fs.Cluster(4), failures=trace)
    assert run.simulate(engine=engine).jobs["finish"].tolist() == [140, 520]


# -- the ledger at any time, of jobs of any length


def later(run, first, unit):
    """The same run with times `unit` times as long, from `first` on."""
    log, trace = run.log, run.failures
    estimate = np.where(log.estimate < 0, -1, log.estimate * unit)
    moved = fs.Workload(first + log.submit * unit, log.runtime * unit, log.size, estimate=estimate)
    more = {}
    if trace is not None:
        more["failures"] = fs.FailureTrace(
            first + trace.time * unit,
            trace.node,
            trace.downtime * unit,
            coin=trace.coin,
            span=first + trace.span * unit,
        )
    return moved, more


@given(
    runs(max_jobs=20),
    st.sampled_from([0.0, 1.0, 1.8e9, 4.2e9, 2.0**33 - 2.0**16]) | st.floats(0, 2.0**33 - 2.0**16),
    st.sampled_from([1e-6, 1e-3, 0.1, 1 / 3, 1.0, 60.0]),
)
def test_no_account_is_negative_and_all_add_up(run, first, unit):
    moved, more = later(run, first, unit)
    try:
        result = run.with_options(log=moved, **more).simulate()
    except OptionError as error:
        if not re.search("too short|too many|checkpoints", str(error)):  # checkpoints or ticks of the other unit
            raise
        return
    assert min(result.ledger.values()) >= 0
    capacity = result.machine.nodes * result.metrics["makespan"]
    assert sum(result.ledger.values()) == pytest.approx(capacity, rel=1e-9, abs=0)


@ENGINES
@pytest.mark.parametrize("first", [0.0, 1.8e9, 2.0**33 - 100])
@pytest.mark.parametrize("unit", [1e-3, 1.0])
def test_short_jobs_at_late_times_keep_their_work(engine, first, unit):
    rng = np.random.default_rng(3)
    n = 500
    runtime = rng.integers(1, 50, n) * unit
    submit = first + np.cumsum(rng.integers(0, 20, n) * unit * (0.1 if unit < 1 else 0.001))
    log = fs.Workload(submit, runtime, rng.integers(1, 9, n))
    result = fs.Run(log, fs.Cluster(16), start_delay=unit / 10).simulate(engine=engine)
    useful = math.fsum(log.size * runtime)
    assert result.ledger["useful"] == pytest.approx(useful, abs=4e-6 * log.size.sum())
    assert min(result.ledger.values()) >= 0


def test_what_rounding_leaves_below_zero_is_made_up_for():
    given = {"useful": -0.25, "lost": -0.5, "checkpoint": 0.5, "down": 4.0}
    assert without_negative(given) == {"useful": 0.0, "lost": 0.0, "checkpoint": 0.5, "down": 3.25}
    fine = {"useful": 1.0, "down": 0.0}
    assert without_negative(fine) is fine
