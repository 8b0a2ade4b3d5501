"""What a person sees at the prompt: signatures without internals, completion without what only engines call."""

import importlib
import inspect
import pydoc
import re

import pytest

import faultsim as fs
from faultsim.checks import INTERNAL

NAMES = [name for name in fs.__all__ if inspect.isclass(getattr(fs, name)) or inspect.isfunction(getattr(fs, name))]
LOG = fs.Workload(submit=[0, 5], runtime=[9, 9], size=[1, 1])
RESULT = fs.simulate(LOG, "cluster:1", record=True)
THINGS = {
    "log": LOG, "trace": fs.FailureTrace([1], [0]), "workflow": fs.Workflow([1]), "result": RESULT, "jobs": RESULT.jobs,
    "events": RESULT.events, "cluster": fs.Cluster(2), "torus": fs.Torus(2, 2, 2), "pod": fs.Pod.tpu_v4(),
    "policy": fs.Young(60, "30d"), "scheduler": fs.EasyBackfill(), "domains": fs.Domains.hosts(4),
    "simulation": fs.Simulation(LOG, "cluster:1"), "plan": fs.plan("pod:2x2x1", availability=0.999),
}  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_signatures_are_readable(name):
    """That of the class or function, above its description, and of the constructor."""
    shown = pydoc.render_doc(getattr(fs, name), renderer=pydoc.plaintext).splitlines()
    signatures = [line for line in shown if (f"{name}(" in line and ">>>" not in line) or "__init__(" in line]
    for text in ("Annotated[", " at 0x", "<function", "_typing", "ForwardRef"):
        assert not [line for line in signatures if text in line]


@pytest.mark.parametrize("module", ["faultsim", "faultsim.plot", "faultsim.report", "faultsim.synthetic"])
def test_types_of_all_functions_and_methods_are_short(module):
    """Without modules, quotes around names, and the parts of long unions."""
    of = importlib.import_module(module)
    long = re.compile(r"\b\w+\.\w+\.|typing\.|: '[A-Z]|-> '|_Buffer|ForwardRef|Annotated")
    seen = 0
    for thing in map(of.__dict__.get, of.__all__):
        methods = inspect.getmembers(thing, inspect.isroutine) if inspect.isclass(thing) else [("", thing)]
        for name, called in methods:
            inside = getattr(called, "__func__", called)
            if name.startswith("_") or not inspect.isfunction(inside) or not inside.__module__.startswith("faultsim"):
                continue
            shown = inspect.signature(inside)
            types = [each.annotation for each in shown.parameters.values()] + [shown.return_annotation]
            assert not [kind for kind in types if long.search(inspect.formatannotation(kind))], (thing, name)
            seen += 1
    assert seen > 9


def test_types_are_short():
    assert str(inspect.signature(fs.Young)) == "(cost: float, mtbf: float, *, any_rate: bool = False) -> None"
    shown = str(inspect.signature(fs.simulate))
    assert "scheduler: Scheduler | str =" in shown
    assert "start_delay: Duration =" in shown


@pytest.mark.parametrize("thing", THINGS)
def test_completion_is_for_users(thing):
    found = {name for name in dir(THINGS[thing]) if not name.startswith("_")}
    assert not found & INTERNAL
    assert not [name for name in found if name.isupper() or name.startswith("refuse_")]
    assert found


def test_completion_of_the_package_has_every_name():
    assert set(fs.__all__) <= set(dir(fs))
