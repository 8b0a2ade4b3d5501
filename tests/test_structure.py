"""What `benchmarks/structure.py` reads out of a checkout, on sources small enough to count by hand."""

import re
from pathlib import Path

import pytest

from helpers.scripts import script


@pytest.fixture(scope="module")
def structure():
    return script("structure")


@pytest.fixture
def checkout(structure, tmp_path):
    """A circle of two compiled modules, and modules that name Daly in code, in words and as an example."""
    files = {
        "faultsim/__init__.py": "from faultsim.rules import Daly\n",
        "faultsim/rules.py": '"""Rules."""\nfrom . import lower  # Young\n\n\nclass Daly:\n    pass\n',
        "faultsim/lower.py": "def lower():\n    from faultsim._core.life import daly\n    return daly\n",
        "faultsim/said.py": 'def said():\n    """As Daly does."""  # Daly\n    return "#"\n',
        "faultsim/_core/life.pyx": '"""Of Daly."""\nfrom faultsim._core.sim cimport (\n    sim_t, job_t,\n)\n',
        "faultsim/_core/life.pxd": "cdef struct life_t:\n    double daly_mtbf\n\n    # words\n    int n\n\nint x\n",
        "faultsim/_core/sim.pxd": "from .life cimport life_t\ncdef extern from *:\n  ctypedef struct s_t:\n    int a\n",
        "faultsim/reproduce/use.py": "from faultsim.rules import Daly\n",
        "tests/test_rules.py": "from faultsim import Daly\n",
        "docs/guides/failures.md": "Use `Daly`.\n",
        "docs/background/model.md": "`Daly` is the rule.\n",
        "docs/reproductions/yu2010.md": "Daly\n",
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return structure.Checkout.read(tmp_path)


def test_files_that_name_a_part(structure, checkout):
    (rule,) = [kind for kind in structure.KINDS if kind.name.startswith("checkpoint rule")]
    assert structure.files_for(rule, checkout) == {
        "own": [],
        "code": ["faultsim/__init__.py", "faultsim/_core/life.pxd", "faultsim/lower.py", "faultsim/rules.py"],
        "words": ["faultsim/_core/life.pyx", "faultsim/said.py"],
        "uses": ["docs/guides/failures.md", "faultsim/reproduce/use.py"],
        "tests": ["tests/test_rules.py"],
        "docs": ["docs/background/model.md"],
    }


def test_cycles_go_through_import_and_cimport(structure, checkout):
    graph = structure.import_graph(checkout)
    assert graph["faultsim.rules"] == {"faultsim.lower"}
    assert graph["faultsim.lower"] == {"faultsim._core.life"}
    assert structure.cycles(graph) == [["faultsim._core.life", "faultsim._core.sim"]]
    graph["faultsim._core.sim"].add("faultsim.rules")
    assert structure.cycles(graph) == [
        ["faultsim._core.life", "faultsim._core.sim", "faultsim.lower", "faultsim.rules"]
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("from a.b cimport c, d as e  # f", {("a.b", "c"), ("a.b", "d")}),
        ("from a cimport (\n    b,\n    c,\n)", {("a", "b"), ("a", "c")}),
        ("    from . cimport b", {("faultsim._core", "b")}),
        ("cimport a.b as c\nimport d, e", {("a.b", ""), ("d", ""), ("e", "")}),
        ('cdef extern from "a.h":\n    int b', set()),
    ],
)
def test_cython_imports(structure, text, expected):
    assert structure.cython_imports(Path("faultsim/_core/x.pyx"), text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("from . import simulate", {("faultsim", "simulate")}),
        ("from .errors import InputError", {("faultsim.errors", "InputError")}),
        ("def f():\n    from faultsim import errors", {("faultsim", "errors")}),
        ("import faultsim.cli as c", {("faultsim.cli", "")}),
        ("import importlib\nimportlib.import_module('faultsim.plot')", {("importlib", ""), ("faultsim.plot", "")}),
        ("checks.extra('faultsim.plot', 'plot', 'this')", {("faultsim.plot", "")}),
    ],
)
def test_python_imports(structure, text, expected):
    assert structure.python_imports(Path("faultsim/x.py"), text) == expected


def test_files_of_conservative_backfilling_alone(structure, tmp_path):
    """What another policy, or a module outside the folder, uses as well does not count."""
    files = {
        "conservative.pyx": 'from .shared cimport a\nfrom .gaps cimport b\ninclude "plan.pxi"\nX = factory(o)\n',
        "easy.pyx": "from faultsim._core.scheduling.shared cimport a\nEASY = factory(open_easy)\n",
        "shared.pyx": "",
        "gaps.pyx": "from .deeper cimport c\n",
        "gaps.pxd": "",
        "deeper.pyx": "",
        "seen.pxd": "",
        "plan.pxi": "from .seen cimport d\nfrom .spare cimport e\n",
        "spare.pxd": "",
        "../snapshot.pyx": "from faultsim._core.scheduling.seen cimport d\n",
        "unused.pxd": "",
    }
    folder = tmp_path / "faultsim" / "_core" / "scheduling"
    folder.mkdir(parents=True)
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    found = structure.conservative_only(structure.Checkout.read(tmp_path))
    assert [path.name for path in found] == [
        "conservative.pyx",
        "deeper.pyx",
        "gaps.pxd",
        "gaps.pyx",
        "plan.pxi",
        "spare.pxd",
    ]


def test_declarations_and_hops_of_scheduling(structure, tmp_path):
    folder = tmp_path / "faultsim" / "_core" / "scheduling"
    folder.mkdir(parents=True)
    (folder / "refusals.pxi").write_text("cdef struct refusals_t:  # struct hope_t\n    int n\n", encoding="utf-8")
    (folder / "timeline.pxi").write_text("cdef int open_timeline(void *o) except -1:\n    pass\n", encoding="utf-8")
    page = tmp_path / "docs" / "background" / "architecture.md"
    page.parent.mkdir(parents=True)
    page.write_text(
        "| `Fcfs`, counts | `easy_counted`: `schedule`, `start` | `if a:` |\n"
        "| `EasyBackfill`, masks | `easy_placed`: `schedule`, `scan`, `try_start` | `if b | c:` |\n",
        encoding="utf-8",
    )
    counts = structure.scheduling_counts(structure.Checkout.read(tmp_path))
    assert counts["lines of `_core/scheduling`"] == 4
    assert counts["memories of refusals"] == counts["forms of free capacity over time"] == 1
    assert counts["hops from `schedule` to the line that decides"] == 2
    assert counts["schedulers with most hops"] == "EasyBackfill on masks"


def test_the_timeline_and_the_memory_of_this_checkout_are_found(structure):
    """What is renamed in the core must be renamed in the lists, too."""
    core = [path for path in (structure.HERE / "faultsim" / "_core").rglob("*") if path.suffix in structure.CODE]
    texts = {path.relative_to(structure.HERE): path.read_text(encoding="utf-8") for path in core}
    here = structure.scheduling_counts(structure.Checkout(texts, texts))
    assert here["these forms"].startswith("timeline_t, ")
    assert here["these memories"].startswith("refusal_t, ")


def test_rows_of_the_budget_are_printed_with_their_limits(structure, checkout):
    counted = structure.counts(checkout)
    assert set(structure.BUDGET) <= set(counted)
    parts = {kind.name: dict.fromkeys(("package", *structure.PLACES), 0) for kind in structure.KINDS}
    _, printed = structure.show([{"parts": parts, "counts": counted}], ["here"]).split("\n\n")
    rows = {name: cells for name, *cells in re.findall(r"^\| (.+?) +\| (.*?) *\| (.*?) *\|$", printed, re.M)}
    assert rows["lines of `_core/scheduling`"] == ["0", "4200"]
    assert rows["lines of the tests"] == ["1", ""]


def test_structs(structure, checkout):
    assert structure.structs(checkout.text[Path("faultsim/_core/life.pxd")]) == [("life_t", 4)]
    assert structure.structs(checkout.text[Path("faultsim/_core/sim.pxd")]) == [("s_t", 2)]


def test_words_are_no_code(structure):
    text = 'x = "a # b"  # c\n\n\ndef f():\n    """d"""\n    return """e"""\n'
    assert structure.without_docstrings(text).split() == ["x", "=", '"a', "#", 'b"', "def", "f():", "return", '"""e"""']
    cython = '"""a\nb"""\ncdef int c   # d\nx = "#e"'
    assert structure.without_words(Path("x.pyx"), cython).split() == ["cdef", "int", "c", "x", "=", '"#e"']


def test_names_with_more_than_one_meaning(structure, tmp_path):
    files = {
        "faultsim/__init__.py": "",
        # two structs and two functions of one name; a contract that two files implement; a local variable
        "faultsim/_core/a.pyx": "cdef struct rule_t:\n    int x\ncdef int open_it() nogil:\n    cdef int other\n"
        "cdef void put(void *state) noexcept nogil:\n    pass\ntable.mark, table.put = mark, put\n",
        "faultsim/_core/b.pyx": "cdef struct rule_t:\n    int y\ncdef int put(void *state) noexcept nogil:\n    pass\n"
        "table.put = put\ncdef rule_t *open_it() except NULL:  # again\n    pass\n",
        "faultsim/_core/b.pxd": "cdef struct rule_t:\n    int y\n",
        "faultsim/_core/tables/t.pxd": "cdef struct t_t:\n    void (*put)(void *state) noexcept nogil\n"
        "    void (*lift)(void *state) noexcept nogil\n",
        "faultsim/_core/c.pyx": "cdef void lift() noexcept nogil:\n    pass\ncdef enum:\n    FEW = 3\n",
        "faultsim/_core/d.pxd": "cdef enum:\n    FEW = 4      # nodes\n",
        # one source, compiled once per capacity
        "faultsim/_core/scheduling/easy.pxi": "cdef void go() noexcept nogil:\n    take_step()\n",
        "faultsim/_core/scheduling/counts.pxi": "cdef void take_step() noexcept nogil:\n    pass\n",
        "faultsim/_core/scheduling/masks.pxi": "cdef void take_step() noexcept nogil:\n    pass\n",
        "faultsim/_core/scheduling/easy_counted.pyx": 'include "counts.pxi"\ninclude "easy.pxi"\n'
        "cdef struct easy_t:\n    int n\n",
        "faultsim/_core/scheduling/easy_placed.pyx": 'include "masks.pxi"\ninclude "easy.pxi"\n'
        "cdef struct easy_t:\n    int n\n",
        # functions for two sources: `may_go` is described in the same words and has one type, `went` in others, and
        # `has_room` has another type
        "faultsim/_core/scheduling/slow.pxi": "# slow_t    the state\n# may_go    whether the job at a position\n"
        "#           starts\n# went      its time\n# has_room  whether there is room\n\n"
        "cdef void crawl() nogil:\n    pass\n",
        "faultsim/_core/scheduling/fast.pxi": "# may_go\n#           whether the job at a position starts\n"
        "# went      its size\n# has_room  whether there is room\n\ncdef void run() nogil:\n    pass\n",
        "faultsim/_core/scheduling/slow.pyx": 'include "slow.pxi"\n'
        "cdef int may_go(slow_t *p, int32_t at) nogil:\n    pass\ncdef int went(slow_t *p) nogil:\n    pass\n"
        "cdef int has_room(slow_t *p, int32_t at) nogil:\n    pass\n",
        "faultsim/_core/scheduling/fast.pyx": 'include "fast.pxi"\n'
        "cdef inline int may_go(const fast_t *p, int32_t at) nogil:\n    pass\n"
        "cdef int went(fast_t *p) nogil:\n    pass\ncdef int has_room(fast_t *p, double t) nogil:\n    pass\n",
        "faultsim/_core/scheduling/lone_counted.pyx": "cdef struct lone_t:\n    int n\n",
        "faultsim/_core/scheduling/lone_placed.pyx": "cdef struct lone_t:\n    int n\n",
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    names = structure.shared_names(structure.Checkout.read(tmp_path))
    assert {name: len(units) for name, units in names.items()} == {
        "FEW": 2,
        "has_room": 2,
        "lift": 2,
        "lone_t": 2,
        "open_it": 2,
        "rule_t": 2,
        "went": 2,
    }


def test_names_of_the_core_have_one_meaning(structure):
    assert structure.shared_names(structure.Checkout.read(structure.HERE)) == {}


def test_the_map_of_the_core_is_complete(structure):
    """README.md of the core names each folder and module at its root, and nothing that does not exist."""
    core = structure.HERE / "faultsim" / "_core"
    named = set(re.findall(r"`(\w+)`", (core / "README.md").read_text(encoding="utf-8")))
    there = {
        path.stem for path in core.iterdir() if path.suffix in (".pyx", ".pxd") or (path / "__init__.pxd").exists()
    }
    assert there - {"__init__"} <= named
    rows = re.findall(r"^  \| ((?:`\w+`(?:, )?)+) \|", (core / "README.md").read_text(encoding="utf-8"), re.M)
    assert {name for row in rows for name in re.findall(r"\w+", row)} <= there


def test_tests_for_machines_are_those_of_every_class_of_machine(structure, checkout, tmp_path):
    told = "faultsim/told.py"
    (tmp_path / "faultsim/machines").mkdir()
    (tmp_path / "faultsim/machines/hall.py").write_text("class Hall(Machine):\n    is_hall = isinstance(1, Hall)\n")
    (tmp_path / told).write_text("a = isinstance(machine, (int, Hall)) or isinstance(machine, Machine)\n")
    row = "tests for a class of machine outside machines/"
    assert structure.counts(checkout)[row] == 0
    assert structure.counts(structure.Checkout.read(tmp_path))[row] == 1
