"""What a person sees at the prompt: signatures without internals, completion without what only engines call."""

import inspect
import pydoc

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
