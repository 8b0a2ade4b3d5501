"""The run behind a result, made again of what the result has stored."""

from collections.abc import Mapping
from typing import Any

from faultsim.data.further import further_names
from faultsim.data.workload import Workload
from faultsim.errors import OptionError
from faultsim.policies import from_lowered
from faultsim.results.result import Result
from faultsim.simulation.run import Run

_KINDS = ("scheduler", "placement", "migration", "recovery", "predictor", "checkpointing", "rescheduling")


def run_of(result: Result, own: Mapping[str, object]) -> Run:
    """The run behind a result.

    Parameters
    ----------
    result : Result
        Of this session or loaded.
    own : mapping
        Kind -> policy, instead of the stored one; None: the stored one.

    Raises
    ------
    OptionError
        If decisions came from outside, a policy written in Python was not saved, or the caller owned time.
    """
    record = result.record
    options = dict(record.settings)
    for noted in ("machine", "engine", "oracle_runtimes", "without_effect"):
        options.pop(noted, None)
    if options.pop("live", False):
        raise OptionError("the result of a simulation with live= does not hold what it was told: it cannot be repeated")
    for kind in _KINDS:
        given = own.get(kind)
        options[kind] = from_lowered(kind, options[kind], record.arrays.get(kind)) if given is None else given
    options["failures"] = record.failures
    columns: dict[str, Any] = dict(record.columns)
    further = {name: columns.pop(name) for name in further_names(columns)}
    log = Workload(**columns, columns=further, dropped=record.dropped, name=record.source)
    return Run(log, result.machine, **options)
