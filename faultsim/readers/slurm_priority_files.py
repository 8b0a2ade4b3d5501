"""What priorities depend on in slurm.conf, gres.conf and the accounts of sacctmgr: see `read_priority_conf`."""

from __future__ import annotations

import math
import os
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from faultsim import vocabulary
from faultsim.data.host_lists import expanded
from faultsim.errors import InputError
from faultsim.readers.input_lines import Lines, shown
from faultsim.readers.slurm_values import natural

_KEY = re.compile(r"([A-Za-z][\w/:.-]*)\s*\+?=\s*")


@dataclass
class NodeLine:
    """A node: CPUs, memory in MiB, and GPUs in all."""

    name: str
    cpus: int
    memory: float
    gpus: float


@dataclass
class PartitionLine:
    """A partition: its nodes, ``PriorityJobFactor`` and ``TRESBillingWeights`` (memory per MiB)."""

    name: str
    nodes: list[str]
    job_factor: int
    billing: dict[str, float]


@dataclass
class AccountLine:
    """An association: `shares` is None for ``fairshare=parent``."""

    account: str
    user: str
    parent: str
    shares: int | None = 1
    priority: int | None = None


@dataclass
class PriorityConf:
    """What was read.

    Parameters
    ----------
    settings : dict of str to str
        Settings of slurm.conf that are no nodes and no partitions, by their names in lower case.
    nodes, partitions : dict of str
        By name.
    accounts : dict of tuple of (str, str) to AccountLine
        By account and user; without root itself, with its own user.
    qos : dict of str to int
        Priorities.
    usage_factors : dict of str to float
        Of QOS.
    """

    settings: dict[str, str]
    nodes: dict[str, NodeLine]
    partitions: dict[str, PartitionLine]
    accounts: dict[tuple[str, str], AccountLine] = field(default_factory=dict)
    qos: dict[str, int] = field(default_factory=lambda: {"normal": 0})
    usage_factors: dict[str, float] = field(default_factory=dict)


def read_priority_conf(
    conf: str | os.PathLike[str],
    accounts: Sequence[str | os.PathLike[str]] = (),
    gres: str | os.PathLike[str] | None = None,
) -> PriorityConf:
    """Read what priorities depend on.

    Parameters
    ----------
    conf : path
        slurm.conf, with ``Include`` and lines of ``DEFAULT``.
    accounts : sequence of path
        ``sacctmgr dump``, commands of sacctmgr, and ``sacctmgr --parsable2 show qos``, told apart by content.
    gres : path, optional
        gres.conf: the number of GPUs of a node is checked against it.

    Raises
    ------
    InputError
        No such file, no nodes, no partitions, text that is none of these; with file and line.
    """
    rows: list[tuple[str, int, dict[str, str]]] = []
    for name, number, text in _conf_lines(Path(os.fspath(conf)), []):
        rows.append((name, number, _pairs(name, number, text)))
    found = PriorityConf({}, {}, {})
    defaults: dict[str, dict[str, str]] = {"nodename": {}, "partitionname": {}}
    sets: dict[str, list[str]] = {}
    partitions: list[tuple[str, int, dict[str, str]]] = []
    for name, number, pairs in rows:
        first = next(iter(pairs), "")
        if first in defaults:
            if pairs[first].upper() == "DEFAULT":
                defaults[first] |= {key: value for key, value in pairs.items() if key != first}
                continue
            whole = defaults[first] | pairs
            if first == "nodename":
                for each in expanded(whole["nodename"]):
                    found.nodes[each] = _node(name, number, each, whole)
            else:
                partitions.append((name, number, whole))
        elif first == "nodeset":
            sets[pairs[first]] = expanded(pairs.get("nodes", ""))
        elif first not in ("downnodes", "frontendname", "switchname"):
            found.settings |= pairs
    if not found.nodes:
        raise InputError(f"{os.fspath(conf)}: no line with NodeName=; expected a slurm.conf")
    for name, number, pairs in partitions:
        part = _partition(name, number, pairs, found, sets)
        found.partitions[part.name] = part
    if not found.partitions:
        raise InputError(f"{os.fspath(conf)}: no line with PartitionName=; expected a slurm.conf")
    _put(found, AccountLine("root", "root", "root"))
    for path in accounts:
        _read_accounts(path, found)
    if gres is not None:
        _check_gres(gres, found)
    return found


def _conf_lines(path: Path, within: list[Path]) -> list[tuple[str, int, str]]:
    """Lines without comments, continued lines joined, files included."""
    if path.resolve() in within:
        raise InputError(f"{path}: the file includes itself")
    if len(within) > 8:
        raise InputError(f"{path}: files include each other more than 8 deep")
    found: list[tuple[str, int, str]] = []
    lines = Lines(path)
    text = b"".join(lines).decode("utf-8-sig", "replace")
    pending, begin = "", 0
    for number, line in enumerate(text.splitlines(), 1):
        begin = begin or number
        bare = re.split(r"(?<!\\)#", line, maxsplit=1)[0].rstrip().replace("\\#", "#")
        if bare.endswith("\\"):
            pending += bare[:-1] + " "
            continue
        whole, pending = (pending + bare).strip(), ""
        if whole.lower().startswith("include "):
            other = Path(whole.split(None, 1)[1].strip())
            found += _conf_lines(other if other.is_absolute() else path.parent / other, [*within, path.resolve()])
        elif whole:
            found.append((lines.name, begin, whole))
        begin = 0
    return found


def _pairs(name: str, number: int, text: str) -> dict[str, str]:
    """``Key=value Key=value``; a value with spaces is quoted, or the only one of its line."""
    places = list(_KEY.finditer(text))
    if not places or places[0].start():
        raise InputError(f"{name}, line {number}: expected Key=value, got {shown(text.encode())}")
    found: dict[str, str] = {}
    if places[0][1].lower() not in ("nodename", "partitionname", "nodeset", "downnodes", "name"):
        return {places[0][1].lower(): text[places[0].end() :].strip().strip("\"'")}
    at = 0
    while at < len(text):
        match = _KEY.match(text, at)
        if match is None:
            raise InputError(f"{name}, line {number}: expected Key=value, got {shown(text[at:].encode())}")
        value = re.compile(r"\"[^\"]*\"|'[^']*'|\S*").match(text, match.end())
        assert value is not None
        found[match[1].lower()] = value[0].strip("\"'")
        at = value.end()
        while at < len(text) and text[at].isspace():
            at += 1
    return found


def _is_whole(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 15


def _whole(name: str, number: int, key: str, text: str) -> int:
    if not _is_whole(text):
        raise InputError(f"{name}, line {number}: {key}={text}: expected a whole number")
    return int(text)


def _node(name: str, number: int, node: str, pairs: dict[str, str]) -> NodeLine:
    def get(key: str) -> int:
        return _whole(name, number, key, pairs[key]) if key in pairs else 1

    cpus = get("cpus") if "cpus" in pairs else get("procs") if "procs" in pairs else 0
    if not cpus:
        sockets = get("sockets") if "sockets" in pairs else get("boards") * get("socketsperboard")
        cpus = sockets * get("corespersocket") * get("threadspercore")
    if cpus < 1:
        raise InputError(f"{name}, line {number}: node {node} has no CPUs")
    return NodeLine(node, cpus, float(get("realmemory")), _gpus(pairs.get("gres", "")))


def _gpus(text: str) -> float:
    """GPUs in ``gpu:v100:4,gpu:a100:2,shard:8``."""
    total = 0.0
    for part in re.split(r",(?![^(]*\))", text):
        fields = re.sub(r"\(.*", "", part).split(":")
        if fields[0] == "gpu":
            count = vocabulary.size(fields[-1], binary=True) if len(fields) > 1 and fields[-1][:1].isdigit() else 1.0
            total += count or 0.0
    return total


def _partition(
    name: str, number: int, pairs: dict[str, str], conf: PriorityConf, sets: dict[str, list[str]]
) -> PartitionLine:
    own = pairs["partitionname"]
    text = pairs.get("nodes", "")
    nodes: list[str] = []
    for each in list(conf.nodes) if text.upper() == "ALL" else expanded(text):
        nodes += sets.get(each, [each])
    unknown = [each for each in nodes if each not in conf.nodes]
    if unknown:
        raise InputError(f"{name}, line {number}: partition {own}: no NodeName={unknown[0]} in the file")
    factor = _whole(name, number, "PriorityJobFactor", pairs.get("priorityjobfactor", pairs.get("priority", "1")))
    billing = tres_weights(f"{name}, line {number}", pairs.get("tresbillingweights", ""))
    return PartitionLine(own, sorted(set(nodes), key=natural), factor, billing)


def tres_weights(where: str, text: str) -> dict[str, float]:
    """``CPU=1.0,Mem=0.25G,GRES/gpu=4.0`` by resource in lower case; memory per MiB.

    Examples
    --------
    >>> tres_weights("", "CPU=1.0,Mem=0.25G")
    {'cpu': 1.0, 'mem': 0.000244140625}
    """
    found: dict[str, float] = {}
    for part in filter(None, text.split(",")):
        key, _, value = part.partition("=")
        match = re.fullmatch(r"(\d+(?:\.\d*)?|\.\d+)([KMGTP]?)", value.strip(), re.IGNORECASE | re.ASCII)
        if match is None:
            raise InputError(f"{where}: expected weights as CPU=1.0,Mem=0.25G, got {part!r}")
        name = key.strip().lower()
        scale = 1024.0 ** ("KMGTP".index(match[2].upper()) - 1) if match[2] and name == "mem" else 1.0
        found[name] = float(match[1]) / scale
    return found


def duration(where: str, text: str) -> float:
    """Seconds of ``7-0``, ``14-0:0:0``, ``00:20:00``, ``20`` (minutes); infinite for ``UNLIMITED``.

    Examples
    --------
    >>> duration("", "7-0"), duration("", "00:20:00"), duration("", "5")
    (604800.0, 1200.0, 300.0)
    """
    if text.upper() in ("UNLIMITED", "INFINITE"):
        return math.inf
    days, dash, rest = text.rpartition("-")
    parts = rest.split(":")
    if not all(map(_is_whole, parts)) or (dash and not _is_whole(days)) or len(parts) > 3:
        raise InputError(f"{where}: expected a time as days-hours:minutes:seconds or minutes, got {text!r}")
    numbers = [int(part) for part in parts]
    if dash:
        numbers += [0] * (3 - len(numbers))
        return int(days) * 86400.0 + numbers[0] * 3600.0 + numbers[1] * 60.0 + numbers[2]
    if len(numbers) == 1:
        return numbers[0] * 60.0
    numbers = [0] * (3 - len(numbers)) + numbers
    return numbers[0] * 3600.0 + numbers[1] * 60.0 + numbers[2]


# -- Accounts --------------------------------------------------------------------------------------------------------


def _read_accounts(path: str | os.PathLike[str], conf: PriorityConf) -> None:
    lines = Lines(path)
    texts = b"".join(lines).decode("utf-8-sig", "replace").splitlines()
    rows = [(number, text.strip()) for number, text in enumerate(texts, 1)]
    rows = [(number, text) for number, text in rows if text and not text.startswith("#")]
    if not rows:
        raise InputError(f"{lines.name}: empty; expected sacctmgr dump, or commands of sacctmgr")
    first = rows[0][1]
    if re.match(r"(Cluster|Parent|Account|User) - ", first):
        _read_dump(lines.name, rows, conf)
    elif "|" in first and "Name" in first.split("|") and "Priority" in first.split("|"):
        _read_qos(lines.name, rows, conf)
    elif re.match(r"(sacctmgr\b|add\b|create\b|modify\b|delete\b|remove\b|list\b|show\b)", first):
        _read_commands(lines.name, rows, conf)
    else:
        raise InputError(
            f"{lines.name}, line {rows[0][0]}: expected sacctmgr dump, commands of sacctmgr (add account ...) or "
            f"sacctmgr --parsable2 show qos, got {shown(first.encode())}"
        )


def _set(each: AccountLine, pairs: dict[str, str], where: str) -> None:
    shares = pairs.get("fairshare", pairs.get("shares", pairs.get("share")))
    if shares is not None:
        if shares.lower() != "parent" and not _is_whole(shares):
            raise InputError(f"{where}: fairshare={shares}: expected a whole number or parent")
        each.shares = None if shares.lower() == "parent" else int(shares)
    if _is_whole(pairs.get("priority", "")):
        each.priority = int(pairs["priority"])


def _put(conf: PriorityConf, each: AccountLine) -> AccountLine:
    """The association, which replaces one of the same names (root's own user)."""
    conf.accounts[each.account, each.user] = each
    return each


def _read_dump(name: str, rows: list[tuple[int, str]], conf: PriorityConf) -> None:
    parent = "root"
    for number, text in rows:
        match = re.fullmatch(r"(Cluster|Parent|Account|User) - '([^']*)'(?::(.*))?", text)
        if match is None:
            raise InputError(f"{name}, line {number}: expected Account - 'name':Key=value, got {shown(text.encode())}")
        kind, own, rest = match.groups()
        pairs = {
            key.lower(): value.strip("'")
            for part in re.split(r":(?=\w+=)", rest or "")
            for key, equals, value in [part.partition("=")]
            if equals
        }
        where = f"{name}, line {number}"
        if kind == "Parent":
            parent = own
        elif kind == "Account":
            _set(_put(conf, AccountLine(own, "", parent)), pairs, where)
        elif kind == "User":
            _set(_put(conf, AccountLine(parent, own, parent)), pairs, where)


def _read_qos(name: str, rows: list[tuple[int, str]], conf: PriorityConf) -> None:
    fields = rows[0][1].split("|")
    for number, text in rows[1:]:
        values = dict(zip(fields, text.split("|"), strict=False))
        priority = values.get("Priority", "0") or "0"
        conf.qos[values["Name"]] = _whole(name, number, "Priority", priority)
        try:
            conf.usage_factors[values["Name"]] = float(values.get("UsageFactor") or 1.0)
        except ValueError:
            raise InputError(f"{name}, line {number}: UsageFactor={values.get('UsageFactor')}: no number") from None


def _read_commands(name: str, rows: list[tuple[int, str]], conf: PriorityConf) -> None:
    for number, text in rows:
        where = f"{name}, line {number}"
        try:
            words = shlex.split(text)
        except ValueError as error:
            raise InputError(f"{where}: {error}") from None
        words = [word for word in words if word not in ("sacctmgr", "-i", "--immediate")]
        if len(words) < 2:
            raise InputError(f"{where}: expected a command of sacctmgr, got {shown(text.encode())}")
        action, kind = words[0].lower(), words[1].lower().rstrip("s") if words[1].lower() != "qos" else "qos"
        if action in ("list", "show"):
            continue
        names: list[str] = []
        selected: dict[str, str] = {}
        given: dict[str, str] = {}
        pairs = selected if action == "modify" else given
        for word in words[2:]:
            key, equals, value = word.partition("=")
            if word.lower() == "set":
                pairs = given
            elif word.lower() == "where":
                pairs = selected
            elif equals:
                pairs[key.rstrip("+-").lower()] = value
            else:
                names += word.split(",")
        for pairs in (selected, given):
            for key in ("name", "names"):
                names += filter(None, pairs.pop(key, "").split(","))
        if action in ("add", "create"):
            _add(conf, kind, names, given, where)
        elif action == "modify":
            _modify(conf, kind, names, selected, given, where)
        elif action in ("delete", "remove"):
            accounts = selected.get("account", given.get("account", "")).split(",")
            conf.accounts = {
                key: each
                for key, each in conf.accounts.items()
                if not (
                    each.user in names and (accounts == [""] or each.account in accounts)
                    if kind == "user"
                    else each.account in names
                )
            }
        else:
            raise InputError(f"{where}: expected add, modify or delete, got {shown(text.encode())}")


def _add(conf: PriorityConf, kind: str, names: list[str], given: dict[str, str], where: str) -> None:
    if kind == "account":
        for each in names:
            _set(_put(conf, AccountLine(each, "", given.get("parent", "root"))), given, where)
    elif kind == "user":
        accounts = [each for each in given.get("account", given.get("accounts", "")).split(",") if each]
        if not accounts:
            raise InputError(f"{where}: a user without account=")
        for account in accounts:
            for each in names:
                _set(_put(conf, AccountLine(account, each, account)), given, where)
    elif kind == "qos":
        for each in names:
            conf.qos.setdefault(each, 0)
        _modify(conf, kind, names, {}, given, where)


def _modify(
    conf: PriorityConf,
    kind: str,
    names: list[str],
    selected: dict[str, str],
    given: dict[str, str],
    where: str,
) -> None:
    if kind == "qos":
        for each in names:
            if "priority" in given:
                if not _is_whole(given["priority"]):
                    raise InputError(f"{where}: priority={given['priority']}: expected a whole number")
                conf.qos[each] = int(given["priority"])
            if "usagefactor" in given:
                if not re.fullmatch(r"\d+(\.\d*)?", given["usagefactor"]):
                    raise InputError(f"{where}: usagefactor={given['usagefactor']}: expected a number")
                conf.usage_factors[each] = float(given["usagefactor"])
        return
    accounts = [each for each in selected.get("account", selected.get("accounts", "")).split(",") if each]
    for line in conf.accounts.values():
        named = line.user in names if kind == "user" else not line.user and line.account in names
        if named and (not accounts or line.account in accounts):
            _set(line, given, where)


def _check_gres(path: str | os.PathLike[str], conf: PriorityConf) -> None:
    counts: dict[str, float] = {}
    for name, number, text in _conf_lines(Path(os.fspath(path)), []):
        if not text.lower().startswith(("nodename=", "name=")):
            continue
        pairs = _pairs(name, number, text)
        if pairs.get("name", "").lower() != "gpu":
            continue
        count = (
            float(pairs["count"]) if _is_whole(pairs.get("count", "")) else float(len(expanded(pairs.get("file", ""))))
        )
        for each in expanded(pairs["nodename"]) if "nodename" in pairs else list(conf.nodes):
            counts[each] = counts.get(each, 0.0) + count
    for each, count in counts.items():
        node = conf.nodes.get(each)
        if node is not None and count and node.gpus > count:
            raise InputError(
                f"{os.fspath(path)}: node {each} has {count:g} GPUs, but {node.gpus:g} in slurm.conf; Slurm drains it"
            )
