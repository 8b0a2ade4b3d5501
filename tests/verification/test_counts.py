"""The page "How faultsim is tested" says what the runs wrote, and the runs write what the page can show."""

import json

import count
import pytest

from helpers import counts

GOOD = ("kills", "trouble", "A sweep is killed.", {"kills": 200, "left": 0}, "pytest -m soak")


def test_the_page_and_the_files_agree():
    page = count.PAGE.read_text(encoding="utf-8")
    assert count.with_tables(page, counts.kept_in()) == page, "run python tests/verification/count.py"
    found = counts.kept_in()
    assert found
    for kept in found:
        counts.check(kept)
        assert count.row(kept) in page
    assert {path.stem for path in counts.FOLDER.iterdir()} == {kept["kind"] for kept in found}


def test_commands_name_files_that_there_are():
    root = count.ROOT
    for kept in counts.kept_in():
        for word in kept["command"].split():
            if "/" in word and not word.startswith("-"):
                assert (root / word.split("::")[0]).exists(), kept["command"]


def test_a_run_that_nobody_asked_writes_nothing(monkeypatch):
    monkeypatch.delenv("FAULTSIM_COUNTS", raising=False)
    assert counts.record(*GOOD) is None
    monkeypatch.setenv("FAULTSIM_COUNTS", "0")
    assert counts.record(*GOOD) is None


def test_what_a_run_keeps_is_what_the_page_says(monkeypatch, tmp_path):
    monkeypatch.setenv("FAULTSIM_COUNTS", str(tmp_path / "kept"))
    path = counts.record(*GOOD)
    assert json.loads(path.read_text())["numbers"] == {"kills": 200, "left": 0}
    counts.record("answers-first", "answers", "Sums are right.", {"error": 1.25e-12, "runs": 81_600}, "python a.py")
    found = counts.kept_in(path.parent)
    assert [kept["kind"] for kept in found] == ["answers-first", "kills"]
    text = count.with_tables(f"before\n{count.BEGIN}old\n{count.END}after\n", found)
    assert "old" not in text
    assert "| Sums are right. | 1.25e-12 error<br>81,600 runs | `python a.py` | 2" in text
    assert "| A sweep is killed. | 200 kills<br>0 left | `pytest -m soak` | 2" in text
    assert text.startswith("before\n")
    assert text.endswith("after\n")


@pytest.mark.parametrize(
    ("at", "value"), [(0, "Kills"), (1, "other"), (2, "no sentence"), (3, {}), (3, {"a": "b"}), (4, "a | b")]
)
def test_what_the_page_could_not_show_is_refused(monkeypatch, tmp_path, at, value):
    monkeypatch.setenv("FAULTSIM_COUNTS", str(tmp_path))
    given = list(GOOD)
    given[at] = value
    with pytest.raises(AssertionError):
        counts.record(*given)
    assert not list(tmp_path.iterdir())
