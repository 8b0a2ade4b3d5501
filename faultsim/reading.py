"""`read`: reads any file that faultsim knows."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from faultsim import checks
from faultsim.entries import entry
from faultsim.errors import InputError, OptionError
from faultsim.readers.table import READERS, candidates, what_is

_SQLITE = b"SQLite format 3\0"


@entry
def read(path: str | os.PathLike[str], format: str | None = None, **options: Any) -> Any:
    """Read any file that faultsim knows: a job log, failure trace, workflow, saved result or store of a sweep.

    Parameters
    ----------
    path : path
        The file; what it is, is judged by its content, and for some workflows by the end of its name.
    format : str, optional
        Name of the format in `READERS`, where the judgement is wrong.  A name that several kinds have (``"csv"``) means
        that kind for which the file was taken, or else the first.
    **options
        Those of the reader, such as ``submit="when"`` of `read_jobs`.

    Returns
    -------
    Workload, FailureTrace, Workflow, Result, WorkflowResult or SweepTable
        The logger "faultsim" says at level INFO which reader was taken; ``what_is(path)`` of `faultsim.readers.table`
        says it without reading.

    Raises
    ------
    InputError
        If there is no such file, or it cannot be read; the message names the format for which it was taken.
    OptionError
        An unknown format, or an option that its reader does not have.

    Examples
    --------
    >>> import faultsim as fs
    >>> fs.FailureTrace([60], [0], [30], span=100).write_csv("trace.csv")
    >>> fs.read("trace.csv")
    <FailureTrace 'trace': 1 failure, nodes 0-0, span 100 s>
    """
    if format is None:
        reader = what_is(path)
    else:
        rows = [row for row in READERS if row.name == format]
        if not rows:
            checks.choice("format", format, dict.fromkeys(row.name for row in READERS))
        likely = candidates(path) if len(rows) > 1 and path != "-" else []
        reader = next((row for row in likely if row in rows), rows[0])
    for name in options:
        if name not in reader.options:
            listed = ", ".join(reader.options) or "none"
            raise OptionError(
                f"{path}: {reader.called} has no option {name!r}{checks.did_you_mean(name, reader.options)}; "
                f"it has {listed}"
            )
    import logging

    logging.getLogger("faultsim").info("%s: taken for a %s", path, reader.called)
    try:
        return _saved(path, **options) if reader.name == "result" else reader.read(path, **options)
    except InputError as error:
        if format is not None:
            raise
        raise InputError(f"{error} (taken for a {reader.called}; format= says what it is)") from None


def _saved(path: str | os.PathLike[str], *, allow_older_results: bool = False) -> object:
    """A saved result, of jobs or of workflows, or the store of a sweep."""
    with open(path, "rb") as file:
        is_store = file.read(16).startswith(_SQLITE)
    if is_store:
        from faultsim.sweep import load_sweep

        return load_sweep(path, allow_older_results=allow_older_results)
    from faultsim.results.load import load_result
    from faultsim.results.saved_file import OF_WORKFLOWS, form_of
    from faultsim.results.saved_workflows import load_workflow_result

    load: Callable[..., object] = load_workflow_result if form_of(path) is OF_WORKFLOWS else load_result
    return load(path, allow_older_results=allow_older_results)
