"""The worked example of the architecture page: from the result to the line that decides, in at most four hops."""

import inspect
import re
import sys
from itertools import pairwise
from pathlib import Path

import faultsim as fs
from faultsim.explain import rules
from faultsim.policies.registry import POLICIES

PAGE = (Path(fs.__file__).parents[1] / "docs" / "background" / "architecture.md").read_text(encoding="utf-8")
SECTION = PAGE.partition("## Why did job 17 not start at 12:00?")[2].partition("\n## ")[0]
#: The line that decides, as the page quotes it.
LINE = "return None if ends <= T or job.needs <= extra else delays(moment, job, T, ends, extra)"


def example() -> fs.Result:
    """The result of the page."""
    names: dict[str, object] = {}
    code = re.search(r"```python\n(.*?)```", SECTION, re.DOTALL)[1]
    exec(code.rpartition("print(")[0], names)
    return names["result"]


def test_the_page_quotes_the_line_that_decides():
    assert LINE in " ".join(SECTION.split())
    assert inspect.getsource(rules.easy).rstrip().endswith(LINE)
    assert rules._RULES["easy"] is rules.easy


def test_at_most_four_hops_lead_to_the_line():
    """A hop leads from one module to another, or from one function of the rules to the next."""
    chains = []

    def watch(frame, event, _):
        if event == "return" and frame.f_code is rules.easy.__code__:
            chain = []
            while frame is not None and frame.f_code is not test_at_most_four_hops_lead_to_the_line.__code__:
                chain.append((Path(frame.f_code.co_filename).name, frame.f_code.co_name))
                frame = frame.f_back
            chains.append(chain[::-1])

    result = example()
    sys.setprofile(watch)
    try:
        why = result.why(2)
    finally:
        sys.setprofile(None)
    assert why[0].reason.cause == fs.Cause.WOULD_DELAY
    chain = chains[0]
    assert chain[0] == ("result.py", "why")
    assert chain[-1] == ("rules.py", "easy")
    hops = [step for before, step in pairwise(chain) if step[0] != before[0] or step[0] == "rules.py"]
    assert hops == [("why.py", "explain_result"), ("rules.py", "reason"), ("rules.py", "easy")]


def test_the_functions_of_the_hops_are_on_the_page():
    for name in (
        "Result.why",
        "explain_result",
        "simulation/why.py",
        "explain/rules.py",
        "_RULES",
        "policies/registry.py",
    ):
        assert f"`{name}`" in SECTION


def test_every_scheduler_of_the_package_has_a_rule():
    own = {row.name for row in POLICIES if row.kind == "scheduler"}
    assert own == set(rules._RULES)
