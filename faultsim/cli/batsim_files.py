"""Platforms and workloads of Batsim: how many hosts there are, and what the jobs are."""

import json
import math
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

import faultsim as fs
from faultsim.errors import InputError

#: Roles of hosts that compute nothing.
_OTHER_ROLES = {"master", "storage"}
_UNITS = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18}


class Host(NamedTuple):
    """A compute host: its name, and its speed in flop/s."""

    name: str
    speed: float


class Jobs(NamedTuple):
    """A workload, and what the scheduler gets of its jobs, by row."""

    log: fs.Workload
    given: list[dict[str, Any]]
    profiles: dict[str, dict[str, object]]


def read_platform(path: str, master: str) -> list[Host]:
    """The compute hosts of a SimGrid platform, by ascending name as Batsim numbers them; `master` is none of them.

    Text such as ``cluster:128`` is as many hosts of 1 Gflop/s.
    """
    if found := re.fullmatch(r"cluster:(\d+)", path):
        nodes = fs.Cluster(int(found[1])).nodes
        return [Host(f"host{i}", 1e9) for i in range(nodes)]
    try:
        root = ElementTree.parse(path).getroot()
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from None
    except ElementTree.ParseError as error:
        raise InputError(f"{path}: not a platform of SimGrid: {error}; or give cluster:N") from None
    if root.tag != "platform":
        raise InputError(f"{path}: not a platform of SimGrid: its root is <{root.tag}>, not <platform>")
    hosts = [host for element in root.iter() for host in _hosts(path, element) if host.name != master]
    if not hosts:
        raise InputError(f"{path}: the platform has no compute host besides the master {master!r}")
    return sorted(hosts, key=lambda host: _numbered(host.name))


def _numbered(name: str) -> list[tuple[int, int, str]]:
    """Numbers in names count as numbers: host2 stands before host10."""
    return [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in re.findall(r"\d+|\D+", name)]


def _hosts(path: str, element: ElementTree.Element) -> list[Host]:
    if element.tag == "host":
        roles = {prop.get("value") for prop in element.iter("prop") if prop.get("id") == "role"}
        return [] if roles & _OTHER_ROLES else [Host(element.get("id", ""), _speed(path, element))]
    if element.tag != "cluster":
        return []
    before, after = element.get("prefix", ""), element.get("suffix", "")
    speed = _speed(path, element)
    return [Host(f"{before}{number}{after}", speed) for number in _radical(path, element.get("radical", ""))]


def _radical(path: str, text: str) -> list[int]:
    """The numbers of a cluster, such as 0-31,40."""
    numbers: list[int] = []
    for part in text.split(","):
        found = re.fullmatch(r"\s*(\d+)(?:-(\d+))?\s*", part)
        if not found:
            raise InputError(f"{path}: a cluster has radical={text!r}; it must be numbers such as 0-31")
        first, last = int(found[1]), int(found[2] or found[1])
        if last - first > 10_000_000:
            raise InputError(f"{path}: a cluster has radical={text!r}: at most 10,000,000 hosts")
        numbers += range(first, last + 1)
    return numbers


def _speed(path: str, element: ElementTree.Element) -> float:
    """In flop/s; of several power states the first."""
    text = (element.get("speed") or element.get("power") or "1Gf").split(",")[0].strip()
    found = re.fullmatch(r"([\d.eE+-]+)([kMGTPE]?)(?:f|flops)?", text)
    try:
        speed = float(found[1]) * _UNITS[found[2]] if found else 0.0
    except ValueError:
        speed = 0.0
    if not 0 < speed < math.inf:
        raise InputError(f"{path}: <{element.tag}> has speed={text!r}; it must be such as 1Gf")
    return speed


def read_workload(path: str, hosts: list[Host], workload: str = "w0") -> Jobs:
    """The jobs of a workload in JSON, in the order in which Batsim submits them: by time, then by identifier."""
    try:
        given = json.loads(Path(path).read_bytes())
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: not a workload of Batsim, which is JSON: {error}") from None
    jobs, profiles = (given.get(name) for name in ("jobs", "profiles")) if isinstance(given, dict) else (None, None)
    if not isinstance(jobs, list) or not isinstance(profiles, dict):
        raise InputError(f'{path}: a workload of Batsim is an object with "jobs", a list, and "profiles", an object')
    if not jobs:
        raise InputError(f"{path}: the workload has no jobs")
    slowest = min(host.speed for host in hosts)
    rows = []
    for number, job in enumerate(jobs):
        what = f"{path}: job {number}"
        if not isinstance(job, dict):
            raise InputError(f"{what} must be an object, got {job!r:.40}")
        what = f"{path}: job {job.get('id')!r}"
        size = _field(what, job, "res", whole=True, low=1)
        submit = _field(what, job, "subtime", low=0)
        walltime = _field(what, job, "walltime", low=None) if "walltime" in job else -1.0
        profile = profiles.get(job.get("profile"))
        if not isinstance(profile, dict):
            raise InputError(f'{what} has the profile {job.get("profile")!r:.60}, which is not in "profiles"')
        runtime = _runtime(f"{path}: profile {job['profile']!r}", profile, int(size), slowest)
        name = str(job.get("id", "")).rpartition("!")[2]
        if not name:
            raise InputError(f"{what} needs an id")
        named = {**job, "id": f"{workload}!{name}", "subtime": submit}
        rows.append((submit, named["id"], runtime, int(size), walltime if walltime > 0 else -1.0, named))
    names = [row[1] for row in rows]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"{path}: two jobs have the id {twice!r}")
    rows.sort(key=lambda row: row[:2])
    submits, _, runtimes, sizes, estimates, forwarded = zip(*rows, strict=True)
    log = fs.Workload(submit=submits, runtime=runtimes, size=sizes, estimate=estimates, name=os.path.basename(path))
    return Jobs(log, list(forwarded), profiles)


def _field(what: str, given: Mapping[str, object], name: str, *, low: float | None, whole: bool = False) -> float:
    value: Any = given.get(name)
    is_number = type(value) in (int, float) and math.isfinite(value)
    if not is_number or (whole and value != int(value)) or (low is not None and value < low):
        kind = "a whole number" if whole else "a number"
        least = "" if low is None else f" of at least {low:g}"
        raise InputError(f"{what}: {name} must be {kind}{least}, got {value!r:.40}")
    return float(value)


def _runtime(what: str, profile: Mapping[str, object], size: int, speed: float) -> float:
    """Seconds that a job with this profile runs: there is no network, and the slowest host counts."""
    kind = profile.get("type")
    if kind == "delay":
        return _field(what, profile, "delay", low=0)
    if kind in ("parallel_homogeneous", "parallel_homogeneous_total"):
        if profile.get("com"):
            raise InputError(f"{what} communicates, and there is no network here: give com 0, or use a delay")
        return _field(what, profile, "cpu", low=0) / speed / (size if kind.endswith("total") else 1)
    raise InputError(
        f"{what} has the type {kind!r:.40}; it must be delay, parallel_homogeneous or parallel_homogeneous_total"
    )
