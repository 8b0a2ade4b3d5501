"""Units of a page are chosen by size, and no number of it needs a power of ten without cause."""

import pytest

import faultsim as fs
from faultsim.report import report_run
from faultsim.report.metric_tables import _difference
from faultsim.report.numbers import suited, three_digits
from faultsim.results.metrics import METRICS


@pytest.mark.parametrize(
    ("per_second", "unit", "words"),
    [(9.71e-05, "jobs/day", "8.39"), (0.002, "jobs/h", "7.20"), (0.5, "jobs/min", "30.0"), (12.0, "jobs/s", "12.0")],
)
def test_throughput_has_the_unit_that_suits_it(per_second, unit, words):
    assert METRICS["throughput"].unit == "jobs/s"
    found, factor = suited("jobs/s", [per_second, float("nan")])
    assert (found, three_digits(per_second * factor)) == (unit, words)


def test_a_tiny_difference_of_shares_has_no_power_of_ten():
    minus = "\N{MINUS SIGN}"
    assert _difference(0.5, 0.5 + 2.72e-7, "fraction", 100.0).text == f"{minus}<0.01 points"
    assert _difference(0.5 + 2.72e-7, 0.5, "fraction", 100.0).text == "+<0.01 points"
    assert _difference(0.51, 0.5, "fraction", 100.0).text == "+1.00 points"


def test_a_warning_that_all_runs_have_is_written_once():
    log = fs.Workload(submit=[0, 1], runtime=[10, 5], size=[2, 2])
    runs = {name: fs.simulate(log, fs.Cluster(2), scheduler=name) for name in ("easy", "fcfs")}
    (text,) = runs["easy"].warnings
    page = report_run(runs["easy"], against={"fcfs": runs["fcfs"]})
    assert page.warnings == [text]
