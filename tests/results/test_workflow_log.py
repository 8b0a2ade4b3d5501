"""The decision log of a run of workflows: Figures 7 and 8 of [yu2010], and what holds of every pass."""

import itertools

import numpy as np
from hypothesis import given

import faultsim as fs
from faultsim.results.workflow_log import log_rows
from helpers.engine_inputs import compiled_workflows as WorkflowEngine
from helpers.workflow_cases import EXAMPLE_COST, EXAMPLE_EDGES, workflow_cases


def test_the_log_is_that_of_figure_7():
    flow = fs.Workflow(EXAMPLE_COST, EXAMPLE_EDGES, name="DAG A")
    failures = fs.FailureTrace([5, 15, 60], [2, 0, 1], 5, span=200)
    log = fs.simulate_workflows(flow, fs.Resources(3), failures=failures, record=True).log()
    assert [" ".join(line.split()) for line in log.splitlines()] == [
        "time event pool free decision",
        "0 DAG A arrives T0 P0 P1 P2 (T0, P0)",
        "5 P2 fails P1",
        "10 P2 recovers P1 P2",
        "15 P0 fails, T0 killed T0 P1 P2 (T0, P1)",
        "20 P0 recovers P0 P2",
        "55 T0 done T3 T1 T2 P0 P1 P2 (T3, P1) (T1, P0) (T2, P2)",
        "60 P1 fails, T3 killed, T1 killed, T2 killed T3 T1 T2 P0 P2",
        "65 P1 recovers T3 T1 T2 P0 P1 P2 (T3, P1) (T1, P0) (T2, P2)",
        "95 T2 done P2",
        "100 T3 done P1 P2",
        "105 T1 done T4 P0 P1 P2 (T4, P0)",
        "155 T4 done P0 P1 P2",
    ]


def test_the_log_is_that_of_figure_8():
    flow = fs.Workflow(EXAMPLE_COST, EXAMPLE_EDGES, name="DAG A")
    failures = fs.FailureTrace([5, 15, 60], [2, 0, 1], 5, span=200)
    foreseen = fs.PredictionTrace([8, 18, 90], [2, 0, 2])
    options = {"scheduler": fs.Flaw(), "predictor": foreseen, "failures": failures, "record": True}
    log = fs.simulate_workflows(flow, fs.Resources(3), **options).log()
    assert [" ".join(line.split()) for line in log.splitlines()] == [
        "time event pool free decision",
        "0 DAG A arrives T0 P0 P1 P2 (T0, P1)",
        "5 P2 fails P0",
        "10 P2 recovers P0 P2",
        "15 P0 fails P2",
        "20 P0 recovers P0 P2",
        "40 T0 done T3 T1 T2 P0 P1 P2 (T3, P1) (T1, P0) (T2, P2)",
        "60 P1 fails, T3 killed T3",
        "65 P1 recovers T3 P1 (T3, P1)",
        "70 T2 done P2",
        "80 T1 done P0 P2",
        "100 T3 done T4 P0 P1 P2 (T4, P0)",
        "150 T4 done P0 P1 P2",
    ]


@given(workflow_cases())
def test_every_pass_of_the_log_takes_jobs_from_its_pool_in_order_and_free_nodes(case):
    settings, tables, world = case
    settings["record"] = True
    engine = WorkflowEngine(settings, tables, world)
    engine.run()
    flows, nodes = faces(tables)
    events = engine.output()["events_table"]
    first = np.asarray(tables["first_job"])
    own = np.where(events["job"] < 0, -1, events["job"] - first[events["workflow"]])
    trace = None
    if world is not None and len(world["failures"]["time"]):
        trace = fs.FailureTrace(*(world["failures"][name] for name in ("time", "node", "downtime")))
    waiting = None
    for row in log_rows({**events, "job": own}, flows, nodes, trace, settings):
        jobs, places = [job for job, _ in row.decisions], [node for _, node in row.decisions]
        assert [job for job in row.pool if job in jobs] == jobs
        assert len(set(row.pool)) == len(row.pool)
        assert set(places) <= set(row.free)
        assert len(set(places)) == len(places)
        waiting = set(row.pool) - set(jobs)
    assert not waiting


def faces(tables):
    """The tables of an engine as workflows and resources again."""
    flows = []
    cost, first = np.asarray(tables["cost"]), np.asarray(tables["first_job"])
    starts, after, size = (np.asarray(tables[f"successor{part}"]) for part in ("_start", "", "_transfer"))
    for low, high in itertools.pairwise(first):
        edges = [
            (job - low, after[edge] - low, size[edge])
            for job in range(low, high)
            for edge in range(starts[job], starts[job + 1])
        ]
        flows.append(fs.Workflow(cost[low:high], edges))
    matrix = cost.ndim == 2
    nodes = len(tables["speed"])
    bandwidth = tables["bandwidth"]
    return flows, fs.Resources(nodes, speed=None if matrix else tables["speed"], bandwidth=bandwidth)
