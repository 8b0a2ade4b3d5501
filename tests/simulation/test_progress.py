"""Progress: a bar, plain lines, a callable, or nothing."""

import io
import sys

import pytest

from faultsim.errors import OptionError
from faultsim.simulation import progress
from faultsim.simulation.progress import reporting


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_nobody_listens(monkeypatch):
    with reporting(False, "jobs") as report:
        assert report is None
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with reporting(True, "jobs") as report:
        assert report is None


def test_a_bar_on_a_terminal(monkeypatch):
    pytest.importorskip("rich")
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    with reporting(True, "jobs") as report:
        report(3, 10, 5.0)
    assert "jobs" in screen.getvalue()


def test_plain_lines_without_rich(monkeypatch):
    screen, clock = Terminal(), [100.0]
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setitem(sys.modules, "rich.progress", None)
    monkeypatch.setattr(progress.time, "monotonic", lambda: clock[0])
    with reporting(True, "jobs") as report:
        report(1, 1000, 0.0)
        assert screen.getvalue() == ""
        clock[0] += 10
        report(2, 1000, 0.0)
        clock[0] += 9
        report(3, 1000, 0.0)
        clock[0] += 1
        report(1000, 1000, 0.0)
    assert screen.getvalue() == "2 of 1,000 jobs\n1,000 of 1,000 jobs\n"


def test_a_callable_is_handed_through():
    heard = []
    with reporting(lambda *said: heard.append(said), "jobs") as report:
        report(1, 2, 3.0)
    assert heard == [(1, 2, 3.0)]


def test_anything_else_is_refused():
    with pytest.raises(OptionError, match="progress must be True, False or a callable"), reporting("bar", "jobs"):
        pass
