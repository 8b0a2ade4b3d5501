"""Checks of what a figure or a report is made from: the right kind of object, or one line that names the right kind."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from faultsim import checks
from faultsim.errors import OptionError

if TYPE_CHECKING:
    from faultsim.results.result import Result
    from faultsim.results.workflow_result import WorkflowResult

Given = TypeVar("Given")
RESULT = "a Result, which simulate returns"
RESULTS = "a Result, which simulate returns, or a mapping of labels to Results"
WORKFLOW_RESULT = "a WorkflowResult, which simulate_workflows returns"
SWEEP = "a SweepTable, which the method run of a Sweep returns"
_PLOTS_OF_SWEEPS = "plot_sweep, plot_panels, plot_heatmap and plot_differences draw it, report_sweep describes it"
#: Name of a class of the package -> what to do with such an object that was given in place of another.
_HINTS = {
    "Workload": "simulate it first: simulate(log, machine)",
    "Workflow": "simulate it first: simulate_workflows(workflow, resources)",
    "Run": "simulate it first: run.simulate()",
    "WorkflowRun": "simulate it first: run.simulate()",
    "Simulation": "give its result: simulation.result()",
    "WorkflowResult": "plot_workflow draws it, report_workflows describes it",
    "Result": "plot_utilization, plot_gantt, plot_ledger and others draw it, report_run describes it",
    "Sweep": "run it first: sweep.run()",
    "SweepTable": _PLOTS_OF_SWEEPS,
    "PodPlan": "plot_promises draws it",
}
#: Name of a class of the package -> such an object is no result yet, in place of one of several kinds of result.
_ONE_OF = ("Result", "WorkflowResult", "SweepTable", "PodPlan")


def described(value: object) -> str:
    """An object in a few words: its class if it is one of this package or a table, else its value.

    Examples
    --------
    >>> import faultsim as fs
    >>> log = fs.Workload(submit=[0], runtime=[1], size=[1])
    >>> described(log), described([log, log]), described({"a": log}), described(3)
    ('a Workload', 'a list of Workload objects', 'a mapping of labels to Workload objects', '3')
    """
    if isinstance(value, type):
        return f"the class {value.__name__}"
    if _own(value):
        return _article(type(value).__name__)
    if isinstance(value, Mapping) and value and (name := _common(list(value.values()))):
        return f"a mapping of labels to {name} objects"
    if isinstance(value, list | tuple) and (name := _common(value)):
        return f"a {type(value).__name__} of {name} objects"
    if type(value).__module__.partition(".")[0] in ("pandas", "polars", "pyarrow", "numpy", "matplotlib"):
        return _article(f"{type(value).__module__.partition('.')[0]} {type(value).__name__}")
    return checks.shown(value)


def _own(value: object) -> bool:
    return type(value).__module__.partition(".")[0] == "faultsim"


def _common(values: Sequence[object]) -> str:
    """The name of the class of objects of this package, if all of them have the same one."""
    names = {type(value).__name__ if _own(value) else "" for value in values}
    return names.pop() if len(names) == 1 else ""


def _article(name: str) -> str:
    return f"{'an' if name[0] in 'AEIOUaeiou' else 'a'} {name}"


def refuse(caller: str, wanted: str, value: object) -> NoReturn:
    """Raise the error that names what `caller` takes and what it was given, with a hint if one is known."""
    first = value
    several = isinstance(value, list | tuple | Mapping) and len(value) > 0
    if several:
        first = next(iter(value.values() if isinstance(value, Mapping) else value))  # type: ignore[call-overload]
    name = type(first).__name__ if _own(first) else ""
    hint = _HINTS.get(name, "")
    if several and name in _ONE_OF and f"a {name}," in wanted:
        if "mapping" in wanted and not isinstance(value, Mapping):
            hint = f'give each a label, such as {{"first": {_variable(name)}}}'
        else:
            hint = "give one of them"
    elif name == "Result" and "a Workload" in wanted:
        hint = "give the log that was simulated"
    elif isinstance(value, str | bytes) or hasattr(value, "__fspath__"):
        hint = "read the file first, as by read(path)"
    raise OptionError(f"{caller} takes {wanted}; got {described(value)}" + (f": {hint}" if hint else ""))


def _variable(name: str) -> str:
    return "table" if name == "SweepTable" else "plan" if name == "PodPlan" else "result"


def result_of(caller: str, value: "Result") -> "Result":
    """The value, if it is a Result.

    Examples
    --------
    >>> import faultsim as fs
    >>> result_of("plot_gantt", fs.Workload(submit=[0], runtime=[1], size=[1]))
    Traceback (most recent call last):
    ...
    faultsim.errors.OptionError: plot_gantt takes a Result, which simulate returns; got a Workload: simulate it first: \
simulate(log, machine)
    """
    if not _is_result(value):
        refuse(caller, RESULT, value)
    return value


def results_of(caller: str, value: "Result | Mapping[str, Result]") -> "Mapping[str, Result]":
    """A mapping of labels to Results; a single Result has an empty label.

    Examples
    --------
    >>> results_of("plot_queue", {})
    Traceback (most recent call last):
    ...
    faultsim.errors.OptionError: runs: plot_queue needs at least one
    """
    if _is_result(value):
        return {"": value}  # type: ignore[dict-item]
    if not isinstance(value, Mapping) or _own(value):
        refuse(caller, RESULTS, value)
    if not value:
        raise OptionError(f"runs: {caller} needs at least one")
    for label, run in value.items():
        if not _is_result(run):
            refuse(f"{caller}, run {label!r},", RESULT, run)
    return labelled(caller, value)


def labelled(caller: str, value: Mapping[str, Given]) -> dict[str, Given]:
    """The mapping with its labels as text, so that numbers may be labels.

    Examples
    --------
    >>> labelled("plot_queue", {4: "a", 8: "b"})
    {'4': 'a', '8': 'b'}
    """
    found = {str(label): part for label, part in value.items()}
    if len(found) < len(value):
        raise OptionError(f"{caller}: two labels read the same: {', '.join(map(repr, value))}")
    return found


def _is_result(value: object) -> bool:
    from faultsim.results.part import Part
    from faultsim.results.result import Result

    return isinstance(value, Result | Part)


def workflow_result_of(caller: str, value: "WorkflowResult") -> "WorkflowResult":
    """The value, if it is a WorkflowResult.

    Examples
    --------
    >>> workflow_result_of("plot_workflow", 3)
    Traceback (most recent call last):
    ...
    faultsim.errors.OptionError: plot_workflow takes a WorkflowResult, which simulate_workflows returns; got 3
    """
    from faultsim.results.workflow_result import WorkflowResult

    if not isinstance(value, WorkflowResult):
        refuse(caller, WORKFLOW_RESULT, value)
    return value


def sweep_of(caller: str, value: object, wanted: str = SWEEP) -> Any:
    """The value, if it has the methods of a SweepTable.

    Examples
    --------
    >>> sweep_of("plot_sweep", "sweep.db")
    Traceback (most recent call last):
    ...
    faultsim.errors.OptionError: plot_sweep takes a SweepTable, which the method run of a Sweep returns; got \
'sweep.db': read the file first, as by read(path)
    """
    if isinstance(value, type) or not is_sweep(value):
        refuse(caller, wanted, value)
    return value


def is_sweep(value: object) -> bool:
    """Whether an object has the methods of a SweepTable.

    Examples
    --------
    >>> is_sweep({"load": [1]})
    False
    """
    return hasattr(value, "summary") and hasattr(value, "compare") and hasattr(value, "axes")


def mapping_of(caller: str, value: Mapping[str, Given], wanted: str) -> Mapping[str, Given]:
    """The value with its labels as text, if it is a mapping.

    Examples
    --------
    >>> mapping_of("plot_curves", [1, 2], "a mapping of labels to (x, y)")
    Traceback (most recent call last):
    ...
    faultsim.errors.OptionError: plot_curves takes a mapping of labels to (x, y); got [1, 2]
    """
    if not isinstance(value, Mapping) or _own(value):
        refuse(caller, wanted, value)
    return labelled(caller, value)
