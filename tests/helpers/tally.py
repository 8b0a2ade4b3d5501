"""How much a run of the tests did: a plugin of pytest that `conftest` registers."""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from helpers.counts import record

#: What the whole suite was started with -> the kind, what it is, and the command.
SUITES = {
    "not slow and not soak": ("quick-tests", "The quick suite, on every change.", "pytest --everything"),
    "slow": ("slow-tests", "The slow suite: theory, whole logs, longer runs of the quick tests.", "pytest -m slow"),
}


def random_cases(statistics: str) -> int:
    """Of Hypothesis: how many it tried, by the words with which it describes a test.

    >>> random_cases("- during generate phase: - 60 passing, 0 failing, 3 invalid test cases")
    60
    """
    return sum(map(int, re.findall(r"(\d+) passing", statistics)))


class Tally:
    """Counts as tests report, in the process that hears of all of them."""

    def __init__(self) -> None:
        self.count: Counter[str] = Counter()
        self.functions: set[str] = set()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: Any) -> Iterator[Any]:
        report = yield
        if call.when == "call":
            report.user_properties.append(("random cases", random_cases(getattr(item, "hypothesis_statistics", ""))))
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" or report.skipped:
            self.count[report.outcome] += 1
        if report.when == "call" and report.passed:
            self.functions.add(report.nodeid.partition("[")[0])
            self.count["parametrised"] += "[" in report.nodeid
            self.count["random"] += dict(report.user_properties).get("random cases", 0)

    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        config = session.config
        whole = config.args_source is pytest.Config.ArgsSource.TESTPATHS and not config.option.keyword
        # Without --everything it was a selection; suites without the option have no selection.
        whole = whole and getattr(config.option, "everything", True)
        if whole and not exitstatus and not hasattr(config, "workerinput") and config.option.markexpr in SUITES:
            kind, what, command = SUITES[config.option.markexpr]
            record(kind, "tests", what, self.numbers(), command)

    def numbers(self) -> dict[str, int]:
        """As the page says them."""
        return {
            "tests passed": self.count["passed"], "skipped here": self.count["skipped"],
            "test functions": len(self.functions), "cases of parametrised tests": self.count["parametrised"],
            "random cases drawn by Hypothesis": self.count["random"],
        }  # fmt: skip
