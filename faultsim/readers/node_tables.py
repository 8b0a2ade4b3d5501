"""Reads tables of nodes: what ``scontrol show node`` and ``sinfo -N`` print, or a CSV with a row per node or class."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from faultsim import vocabulary
from faultsim.errors import InputError
from faultsim.readers.csv_rows import csv_rows
from faultsim.readers.input_lines import Lines

#: What columns are called, in lower case -> what they hold.
_CALLED = {
    "nodename": "name", "nodelist": "name", "hostnames": "name", "node": "name", "name": "name", "class": "name",
    "hosts": "name", "nodehost": "name",
    "count": "count", "nodes": "count",
    "cputot": "cores", "cpus": "cores", "cores": "cores", "ncpus": "cores",
    "realmemory": "memory", "memory": "memory", "mem": "memory",
    "gres": "gpus", "gpus": "gpus", "gpu_type": "gpu_type",
    "availablefeatures": "features", "avail_features": "features", "active_features": "features",
    "features": "features",
    "weight": "weight",
    "partitions": "partitions", "partition": "partitions",
    "timelimit": "max_time", "max_time": "max_time",
}  # fmt: skip
_MIB = 2.0**20
_COUNT = re.compile(r"\d+")
_GPU = re.compile(r"gpu(?::([A-Za-z][\w.-]*))?(?::(\d+))?(?:\(.*\))?")
_NOTHING = ("", "(null)", "n/a", "none", "-")


@dataclass
class NodeRow:
    """One row of a table: `count` equal nodes, or one with its name.

    Memory is in MiB, 0 where it is missing; the time of a partition is in seconds.
    """

    where: str
    name: str
    count: int = 1
    cores: int = 0
    memory: int = 0
    gpus: tuple[str, int] | None = None
    weight: int = 1
    features: tuple[str, ...] = ()
    partitions: tuple[str, ...] = ()
    default: str = ""
    max_time: dict[str, float] = field(default_factory=dict)


def read_nodes(path: str | os.PathLike[str]) -> list[NodeRow]:
    """The rows of a table of nodes, in the order of the file.

    Raises
    ------
    InputError
        No such file; no table of nodes; a column that is missing, or a value that cannot be read, with its line.

    Examples
    --------
    >>> with open("nodes.txt", "w") as file:
    ...     _ = file.write("NODELIST CPUS MEMORY GRES PARTITION WEIGHT\\nn1 32 191000 (null) main* 10\\n")
    >>> read_nodes("nodes.txt")[0].cores
    32
    """
    lines = Lines(path)
    text = b"".join(lines).decode("utf-8-sig", "replace")
    if "NodeName=" in text:
        rows = _of_scontrol(text)
    else:
        first = next((line for line in text.splitlines() if line.strip()), "")
        rows = _of_csv(path) if "," in first else _of_columns(lines.name, text)
    if not rows:
        raise InputError(
            f"{lines.name}: no table of nodes; expected the output of 'scontrol show node' or 'sinfo -N -O "
            f"NodeList,CPUs,Memory,Gres,Features,Partition,Weight', or a CSV with columns such as name, cores, memory"
        )
    return [_row(f"{lines.name}, line {number}", row) for number, row in rows]


Row = tuple[int, dict[str, str]]


def _of_scontrol(text: str) -> list[Row]:
    """Words ``key=value``; each NodeName begins a node."""
    rows: list[Row] = []
    for number, line in enumerate(text.splitlines(), 1):
        for word in line.split():
            key, equals, value = word.partition("=")
            if equals and key == "NodeName":
                rows.append((number, {}))
            if equals and rows and (called := _CALLED.get(key.lower())):
                rows[-1][1].setdefault(called, value)
    return rows


def _of_columns(name: str, text: str) -> list[Row]:
    """A line of names, then a line per row, with spaces between values."""
    lines = [(number, line.split()) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    names = [_CALLED.get(word.lower(), "") for word in lines[0][1]] if lines else []
    if "name" not in names:
        return []
    rows: list[Row] = []
    for number, words in lines[1:]:
        if len(words) != len(names):
            raise InputError(
                f"{name}, line {number}: {len(words)} values for {len(names)} columns; give sinfo wider columns, such "
                f"as -O NodeList:30,Gres:60"
            )
        rows.append((number, {key: word for key, word in zip(names, words, strict=True) if key}))
    return rows


def _of_csv(path: str | os.PathLike[str]) -> list[Row]:
    rows = list(csv_rows(Lines(path)))
    names = [_CALLED.get(word.strip().lower(), "") for word in rows[0][1]]
    if "name" not in names:
        return []
    return [
        (number, {key: word.strip() for key, word in zip(names, words, strict=False) if key})
        for number, words in rows[1:]
    ]


def _row(where: str, given: Mapping[str, str]) -> NodeRow:
    found = NodeRow(where, given.get("name", ""))
    if given.get("cores", "") in _NOTHING:
        raise InputError(f"{where}: the number of cores of {found.name!r} is missing (column cores, CPUS or CPUTot)")
    found.cores, found.count = (_whole(where, key, given.get(key, "1")) for key in ("cores", "count"))
    found.weight = _whole(where, "weight", given.get("weight", "1"))
    found.memory = _memory(where, given.get("memory", ""))
    found.gpus = _gpus(where, given.get("gpus", ""), given.get("gpu_type", ""))
    features = given.get("features", "")
    found.features = () if features.lower() in _NOTHING else tuple(re.split(r"[,+;|&]", features))
    partitions = given.get("partitions", "")
    names = [] if partitions.lower() in _NOTHING else re.split(r"[,+;|]", partitions)
    found.default = next((name[:-1] for name in names if name.endswith("*")), "")
    found.partitions = tuple(name.rstrip("*") for name in names)
    if (limit := given.get("max_time", "")).lower() not in _NOTHING:
        seconds = vocabulary.duration(limit, short=True)
        if seconds is None:
            raise InputError(f"{where}: {limit!r} is no time limit")
        if seconds < math.inf:
            found.max_time = dict.fromkeys(found.partitions, seconds)
    return found


def _whole(where: str, name: str, text: str) -> int:
    if not _COUNT.fullmatch(text):
        raise InputError(f"{where}: {name} {text!r} is no whole number")
    return int(text)


def _memory(where: str, text: str) -> int:
    """MiB; a bare number is in MiB, as Slurm prints it."""
    if text.lower() in _NOTHING:
        return 0
    size = vocabulary.size(text, binary=True)
    if size is None or not size < math.inf:
        raise InputError(f"{where}: memory {text!r} is no amount, such as 191000 (MiB) or 187G")
    return int(size if text[-1].isdigit() else size / _MIB)


def _gpus(where: str, text: str, kind: str) -> tuple[str, int] | None:
    """``gpu:v100:2(S:0-1)``, ``gpu:2``, ``v100:2`` or a number."""
    if text.lower() in _NOTHING or text == "0":
        return None
    if _COUNT.fullmatch(text):
        return kind or "gpu", int(text)
    parts = [part for part in text.split(",") if part.startswith("gpu")]
    found = _GPU.fullmatch(parts[0]) if parts else None
    if found is None:
        name, colon, number = text.partition(":")
        if not text.startswith("gpu") and colon and _COUNT.fullmatch(number):
            return name, int(number)
        if not parts and "gpu" not in text:
            return None  # other resources
        raise InputError(f"{where}: GPUs {text!r} cannot be read; expected such as gpu:v100:2")
    if len(parts) > 1:
        raise InputError(f"{where}: {text!r} has GPUs of several types; nodes of a site have those of one")
    return found[1] or kind or "gpu", int(found[2] or 1)
