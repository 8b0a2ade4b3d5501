"""Metrics of workflow runs: one table, `WORKFLOW_METRICS`, and a function of a `WorkflowResult` for each row."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from faultsim.arrays import Floats, Values


class MeasuredWorkflows(Protocol):
    """The part of a `WorkflowResult` that metrics use; it imports this module."""

    @property
    def jobs(self) -> Mapping[str, Values]: ...
    @property
    def makespan(self) -> float: ...
    @property
    def makespans(self) -> Floats: ...
    @property
    def loss_time(self) -> float: ...
    @property
    def reschedulings(self) -> int: ...
    @property
    def aoa(self) -> float: ...
    @property
    def aaa(self) -> Mapping[str, float]: ...
    def __len__(self) -> int: ...


@dataclass(frozen=True)
class WorkflowMetric:
    """One metric: its meaning, unit and source, and the function that computes it."""

    meaning: str
    unit: str
    source: str
    function: Callable[[MeasuredWorkflows], float]


_Y = "[yu2010] section"

#: Every metric by name, in the order in which tables show them.  Those of `faultsim.METRICS` with the same name mean
#: the same.
WORKFLOW_METRICS: dict[str, WorkflowMetric] = {
    "n_workflows": WorkflowMetric("number of workflows", "workflows", "", len),
    "n_jobs": WorkflowMetric("number of their jobs", "jobs", "", lambda result: len(result.jobs["finish"])),
    "makespan": WorkflowMetric("last finish - first arrival", "s", f"{_Y} 5.C", lambda result: result.makespan),
    "mean_makespan": WorkflowMetric(
        "mean over workflows of last finish - arrival",
        "s",
        f"{_Y} 5.C",
        lambda result: float(result.makespans.mean()),
    ),
    "max_makespan": WorkflowMetric("largest of these", "s", f"{_Y} 5.C", lambda result: float(result.makespans.max())),
    "loss_time": WorkflowMetric(
        "for every kill, the time on the node, with transfers", "node-s", f"{_Y} 5.C", lambda result: result.loss_time
    ),
    "reschedulings": WorkflowMetric("number of kills", "1", f"{_Y} 5.C", lambda result: result.reschedulings),
    "aoa": WorkflowMetric("hits / (hits + missed + false)", "fraction", f"{_Y} 3", lambda result: result.aoa),
    "aaa_per_pass": WorkflowMetric(
        "share of right answers, one question per pass and free node",
        "fraction",
        f"{_Y} 3",
        lambda result: result.aaa["per_pass"],
    ),
    "aaa_per_node": WorkflowMetric(
        "share of right answers to the questions that were asked",
        "fraction",
        f"{_Y} 3",
        lambda result: result.aaa["per_node"],
    ),
}


def workflow_metrics(result: MeasuredWorkflows) -> dict[str, float]:
    """All of them, of one result; NaN where there is nothing to count.

    Examples
    --------
    >>> import faultsim as fs
    >>> workflow_metrics(fs.simulate_workflows(fs.Workflow([4, 2]), fs.Resources(1)))["makespan"]
    6.0
    """
    return {name: row.function(result) for name, row in WORKFLOW_METRICS.items()}
