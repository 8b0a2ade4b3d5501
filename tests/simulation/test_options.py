"""The options of a run are declared once: every signature that has them follows from the fields of `Run`."""

import inspect
from dataclasses import fields

import pytest

import faultsim as fs
from faultsim.simulation.options import OPTIONS, Changes, Options, OwnPolicies
from faultsim.simulation.workflow_run import WORKFLOW_OPTIONS, WorkflowOptions, WorkflowRun
from helpers.refusals import refused

LOG = fs.Workload([0, 1], [10, 5], [2, 1])


def keywords(call) -> dict[str, object]:
    parameters = inspect.signature(call).parameters.values()
    return {each.name: each.default for each in parameters if each.kind is inspect.Parameter.KEYWORD_ONLY}


def test_types_of_what_is_given_and_fields_of_what_is_held_are_the_same_options():
    assert set(Options.__annotations__) == set(OPTIONS)
    assert set(WorkflowOptions.__annotations__) == set(WORKFLOW_OPTIONS)
    assert set(Changes.__annotations__) == {each.name for each in fields(fs.Run)} == {"log", "machine", *OPTIONS}
    assert [each.name for each in fields(WorkflowRun)] == ["workflows", "resources", *WORKFLOW_OPTIONS]


@pytest.mark.parametrize(
    ("call", "options", "own"),
    [
        (fs.simulate, OPTIONS, {"progress", "engine"}),
        (fs.Simulation, OPTIONS, {"engine", "live", "unknown", "oracle_runtimes"}),
        (fs.Run, OPTIONS, set()),
        (fs.simulate_workflows, WORKFLOW_OPTIONS, {"progress", "engine"}),
        (fs.rerun, dict.fromkeys(OwnPolicies.__annotations__), {"progress"}),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_signatures_show_each_option_with_its_default(call, options, own):
    shown = keywords(call)
    assert {name: shown[name] for name in options} == options
    assert set(shown) - set(options) == own
    assert [name for name in shown if name in options] == list(options)
    assert not any(each.kind is inspect.Parameter.VAR_KEYWORD for each in inspect.signature(call).parameters.values())
    annotations = {name: each.annotation for name, each in inspect.signature(call).parameters.items()}
    assert inspect.Parameter.empty not in {annotations[name] for name in options}


def test_the_lowered_form_has_each_option():
    assert list(fs.Run(LOG, fs.Cluster(2)).lower()) == ["machine", *OPTIONS]


@pytest.mark.parametrize("call", [fs.simulate, fs.Simulation], ids=lambda call: call.__name__)
def test_an_unknown_option_is_named_with_the_one_that_was_meant(call):
    said = rf"^{call.__name__}\(\) got an unexpected keyword argument 'schedular' \(did you mean 'scheduler'\?\)$"
    refused(TypeError, said, call, LOG, fs.Cluster(2), schedular="easy")


def test_the_command_has_each_option(capsys):
    from faultsim.cli.app import main

    main(["run", "--help"])
    said = capsys.readouterr().out
    missing = {name for name in OPTIONS if f"--{name.replace('_', '-')}" not in said}
    assert missing == set()
