"""The worked example of the architecture page: from the result to the line that decides, in at most four hops."""

import inspect
import re
import sys
from itertools import pairwise
from pathlib import Path

import pytest

import faultsim as fs
from faultsim.explain import rules
from faultsim.policies.registry import POLICIES
from helpers.scripts import script

PACKAGE = Path(fs.__file__).parent
PAGE = (PACKAGE.parent / "docs" / "background" / "architecture.md").read_text(encoding="utf-8")
SECTION = PAGE.partition("## Why did job 17 not start at 12:00?")[2].partition("\n## ")[0]
#: The hops of the page: function, file, and the line that is quoted at the end, if any.
HOPS = [
    (function, file, (re.findall(r":\s+`([^`]+)`\.$", text) or [""])[0])
    for function, file, text in re.findall(
        r"^\d\. `(\w+)` in `([\w/.]+)` ((?:.|\n(?!\d\.|\n))*)", SECTION, re.MULTILINE
    )
]
DECIDING = script("structure").deciding_calls(PAGE)


def example() -> fs.Result:
    """The result of the page."""
    names: dict[str, object] = {}
    code = re.search(r"```python\n(.*?)```", SECTION, re.DOTALL)[1]
    exec(code.rpartition("first =")[0], names)
    return names["result"]


def text_of(module: str) -> str:
    """A compiled module, the files that it includes, and the modules and headers that it imports from."""
    folder = PACKAGE / "_core" / "scheduling"
    text = (folder / f"{module}.pyx").read_text(encoding="utf-8")
    others = [folder / name for name in re.findall(r'^include "(.+)"', text, re.MULTILINE)]
    for name in re.findall(r"^from (\S+) cimport", text, re.MULTILINE):
        path = PACKAGE.parent / name.replace(".", "/")
        others += [path.with_suffix(".pxd"), path.with_suffix(".pyx")]
    return "\n".join((text, *(path.read_text(encoding="utf-8") for path in others if path.exists())))


def body(function: str, text: str) -> str:
    """The first function of this name, not its declaration: from its head to the next line at the margin."""
    lines = rf"^cdef [^\n(]*\b{function}\([^\n]*\n(?:[ \t)][^\n]*\n|\n)*"
    found = [match[0] for match in re.finditer(lines, text, re.MULTILINE) if ":\n" in match[0]]
    assert found, f"no function {function}"
    return " ".join(found[0].split())


def test_at_most_four_hops_lead_to_the_line():
    """A hop leads from one module to another, or from one function of the rules to the next."""
    chains = []

    def watch(frame, event, _):
        if event == "return" and frame.f_code is rules.easy.__code__:
            chain = []
            while frame is not None and frame.f_code is not test_at_most_four_hops_lead_to_the_line.__code__:
                if not frame.f_code.co_filename.endswith("entries.py"):  # it only passes calls on
                    chain.append((Path(frame.f_code.co_filename).name, frame.f_code.co_name))
                frame = frame.f_back
            chains.append(chain[::-1])

    result = example()
    sys.setprofile(watch)
    try:
        why = result.why(17)
    finally:
        sys.setprofile(None)
    assert why[0].reason.cause == fs.Cause.WOULD_DELAY
    chain = chains[0]
    assert chain[0] == ("result.py", "why")
    assert chain[-1] == ("rules.py", "easy")
    taken = [step for before, step in pairwise(chain) if step[0] != before[0] or step[0] == "rules.py"]
    assert taken == [(Path(file).name, function) for function, file, _ in HOPS[:-1]]
    assert len(HOPS) <= 4


def test_the_page_quotes_the_lines_that_decide():
    (rule, _, line), (function, module, core_line) = HOPS[-2:]
    assert line
    assert core_line
    assert rules._RULES["easy"] is getattr(rules, rule)
    assert inspect.getsource(rules.easy).rstrip().endswith(line)
    (row,) = (row for row in POLICIES if row.name == "easy")
    assert f"_core/{row.compiled['cluster'].partition(':')[0].replace('.', '/')}.pyx" == module
    assert core_line in body(function, text_of(Path(module).stem))


def test_every_scheduler_has_a_row_for_each_capacity():
    listed = {(name, module) for name, _, module, _, _ in DECIDING}
    compiled = {
        (row.cls.__name__, path.partition(":")[0].rpartition(".")[2])
        for row in POLICIES
        if row.kind == "scheduler"
        for path in (row.compiled.values() if isinstance(row.compiled, dict) else [row.compiled])
        if path
    }
    assert listed == compiled


@pytest.mark.parametrize("row", DECIDING, ids=lambda row: f"{row[0]} {row[1]}")
def test_calls_lead_to_the_line(row):
    _, _, module, calls, line = row
    text = text_of(module)
    for caller, callee in pairwise(calls):
        assert re.search(rf"\b{callee}\(", body(caller, text)), f"{caller} does not call {callee}"
    assert line in body(calls[-1], text)


def test_every_scheduler_of_the_package_has_a_rule():
    own = {row.name for row in POLICIES if row.kind == "scheduler"}
    assert own == set(rules._RULES)
