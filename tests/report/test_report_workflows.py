"""The report of a run of workflows."""

import pytest

import faultsim as fs
from faultsim.report import report_workflows
from helpers.html_pages import checked


@pytest.mark.parametrize("record", [True, False])
def test_it_has_metrics_makespans_the_chart_and_the_jobs(record):
    flows = [fs.Workflow([4, 4, 6], [(0, 1, 1), (1, 2, 2)], name=f"flow {i}") for i in range(2)]
    failures = fs.FailureTrace([6.0], [0], [3.0], span=60)
    result = fs.simulate_workflows(flows, fs.Resources(2), failures=failures, record=record)
    page = report_workflows(result, command="faultsim workflow")
    text = page.html()
    checked(text)
    assert page.title == "2 workflows on 2 nodes"
    assert [section.title for section in page.sections] == ["Metrics", "Over time", "Jobs"]
    metrics, makespans = page.sections[0].parts
    assert len(metrics.rows) == len(result.metrics)
    assert [row[0] for row in makespans.rows] == ["flow 0", "flow 1"]
    assert [row[3].value for row in makespans.rows] == result.makespans.tolist()
    assert ("<svg" in text) is record
    assert len(page.sections[2].parts[0].rows) == 6
    assert report_workflows(result, command="faultsim workflow").html() == text
