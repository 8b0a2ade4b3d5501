"""The registry is complete: every row has what those who walk it ask for."""

import ast
import importlib
import re
from pathlib import Path

import pytest
from hypothesis import find

import faultsim as fs
from faultsim.policies.registry import KINDS, MACHINES, POLICIES, WRITTEN, parts_of
from faultsim.simulation.compatibility import NEEDS, ON_TORUS
from helpers.drawn_policies import ROWS, policies
from helpers.scripts import script

ROOT = Path(fs.__file__).parent.parent
UNITS = {"s", "h", "1", "nodes", "jobs", "failures"}
#: Kinds of which the compiled engines have a part each, and the policies of them that do nothing.
COMPILED = {
    "scheduler", "order", "placement", "migration", "recovery", "checkpointing", "rescheduling", "strategy",
    "workflow_scheduler",
}  # fmt: skip
IDLE = {("checkpointing", "none")}


def every(rows=(*POLICIES, *WRITTEN)):
    return pytest.mark.parametrize("row", rows, ids=lambda row: f"{row.kind}-{row.name}")


#: Policies and machines that the reference engine alone has.
NOT_COMPILED = {("conservative", "site")}


@every()
def test_compiled_parts_are_there(row):
    for machine in row.machines:
        path = row.compiled_on(machine)
        if (row.name, machine) in NOT_COMPILED:
            continue
        assert bool(path) == (row.kind in COMPILED and (row.kind, row.name) not in IDLE)
        if path:
            module, _, capsule = path.partition(":")
            assert hasattr(importlib.import_module(f"faultsim._core.{module}"), capsule)
    assert row.compiled_on("hypercube") is None
    assert row.follows in ("", "progress", "places", "nodes")


@every()
def test_parts_of_the_reference_engine_are_there(row):
    paths = row.reference.values() if isinstance(row.reference, dict) else [row.reference]
    assert all(paths) == (row.kind in COMPILED | {"victims"})
    for path in filter(None, paths):
        module, _, name = path.partition(":")
        assert callable(getattr(importlib.import_module(f"faultsim.reference.{module}"), name))


@pytest.mark.parametrize("row", MACHINES.values(), ids=MACHINES)
def test_allocators_are_there(row):
    for path in (row.counted, row.named):
        module, _, capsule = path.partition(":")
        assert hasattr(importlib.import_module(f"faultsim._core.{module}"), capsule)
    assert issubclass(row.placement, fs.Placement)


@every()
def test_kinds_and_refusals_are_there(row):
    assert issubclass(row.cls, KINDS[row.kind].base)
    assert set(row.needs) <= set(NEEDS)
    everywhere = set(row.machines) >= set(MACHINES)
    assert bool(row.elsewhere) == (not everywhere and row.machines != ("resources",))


DRAWN = (COMPILED | {"victims", "strategy"}) - {"workflow_scheduler"}


@every([row for row in ROWS if row.kind in DRAWN])
def test_every_row_is_drawn_by_the_strategies_for_runs(row):
    if row.name == "slurm_torus":
        return  # refuses most combinations; tests/verification/listed_shapes.py draws runs of its own
    for machine in row.machines:
        found = find(policies(row.kind, machine, written=True), lambda policy: isinstance(policy, row.cls))
        assert found.kind == row.kind


@every(POLICIES)
def test_parameters_have_units_and_meanings(row):
    for parameter in row.parameters:
        number = parameter.type in ("int", "float")
        assert (parameter.unit in UNITS) if number else parameter.unit == "", parameter
        assert parameter.type
        assert parameter.meaning.endswith("."), parameter


def test_options_of_a_run_are_kinds():
    options = {kind for kind, row in KINDS.items() if row.option}
    assert options <= set(fs.Run.__dataclass_fields__)
    assert parts_of(fs.Fars) == ("strategy", "spares")
    assert {kind for kind, *_ in ON_TORUS} <= options


def test_the_page_of_policies_lists_every_row():
    lines = script("generate", "docs").policies_page()
    for row in POLICIES:
        assert any(f"`{row.name}`" in line and f"`{row.cls.__name__}`" in line for line in lines)
        for parameter in row.parameters:
            assert any(f"`{row.cls.__name__}` | `{parameter.name}`" in line for line in lines)
    for preset in fs.Key.presets.values():
        assert f"| `{preset.name}` | `{preset.text}` | {preset.source} |" in lines


NAMES = {row.name for row in (*POLICIES, *WRITTEN)}
#: Where a saved result is read, which holds names alone.
BY_NAME = {"results/result.py", "results/workflow_log.py"}


def compares_a_name(node):
    """Whether a comparison is of the name of something with the name of a policy."""
    sides = [node.left, *node.comparators]
    literals = [part.value for side in sides for part in ast.walk(side) if isinstance(part, ast.Constant)]
    named = any(re.search(r"(\bname|\['name'\])$", ast.unparse(side)) for side in sides)
    return named and any(literal in NAMES for literal in literals)


def test_only_policies_know_policies_by_name():
    package = ROOT / "faultsim"
    found = {
        path.relative_to(package).as_posix()
        for path in package.rglob("*.py")
        if path.parent.name not in ("policies", "reproduce")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Compare) and compares_a_name(node)
    }
    assert found == BY_NAME


def test_a_strategy_of_fars_has_every_name_of_its_row():
    for row in POLICIES:
        if row.kind == "strategy":
            for word in (row.name, *row.aliases):
                assert fs.Fars(300, word).strategy == row.cls()
