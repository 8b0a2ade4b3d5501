"""The mapping that prints as a table."""

import pytest

from faultsim.data.summary_table import SummaryTable

ROWS = {"n_dropped": ("", "records left out"), "span": ("s", "time between"), "share": ("", "a share")}


def test_it_is_a_mapping_that_prints():
    table = SummaryTable(ROWS, {"n_dropped": 3, "span": 86_400.0, "share": 0.12345}, "a trace", {"odd": 1, "old": 2})
    assert dict(table) == {"n_dropped": 3, "span": 86_400.0, "share": 0.12345}
    assert str(table).splitlines() == [
        "a trace",
        "n_dropped                        3         records left out",
        "                                 1           odd",
        "                                 2           old",
        "span                         86400 s       time between",
        "share                       0.1235         a share",
    ]
    assert repr(table).startswith("SummaryTable('a trace', {'n_dropped': 3")
    with pytest.raises(KeyError):
        table["nothing"]


@pytest.mark.parametrize(
    ("value", "text"),
    [(float("nan"), "nan"), (float("inf"), "inf"), (1.5e8, "1.5e+08"), (12_345.6, "12346"), (0.0, "0")],
)
def test_numbers(value, text):
    assert str(SummaryTable({"x": ("", "")}, {"x": value})).split()[1] == text
