"""Parameters of policies: unit and default from the fields of a class, type and meaning from its docstring."""

import inspect
import re
from dataclasses import dataclass, fields
from typing import Any, get_args

from faultsim.policies.base import Policy

__all__ = ["COLUMNS", "Parameter", "parameters_of"]

#: Parameters that are columns, which text cannot give.
COLUMNS = ("time", "node", "index")


@dataclass(frozen=True)
class Parameter:
    """A parameter of a policy; the unit is "" if it is no number, the default `dataclasses.MISSING` if it has none."""

    name: str
    unit: str
    default: Any
    type: str
    meaning: str


def parameters_of(cls: type[Policy]) -> tuple[Parameter, ...]:
    """The parameters of a class, in order, without columns.

    Examples
    --------
    >>> from faultsim.policies import LongJobs
    >>> parameters_of(LongJobs)
    (Parameter(name='seconds', unit='s', default=300.0, type='float', meaning='Least time since the start.'),)
    """
    documented = _documented(cls)
    return tuple(
        Parameter(field.name, _unit(field.type), field.default, *documented[field.name])
        for field in fields(cls)  # type: ignore[arg-type]
        if field.name not in COLUMNS
    )


def unit_of(cls: type[Policy], name: str) -> str:
    """The unit of a parameter, "s" for durations; "" if it is no number.

    Examples
    --------
    >>> from faultsim.policies import LongJobs
    >>> unit_of(LongJobs, "seconds")
    's'
    """
    return next(_unit(field.type) for field in fields(cls) if field.name == name)  # type: ignore[arg-type]


def _unit(annotation: object) -> str:
    """The unit of a type such as `Seconds`, or of one of which None is a value, too."""
    marked = [part for part in (annotation, *get_args(annotation)) if hasattr(part, "__metadata__")]
    return next((mark for part in marked for mark in part.__metadata__ if isinstance(mark, str)), "")


def _documented(cls: type[Policy]) -> dict[str, tuple[str, str]]:
    """Type and meaning of each parameter, from the numpydoc section of the class."""
    section = re.search(r"^Parameters\n-+\n(.*?)(?:\n\n|\Z)", inspect.getdoc(cls) or "", re.DOTALL | re.MULTILINE)
    entry = re.compile(r"^(\w[\w, ]*) : (.*)\n((?:    .*(?:\n|$))*)", re.MULTILINE)
    return {
        name: (re.split(r", (?:default|optional)", kind)[0], " ".join(text.split()))
        for names, kind, text in entry.findall(section[1] if section else "")
        for name in names.split(", ")
    }
