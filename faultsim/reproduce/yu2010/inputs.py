"""What the experiments of [yu2010] run on: windows of a failure record, predictions of them, and workflows."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from faultsim.data.failures import FailureTrace
from faultsim.data.workflow import Workflow
from faultsim.policies import PredictionTrace
from faultsim.readers.dax import read_dax
from faultsim.readers.lanl import read_lanl
from faultsim.readers.wfcommons import read_wfcommons
from faultsim.reproduce.data_files import find_files
from faultsim.synthetic import LognormalTimes, bench_dags, weibull_failures

FILE = "LA-UR-05-7318-failure-data-1996-2005.csv"
DAY = 86_400.0
#: "32 nodes out of 49 nodes in the Cluster 2", "two-month period ... between calendar year 2001 and 2002".
NODES, OF_NODES = 32, 49
SPAN, YEARS = 60 * DAY, 730 * DAY
#: "we treat one time unit in DAG as 5 minutes".
UNIT = 300.0
#: Bytes a second at which the files of real workflows travel: 1 Gbit/s.
BANDWIDTH = 125e6
#: A real workflow is stretched in time until its mean job is as long as that of the synthetic group.
MEAN_COST = 50.5 * UNIT
#: The example of another paper, not a workflow that ran.
_LEFT_OUT = ("HEFT_paper",)
# The stand-in: as many failures as system 2 has in these years, with down times of its mean and median (7,676 and
# 2,760 s), times between them a little burstier than a Poisson process (coefficient of variation 1.14), and skewed over
# the nodes.
_COUNT, _SHAPE, _ZIPF = 1325, 0.88, 0.5
_DOWNTIME = LognormalTimes(7676.0, 7676.0 * (np.exp(2 * np.log(7676 / 2760)) - 1) ** 0.5)
# Purposes of random streams (model.md#streams): a stream is (seed, purpose, ...).
_RECORD, _WINDOWS, _BENCH, _REAL, _PREDICTIONS = range(5)


@dataclass(frozen=True)
class Record:
    """The failures of all 49 nodes in two years, and windows of 32 of them and two months."""

    text: str
    real: bool
    whole: FailureTrace
    windows: Sequence[FailureTrace]


@dataclass(frozen=True)
class Source:
    """Workflows of one kind: a list for every window, of which a run takes as many as there shall be at a time."""

    name: str
    label: str
    text: str
    real: bool
    groups: Sequence[Sequence[Workflow]]
    count: int


def record(data: str | Path | None, *, windows: int, seed: int) -> Record:
    """The failure record, and random windows of it.

    Parameters
    ----------
    data : path or None
        Folder with the LANL records; without it a built-in stand-in is drawn.
    windows : int
        How many windows; the first of them do not depend on the number.
    seed : int
        Seed of windows and stand-in.

    Raises
    ------
    OptionError
        `data` is not a folder, or does not hold the records.
    """
    if data is None:
        whole = weibull_failures(
            nodes=OF_NODES,
            span=YEARS,
            shape=_SHAPE,
            scale=YEARS / _COUNT,
            count=_COUNT,
            zipf=_ZIPF,
            permute=True,
            downtime=_DOWNTIME,
            rng=np.random.default_rng([seed, _RECORD]),
        ).merge_overlaps()
        text = f"no --data with {FILE}.gz: a built-in synthetic record of {OF_NODES} nodes and 730 days (seed {seed})"
    else:
        path = find_files(data, {"record": FILE})["record"]
        whole = read_lanl(path, 2, begin="2001-01-01", end="2003-01-01")
        text = f"{path.name}, system 2, 2001 and 2002"
    cut = [_window(whole, np.random.default_rng([seed, _WINDOWS, number])) for number in range(windows)]
    failures = np.mean([len(trace) for trace in cut])
    text += f"; {windows} windows of {NODES} nodes and 60 days, {failures:.1f} failures each on average"
    return Record(text, data is not None, whole, cut)


def _window(whole: FailureTrace, rng: np.random.Generator) -> FailureTrace:
    """Two months of some nodes, renumbered; an outage that is under way comes in with what is left of it."""
    begin = rng.uniform(0, whole.span - SPAN)
    chosen = np.sort(rng.permutation(OF_NODES)[:NODES])
    number = np.full(max(OF_NODES, whole.min_nodes), -1)
    number[chosen] = np.arange(NODES)
    inside = whole[number[whole.node] >= 0]
    moved = FailureTrace(
        inside.time, number[inside.node], inside.downtime, coin=inside.coin, span=inside.span, name=whole.name
    )
    return moved.window(begin, begin + SPAN, under_way=True)


def predicted(trace: FailureTrace, aoa: float, share: float, *, seed: int, window: int, number: int) -> PredictionTrace:
    """Predictions of a window's failures at an accuracy, of whose mistakes `share` are false positives."""
    rng = np.random.default_rng([seed, _PREDICTIONS, window, round(100 * aoa), number])
    return PredictionTrace.at_accuracy(trace, aoa, share, rng=rng, nodes=NODES)


def shares(seed: int, window: int, traces: int) -> list[float]:
    """Share of false positives among the mistakes of each prediction trace: "random mixture"."""
    rng = np.random.default_rng([seed, _PREDICTIONS, window])
    return [float(share) for share in rng.random(traces)]


def load(data: str | Path | None, *, windows: int, most: int, seed: int) -> dict[str, Source]:
    """The workflows: "bench" always, "real" where `data` holds some.

    Parameters
    ----------
    data : path or None
        Folder with folders ``wfcommons`` (JSON) and ``dax`` (XML), itself or in its folder ``dags``.
    windows : int
        How many groups.
    most : int
        Workflows in a group.
    seed : int
        Seed of the draws.
    """
    groups = [
        bench_dags(most, rng=np.random.default_rng([seed, _BENCH, window]), unit=UNIT) for window in range(windows)
    ]
    jobs = sum(len(wf) for group in groups for wf in group)
    found = {
        "bench": Source(
            "bench",
            "bench-like",
            f"random workflows of 175 to 249 jobs, {most} for each of {windows} windows (seed {seed})",
            False,
            groups,
            jobs,
        )
    }
    flows = _real(data)
    if flows:
        stretched = [_stretched(wf) for wf in flows]
        picked = [_picked(stretched, most, np.random.default_rng([seed, _REAL, window])) for window in range(windows)]
        found["real"] = Source(
            "real",
            "WfCommons and Pegasus",
            f"{', '.join(wf.name for wf in flows)}; stretched in time to a mean run time of {MEAN_COST:,.0f} s, files "
            f"at 1 Gbit/s; {most} drawn for each window",
            True,
            picked,
            sum(map(len, flows)),
        )
    return found


def _real(data: str | Path | None) -> list[Workflow]:
    if data is None:
        return []
    found: list[Workflow] = []
    for inside, end, read in (("wfcommons", "json", read_wfcommons), ("dax", "xml", read_dax)):
        for folder in (Path(data) / inside, Path(data) / "dags" / inside):
            paths = sorted(folder.glob(f"*.{end}")) if folder.is_dir() else []
            if paths:
                found += [read(path) for path in paths if path.stem not in _LEFT_OUT]
                break
    return found


def _stretched(workflow: Workflow) -> Workflow:
    factor = MEAN_COST / float(workflow.cost.mean())
    seconds = workflow.transfer * (factor / BANDWIDTH)
    return workflow.with_cost_factor(factor).with_transfer(seconds)


def _picked(flows: Sequence[Workflow], most: int, rng: np.random.Generator) -> list[Workflow]:
    """Every workflow once in random order, then once more, and so on."""
    order = [rng.permutation(len(flows)) for _ in range(-(-most // len(flows)))]
    return [flows[row] for row in np.concatenate(order)[:most].tolist()]
