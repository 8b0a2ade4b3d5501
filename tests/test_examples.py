"""Every public name has an example, and every example runs."""

import doctest
import importlib
import inspect
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import faultsim

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def public_names(module: ModuleType, prefix: str) -> list[tuple[str, object]]:
    """Functions and classes reached through `__all__`, public modules entered; plain data has no docstring."""
    found = []
    for name in module.__all__:
        value = getattr(module, name)
        if inspect.ismodule(value):
            found += public_names(value, f"{prefix}.{name}")
        elif inspect.isclass(value) and issubclass(value, BaseException):
            continue
        elif callable(value) and not isinstance(value, type(list[int])):
            found.append((f"{prefix}.{name}", value))
    return found


# Imported by those who want them, since they need an extra.
OPTIONAL = ("faultsim.plot", "faultsim.report", "faultsim.rl")

NAMES = dict(public_names(faultsim, "faultsim"))
for _module in OPTIONAL:
    NAMES.update(public_names(importlib.import_module(_module), _module))
FINDER = doctest.DocTestFinder(exclude_empty=True)


def test_public_names_are_listed_in_order():
    assert len(set(faultsim.__all__)) == len(faultsim.__all__)
    assert all(hasattr(faultsim, name) for name in faultsim.__all__)
    assert {"faultsim.EventQueue", "faultsim.knapsack"} <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_name_has_examples_that_run(name, tmp_path, monkeypatch):
    value = NAMES[name]
    assert value.__doc__, f"{name} has no docstring"
    assert "Examples\n" in inspect.getdoc(value), f"{name} has no Examples section"
    tests = FINDER.find(value, name, globs={})
    assert any(test.name == name and test.examples for test in tests), f"the Examples section of {name} has no >>>"
    monkeypatch.chdir(tmp_path)
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    report = []
    for test in tests:
        runner.run(test, out=report.append)
    assert runner.failures == 0, "".join(report)


def test_examples_of_private_names_run_and_write_nothing_into_the_checkout():
    """`pytest --doctest-modules faultsim`, as a developer runs it: the test above has the public names only."""
    checkout = Path(faultsim.__file__).parents[1]
    if not (checkout / "conftest.py").is_file():
        pytest.skip("an installed package without its checkout")
    before = set(checkout.iterdir())
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--doctest-modules", "faultsim"],
        cwd=checkout, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    assert [path.name for path in set(checkout.iterdir()) - before if not path.name.startswith(".")] == []


def test_unknown_names():
    with pytest.raises(AttributeError, match=r"no attribute 'Tours' \(did you mean 'Torus'\?\)"):
        _ = faultsim.Tours
    with pytest.raises(AttributeError, match=r"no attribute 'zebra'$"):
        _ = faultsim.zebra
    assert not hasattr(faultsim, "__wrapped__")


def test_public_names_are_there_and_documented():
    for name in faultsim.__all__:
        value = getattr(faultsim, name)
        assert isinstance(value, tuple | dict) or value.__doc__, name
