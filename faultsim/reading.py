"""`read`: reads any file that faultsim knows; `read_site`, which makes a machine of one."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from faultsim import checks
from faultsim.entries import entry
from faultsim.errors import InputError, OptionError
from faultsim.machines import Site
from faultsim.readers.node_tables import NodeRow, read_nodes
from faultsim.readers.table import READERS, candidates, what_is
from faultsim.site_rows import site_of

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


def read_site(path: str | os.PathLike[str]) -> Site:
    """Read the nodes of a site: the output of ``scontrol show node`` or ``sinfo -N``, or a CSV.

    Parameters
    ----------
    path : path
        ``sinfo -N -O NodeList,CPUs,Memory,Gres,Features,Partition,Weight`` prints a row per node and partition.  A CSV
        has a row per node or class, with the columns name and cores and perhaps count, memory (MiB, or ``187G``), gpus
        (``v100:2``), weight, features, partition and max_time.  "-" is standard input.

    Returns
    -------
    Site
        Nodes with equal amounts, features and partitions are a class, named after them, in the order of the file.

    Raises
    ------
    InputError
        No such file; no table of nodes; a value that cannot be read, with its line.
    OptionError
        What no site can have.

    Examples
    --------
    >>> import faultsim as fs
    >>> with open("nodes.txt", "w") as file:
    ...     _ = file.write(
    ...         "NODELIST  CPUS  MEMORY  GRES        PARTITION  WEIGHT\\n"
    ...         "n1        32    191488  (null)      main*      10\\n"
    ...         "n2        32    191488  (null)      main*      10\\n"
    ...         "g1        40    191488  gpu:v100:2  gpu        50\\n"
    ...     )
    >>> print(fs.read_site("nodes.txt"))
    site:n=2x32c187G@10,g=1x40c187Gx2v100@50/main=n,default/gpu=g
    """
    merged: dict[str, NodeRow] = {}
    for at, row in enumerate(read_nodes(path)):
        known = merged.setdefault(row.name if row.count == 1 else f"{row.name} {at}", row)
        known.partitions = tuple(dict.fromkeys((*known.partitions, *row.partitions)))
        known.default = known.default or row.default
        known.max_time = {**row.max_time, **known.max_time}
    return site_of(list(merged.values()))
