"""The types of words: the same as the registry's at run time, and what mypy makes of them."""

import ast
import inspect
import json
import re
import runpy
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import get_args

import pytest

import faultsim as fs
from faultsim.errors import OptionError
from faultsim.policies import Key, parse_policy
from faultsim.policies.key import ORDER_COLUMNS
from faultsim.policies.queueing import checked_order
from faultsim.policies.registry import KINDS, POLICIES
from faultsim.policies.words import WORDS
from helpers.refusals import refused

HERE = Path(__file__).parent
#: Kinds of which "none" means that there is none.
NONE = ("migration", "rescheduling")


def plain_words(kind: str) -> set[str]:
    """The names of the registry that need no parameters."""
    found = {"none"} if kind in NONE else set()
    for row in (row for row in POLICIES if row.kind == kind):
        try:
            parse_policy(kind, row.name)
        except OptionError:
            continue
        found |= {row.name, *row.aliases}
    return found | set([*Key.presets, *ORDER_COLUMNS] if kind == "order" else [])


def dashed(words: set[str]) -> set[str]:
    return {word.replace("-", "_") for word in words}


@pytest.mark.parametrize("kind", KINDS)
def test_types_and_registry_have_the_same_words(kind):
    typed = set(get_args(WORDS[kind])) if kind in WORDS else set()
    assert dashed(typed) == plain_words(kind), f"the words of {kind} in faultsim/policies/words.py"


@pytest.mark.parametrize("word", get_args(WORDS["strategy"]))
def test_strategies_by_their_words(word):
    assert fs.Fars(300, word).strategy == parse_policy("strategy", word)


@pytest.mark.parametrize("word", get_args(WORDS["order"]))
def test_orders_by_their_words(word):
    assert type(checked_order(word)) in (type(parse_policy("order", word)), Key)


def test_misspelt_words_at_run_time():
    refused(OptionError, r"unknown strategy 'slu' \(did you mean 'sul'\?\)", fs.Fars, 300, "slu")
    flow, nodes = fs.Workflow([1]), fs.Resources(2)
    said = r"unknown workflow scheduler 'hefty' \(did you mean 'heft'\?\)"
    refused(OptionError, said, fs.simulate_workflows, flow, nodes, scheduler="hefty")


def test_what_is_accepted_runs():
    runpy.run_path(str(HERE / "accepted.py"))


def test_mypy_accepts_and_refuses(tmp_path):
    pytest.importorskip("mypy")
    files = [HERE / "accepted.py", HERE / "refused.py"]
    options = ["--strict", "--no-error-summary", "--hide-error-context", f"--cache-dir={tmp_path}"]
    command = [sys.executable, "-m", "mypy", "--config-file=", *options, "--follow-imports=silent", *map(str, files)]
    root = Path(fs.__file__).parents[1]
    done = subprocess.run(command, capture_output=True, text=True, cwd=root, check=False)
    found = {
        (Path(path).name, int(line), code)
        for path, line, code in re.findall(r"^(.+?):(\d+): error: .*\[([\w-]+)\]$", done.stdout, re.MULTILINE)
    }
    lines = files[1].read_text(encoding="utf-8").splitlines()
    expected = {("refused.py", n, line.partition("# E: ")[2]) for n, line in enumerate(lines, 1) if "# E: " in line}
    assert found == expected, done.stdout + done.stderr


@pytest.mark.parametrize("checker", ["pyright", "basedpyright"])
def test_pyright_accepts_and_refuses(checker, tmp_path):
    """The same lines as mypy; basedpyright is the same checker in a wheel that brings its own Node."""
    command = shutil.which(checker, path=str(Path(sys.executable).parent))
    if command is None:
        pytest.skip(f"{checker} is not installed")
    root = Path(fs.__file__).parents[1]
    config = tmp_path / "pyrightconfig.json"
    files = [HERE / "accepted.py", HERE / "refused.py"]
    settings = {"typeCheckingMode": "standard", "reportUnusedExpression": False, "extraPaths": [str(root)]}
    config.write_text(json.dumps({"include": list(map(str, files)), **settings}), encoding="utf-8")
    options = ["--project", str(config), "--pythonpath", sys.executable, "--outputjson"]
    done = subprocess.run([command, *options], capture_output=True, text=True, check=False)
    said = json.loads(done.stdout)["generalDiagnostics"]
    found = {
        (Path(each["file"]).name, each["range"]["start"]["line"] + 1) for each in said if each["severity"] == "error"
    }
    lines = files[1].read_text(encoding="utf-8").splitlines()
    assert found == {("refused.py", n) for n, line in enumerate(lines, 1) if "# E: " in line}, said


def stubbed_classes():
    """Classes of policies and of times whose constructor has types of its own for type checkers."""
    for path in sorted(Path(fs.__file__).parent.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if "if TYPE_CHECKING:\n\n        def __init__" not in text:
            continue
        module = ".".join(path.relative_to(Path(fs.__file__).parents[1]).with_suffix("").parts)
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ClassDef):
                for block in (each for each in node.body if isinstance(each, ast.If)):
                    yield pytest.param(getattr(import_module(module), node.name), block.body[0], id=node.name)


@pytest.mark.parametrize(("cls", "stub"), [*stubbed_classes()])
def test_constructors_for_type_checkers_are_those_of_run_time(cls, stub):
    """By name, order and default; what is no parameter of the stub is for the package itself."""
    real = list(inspect.signature(cls).parameters.values())
    positional = stub.args.args[1:]
    defaults = [inspect.Parameter.empty] * (len(positional) - len(stub.args.defaults)) + stub.args.defaults
    keywords = list(zip(stub.args.kwonlyargs, stub.args.kw_defaults, strict=True))
    typed = [*zip(positional, defaults, strict=True), *keywords]
    for (argument, default), parameter in zip(typed, real, strict=False):
        assert argument.arg == parameter.name
        if default in (None, inspect.Parameter.empty):
            assert parameter.default is inspect.Parameter.empty, argument.arg
        elif isinstance(default, ast.Constant) and default.value not in (..., None):
            assert parameter.default == default.value, argument.arg
        else:
            assert parameter.default is not inspect.Parameter.empty, argument.arg
    assert all(parameter.default is None for parameter in real[len(typed) :])
