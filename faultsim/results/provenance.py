"""How a result came about: versions, settings, input, seed, time. Built on request, not in every run."""

import datetime
import platform
import sys
from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from faultsim.arrays import Floats, Values
from faultsim.data.columns import content_hash
from faultsim.data.failures import FailureTrace
from faultsim.data.further import in_order
from faultsim.data.lowered import Lowered
from faultsim.results.revision import check_pickle
from faultsim.version import MODEL_REVISION, __version__

#: Version of the layout of provenance and of saved results.
SCHEMA = 4


class Record(NamedTuple):
    """References to all inputs of a run, kept with its result; nothing is copied or hashed before it is needed.

    Parameters
    ----------
    settings : dict
        The lowered run: machine, policies and options.  Policies written in Python are kept as objects.
    columns : mapping of str to array
        The workload as it was run (id, submit, runtime, estimate, size, user, and further columns).
    source : str
        Where the workload came from.
    dropped : dict of str to int
        Reason -> number of jobs left out, by the reader and by ``oversized="drop"``.
    failures : FailureTrace or None
        The failures of the run.
    arrays : mapping of str to mapping of str to array
        Kind of policy -> columns that its lowered form only counts.
    started : float
        Unix time of the start.
    elapsed : float
        Seconds the run took.
    saved : dict or None
        For a loaded result, the saved provenance.
    recorded_wait : array or None
        `Workload.recorded_wait` of the log.
    comments : tuple of str
        Header lines of the log.
    """

    # With defaults, although none is used: in pickles of release 0.1.0 it has no arguments, but a state.
    settings: Lowered = {}  # noqa: RUF012
    columns: Mapping[str, Values] = {}
    source: str = ""
    dropped: Mapping[str, int] = {}
    failures: FailureTrace | None = None
    arrays: Mapping[str, Mapping[str, Values]] = {}
    started: float = 0.0
    elapsed: float = 0.0
    saved: dict[str, Any] | None = None
    recorded_wait: Floats | None = None
    comments: tuple[str, ...] = ()

    def __setstate__(self, state: object) -> None:
        check_pickle("Result", None)


@cache
def environment() -> dict[str, str]:
    """Versions of the software used: faultsim, Python, NumPy, and the platform.

    Examples
    --------
    >>> sorted(environment())
    ['faultsim', 'numpy', 'platform', 'python']
    """
    return {
        "faultsim": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "platform": f"{platform.system()} {platform.machine()} {sys.byteorder}-endian",
    }


def digest(columns: Mapping[str, Values]) -> str:
    """Content hash of a workload's columns, the same as `Workload.digest`: equal for equal columns on every machine.

    Examples
    --------
    >>> a = digest({"submit": np.array([0.0, 1.0])})
    >>> a == digest({"submit": np.array([0.0, 1.0])}), len(a)
    (True, 32)
    """
    return content_hash(in_order(columns))


def plain(value: object) -> Any:
    """A lowered form as JSON values: a policy written in Python becomes its class's name and its repr."""
    if isinstance(value, Mapping):
        out = {str(k): plain(v) for k, v in value.items() if k != "object"}
        if "object" in value:
            cls = type(value["object"])
            out["class"] = f"{cls.__module__}.{cls.__qualname__}"
            out["repr"] = repr(value["object"])
        return out
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    return value


def provenance(record: Record) -> dict[str, Any]:
    """The provenance of a run as a dict of JSON values.

    Returns
    -------
    dict
        ``schema``, the `environment`, ``model_revision``, ``settings`` (the lowered run), ``seed``, ``input`` (digest,
        source, jobs, dropped), ``failures`` (None, or count, span, digest, name, dropped, numbers if their meaning is
        known, and slowdowns if there are any), ``started`` (UTC, ISO 8601) and ``elapsed`` (s).
    """
    if record.saved is not None:
        return record.saved
    started = datetime.datetime.fromtimestamp(record.started, datetime.UTC)
    return {
        "schema": SCHEMA,
        **environment(),
        "model_revision": MODEL_REVISION,
        "settings": plain(record.settings),
        "seed": record.settings.get("seed", 0),
        "input": {
            "digest": digest(record.columns),
            "source": record.source,
            "jobs": len(record.columns["submit"]),
            "dropped": dict(record.dropped),
        },
        "failures": identity(record.failures),
        "started": started.isoformat(timespec="microseconds"),
        "elapsed": record.elapsed,
    }


def revision_of(record: Record) -> int | None:
    """The model revision of a run; None if it was saved by a version that did not record it."""
    found: int | None = MODEL_REVISION if record.saved is None else record.saved.get("model_revision")
    return found


def identity(trace: FailureTrace | None) -> dict[str, object] | None:
    """What identifies a failure trace.

    Examples
    --------
    >>> identity(None) is None
    True
    """
    if trace is None:
        return None
    return {
        "count": len(trace),
        "span": trace.span,
        "digest": trace.digest(),
        "name": trace.name,
        "dropped": dict(trace.dropped),
        **({"numbers": trace.of.as_text()} if trace.of else {}),
        **({"slowdowns": [outage.as_text() for outage in trace.slowdowns]} if trace.slowdowns else {}),
    }
