"""The two 10,000-job spans that [krevat2002] simulates, as Table 1 identifies them."""

from __future__ import annotations

from typing import Any

import numpy as np

from faultsim import checks
from faultsim.data.workload import Workload
from faultsim.entries import entry
from faultsim.errors import InputError, OptionError

_JOBS = 10_000
# The paper names no span.  Among all windows of 10,000 job numbers of the NASA log, those that begin at 19,915 to
# 20,099 give the printed means and deviations; 20,001 is the round one.
_NASA_FIRST = 20_001
# The archive's cleaned NASA log lacks the `pwd` runs that checked whether the machine is up: 1 node, user 3 ("user=3
# and proc=1 and app=1" in its header).  36 s each give the printed workload; 25 to 46 s do to the printed digits.
_PWD_RUNTIME, _PWD_USER = 36.0, 3


@entry
def krevat_span(log: Workload, which: str) -> Workload:
    """The 10,000 jobs of a log that [krevat2002] simulates (Table 1).

    Parameters
    ----------
    log : Workload
        ``NASA-iPSC-1993-3.1-cln.swf`` (or the uncleaned log) or ``SDSC-SP2-1998-4.2-cln.swf`` of the Parallel
        Workloads Archive, whole.
    which : {"nasa", "sdsc"}
        The paper's log.

    Returns
    -------
    Workload
        "sdsc": the first 10,000 jobs.  "nasa": job numbers 20,001 to 30,000; those that the cleaned log lacks are
        restored as jobs of 1 node and 36 s that arrive at whole seconds, evenly between their neighbors.

    Raises
    ------
    InputError
        The log does not contain the span.
    OptionError
        An unknown name.

    Notes
    -----
    `Workload.summary` with 128 nodes gives Table 1 to the printed digits: size 6.3 (14.4) and work 0.881e6 (5.41e6)
    node-seconds for NASA, 9.7 (14.8) and 7.1e6 (25.5e6) for SDSC.

    Examples
    --------
    >>> import faultsim as fs
    >>> log = fs.Workload(submit=range(12_000), runtime=[60] * 12_000, size=[4] * 12_000)
    >>> len(fs.krevat_span(log, "sdsc"))
    10000
    """
    if not isinstance(log, Workload):
        raise InputError(f"krevat_span: the log must be a Workload, got {checks.shown(log, 'Workload')}")
    if which == "sdsc":
        if len(log) < _JOBS:
            raise InputError(f"krevat_span: the log has {len(log)} jobs; expected SDSC-SP2 with its 54,044")
        return log.head(_JOBS).renamed("SDSC (Krevat's span)")
    if which == "nasa":
        return _nasa(log)
    raise OptionError(f"krevat_span: unknown log {which!r}; known are 'nasa' and 'sdsc'")


def _nasa(log: Workload) -> Workload:
    last = _NASA_FIRST + _JOBS - 1
    if log.further or log.id.dtype.kind != "i":
        raise InputError("krevat_span: expected the NASA iPSC log with its own numbers, and without further columns")
    order = np.argsort(log.id, kind="stable")
    ids, submit = log.id[order], log.submit[order]
    if ids[0] > _NASA_FIRST or ids[-1] < last or (ids[1:] == ids[:-1]).any():
        raise InputError(
            f"krevat_span: the log has job numbers {ids[0]}-{ids[-1]}; expected the NASA iPSC log with its own "
            f"numbers, each once, which cover {_NASA_FIRST}-{last}"
        )
    inside = log[(log.id >= _NASA_FIRST) & (log.id <= last)]
    lacking = np.setdiff1d(np.arange(_NASA_FIRST, last + 1), inside.id)
    if not len(lacking):
        return inside.renamed("NASA (Krevat's span)")
    arrivals = np.floor(np.interp(lacking, ids, submit))
    n = len(lacking)
    columns: dict[str, Any] = {
        "id": np.concatenate([inside.id, lacking]),
        "submit": np.concatenate([inside.submit, arrivals]),
        "runtime": np.concatenate([inside.runtime, np.full(n, _PWD_RUNTIME)]),
        "estimate": np.concatenate([inside.estimate, np.full(n, -1.0)]),
        "size": np.concatenate([inside.size, np.ones(n, dtype=np.int32)]),
        "user": np.concatenate([inside.user, np.full(n, _PWD_USER)]),
    }
    rows = np.lexsort((columns["id"], columns["submit"]))
    return Workload(
        **{key: values[rows] for key, values in columns.items()},
        dropped=log.dropped,
        name="NASA (Krevat's span)",
        comments=log.comments,
    )
