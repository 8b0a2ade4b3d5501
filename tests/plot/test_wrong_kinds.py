"""Every public function that draws, reports or converts, given every wrong kind of object."""

import inspect
import pathlib
from functools import cache, partial

import numpy as np
import pandas as pd
import pytest

import faultsim as fs
from faultsim import plot, report
from faultsim.errors import MOST, FaultsimError, InputError, OptionError
from helpers.refusals import refused

LOG = fs.Workload(submit=[0, 1, 2], runtime=[10, 5, 5], size=[2, 2, 1])
CHAIN = fs.Workflow([4, 4], [(0, 1, 1)], name="chain")


@cache
def objects():
    """One of each kind of object that users have at hand, by name."""
    run = fs.Run(LOG, fs.Cluster(4))
    result = fs.simulate(LOG, fs.Cluster(4), record=True)
    sweep = fs.Sweep(run, {"load": [0.5, 0.8], "scheduler": ["fcfs", "easy"]})
    flows = fs.simulate_workflows(CHAIN, fs.Resources(1), record=True)
    frame = pd.DataFrame({"submit": [0], "runtime": [1], "size": [1]})
    return {
        "Workload": LOG, "FailureTrace": fs.FailureTrace([6], [0], [3], span=60), "Workflow": CHAIN,
        "Workflows": [CHAIN, CHAIN], "Run": run, "Simulation": fs.Simulation(LOG, fs.Cluster(4)), "Result": result,
        "torus": fs.simulate(LOG, fs.Torus(2, 2, 2), record=True),
        "pod": fs.simulate(LOG, fs.Pod((1, 1, 2), (2, 2, 2), 8), record=True),
        "unrecorded": fs.simulate(LOG, fs.Cluster(4)), "WorkflowResult": flows, "Sweep": sweep,
        "SweepTable": sweep.run(), "PodPlan": fs.plan("pod:tpu-v4", "4x4x4", availability=0.999),
        "Cluster": fs.Cluster(4), "scheduler": fs.EasyBackfill(), "list of Results": [result, result],
        "Results": {"a": result, "b": result}, "numbered Results": {1: result, 2: result}, "jobs": result.jobs,
        "metrics": result.metrics, "ledger": result.ledger, "Results and a log": {"a": result, "b": LOG},
        "curves": {"a": ([1, 2], [3, 4])}, "bad curves": {"a": ([1, 2], [3])}, "frame": frame, "path": "x.csv",
        "Path": pathlib.Path("x.csv"), "bytes": b"x", "number": 3, "None": None, "object": object(), "flag": True,
        "list": [1, 2], "empty list": [], "empty mapping": {}, "mapping": {"a": 1}, "NaN": float("nan"),
        "array": np.arange(3), "class": fs.Workload, "class of results": fs.Result, "function": fs.simulate,
        "Axes": plot.new_figure(3, 2).add_subplot(), "Figure": plot.new_figure(3, 2),
    }  # fmt: skip


KINDS = list(objects())
#: Further arguments of functions that need some.
MORE = {
    "occupancy": {"at": 1.0},
    "plot_waits_by": {"column": "size_class"},
    "animate_occupancy": {"path": "never.gif", "frames": 1},
    "plot_sweep": {"metric": "mean_wait", "x": "load"},
    "plot_panels": {"metric": "mean_wait", "x": "load", "panels": "scheduler"},
    "plot_heatmap": {"metric": "mean_wait", "x": "load", "y": "scheduler"},
    "plot_differences": {"metric": "mean_wait", "axis": "scheduler", "baseline": "fcfs"},
    "save": {"path": "never.png"},
}
#: What draws or reports what the user gives first.
FUNCTIONS = {
    name: partial(getattr(module, name), **MORE.get(name, {}))
    for module in (plot, report)
    for name in module.__all__
    if name.startswith(("plot_", "report_")) or name in MORE
} | {
    f"{name}.{method}": getattr(getattr(fs, name), method)
    for name in fs.__all__
    if inspect.isclass(getattr(fs, name))
    for method in ("from_pandas", "from_networkx", "from_pairs")
    if hasattr(getattr(fs, name), method) and method != "from_pairs"
}
#: What each function draws, so that no function refuses all.
TAKES = {
    "plot_utilization": {"Result", "torus", "pod", "unrecorded", "Results", "numbered Results"},
    "plot_queue": {"Result", "torus", "pod", "unrecorded", "Results", "numbered Results"},
    "plot_distribution": {"Result", "torus", "pod", "unrecorded", "Results", "numbered Results"},
    "plot_ledger": {"Result", "torus", "pod", "unrecorded", "Results", "numbered Results", "ledger"},
    "plot_waits_by": {"Result", "torus", "pod", "unrecorded", "Results", "numbered Results"},
    "plot_gantt": {"Result", "torus", "pod"},
    "plot_occupancy": {"torus", "pod"},
    "occupancy": {"torus", "pod"},
    "animate_occupancy": {"torus", "pod"},
    "plot_kiviat": {"Results", "numbered Results"},
    "plot_workflow": {"WorkflowResult"},
    "plot_sweep": {"SweepTable"},
    "plot_panels": {"SweepTable"},
    "plot_heatmap": {"SweepTable"},
    "plot_differences": {"SweepTable"},
    "plot_saturation": {"SweepTable", "curves"},
    "plot_promises": {"PodPlan"},
    "plot_curves": {"curves"},
    "plot_job_sizes": {"Workload", "Result", "torus", "pod", "unrecorded"},
    "report_run": {"Result", "torus", "pod", "unrecorded"},
    "report_sweep": {"SweepTable"},
    "report_workflows": {"WorkflowResult"},
    "save": {"Axes", "Figure"},
}


def test_the_list_has_every_public_function():
    drawn = {name for name in plot.__all__ if name.startswith("plot_")}
    assert drawn <= FUNCTIONS.keys()
    assert {name for name in report.__all__ if name.startswith("report_")} <= FUNCTIONS.keys()
    assert {"Workload.from_pandas", "FailureTrace.from_pandas", "Workflow.from_networkx"} <= FUNCTIONS.keys()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_it_works_or_one_line_says_what_it_takes(name, kind, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    try:
        FUNCTIONS[name](objects()[kind])
    except FaultsimError as error:
        text = str(error)
        assert "\n" not in text
        assert 10 < len(text) <= MOST + 30
        assert " at 0x" not in text or kind in ("object", "function", "Simulation")
        assert kind not in TAKES.get(name, ()), text
    else:
        assert kind in TAKES.get(name, {kind})


@pytest.mark.parametrize(
    ("name", "kind", "text"),
    [
        ("plot_gantt", "Workflow", "takes a Result, .* got a Workflow: simulate it first: simulate_workflows"),
        ("plot_queue", "Workload", "got a Workload: simulate it first: simulate.log, machine."),
        ("plot_promises", "number", "plot_promises takes a PodPlan, which plan returns; got 3"),
        ("report_run", "list of Results", "got a list of Result objects: give one of them"),
        ("plot_queue", "list of Results", "give each a label, such as {\"first\": result}"),
        ("plot_gantt", "WorkflowResult", "got a WorkflowResult: plot_workflow draws it"),
        ("plot_sweep", "Sweep", "got a Sweep: run it first: sweep.run"),
        ("plot_utilization", "Simulation", "give its result: simulation.result"),
        ("plot_queue", "Results and a log", "run 'b', takes a Result.* got a Workload"),
        ("plot_curves", "bad curves", "curve 'a' has 2 abscissae and 1 ordinates"),
        ("Workload.from_pandas", "path", "got 'x.csv': read_jobs reads files"),
        ("FailureTrace.from_pandas", "path", "got 'x.csv': read_failures reads files"),
    ],
)  # fmt: skip
def test_what_is_said(name, kind, text):
    with pytest.raises(FaultsimError, match=text):
        FUNCTIONS[name](objects()[kind])


def test_axes_and_titles_are_checked():
    result = objects()["Result"]
    refused(OptionError, "ax must be an Axes of matplotlib, got Figure: figure.add_subplot", plot.plot_gantt, result,
            ax=plot.new_figure())  # fmt: skip
    refused(OptionError, "plot_ledger: title must be text, got 3", plot.plot_ledger, result, title=3)
    refused(OptionError, "report_run.against=. takes", report.report_run, result, against=[result])
    refused(InputError, "index must be a sequence", fs.IntervalPredictor.from_pairs, None, [1], interval=60,
            precision=0.5)  # fmt: skip
