"""The axes that a sweep may have: every option of a run, parameters of its policies, and changes of its inputs.

Sweeps of job logs and of workflows have axes of their own.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

from faultsim import checks, renames
from faultsim.errors import OptionError
from faultsim.policies import Policy, parse_policy, registry
from faultsim.policies.slurm import Slurm
from faultsim.simulation.options import DEFAULT_SCHEDULER
from faultsim.simulation.run import Run
from faultsim.simulation.workflow_run import DEFAULT_WORKFLOW_SCHEDULER, WorkflowRun


@dataclass(frozen=True)
class Change:
    """An axis that changes an input of the run.

    Parameters
    ----------
    name : str
        Of the axis.
    of : {"log", "workflows", "failures"}
        What it changes.
    apply : callable(input, value, nodes, seed) -> input
        With the number of nodes, and a seed of the replicate for this purpose.
    meaning : str
        For documentation.
    draws : bool
        Whether the seed matters.
    above, low, whole, unit
        Which values have a meaning.
    """

    name: str
    of: str
    apply: Callable[[Any, Any, int, int], object]
    meaning: str
    draws: bool = False
    above: float | None = None
    low: float | None = None
    whole: bool = False
    unit: str = ""

    def check(self, value: object) -> None:
        """Refuse a value that is invalid."""
        checks.refuse_missing(f"axis {self.name}", value)
        if self.whole:
            checks.whole(f"axis {self.name}", value, low=int(self.low or 0))
        else:
            checks.number(f"axis {self.name}", value, above=self.above, low=self.low, unit=self.unit)


def _each(change: Callable[[Any, float], object]) -> Callable[[Any, Any, int, int], object]:
    """The change of all workflows by one of each."""
    return lambda flows, value, nodes, seed: tuple(change(flow, value) for flow in flows)


_OF_FAILURES = (
    Change(
        "failure_span",
        "failures",
        lambda trace, span, nodes, seed: trace.with_span(span),
        "failures over this span, s",
        above=0.0,
        unit="s",
    ),
    Change(
        "failure_count",
        "failures",
        lambda trace, count, nodes, seed: trace.with_count(count, rng=seed),
        "this many of the failures, drawn for each replicate; smaller sets are nested in larger ones",
        draws=True,
        low=0,
        whole=True,
    ),
)
#: Axes that change the inputs of runs of jobs, in the order in which they are applied.
CHANGES: dict[str, Change] = {
    row.name: row
    for row in (
        Change("head", "log", lambda log, n, nodes, seed: log.head(n), "only the first jobs", low=1, whole=True),
        Change(
            "runtime_factor",
            "log",
            lambda log, c, nodes, seed: log.with_runtime_factor(c),
            "run times and estimates times a factor",
            above=0.0,
        ),
        Change(
            "gap_factor",
            "log",
            lambda log, f, nodes, seed: log.with_gap_factor(f),
            "gaps between arrivals times it",
            above=0.0,
        ),
        Change(
            "load",
            "log",
            lambda log, load, nodes, seed: log.with_load(load, nodes=nodes),
            "gaps scaled to this offered load",
            above=0.0,
        ),
        *_OF_FAILURES,
    )
}

#: Axes that change the inputs of runs of workflows, in the order in which they are applied.
WORKFLOW_CHANGES: dict[str, Change] = {
    row.name: row
    for row in (
        Change(
            "cost_factor", "workflows", _each(lambda flow, c: flow.with_cost_factor(c)), "costs times it", above=0.0
        ),
        Change(
            "transfer_factor",
            "workflows",
            _each(lambda flow, c: flow.with_transfer_factor(c)),
            "transfers times it",
            low=0.0,
        ),
        Change(
            "ccr", "workflows", _each(lambda flow, r: flow.with_ccr(r)), "mean transfer over mean cost of each", low=0.0
        ),
        Change(
            "every",
            "workflows",
            lambda flows, gap, nodes, seed: tuple(flow.submitted(k * gap) for k, flow in enumerate(flows)),
            "they arrive so many seconds apart",
            low=0.0,
            unit="s",
        ),
        *_OF_FAILURES,
    )
}

#: Kinds of policies that a run of jobs takes.
KINDS = tuple(kind for kind, row in registry.KINDS.items() if row.option)
#: Axes on which the inputs depend: all runs that share their values share what runs, and its failures.
INPUT_AXES = frozenset(
    {"log", "machine", "workflows", "resources", "arrivals", "failures", "seed", *CHANGES, *WORKFLOW_CHANGES}
)

#: Columns of tables and statistics other than axes; bundles cannot have these names.
TAKEN = frozenset(
    {"replicate", "run", "status", "n", "mean", "sd", "half", "low", "high", "baseline", "difference", "relative"}
    | {"correlation", "p", "p_wilcoxon", "p_holm", "significant", "needed"}
)


def check_bundle(name: object) -> None:
    """Reject a name for bundles that is already a column of tables.

    Examples
    --------
    >>> check_bundle("policy")
    """
    if name in TAKEN or not isinstance(name, str):
        raise OptionError(f"axis {name}: bundles need another name, tables already have a column {name!r}")


@dataclass(frozen=True)
class Axes:
    """The axes of sweeps of one kind.

    Parameters
    ----------
    work, machine : str
        The options that hold what runs, and what it runs on.
    options : tuple of str
        Options of a run that an axis may set; not ``record``: a sweep keeps numbers, not events.
    policies : mapping of str to str
        Which of them are policies, and of which kind.
    scheduler : Policy
        The default.
    changes : mapping of str to Change
    """

    work: str
    machine: str
    options: tuple[str, ...]
    policies: Mapping[str, str]
    scheduler: Policy
    changes: Mapping[str, Change]

    def check(self, name: object) -> None:
        """Reject an unknown axis, listing the valid names.

        Examples
        --------
        >>> JOBS.check("predictor.probability")
        >>> JOBS.check("runtime_facter")
        Traceback (most recent call last):
        ...
        faultsim.errors.OptionError: unknown axis 'runtime_facter' (did you mean 'runtime_factor'?); known: ...
        """
        if not isinstance(name, str):
            raise OptionError(f"an axis has a name, got {checks.shown(name)}")
        if name in self.options or name in self.changes:
            return
        kind, dot, parameter = name.partition(".")
        if dot and kind in self.policies and parameter.isidentifier():
            return
        if name == "record":
            raise OptionError("record cannot be an axis: a sweep keeps metrics, not events; simulate one run with it")
        known = (*self.options, *self.changes)
        other = WORKFLOWS if self is JOBS else JOBS
        hint = checks.did_you_mean(name, known)
        if name in other.options or name in other.changes or (dot and kind in other.policies):
            hint = f" (one of sweeps with {other.work}, and this one has {self.work})"
        raise OptionError(
            f"unknown axis {name!r}{hint}; known: {', '.join(known)}, "
            f"and parameters of policies such as predictor.probability"
        )

    def set_parameters(self, options: dict[str, object], parameters: Mapping[str, object]) -> None:
        """Set dotted parameters, ``{"predictor.probability": 0.1}``, in the policies of `options`.

        Raises
        ------
        OptionError
            If there is no such policy, or it has no such parameter.

        Examples
        --------
        >>> import faultsim as fs
        >>> options = {"predictor": fs.Confidence(0.5)}
        >>> JOBS.set_parameters(options, {"predictor.probability": 0.1})
        >>> options
        {'predictor': Confidence(probability=0.1)}
        """
        for name, value in parameters.items():
            kind, _, parameter = name.partition(".")
            policy = options.get(kind, self.scheduler if kind == "scheduler" else None)
            if isinstance(policy, str) and policy != "node":  # outputs that stay there have no parameters
                policy = parse_policy(self.policies[kind], policy)
            if not isinstance(policy, Policy):
                raise OptionError(
                    f"axis {name}: there is no {kind} whose {parameter} could be set; give one in the base"
                )
            if isinstance(policy, Slurm):  # its options are no fields; it refuses others by name
                options[kind] = policy.replace(**{parameter: value})
                continue
            there: list[str] = [field.name for field in fields(policy)] if is_dataclass(policy) else []
            if (old := renames.renamed("parameter", type(policy).__name__).get(parameter)) is not None:
                renames.warn(name, f"{kind}.{old.new}")
                parameter = old.new
            if parameter not in there:
                hint = checks.did_you_mean(parameter, there)
                raise OptionError(
                    f"axis {name}: {type(policy).__name__} has no parameter {parameter!r}{hint}; it has: "
                    f"{', '.join(there) or 'none'}"
                )
            if isinstance(value, str) and isinstance(getattr(policy, parameter), Policy):
                value = parse_policy(parameter, value)
            options[kind] = replace(policy, **{parameter: value})  # type: ignore[type-var]


def _options_of(run: type) -> tuple[str, ...]:
    return tuple(field.name for field in fields(run) if field.name not in ("_", "record"))


JOBS = Axes("log", "machine", _options_of(Run), {kind: kind for kind in KINDS}, DEFAULT_SCHEDULER, CHANGES)
WORKFLOWS = Axes(
    "workflows",
    "resources",
    _options_of(WorkflowRun),
    {"scheduler": "workflow_scheduler", "predictor": "predictor", "outputs": "outputs"},
    DEFAULT_WORKFLOW_SCHEDULER,
    WORKFLOW_CHANGES,
)


def axes_of(names: Iterable[object]) -> Axes:
    """The axes of the sweep that has these names in its base and on its axes.

    Raises
    ------
    OptionError
        If it names job logs and workflows.

    Examples
    --------
    >>> axes_of(["workflows", "scheduler"]).machine, axes_of(["scheduler"]).machine
    ('resources', 'machine')
    """
    given = list(names)
    found = {kind.work: [name for name in (kind.work, kind.machine) if name in given] for kind in (JOBS, WORKFLOWS)}
    if found["log"] and found["workflows"]:
        raise OptionError(
            f"a sweep is of job logs (log, machine) or of workflows (workflows, resources), and this one has "
            f"{found['log'][0]} and {found['workflows'][0]}: make two, which may share a store"
        )
    return WORKFLOWS if found["workflows"] else JOBS


def given_names(base: object, grid: object, zipped: object, cells: Iterable[object] | None) -> list[object]:
    """All names of options and axes in the arguments of a `Sweep`, those in bundles too; what is no mapping has none.

    Examples
    --------
    >>> given_names({"machine": 1}, {"policy": {"a": {"scheduler": 2}}}, None, None)
    ['machine', 'policy', 'scheduler']
    """
    bundles = [
        bundle
        for values in (grid.values() if isinstance(grid, Mapping) else ())
        for bundle in (values.values() if isinstance(values, Mapping) else ())
    ]
    groups = zipped if isinstance(zipped, Sequence) and not isinstance(zipped, str) else [zipped]
    parts = [base, grid, *bundles, *groups, *(cells or ())]
    return [name for part in parts if isinstance(part, Mapping) for name in part]


def checked_axes(base: object, grid: object, zipped: object, cells: Iterable[object] | None) -> Axes:
    """The axes of a `Sweep` with these arguments, each name in which is checked.

    Raises
    ------
    OptionError
        If it names job logs and workflows, or what is no axis.

    Examples
    --------
    >>> checked_axes({"machine": 1}, {"policy": {"a": {"scheduler": 2}}}, None, None).machine
    'machine'
    """
    names = given_names(base, grid, zipped, cells)
    axes = axes_of(names)
    bundles = [name for name, values in grid.items() if is_bundle(values)] if isinstance(grid, Mapping) else []
    for name in names:
        if name in bundles:
            check_bundle(name)
        else:
            axes.check(name)
    return axes


def is_bundle(values: object) -> bool:
    """Whether an axis has bundles of settings, under a name of the user's: ``{"old": {...}, "new": {...}}``."""
    return isinstance(values, Mapping) and bool(values) and all(isinstance(each, Mapping) for each in values.values())
