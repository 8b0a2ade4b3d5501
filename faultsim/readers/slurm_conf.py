"""slurm.conf, with gres.conf and the accounts of sacctmgr: `read_slurm_conf`."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from typing import Any

from faultsim import checks
from faultsim.data.host_lists import expanded
from faultsim.data.slurm_oddities import oddities
from faultsim.data.slurm_settings import (
    IGNORED_NODE_KEYS,
    IGNORED_PARTITION_KEYS,
    IGNORED_SETTINGS,
    IGNORED_WORDS,
    NODE_KEYS,
    PARTITION_KEYS,
    SCHEDULER_WORDS,
    SETTINGS,
    IgnoredKey,
    ignored_key,
)
from faultsim.data.slurm_site import SlurmNode, SlurmPartition, SlurmRecord
from faultsim.data.slurm_times import flag, is_whole, mebibytes, names, one_of, seconds, value_of, weights, whole
from faultsim.errors import InputError
from faultsim.readers.input_lines import Lines, shown
from faultsim.readers.slurm_accounts import SlurmAccounts, read_accounts
from faultsim.readers.slurm_values import natural

#: Most levels of Include, and most nodes.
MOST_INCLUDED, MOST_NODES = 8, 2**20
_KEY = re.compile(r"([A-Za-z][\w/:.\[\]-]*)[ \t]*\+?=[ \t]*")
_VALUE = re.compile(r"\"[^\"]*\"|'[^']*'|\S*")
#: First keys of lines that have several.
_LINES_OF_SEVERAL = ("nodename", "partitionname", "nodeset", "downnodes", "frontendname", "switchname", "name",
                     "autodetect")  # fmt: skip
_STATES = ("UP", "DOWN", "DRAIN", "INACTIVE")
#: Lines of slurm.conf of another kind that are left out.
_OTHER_LINES = {
    "frontendname": "front ends, which stand for nodes of other systems",
    "switchname": "nodes would be chosen by switches",
}


def read_conf(paths: Sequence[str], accounts: Sequence[str] | None, gres: str | None) -> SlurmRecord:
    """What `faultsim.read_slurm_conf` reads."""
    reading = _Reading(paths[0])
    for path in paths:
        reading.read(path)
    reading.finish_nodes()
    if gres is not None:
        reading.read_gres(gres)
    reading.finish_partitions()
    return reading.finished(None if accounts is None else read_accounts(accounts))


def conf_lines(path: str, within: tuple[str, ...] = (), known: str | None = None) -> list[tuple[str, str]]:
    """Where each line is and its text, without comments, continued lines joined and files included."""
    lines = Lines(path)
    here = os.path.realpath(path) if path != "-" else os.path.join(os.getcwd(), "-")
    if here in within:
        raise InputError(f"{lines.name}: the file includes itself")
    if len(within) > MOST_INCLUDED:
        raise InputError(f"{lines.name}: files include each other more than {MOST_INCLUDED} deep")
    text = b"".join(lines).decode("utf-8-sig", "replace") if known is None else known
    found: list[tuple[str, str]] = []
    pending, begin = "", 0
    for number, line in enumerate(text.split("\n"), 1):
        begin = begin or number
        bare = re.split(r"(?<!\\)#", line, maxsplit=1)[0].rstrip().replace("\\#", "#")
        if bare.endswith("\\"):
            pending += bare[:-1] + " "
            continue
        whole_line, pending = (pending + bare).strip(), ""
        where, begin = f"{lines.name}, line {begin}", 0
        if match := re.match(r"include\s+(\S.*)", whole_line, re.IGNORECASE):
            name = match[1].strip().strip("\"'")
            other = os.path.join(os.path.dirname(here), name)
            if not os.path.isfile(other):
                raise InputError(f"{where}: Include: no such file {name:.100}")
            found += conf_lines(other, (*within, here))
        elif whole_line:
            found.append((where, whole_line))
    if pending.strip():
        raise InputError(f"{lines.name}: the last line ends with a \\, but no line follows")
    return found


def pairs_of(where: str, text: str) -> list[tuple[str, str]]:
    """The keys and values of a line, as they are written.

    Examples
    --------
    >>> pairs_of("slurm.conf, line 1", "NodeName=n1 Feature='a,b' CPUs = 4")
    [('NodeName', 'n1'), ('Feature', 'a,b'), ('CPUs', '4')]
    >>> pairs_of("slurm.conf, line 2", "GresTypes=gpu")
    [('GresTypes', 'gpu')]
    """
    first = _KEY.match(text)
    if first is None:
        raise InputError(f"{where}: expected Key=value, got {shown(text.encode())}")
    if first[1].lower() not in _LINES_OF_SEVERAL:
        value = text[first.end() :].strip()
        return [(first[1], value[1:-1] if value[:1] in "\"'" and value[-1:] == value[:1] else value)]
    found: list[tuple[str, str]] = []
    at = 0
    while at < len(text):
        match = _KEY.match(text, at)
        if match is None:
            raise InputError(f"{where}: expected Key=value, got {shown(text[at:].encode())}")
        value_match = _VALUE.match(text, match.end())
        assert value_match is not None
        found.append((match[1], value_match[0].strip("\"'")))
        at = value_match.end()
        while at < len(text) and text[at].isspace():
            at += 1
    return found


def hosts_of(where: str, key: str, text: str) -> list[str]:
    """The names of a list of nodes, which is refused if it is none.

    Examples
    --------
    >>> hosts_of("slurm.conf, line 1", "NodeName", "n[001-002,8]")
    ['n001', 'n002', 'n8']
    """
    found = expanded(text)
    bad = next((name for name in found if not re.fullmatch(r"[A-Za-z0-9][\w.-]*", name, re.ASCII)), None)
    ranges = re.findall(r"(\d+)-(\d+)", ",".join(re.findall(r"\[([^\]]*)\]", text)))
    if bad is not None or not found or any(int(low[:15]) > int(high[:15]) for low, high in ranges):
        raise InputError(f"{where}: {key}={text:.60}: expected names of nodes such as n[001-128,130]")
    if len(found) > MOST_NODES:
        raise InputError(f"{where}: {key}={text:.60}: more than {MOST_NODES:,} nodes")
    return found


class _Reading:
    def __init__(self, name: str) -> None:
        self.name = os.path.basename(name)
        self.path = name
        self.settings: dict[str, Any] = {}
        self.where: dict[str, str] = {}
        self.node_lines: list[tuple[str, dict[str, tuple[str, str]]]] = []
        self.partition_lines: list[tuple[str, dict[str, tuple[str, str]]]] = []
        self.sets: dict[str, tuple[str, str, str]] = {}
        self.down: list[tuple[str, list[str], str]] = []
        self.nodes: dict[str, SlurmNode] = {}
        self.partitions: list[SlurmPartition] = []
        self.ignored: list[IgnoredKey] = []
        self.odd: list[str] = []

    # -- forms of files

    def read(self, path: str) -> None:
        lines = Lines(path)
        text = b"".join(lines).decode("utf-8-sig", "replace")
        begin = text.lstrip()[:4096]
        if begin.startswith("Configuration data as of"):
            self._shown_config(path, text)
        elif re.match(r"NodeName=\S+[^\n]*\bCoresPerSocket=", begin) and re.search(r"\bCPUTot=", begin):
            for where, values in _blocks(lines.name, text, "NodeName"):
                self._shown_node(where, values)
        elif begin.startswith("PartitionName=") and re.search(r"\bTotalNodes=", begin):
            for where, values in _blocks(lines.name, text, "PartitionName"):
                self._shown_partition(where, values)
        else:
            self._conf(path, text)

    def _conf(self, path: str, whole_text: str) -> None:
        defaults: dict[str, dict[str, tuple[str, str]]] = {"nodename": {}, "partitionname": {}}
        for where, text in conf_lines(path, known=whole_text):
            pairs = pairs_of(where, text)
            first = pairs[0][0].lower()
            by_key = {key.lower(): (key, value) for key, value in pairs}
            if first in defaults:
                rest = {key: value for key, value in by_key.items() if key != first}
                self._list_ignored(where, first, rest)
                if by_key[first][1].upper() == "DEFAULT":
                    defaults[first] |= rest
                    continue
                rows = self.node_lines if first == "nodename" else self.partition_lines
                rows.append((where, defaults[first] | by_key))
            elif first == "nodeset":
                self.sets[by_key[first][1]] = (
                    where, by_key.get("nodes", ("", ""))[1], by_key.get("feature", ("", ""))[1]
                )  # fmt: skip
            elif first == "downnodes":
                state = by_key.get("state", ("", "DOWN"))[1].upper()
                self.down.append((where, hosts_of(where, "DownNodes", by_key[first][1]), state))
            elif first in _OTHER_LINES:
                self.ignored.append(IgnoredKey(pairs[0][0], pairs[0][1], where, _OTHER_LINES[first]))
            else:
                self._setting(where, *pairs[0])

    def _list_ignored(self, where: str, first: str, pairs: Mapping[str, tuple[str, str]]) -> None:
        node = first == "nodename"
        known, table = (NODE_KEYS, IGNORED_NODE_KEYS) if node else (PARTITION_KEYS, IGNORED_PARTITION_KEYS)
        for low, (key, value) in pairs.items():
            if low not in known:
                self.ignored.append(ignored_key(key, value, where, table, known))
            elif low == "gres" and value != "(null)":
                others = [part for part in re.split(r",(?![^(]*\))", value) if part.split(":")[0].lower() != "gpu"]
                if others:
                    effect = "jobs would wait for this resource"
                    self.ignored.append(IgnoredKey("Gres", ",".join(others), where, effect))

    def _shown_config(self, path: str, whole_text: str) -> None:
        """``scontrol show config``: all settings, of which only those that mean something are listed as ignored."""
        for where, text in conf_lines(path, known=whole_text):
            match = re.match(r"([A-Za-z][\w\[\]]*)\s*=\s?(.*)", text)
            if match is None:
                continue
            key, value = match[1].partition("[")[0], match[2].strip()
            if key.lower() in SETTINGS or key.lower() == "schedulerparameters":
                self._setting(where, key, value)

    def _setting(self, where: str, key: str, value: str) -> None:
        low = key.lower()
        if low in SETTINGS:
            row = SETTINGS[low]
            if value or row.kind in ("words", "word"):
                self.settings[row.name] = value_of(where, row, value) if value else row.default
                self.where[row.name] = where
            else:
                raise InputError(f"{where}: {row.name}: the value is missing")
        elif low == "schedulerparameters":
            if value != "(null)":
                self._words(where, value)
        elif low in ("schedulertimeslice",) and value == "30":
            return
        else:
            self.ignored.append(ignored_key(key, value, where, IGNORED_SETTINGS, SETTINGS))

    def _words(self, where: str, text: str) -> None:
        for word in filter(None, (part.strip() for part in text.split(","))):
            name, equals, value = word.partition("=")
            row = SCHEDULER_WORDS.get(name.lower())
            if row is None:
                self.ignored.append(ignored_key(name, value, where, IGNORED_WORDS, SCHEDULER_WORDS))
                continue
            if not equals and row.kind != "flag":
                raise InputError(f"{where}: SchedulerParameters: {row.name} needs a value, as in {row.name}=...")
            self.settings[row.name] = value_of(where, row, value)
            self.where[row.name] = where

    # -- nodes

    def finish_nodes(self) -> None:
        if not self.node_lines:
            raise InputError(f"{self.path}: no line with NodeName=; expected a slurm.conf, or what scontrol shows")
        for where, pairs in self.node_lines:
            text = pairs["nodename"][1]
            for name in hosts_of(where, "NodeName", text):
                if name in self.nodes:
                    raise InputError(f"{where}: node {name} appears twice")
                self.nodes[name] = _node(where, name, pairs)
        for where, listed, state in self.down:
            for name in listed:
                if name not in self.nodes:
                    raise InputError(f"{where}: DownNodes: no node {name}")
                self.nodes[name] = _with(self.nodes[name], state=state)
        self.nodes = {name: self.nodes[name] for name in sorted(self.nodes, key=natural)}

    def _shown_node(self, where: str, values: dict[str, str]) -> None:
        pairs = {"nodename": ("NodeName", values["NodeName"])}
        for theirs, ours in (("CPUTot", "CPUs"), ("RealMemory", "RealMemory"), ("Weight", "Weight"),
                             ("AvailableFeatures", "Feature"), ("Gres", "Gres")):  # fmt: skip
            if values.get(theirs, "(null)") != "(null)":
                pairs[ours.lower()] = (ours, values[theirs])
        self.node_lines.append((where, pairs))

    def read_gres(self, path: str) -> None:
        """Types of GPUs, and their number checked against slurm.conf."""
        counts: dict[str, dict[str, int]] = {}
        here = ""
        for where, text in conf_lines(path):
            by_key = {key.lower(): value for key, value in pairs_of(where, text)}
            if next(iter(by_key)) not in ("nodename", "name", "autodetect"):
                raise InputError(f"{where}: expected Name=gpu or NodeName=, got {shown(text.encode())}")
            if "autodetect" in by_key and by_key["autodetect"].lower() != "off":
                self.ignored.append(
                    IgnoredKey("AutoDetect", by_key["autodetect"], where, "GPUs would be those that the node finds")
                )
            if "name" not in by_key:
                continue
            if by_key["name"].lower() != "gpu":
                self.ignored.append(
                    IgnoredKey(f"Name={by_key['name']}", text, where, "jobs would wait for this resource")
                )
                continue
            here = where
            number = (
                whole(where, "Count", by_key["count"]) if "count" in by_key else len(expanded(by_key.get("file", "")))
            )
            if not number:
                number = 1 if by_key.get("multiplefiles") else 0
            hosts = hosts_of(where, "NodeName", by_key["nodename"]) if "nodename" in by_key else list(self.nodes)
            for name in hosts:
                of = counts.setdefault(name, {})
                of[by_key.get("type", "")] = of.get(by_key.get("type", ""), 0) + number
        for name, found in counts.items():
            node = self.nodes.get(name)
            if node is None:
                self.odd.append(f"gres.conf has GPUs of node {name}, which slurm.conf does not have")
                continue
            if node.gpu_count > sum(found.values()):
                raise InputError(
                    f"{here}: node {name} has {sum(found.values())} GPUs in gres.conf, but {node.gpu_count} in "
                    f"slurm.conf; Slurm drains it"
                )
            typed = {kind: number for kind, number in found.items() if kind and number}
            if list(node.gpus) == [""] and sum(typed.values()) == node.gpu_count:
                self.nodes[name] = _with(node, gpus=typed)

    # -- partitions

    def finish_partitions(self) -> None:
        if not self.partition_lines:
            raise InputError(f"{self.path}: no line with PartitionName=; expected a slurm.conf, or what scontrol shows")
        for where, pairs in self.partition_lines:
            for name in names(pairs["partitionname"][1]):
                if any(each.name == name for each in self.partitions):
                    raise InputError(f"{where}: partition {name} appears twice")
                self.partitions.append(self._partition(where, name, pairs))
        defaults = [each.name for each in self.partitions if each.default]
        if len(defaults) > 1:
            raise InputError(f"{self.path}: Default=YES in more than one partition: {', '.join(defaults[:5])}")

    def _shown_partition(self, where: str, values: dict[str, str]) -> None:
        pairs = {
            key.lower(): (key, value) for key, value in values.items()
            if key.lower() in PARTITION_KEYS
            and not (value in ("UNLIMITED", "NONE", "N/A", "(null)") and key != "MaxTime")
        }  # fmt: skip
        self.partition_lines.append((where, pairs))

    def _members(self, where: str, name: str, text: str) -> tuple[str, ...]:
        if text.upper() == "ALL":
            return tuple(self.nodes)
        if not text or text == "(null)":
            return ()
        found: set[str] = set()
        for each in hosts_of(where, "Nodes", text):
            if each in self.sets:
                place, listed, feature = self.sets[each]
                if listed:
                    found.update(self._members(place, f"NodeSet {each}", listed) if listed != each else ())
                found.update(node.name for node in self.nodes.values() if feature and feature in node.features)
            elif each in self.nodes:
                found.add(each)
            else:
                hint = checks.did_you_mean(each, list(self.nodes)[:1000])
                raise InputError(f"{where}: {name}: there is no node {each:.60}{hint}")
        return tuple(sorted(found, key=natural))

    def _partition(self, where: str, name: str, pairs: Mapping[str, tuple[str, str]]) -> SlurmPartition:
        def text(*keys: str) -> str | None:
            return next((pairs[key][1] for key in keys if key in pairs), None)

        def number(default: int, *keys: str) -> int:
            given = text(*keys)
            return default if given is None or given.upper() == "UNLIMITED" else whole(where, pairs_name(*keys), given)

        def pairs_name(*keys: str) -> str:
            return next(PARTITION_KEYS[key] for key in keys if key in pairs)

        def most(key: str) -> int | None:
            given = text(key)
            limitless = given is None or given.upper() in ("UNLIMITED", "INFINITE", "-1")
            return None if limitless else whole(where, PARTITION_KEYS[key], given or "")

        def memory(key: str) -> int | None:
            given = text(key)
            own = None if given is None else mebibytes(where, PARTITION_KEYS[key], given)
            return own or None

        def time(key: str, plain: float = 60.0) -> float | None:
            given = text(key)
            return None if given is None else seconds(where, PARTITION_KEYS[key], given, plain)

        shared = (text("oversubscribe", "shared") or "NO").upper()
        if not re.fullmatch(r"NO|EXCLUSIVE|(YES|FORCE)(:\d{1,6})?", shared):
            raise InputError(f"{where}: OverSubscribe={shared:.60}: expected NO, EXCLUSIVE, YES or FORCE, with :COUNT")
        if shared.startswith(("YES", "FORCE")):
            effect = "jobs could share cores (FORCE: all jobs do); here each core has one job"
            self.ignored.append(IgnoredKey("OverSubscribe", shared, where, effect))
        mode = text("preemptmode")
        cluster = [word for word in self.settings.get("PreemptMode", ()) if word not in ("GANG", "WITHIN")]
        modes = ("OFF", "CANCEL", "REQUEUE", "SUSPEND", "GANG", "WITHIN")
        preempt_mode = (cluster[0] if cluster else "OFF") if mode is None else ",".join(
            one_of(where, "PreemptMode", part.strip(), modes) for part in mode.split(","))  # fmt: skip
        over = text("overtimelimit")
        return SlurmPartition(
            name,
            nodes=self._members(where, f"partition {name}", text("nodes") or ""),
            default=flag(where, "Default", text("default") or "NO"),
            state=one_of(where, "State", text("state") or "UP", _STATES),
            max_time=time("maxtime"),
            default_time=time("defaulttime"),
            min_nodes=number(0, "minnodes"),
            max_nodes=most("maxnodes"),
            priority_tier=number(1, "prioritytier", "priority"),
            priority_job_factor=number(1, "priorityjobfactor", "priority"),
            over_subscribe=shared,
            lln=flag(where, "LLN", text("lln") or "NO"),
            preempt_mode=preempt_mode,
            grace_time=time("gracetime", 1.0) or 0.0,
            allow_qos=names(text("allowqos") or ""),
            deny_qos=names(text("denyqos") or ""),
            allow_accounts=names(text("allowaccounts") or ""),
            deny_accounts=names(text("denyaccounts") or ""),
            qos="" if (text("qos") or "N/A") == "N/A" else text("qos") or "",
            def_mem_per_cpu=memory("defmempercpu"),
            def_mem_per_node=memory("defmempernode"),
            max_mem_per_cpu=memory("maxmempercpu"),
            max_mem_per_node=memory("maxmempernode"),
            max_cpus_per_node=most("maxcpuspernode"),
            billing=weights(where, "TRESBillingWeights", text("tresbillingweights") or ""),
            over_time_limit=None if over is None else (seconds(where, "OverTimeLimit", over) or 0.0) / 60.0,
        )

    # -- the end

    def finished(self, tree: SlurmAccounts | None) -> SlurmRecord:
        settings = {row.name: row.default for row in (SETTINGS | SCHEDULER_WORDS).values()} | self.settings
        given = tuple(name for name in settings if name in self.settings)
        ignored = [*self.ignored, *(tree.ignored if tree else ())]
        found = SlurmRecord(
            settings,
            tuple(self.nodes.values()),
            tuple(self.partitions),
            tree.associations if tree else (),
            dict(tree.qos) if tree else {},
            tuple(ignored),
            (),
            "22.05",
            self.name,
            given,
        )
        odd = (*self.odd, *oddities(found, tree.stated if tree else set()))
        changed: SlurmRecord = _with(found, odd=odd)
        return changed


def _with(thing: Any, **changes: object) -> Any:
    from dataclasses import replace

    return replace(thing, **changes)


def _blocks(name: str, text: str, first: str) -> list[tuple[str, dict[str, str]]]:
    """Records of scontrol, on one line each or on several; words without "=" belong to the value before."""
    found: list[tuple[str, dict[str, str]]] = []
    last = ""
    for number, line in enumerate(text.splitlines(), 1):
        for word in line.split():
            key, equals, value = word.partition("=")
            if equals and re.fullmatch(r"[A-Za-z_]\w*", key):
                if key == first:
                    found.append((f"{name}, line {number}", {}))
                if not found:
                    raise InputError(f"{name}, line {number}: expected {first}=, got {shown(line.encode())}")
                last = key
                found[-1][1][key] = value
            elif found and last:
                found[-1][1][last] += f" {word}"
            else:
                raise InputError(f"{name}, line {number}: expected {first}=, got {shown(line.encode())}")
    return found


def _node(where: str, name: str, pairs: Mapping[str, tuple[str, str]]) -> SlurmNode:
    def number(key: str, default: int) -> int:
        return whole(where, NODE_KEYS[key], pairs[key][1]) if key in pairs else default

    counted = next((number(key, 0) for key in ("cpus", "procs") if key in pairs), 0)
    sockets = number("sockets", 0) or number("boards", 1) * number("socketsperboard", 1)
    cpus = counted or sockets * number("corespersocket", 1) * number("threadspercore", 1)
    if cpus < 1 or (not counted and {"cpus", "procs"} & set(pairs)):
        raise InputError(f"{where}: node {name} has no CPUs")
    features = next((pairs[key][1] for key in ("features", "feature") if key in pairs), "")
    gpus: dict[str, int] = {}
    for part in re.split(r",(?![^(]*\))", pairs["gres"][1] if "gres" in pairs else ""):
        fields = re.sub(r"\(.*", "", part.strip()).split(":")
        if fields[0].lower() != "gpu":
            continue
        last = fields[-1] if len(fields) > 1 else "1"
        kind = fields[1] if len(fields) > 2 or (len(fields) == 2 and not is_whole(last)) else ""
        count = last if is_whole(last) else "1" if len(fields) == 2 else last
        gpus[kind] = gpus.get(kind, 0) + whole(where, "Gres", count)
    state = pairs["state"][1].upper() if "state" in pairs else "UNKNOWN"
    memory = mebibytes(where, "RealMemory", pairs["realmemory"][1]) if "realmemory" in pairs else 1
    return SlurmNode(name, cpus, memory or 1, gpus, number("weight", 1), names(features), state)
