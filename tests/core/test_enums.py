"""The numbers of the core's enums and the names that Python has for them."""

import numpy as np
import pytest

import faultsim as fs
from faultsim.data.columns import JOBS, by_name
from faultsim.data.event_kinds import EVENT_KINDS, WORKFLOW_EVENT_KINDS, EventKind, WorkflowEventKind
from faultsim.plot.ledger import ACCOUNT_COLOURS
from faultsim.reference import state as plain
from faultsim.reference.workflow import state as plain_workflow
from faultsim.results.ledger import LEDGER_ACCOUNTS
from faultsim.results.result import COUNTERS, FROM_ENGINE
from faultsim.simulation.execution import Execution
from faultsim.simulation.simulate import Run
from helpers.core_enums import enum


def test_event_kinds_are_those_of_the_core_and_of_the_reference():
    kinds = {kind.name: kind.value for kind in EventKind}
    of_core = enum("state.pxd", "EV")
    # Places in an instant that are never recorded: a pass that is asked for, a job that becomes eligible, withdrawals.
    assert [of_core.pop(name) for name in ("WAKE", "READY", "LAST")] == [len(kinds) + i for i in range(3)]
    # What only changes show, in both engines.
    only_changes = ("KILLED", "REQUEUED", "HELD", "CONTINUED", "ON_HOLD", "RELEASED", "DRAINED", "RESUMED")
    of_parts = ("PART_DOWN", "PART_FAILED", "PART_UP")
    assert [of_core.pop(name) for name in (*only_changes, *of_parts)] == [len(kinds) + 3 + i for i in range(11)]
    assert sorted(getattr(plain, name) for name in (*only_changes, *of_parts)) == [len(kinds) + i for i in range(11)]
    assert kinds == of_core
    assert EVENT_KINDS[EventKind.RESCHEDULE] == "reschedule"
    renamed = {"RESCHEDULE": "THEFT"}
    assert {name: getattr(plain, renamed.get(name, name)) for name in kinds} == kinds


def test_workflow_event_kinds_are_those_of_the_core_and_of_the_reference():
    kinds = {kind.name: kind.value for kind in WorkflowEventKind}
    of_core = enum("workflow/state.pxd", "WF")
    assert kinds == {name: of_core[name] for name in kinds}
    assert WORKFLOW_EVENT_KINDS[WorkflowEventKind.WAKE_UP] == "wake-up"
    assert {name: getattr(plain_workflow, name) for name in kinds} == kinds


def test_ledger_accounts_are_those_of_the_core():
    of_core = enum("state.pxd", "ACC")
    accounts = [name.lower() for name in sorted(of_core, key=of_core.__getitem__)]
    accounts.insert(accounts.index("reserved") + 1, "drained")  # counted beside the others, where nodes are drained
    assert accounts == list(LEDGER_ACCOUNTS)
    assert list(ACCOUNT_COLOURS) == list(LEDGER_ACCOUNTS)


@pytest.mark.parametrize("engine", ["core", "reference"])
def test_engines_give_what_the_data_dictionary_says(engine):
    run = Run(fs.Workload(submit=[0, 1], runtime=[10, 5], size=[2, 2]), fs.Cluster(2))
    execution = Execution(run, engine)
    execution.go_on()
    output = execution.engine.output()
    assert list(output["ledger"]) == list(LEDGER_ACCOUNTS)
    assert set(output) == {*FROM_ENGINE, *COUNTERS, "ledger", "makespan_begin", "makespan_end"}
    for name in FROM_ENGINE:
        assert output[name].dtype == np.dtype(by_name(JOBS)[name].dtype), name
