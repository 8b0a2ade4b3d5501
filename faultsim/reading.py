"""`read`: reads any file that faultsim knows; `read_site`, which makes a machine of one."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import Any

from faultsim import checks
from faultsim.entries import entry
from faultsim.errors import InputError, OptionError
from faultsim.machines import NodeClass, Partition, Site
from faultsim.readers.node_tables import NodeRow, read_nodes
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


def site_of(merged: list[NodeRow]) -> Site:
    """A site whose classes are the rows with equal amounts, features and partitions.

    Examples
    --------
    >>> str(site_of([NodeRow("", "n1", cores=4), NodeRow("", "n2", cores=4), NodeRow("", "g1", cores=8)]))
    'site:n=2x4c,g=1x8c'
    """
    groups: dict[tuple[object, ...], list[NodeRow]] = {}
    for row in merged:
        key = (row.cores, row.memory, row.gpus, row.weight, row.features, row.partitions)
        groups.setdefault(key if row.count == 1 else (*key, row.name), []).append(row)
    classes: list[NodeClass] = []
    members: dict[str, list[str]] = {}
    taken: dict[str, int] = {}
    for rows in groups.values():
        first, name = rows[0], _class_name(rows, taken)
        hosts = [row.name for row in rows] if all(row.count == 1 for row in rows) else []
        classes.append(
            NodeClass(
                name,
                sum(row.count for row in rows),
                cores=first.cores,
                memory=f"{first.memory}M" if first.memory else "",
                gpus=dict([first.gpus]) if first.gpus else None,
                weight=first.weight,
                features=first.features,
                hosts=hosts,
            )
        )
        for partition in first.partitions:
            members.setdefault(partition, []).append(name)
    default = next((row.default for row in merged if row.default), "")
    limits = {name: limit for row in merged for name, limit in row.max_time.items()}
    partitions = [
        Partition(name, names, max_time=limits.get(name), default=name == default) for name, names in members.items()
    ]
    return Site(classes, partitions)


def _class_name(rows: list[NodeRow], taken: dict[str, int]) -> str:
    """The letters at the begin of the first name, with a number if another class has it.

    `taken` has each name that was given, with the last number that was tried after it.
    """
    found = re.match(r"[A-Za-z_][A-Za-z_.-]*", rows[0].name)
    name = found[0].rstrip("-.") if found and rows[0].count == 1 else re.sub(r"[^\w.-]", "", rows[0].name)
    name = name if re.match(r"[A-Za-z_]", name) else f"class{name}"
    given = name
    while given in taken:
        taken[name] += 1
        given = f"{name}_{taken[name]}"
    taken[given] = 1
    return given
