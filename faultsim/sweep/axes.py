"""The axes that a sweep may have: every option of a run, parameters of its policies, and changes of its inputs."""

from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

from faultsim import checks, renames
from faultsim.errors import OptionError
from faultsim.policies import Policy, parse_policy, registry
from faultsim.simulation.run import DEFAULT_SCHEDULER, Run


@dataclass(frozen=True)
class Change:
    """An axis that changes an input of the run.

    Parameters
    ----------
    name : str
        Of the axis.
    of : {"log", "failures"}
        What it changes.
    apply : callable(input, value, run) -> input
        ``run`` holds the machine's ``nodes`` and a ``seed`` of the replicate for this purpose.
    meaning : str
        For documentation.
    draws : bool
        Whether the seed matters.
    """

    name: str
    of: str
    apply: Callable[[Any, Any, int, int], Any]
    meaning: str
    draws: bool = False


#: Axes that change inputs, in the order in which they are applied.
CHANGES: dict[str, Change] = {
    row.name: row
    for row in (
        Change("head", "log", lambda log, n, nodes, seed: log.head(n), "only the first jobs"),
        Change(
            "runtime_factor",
            "log",
            lambda log, c, nodes, seed: log.with_runtime_factor(c),
            "run times and estimates times a factor",
        ),
        Change(
            "gap_factor", "log", lambda log, f, nodes, seed: log.with_gap_factor(f), "gaps between arrivals times it"
        ),
        Change(
            "load",
            "log",
            lambda log, load, nodes, seed: log.with_load(load, nodes=nodes),
            "gaps scaled to this offered load",
        ),
        Change(
            "failure_span",
            "failures",
            lambda trace, span, nodes, seed: trace.with_span(span),
            "failures over this span, s",
        ),
        Change(
            "failure_count",
            "failures",
            lambda trace, count, nodes, seed: trace.with_count(count, rng=seed),
            "this many of the failures, drawn for each replicate; smaller sets are nested in larger ones",
            draws=True,
        ),
    )
}

#: Options of a run that an axis may set, except `record`: a sweep keeps numbers, not events.
OPTIONS: tuple[str, ...] = tuple(field.name for field in fields(Run) if field.name not in ("_", "record"))
#: Kinds of policies among them.
KINDS = tuple(kind for kind, row in registry.KINDS.items() if row.option)
#: Axes on which the inputs depend: all runs that share their values share log and failures.
INPUT_AXES = frozenset({"log", "machine", "failures", "seed", *CHANGES})

#: Columns of tables and statistics other than axes; bundles cannot have these names.
TAKEN = frozenset(
    {"replicate", "run", "status", "n", "mean", "sd", "half", "low", "high", "baseline", "difference", "relative"}
    | {"correlation", "p", "p_wilcoxon", "p_holm", "significant", "needed"}
)


def check_bundle(name: str) -> None:
    """Reject a name for bundles that is already a column of tables.

    Examples
    --------
    >>> check_bundle("policy")
    """
    if name in TAKEN or not isinstance(name, str):
        raise OptionError(f"axis {name}: bundles need another name, tables already have a column {name!r}")


def check_axis(name: str) -> None:
    """Reject an unknown axis, listing the valid names.

    Examples
    --------
    >>> check_axis("predictor.probability")
    >>> check_axis("runtime_facter")
    Traceback (most recent call last):
    ...
    faultsim.errors.OptionError: unknown axis 'runtime_facter' (did you mean 'runtime_factor'?); known: ...
    """
    if not isinstance(name, str):
        raise OptionError(f"an axis has a name, got {name!r:.60}")
    if name in OPTIONS or name in CHANGES:
        return
    kind, dot, parameter = name.partition(".")
    if dot and kind in KINDS and parameter.isidentifier():
        return
    if name == "record":
        raise OptionError("record cannot be an axis: a sweep keeps metrics, not events; simulate one run with it")
    known = (*OPTIONS, *CHANGES)
    raise OptionError(
        f"unknown axis {name!r}{checks.did_you_mean(name, known)}; known: {', '.join(known)}, "
        f"and parameters of policies such as predictor.probability"
    )


def with_parameters(options: dict[str, Any], parameters: dict[str, Any]) -> None:
    """Set dotted parameters, ``{"predictor.probability": 0.1}``, in the policies of `options`.

    Raises
    ------
    OptionError
        If there is no such policy, or it has no such parameter.

    Examples
    --------
    >>> import faultsim as fs
    >>> options = {"predictor": fs.Confidence(0.5)}
    >>> with_parameters(options, {"predictor.probability": 0.1})
    >>> options
    {'predictor': Confidence(probability=0.1)}
    """
    for name, value in parameters.items():
        kind, _, parameter = name.partition(".")
        policy = options.get(kind, DEFAULT_SCHEDULER if kind == "scheduler" else None)
        if isinstance(policy, str):
            policy = parse_policy(kind, policy)
        if policy is None:
            raise OptionError(f"axis {name}: there is no {kind} whose {parameter} could be set; give one in the base")
        there = [field.name for field in fields(policy)] if is_dataclass(policy) else []
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
        options[kind] = replace(policy, **{parameter: value})
