"""The quick selection of plain `pytest` touches every test function of every file, or the shortest of a file."""

from types import SimpleNamespace

from helpers.selection import LONGEST, is_random, quick_items


def items(**cases):
    """Tests of two files by the name of a function: how many cases it has."""
    return [
        SimpleNamespace(nodeid=f"tests/{name[0]}.py::{name}" + (f"[{case}]" if count > 1 else ""))
        for name, count in cases.items()
        for case in range(count)
    ]


def test_every_function_has_two_cases_at_most():
    chosen = quick_items(items(a_one=1, a_two=2, a_many=90, b_other=3), {})
    assert sorted(chosen) == [
        "tests/a.py::a_many[0]", "tests/a.py::a_many[45]", "tests/a.py::a_one", "tests/a.py::a_two[0]",
        "tests/a.py::a_two[1]", "tests/b.py::b_other[0]", "tests/b.py::b_other[1]",
    ]  # fmt: skip


def test_long_functions_are_left_out_where_their_file_has_others():
    seconds = {"tests/a.py::a_long": LONGEST + 1, "tests/b.py::b_long": 90.0, "tests/b.py::b_longer": 99.0}
    chosen = quick_items(items(a_long=1, a_short=1, b_long=1, b_longer=1), seconds)
    assert chosen == {"tests/a.py::a_short", "tests/b.py::b_long"}


def test_the_rest_has_random_cases_again(request):
    assert not is_random(request.node)
