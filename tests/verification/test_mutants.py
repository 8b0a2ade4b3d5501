"""The script that changes the program: what it changes, which tests it runs then, and how it counts."""

import json
from contextlib import contextmanager

import mutants
import pytest
from mutant_runs import modules_of
from mutants import (
    EQUIVALENT,
    ROOT,
    TESTS,
    Log,
    Mutant,
    code_lines,
    concerning,
    equivalent,
    function_of,
    is_equivalent,
    mutants_of,
    only_words,
    verdict,
)  # fmt: skip

PLACE = "faultsim/_core/state.pyx"
AXIS_SETS = "faultsim/_core/torus/axis_sets.pyx"


def test_changes_of_a_line(tmp_path, monkeypatch):
    monkeypatch.setattr(mutants, "ROOT", tmp_path)
    file = tmp_path / "some.py"
    file.write_text('"""Words: a < b."""\n\n# a < b\nif a < b and not c:\n    total += 1\n    said("x")\n')
    assert code_lines(file.read_text()) == [3, 4, 5]
    assert {(mutant.line, mutant.after.strip()) for mutant in mutants_of(file)} == {
        (3, "if a <= b and not c:"), (3, "if a > b and not c:"), (3, "if a < b or not c:"), (3, "if a < b and c:"),
        (4, "total -= 1"), (4, "total += 0"), (4, "pass"), (5, "pass"),
    }  # fmt: skip


def test_words_are_no_code():
    for before, after, same in (
        ('say("a or b")', 'say("a and b")', True),
        ("zip(a, b, strict=True)", "zip(a, b, strict=False)", True),
        ('say("a") or 1', 'say("a") and 1', False),
        ('say(f"{a or b}")', 'say(f"{a and b}")', False),
        ('say(f"{a} or {b}")', 'say(f"{a} and {b}")', True),
    ):
        assert only_words(Mutant(PLACE, 0, before, after)) == same


def test_tests_that_concern_a_file_are_there():
    assert all((ROOT / name).exists() for names in TESTS.values() for name in names)
    for file in (
        *ROOT.glob("faultsim/_core/**/*.pyx"),
        *ROOT.glob("faultsim/_core/**/*.pxi"),
        *ROOT.glob("faultsim/sweep/*.py"),
    ):
        found = concerning(file.relative_to(ROOT).as_posix())
        assert found
        assert all((ROOT / name).is_file() for name in found)
    assert concerning("faultsim/_core/torus/row_slices.pyx")[0] == "tests/core/test_row_slices.py"


def test_a_file_that_is_included_is_in_all_modules_that_include_it():
    folder = "faultsim/_core/scheduling"
    assert modules_of(f"{folder}/conservative.pxi") == [
        f"{folder}/conservative_counted.pyx", f"{folder}/conservative_placed.pyx",
        f"{folder}/conservative_shared.pyx",
    ]  # fmt: skip
    assert modules_of(f"{folder}/shadow.pyx") == [f"{folder}/shadow.pyx"]
    assert modules_of("faultsim/study.py") == []
    for file in ROOT.glob("faultsim/_core/**/*.pxi"):
        assert modules_of(file.relative_to(ROOT).as_posix()), file


@pytest.mark.skipif(not equivalent(), reason="none is listed")
def test_what_is_listed_as_equivalent_is_a_mutant_with_a_reason():
    for (path, before, after, function), why in equivalent().items():
        found = mutants_of(ROOT / path)
        found = [each for each in found if (each.before.strip(), each.after.strip()) == (before, after)]
        found = [each for each in found if function in ("", function_of(path, each.line))]
        assert found, f"{EQUIVALENT.name}: {path}: {before}"
        assert all(map(is_equivalent, found))
        assert len(why) > 20


def test_a_change_may_mean_the_same_in_one_function_alone():
    lines = [each for each in mutants_of(ROOT / AXIS_SETS) if each.after.strip() == "if length < 0:"]
    said = {function_of(AXIS_SETS, each.line): is_equivalent(each) for each in lines}
    assert said == {"_apart_word": False, "_apart_words": True}


def test_what_counts(tmp_path, monkeypatch):
    file = tmp_path / "verdicts.jsonl"
    one, two, three, four = (Mutant(PLACE, line, "a < b", "a <= b") for line in range(4))
    monkeypatch.setattr(mutants, "digest_of_tests", lambda: "before")
    log = Log(file, "tree", 0, "", True)
    for mutant, said in ((one, "killed"), (two, "survived"), (three, "same code"), (four, "not built")):
        log.add(mutant, (said, ""), 1.0)
    assert log.survivors() == log.to_do_again() == [two]
    assert list(log.numbers().values()) == [2, 1, 0, 1, 1, 1]
    monkeypatch.setattr(mutants, "digest_of_tests", lambda: "after")
    log = Log(file, "tree", 0, "", False)
    log.add(two, ("killed", "tests/test_new.py::test"), 1.0)
    assert list(Log(file, "tree", 0, "", False).numbers().values()) == [2, 2, 0, 0, 1, 1]
    assert log.survivors() == []
    assert len(file.read_text().splitlines()) == 6
    with pytest.raises(SystemExit, match="name another folder"):
        Log(file, "another", 0, "", False)
    assert json.loads(file.read_text().splitlines()[0])["commit"] == "tree"


class Noticing:
    """A checkout whose tests notice a change at some thresholds alone."""

    def __init__(self, at):
        self.thresholds, self.at, self.asked = "least", at, []

    @contextmanager
    def changed(self, path, line, after):
        yield

    def builds(self, module, flags):
        return True

    def means_the_same(self, path, module):
        return False

    def script(self, command, cpu):
        return ""

    def tests(self, names, thresholds=""):
        self.asked.append(thresholds or self.thresholds)
        return "tests/test_some.py::test" if self.asked[-1] == self.at else ""

    def passes(self, names, thresholds):
        return (thresholds or self.thresholds) == self.at


@pytest.mark.parametrize(
    ("at", "said", "asked"),
    [
        ("least", "killed", ["least"]),
        ("default", "killed", ["least", "default"]),
        ("never", "survived", ["least", "default"]),
    ],
)
def test_what_survives_at_other_thresholds_meets_the_default_ones(at, said, asked):
    checkout = Noticing(at)
    found, _ = verdict(checkout, Mutant(PLACE, 0, "a < b", "a <= b"), None, again=False, sanitize=False)
    assert (found, checkout.asked) == (said, asked)
