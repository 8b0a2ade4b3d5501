"""What a task costs on many nodes that are alike, and the shortcuts that make it so."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import faultsim as fs
from faultsim.simulation.workflow_run import WorkflowRun
from faultsim.simulation.workflows import WorkflowExecution
from helpers.engine_inputs import compiled_workflows as Compiled
from helpers.engine_inputs import plain_workflows as Plain
from helpers.workflow_cases import SCHEDULERS, assert_same, settings_of, tables_of, workflow_cases


@given(workflow_cases(SCHEDULERS), st.sampled_from([None, 3, 9, 70, 200]))
def test_engines_agree_on_nodes_that_are_alike(case, nodes):
    config, tables, world = case
    n = len(tables["speed"]) if nodes is None else max(nodes, len(tables["speed"]))
    cost = tables["cost"] if tables["cost"].ndim == 1 else tables["cost"][:, 0].copy()
    alike = {**tables, "cost": cost, "speed": np.full(n, 2.0), "bandwidth": 2.0}
    ends = []
    for kind in (Compiled, Plain):
        engine = kind(config, alike, world)
        while engine.run(9) != "done":
            pass
        ends.append(engine.output())
    assert_same(*ends)


@given(st.floats(0.0, 1e9) | st.integers(1, 10**6).map(float), st.integers(1, 5000))
@example(0.1, 4097)
@example(1.5, 2**12)
@example(2.0**52 + 1.0, 3000)
@example((2.0**52 + 1.0) * 2.0**-40, 5000)
@example(3e300, 100)
@example(1e-320, 1000)
def test_the_mean_over_nodes_is_that_of_a_sum_node_by_node(cost, nodes):
    total = 0.0
    for _ in range(nodes):
        total += cost
    engine = Compiled(settings_of(), tables_of([([cost], [])], nodes=nodes))
    assert engine.ranks().tolist() == [total / nodes]


def looks(nodes, **options):
    """Nodes looked at a task, of workflows that fill a sixteenth of the machine."""
    flows = [fs.synthetic.random_dag(100, rng=number) for number in range(4)]
    execution = WorkflowExecution(WorkflowRun(flows, fs.Resources(nodes), **options))
    execution.go_on()
    return execution._engine.n_looks / 400


@pytest.mark.parametrize("transfers", ["parallel", "in_turn"])
@pytest.mark.parametrize("fails", [False, True])
def test_work_a_task_looks_at_as_many_nodes_on_a_larger_machine(fails, transfers):
    failures = fs.FailureTrace(np.arange(500) * 4.0, np.arange(500) % 64, 1.0, span=2e4) if fails else None
    options = {"failures": failures, "transfers": transfers}
    if fails:
        options |= {"scheduler": fs.Flaw(), "predictor": fs.Perfect()}
    small, large = looks(1024, **options), looks(16_384, **options)
    assert large <= 1.2 * small < 200
