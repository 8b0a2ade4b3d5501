"""The types of words: the same as the registry's at run time, and what mypy makes of them."""

import re
import runpy
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest

import faultsim as fs
from faultsim.errors import OptionError
from faultsim.policies import Key, parse_policy
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
    return found | set(Key.presets if kind == "order" else [])


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
