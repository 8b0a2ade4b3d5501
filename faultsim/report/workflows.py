"""The report of a run of workflows: its metrics, makespans, decisions and jobs."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from faultsim.entries import entry
from faultsim.plot import plot_workflow, require_matplotlib
from faultsim.plot.given import workflow_result_of
from faultsim.report.metric_tables import explained
from faultsim.report.numbers import Amount, exact, suited, three_digits
from faultsim.report.page import Page, Part, Section, Text
from faultsim.report.run import pictures
from faultsim.report.table import Cell, Table
from faultsim.results.workflow_metrics import WORKFLOW_METRICS

if TYPE_CHECKING:
    from faultsim.results.workflow_result import WorkflowResult

#: Rows of the tables of workflows and of jobs.
MOST_SHOWN = 500


@entry
def report_workflows(result: "WorkflowResult", *, title: str = "", command: str = "") -> Page:
    """A page about a run of workflows: metrics, makespans, what ran where, and the jobs.

    The same run gives the same bytes: it contains neither dates nor timings.

    Parameters
    ----------
    result : WorkflowResult
        The run.  With ``record=True`` the page also shows which node worked on which job.
    title : str
        Heading of the page, by default workflows and machine.
    command : str
        The command that made it, if any.

    Returns
    -------
    Page
        ``page.write(path)`` writes it.

    Raises
    ------
    MissingExtraError
        If matplotlib is not installed.
    OptionError
        If `result` is not a run of workflows.

    Examples
    --------
    >>> import faultsim as fs, os, tempfile
    >>> from faultsim.report import report_workflows
    >>> chain = fs.Workflow([4, 4], [(0, 1, 1)], name="chain")
    >>> page = report_workflows(fs.simulate_workflows(chain, fs.Resources(1), record=True))
    >>> page.write(os.path.join(tempfile.mkdtemp(), "workflows.html"))
    >>> page.title
    '1 workflow on 1 node'
    """
    workflow_result_of("report_workflows", result)
    require_matplotlib()
    count, nodes = len(result), result.resources.nodes
    heading = f"{count:,} workflow{'s' * (count != 1)} on {nodes:,} node{'s' * (nodes != 1)}"
    sections = [
        Section("Metrics", [_metrics(result), _makespans(result)]),
        Section("Over time", list(_chart(result))),
        Section("Jobs", [_jobs(result)]),
    ]
    return Page(title or heading, sections, command=command, warnings=list(dict.fromkeys(result.warnings)))


def _metrics(result: "WorkflowResult") -> Table:
    rows: list[list[Cell]] = []
    for name, value in result.metrics.items():
        unit = WORKFLOW_METRICS[name].unit.removesuffix("1") if name in WORKFLOW_METRICS else ""
        shown, factor = suited(unit, [float(value)])
        words = f"{value:,}" if isinstance(value, int) else three_digits(float(value) * factor)
        rows.append([explained(name), Amount(float(value), words, exact(value)), shown])
    return Table(["metric", "value", "unit"], rows, "Metrics")


def _makespans(result: "WorkflowResult") -> Table:
    rows: list[list[Cell]] = [
        [workflow.name or str(number), workflow.n_jobs, _duration(float(arrival)), _duration(float(makespan))]
        for number, (workflow, arrival, makespan) in enumerate(
            zip(result.workflows, result.arrivals, result.makespans, strict=True)
        )
    ]
    return Table(["workflow", "jobs", "arrival", "makespan"], rows[:MOST_SHOWN], "Workflows")


def _chart(result: "WorkflowResult") -> Iterator[Part]:
    if not result.settings["record"]:
        yield Text(["Not drawn: the run was made without record=True."], note=True)
        return
    draw = pictures()
    yield draw(
        lambda: plot_workflow(result), "Which node worked on which job, over time", "Nodes over time", broad=True
    )


def _jobs(result: "WorkflowResult") -> Table:
    jobs = result.jobs
    columns: list[list[Cell]] = []
    for name in jobs:
        values = np.asarray(jobs[name])[:MOST_SHOWN].tolist()
        columns.append([str(value) if isinstance(value, bool) else value for value in values])
    n_jobs = len(np.asarray(jobs["finish"]))
    title = "All jobs" if n_jobs <= MOST_SHOWN else f"The first {MOST_SHOWN} of {n_jobs:,} jobs"
    return Table([name.replace("_", " ") for name in jobs], list(zip(*columns, strict=True)), title)


def _duration(seconds: float) -> Amount:
    unit, factor = suited("s", [seconds])
    return Amount(seconds, f"{three_digits(seconds * factor)} {unit}", exact(seconds, "s"))
