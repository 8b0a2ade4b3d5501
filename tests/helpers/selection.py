"""The quick selection of plain `pytest`: every test function, but few of its cases, and of random cases fewer."""

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis.internal.detection import is_hypothesis_test

#: Cases of a function that are in the selection: the first, and one from the middle.
CASES = 2
#: Seconds of processor time of a case beyond which it is left out, unless its file would have none.
LONGEST = 1.0
#: Function -> seconds of its longest case, of those that take `LEAST` or more; ``pytest --everything
#: --record-durations`` writes them.
LEAST = 1.0
DURATIONS = Path(__file__).with_name("durations.json")


def is_plain(config: pytest.Config) -> bool:
    """Whether pytest was called without a path, a keyword or marks: the command of README.md."""
    named = config.args_source is not pytest.Config.ArgsSource.TESTPATHS
    return not (named or config.option.keyword or config.option.markexpr != "not slow and not soak")


def kind_of(config: pytest.Config) -> str:
    """``"quick"``, ``"rest"`` or ``"everything"``."""
    if config.option.rest:
        return "rest"
    return "quick" if is_plain(config) and not config.option.everything else "everything"


def select(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave in `items` those of this run."""
    kind = kind_of(config)
    if kind == "everything":
        return
    quick = quick_items(items, json.loads(DURATIONS.read_text(encoding="utf-8")))
    if kind == "quick":
        kept = [item for item in items if item.nodeid in quick]
    else:  # random cases were fewer in the quick selection, so that theirs are run again
        kept = [item for item in items if item.nodeid not in quick or is_random(item)]
    left_out = {item.nodeid for item in items} - {item.nodeid for item in kept}
    config.hook.pytest_deselected(items=[item for item in items if item.nodeid in left_out])
    items[:] = kept


class Recorder:
    """A plugin that writes `DURATIONS`: processor time, of children too, so that other programs do not count."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        item.stash[_BEGIN] = sum(os.times()[:4])

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: Any) -> Iterator[Any]:
        report = yield
        if call.when == "teardown":
            report.user_properties.append(("processor", sum(os.times()[:4]) - item.stash.get(_BEGIN, 0.0)))
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        name, found = report.nodeid.partition("[")[0], dict(report.user_properties).get("processor", 0.0)
        self.seconds[name] = max(found, self.seconds.get(name, 0.0))

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if not hasattr(session.config, "workerinput"):
            kept = {name: round(each, 1) for name, each in sorted(self.seconds.items()) if each >= LEAST}
            DURATIONS.write_text(json.dumps(kept, indent=0) + "\n", encoding="utf-8")


_BEGIN = pytest.StashKey[float]()


def is_random(item: pytest.Item) -> bool:
    """Whether Hypothesis draws its cases."""
    function = getattr(item, "function", None)
    return function is not None and is_hypothesis_test(function)


def quick_items(items: Sequence[pytest.Item], seconds: dict[str, float]) -> set[str]:
    """The names of the tests of the quick selection."""
    files: dict[str, dict[str, list[str]]] = {}
    for item in items:
        function = item.nodeid.partition("[")[0]
        files.setdefault(function.partition("::")[0], {}).setdefault(function, []).append(item.nodeid)
    chosen: set[str] = set()
    for functions in files.values():
        short = [name for name in functions if seconds.get(name, 0.0) <= LONGEST]
        for name in short or [min(functions, key=lambda each: seconds.get(each, 0.0))]:
            cases = functions[name]
            chosen.update({cases[0], cases[len(cases) // 2]} if len(cases) > CASES else cases)
    return chosen
