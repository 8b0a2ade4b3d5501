"""Runs of the public workflows, by file and scheduler, for `digests`."""

from pathlib import Path

import numpy as np
from digest_cases import Draw
from digest_logs import data

import faultsim as fs

READERS = {"stg": fs.read_stg, "dax": fs.read_dax, "wfcommons": fs.read_wfcommons}
SCHEDULERS = {"rank": fs.RankHybd(), "flaw": fs.Flaw(), "fifo": fs.Fifo(), "heft": fs.Heft()}
NODES = 5


def names() -> list[str]:
    """Every workflow in the folder of public logs, with each of the schedulers."""
    kinds = {".stg": "stg", ".xml": "dax", ".json": "wfcommons"}
    paths = sorted(path for path in (data() / "dags").glob("*/*") if path.suffix in kinds)
    return [f"{path.parent.name}/{path.name}:{scheduler}" for path in paths for scheduler in SCHEDULERS]


def files(case: str) -> list[Path]:
    return [data() / "dags" / case.split(":")[0]]


def run(case: str) -> tuple[fs.WorkflowResult, dict[str, np.ndarray]]:
    """The result of a case, and what the reader made of its file."""
    name, scheduler = case.split(":")
    flow = READERS[name.split("/")[0]](files(case)[0])
    whole = int(flow.cost.sum()) // NODES + 1
    draw = Draw(len(flow))
    time, node = np.sort(draw.column(0, 1000, 12)) * (whole / 500), draw.column(0, NODES - 1, 12)
    result = fs.simulate_workflows(
        flow,
        fs.Resources(speed=np.arange(2, NODES + 2) / 4, bandwidth=1.0 if flow.transfer_unit == "s" else 125e6),
        scheduler=SCHEDULERS[scheduler],
        failures=fs.FailureTrace(time, node, whole / 20, coin=draw.column(0, 999, 12) / 1000),
        predictor=fs.Accuracy(0.5) if scheduler == "flaw" else None,
        record=True,
    )
    return result, {key: getattr(flow, key) for key in ("cost", "edge_from", "edge_to", "transfer")}
