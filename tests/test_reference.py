"""What docs/generate.py makes of the package's tables: every name in one group, nothing left out in vain."""

import importlib.util
import inspect
from pathlib import Path

import pytest

import faultsim

CHECKOUT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def generate():
    spec = importlib.util.spec_from_file_location("generate", CHECKOUT / "docs" / "generate.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_name_is_in_one_group(generate):
    names = [name for group in generate.groups().values() for name in group]
    assert sorted(names) == sorted(faultsim.__all__)


def test_policies_stand_with_their_kind(generate):
    groups = generate.groups()
    for row in faultsim.POLICIES:
        heading = generate.KINDS.get(row.kind, row.kind.capitalize())
        assert row.cls.__name__ in groups[heading], row.name
    assert set(generate.KINDS) <= {row.kind for row in faultsim.POLICIES}


def test_what_is_left_out_is_there_and_in_no_guide(generate):
    classes = [value for name in faultsim.__all__ if inspect.isclass(value := getattr(faultsim, name))]
    assert {name for cls in classes for name in dir(cls)} >= generate.INTERNAL
    overridden = {"choose", "choose_nodes", "intervals", "keys", "predict", "react", "schedule", "tick", "wants"}
    assert not generate.INTERNAL & overridden


def test_tables_are_in_the_pages(generate):
    pages = {name: "\n".join(page()) for name, page in generate.PAGES.items()}
    for name in faultsim.METRICS:
        assert f"`{name}`" in pages["metrics"]
    for row in faultsim.POLICIES:
        assert f"`{row.name}`" in pages["policies"]
