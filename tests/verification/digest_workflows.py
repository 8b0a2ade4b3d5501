"""Random runs of workflows, each from a seed, for `digests`."""

from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from digest_cases import Draw

import faultsim as fs

JOBS = ("workflow", "job", "node", "start", "finish", "kills")
DECISIONS = ("time", "workflow", "job", "node", "asked", "begin", "finish")
EVENTS = ("time", "kind", "workflow", "job", "node")


@dataclass
class Case:
    """What `fs.simulate_workflows` takes, and the columns in it as they were drawn."""

    workflows: list[dict[str, Any]]
    resources: dict[str, Any]
    failures: dict[str, Any] | None
    predictions: dict[str, Any]
    options: dict[str, Any]

    def inputs(self) -> list[tuple[str, Any]]:
        listed = [(f"{row} {name}", values) for row, flow in enumerate(self.workflows) for name, values in flow.items()]
        columns = {**self.resources, **(self.failures or {}), **self.predictions}
        return listed + [(name, values) for name, values in columns.items() if values is not None]

    def run(self) -> fs.WorkflowResult:
        flows = [fs.Workflow(**flow) for flow in self.workflows]
        trace = None if self.failures is None else fs.FailureTrace(**self.failures)
        return fs.simulate_workflows(flows, fs.Resources(**self.resources), failures=trace, **self.options)


def drawn(*key: int) -> Case:
    draw = Draw(*key)
    nodes, unit = draw.one(1, 2, 3, 4, 8, 16), draw.one(1.0, 1.0, 0.1, 1 / 3)
    longest, carried, spread = draw.one(3, 10, 40), draw.one(0, 2, 8, 40), draw.one(0, 0, 20, 100)
    matrix = draw.chance(1, 2)
    flows = [flow(draw, nodes if matrix else 0, longest, carried, spread, unit) for _ in range(draw.whole(1, 6))]
    work = sum(len(one["cost"]) for one in flows) * longest
    horizon = spread + 2 * work // nodes + longest
    resources: dict[str, Any] = {"nodes": nodes, "speed": None, "bandwidth": None}
    if not matrix and draw.chance(1, 2):
        resources["speed"] = draw.column(1, 4, nodes) / 2
    if draw.chance(1, 2):
        resources["bandwidth"] = draw.one(0.5, 2.0, draw.column(1, 4, nodes * nodes).reshape(nodes, nodes) / 2)
    failures = failures_of(draw, nodes, horizon, longest, unit) if draw.chance(4, 5) else None
    options = {
        "scheduler": draw.one(
            fs.RankHybd(), fs.RankHybd("descending"), fs.Flaw(), fs.Flaw("descending"), fs.Fifo(), fs.Fifo(aware=True),
            fs.Heft(),
        ),
        "transfers": draw.one("parallel", "parallel", "in_turn"),
        "outputs": draw.one("node", "node", fs.SharedOutputs(draw.whole(0, 3) * unit)),
        "arrivals": draw.column(0, 50, len(flows)) * unit if draw.chance(1, 4) else None,
        "seed": draw.whole(0, 5),
        "record": draw.chance(2, 3),
    }  # fmt: skip
    options["predictor"] = predictor(draw, options["scheduler"], nodes, horizon, failures, unit)
    chosen = options["predictor"]
    predictions = {} if chosen is None else {f"predicted {name}": row for name, row in chosen.arrays().items()}
    return Case(flows, resources, failures, predictions, options)


def flow(draw: Draw, nodes: int, longest: int, carried: int, spread: int, unit: float) -> dict[str, Any]:
    """A workflow whose job numbers are in no particular order; costs a node if there are `nodes`."""
    n = draw.whole(1, draw.one(5, 12, 30))
    names = np.argsort(draw.column(0, 10**9, n), kind="stable")
    first, last = np.triu_indices(n, 1)
    chosen = draw.column(1, 100, len(first)) <= draw.one(5, 15, 40)
    carries = draw.column(0, carried, int(chosen.sum())) * unit
    cost = draw.column(0, longest, n * max(nodes, 1)) * unit
    return {
        "cost": cost.reshape(n, nodes) if nodes else cost,
        "edges": np.column_stack([names[first[chosen]], names[last[chosen]], carries]) if chosen.any() else [],
        "submit": draw.whole(0, spread) * unit,
    }


def failures_of(draw: Draw, nodes: int, horizon: int, longest: int, unit: float) -> dict[str, Any]:
    n = draw.one(3, 10, 30)
    time = np.sort(draw.column(0, horizon, n))
    downtime = draw.column(0, draw.one(0, 5, 2 * longest), n)
    columns = {"time": time * unit, "node": draw.column(0, nodes - 1, n), "downtime": downtime * unit}
    return {**columns, "coin": draw.column(0, 999, n) / 1000, "span": horizon * unit * draw.one(1, 2)}


def predictor(draw: Draw, scheduler: Any, nodes: int, horizon: int, failures: Any, unit: float) -> Any:
    """One if it is asked, in most cases."""
    if not scheduler.asks and draw.chance(19, 20):
        return None
    kinds = ["trace", "trace", "blind"]
    if failures is not None:
        kinds += ["perfect", "confidence", "accuracy", "interval"]
    kind = draw.one(*kinds)
    if kind == "interval":
        return fs.IntervalPredictor(draw.one(0.5, 1.0), draw.one(0.3, 0.8), draw.one(7, 20) * unit)
    if kind == "trace":
        n = draw.one(0, 5, 20)
        time, node = draw.column(0, horizon, n) * unit, draw.column(0, nodes - 1, n)
        if failures is not None:
            time, node = np.append(time, failures["time"]), np.append(node, failures["node"])
        return fs.PredictionTrace(time, node)
    share = draw.one(0.0, 0.4, 1.0)
    return {"blind": fs.Blind(), "perfect": fs.Perfect(), "confidence": fs.Confidence(share)}.get(
        kind, fs.Accuracy(share)
    )


def tables(result: fs.WorkflowResult) -> dict[str, list[tuple[str, Any]]]:
    """All that is hashed of a result, by part."""
    sums = [("makespan", result.makespan), ("makespans", result.makespans), ("loss time", result.loss_time)]
    sums += [("reschedulings", result.reschedulings), ("aoa", result.aoa)]
    sums += [(f"{name} asked and right", values) for name, values in result.questions.items()]
    sums += [(f"{name} share", value) for name, value in result.aaa.items()]
    made = {"jobs": [(name, result.jobs[name]) for name in JOBS], "sums": sums}
    made["places"] = [(name, result.decisions[name]) for name in DECISIONS]
    with suppress(fs.OptionError):  # not recorded
        made["events"] = [(name, result.events[name]) for name in EVENTS]
    return made
