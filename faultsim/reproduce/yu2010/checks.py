"""The checks of [yu2010] that need no data: the worked example (Figures 4 to 8), and what accuracy is (Figure 1)."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from faultsim.data.failures import FailureTrace
from faultsim.data.workflow import Workflow
from faultsim.machines.resources import Resources
from faultsim.policies import Flaw, PredictionTrace, RankHybd
from faultsim.results.workflow_log import log_rows
from faultsim.results.workflow_result import WorkflowResult
from faultsim.simulation.workflow_run import WorkflowOptions
from faultsim.simulation.workflows import simulate_workflows

# Figure 4 is a drawing without readable costs; these are the only kind with which both printed traces come out (section
# 2 of the model of workflows).
_COST = [[30, 40, 50], [30, 25, 40], [35, 30, 20], [45, 35, 40], [30, 45, 45]]
_EDGES = [(0, 1, 10), (0, 2, 10), (0, 3, 10), (1, 4, 10), (2, 4, 10), (3, 4, 20)]
_LABELS = ("T0", "T1", "T2", "T3", "T4")
#: Scheduler -> the decisions of Figures 7 and 8: time, job, node.
DECISIONS = {
    "RANK_HYBD": [
        (0, 0, 0), (15, 0, 1), (55, 3, 1), (55, 1, 0), (55, 2, 2), (65, 3, 1), (65, 1, 0), (65, 2, 2), (105, 4, 0),
    ],
    "FLAW": [(0, 0, 1), (40, 3, 1), (40, 1, 0), (40, 2, 2), (65, 3, 1), (100, 4, 0)],
}  # fmt: skip


class Example(NamedTuple):
    """A run of the worked example."""

    name: str
    result: WorkflowResult

    @property
    def decisions(self) -> list[tuple[int, int, int]]:
        """Time, job, node of each."""
        table = self.result.decisions
        return list(zip(table["time"].astype(int).tolist(), table["job"].tolist(), table["node"].tolist(), strict=True))

    @property
    def totals(self) -> tuple[float, float, int]:
        """Makespan, loss time, reschedulings."""
        return self.result.makespan, self.result.loss_time, self.result.reschedulings


def _predictions(time: Sequence[float], node: Sequence[int]) -> PredictionTrace:
    return PredictionTrace(np.array(time, dtype=float), np.array(node, dtype=np.int32))


def example() -> dict[str, Example]:
    """The worked example, by both schedulers."""
    workflow = Workflow(_COST, _EDGES, "DAG A", labels=_LABELS)
    failures = FailureTrace([5, 15, 60], [2, 0, 1], 5, span=200)
    foreseen = _predictions([18, 8, 90], [0, 2, 2])
    runs: dict[str, WorkflowOptions] = {
        "RANK_HYBD": {"scheduler": RankHybd(), "failures": failures, "record": True},
        "FLAW": {"scheduler": Flaw(), "predictor": foreseen, "failures": failures, "record": True},
    }
    nodes = Resources(len(_COST[0]))
    return {name: Example(name, simulate_workflows(workflow, nodes, **options)) for name, options in runs.items()}


#: The columns of Figures 7 and 8, but for that of the predictions.
LOG = ("time", "event", "job pool, by priority", "resource pool", "decisions")


def steps(run: Example) -> list[list[str]]:
    """The decision log as in Figures 7 and 8, a row of `LOG` an instant."""
    result = run.result
    return [
        [
            f"{row.time:g}",
            ", ".join(row.events),
            " ".join(row.pool),
            " ".join(row.free),
            " ".join(f"({job}, {node})" for job, node in row.decisions),
        ]
        for row in log_rows(result.events, result.workflows, result.resources, result.failures, result.settings)
    ]


def conventional(
    failures: Sequence[tuple[float, float]], predictions: Sequence[float], period: float
) -> tuple[float, float]:
    """Precision and recall as the literature counts them (Figure 1).

    A prediction is right if a failure's down time, given from and to, meets the `period` after it; a failure is seen if
    some right prediction is about it.

    Examples
    --------
    >>> conventional([(30, 35)], [20], 10)
    (1.0, 1.0)
    """
    meets = [[p <= end and begin <= p + period for begin, end in failures] for p in predictions]
    right = sum(any(row) for row in meets)
    seen = sum(any(column) for column in zip(*meets, strict=True))
    return right / len(predictions), seen / len(failures)


def _figure_1() -> dict[str, object]:
    """Two failures of a node, two predictions: P1 comes before the first failure, P2 lies in the second's down time."""
    down, at = [(30.0, 40.0), (70.0, 80.0)], [22.0, 75.0]
    trace = FailureTrace([begin for begin, _ in down], [0, 0], [end - begin for begin, end in down], span=100)
    result = simulate_workflows(
        Workflow([1]), Resources(1), scheduler=Flaw(), failures=trace, predictor=_predictions(at, [0, 0])
    )
    return {
        "aoa": result.aoa,
        "large": conventional(down, at, 10.0),
        "small": conventional(down, at, 5.0),
    }


def _window() -> dict[str, object]:
    """The node is down from 100 to 120, 130 is predicted, a job would run until 140: section 4.C."""
    result = simulate_workflows(
        Workflow([[140, 300]]),
        Resources(2),
        scheduler=Flaw(),
        failures=FailureTrace([100], [0], 20, span=400),
        predictor=_predictions([130], [0]),
    )
    decisions = result.decisions
    return {
        "aoa": result.aoa,
        "first": result.questions["per_node"],
        "node": int(decisions["node"][0]),
        "asked": int(decisions["asked"][0]),
    }


def run_checks() -> dict[str, object]:
    """What L1 to L4 look at."""
    return {"example": example(), "figure 1": _figure_1(), "window": _window()}
