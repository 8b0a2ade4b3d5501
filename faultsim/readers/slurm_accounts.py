"""Accounts, users and QOS: ``sacctmgr dump``, commands of sacctmgr, and tables that it prints."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable
from dataclasses import dataclass, field

from faultsim import checks
from faultsim.data.slurm_settings import IgnoredKey
from faultsim.data.slurm_site import Limit, SlurmAssociation, SlurmQos
from faultsim.data.slurm_times import is_whole, seconds, tres
from faultsim.errors import InputError
from faultsim.readers.input_lines import Lines, shown

#: Limits: the name that is kept -> how else sacctmgr writes it, in lower case.
_LIMITS: dict[str, tuple[str, ...]] = {
    "GrpJobs": (), "GrpJobsAccrue": (), "GrpSubmit": ("grpsubmitjobs",), "GrpTRES": (), "GrpTRESMins": (),
    "GrpTRESRunMins": (), "GrpWall": (), "MaxJobs": (), "MaxJobsAccrue": (), "MaxSubmit": ("maxsubmitjobs",),
    "MaxTRESPerJob": ("maxtres", "maxtrespj"), "MaxTRESPerNode": ("maxtrespn",),
    "MaxTRESMinsPerJob": ("maxtresmins", "maxtresminspj"),
    "MaxWall": ("maxwalldurationperjob", "maxwallpj", "maxwalldurationperj"),
    "MaxTRESPerUser": ("maxtrespu",), "MaxTRESPerAccount": ("maxtrespa", "maxtresperacct"),
    "MaxJobsPerUser": ("maxjobspu",), "MaxJobsPerAccount": ("maxjobspa", "maxjobsperacct"),
    "MaxJobsAccruePerUser": ("maxjobsaccruepu",), "MaxJobsAccruePerAccount": ("maxjobsaccruepa",),
    "MaxSubmitPerUser": ("maxsubmitpu", "maxsubmitjobsperuser", "maxsubmitjobspu"),
    "MaxSubmitPerAccount": ("maxsubmitpa", "maxsubmitjobsperaccount", "maxsubmitjobspa"),
    "MinTRESPerJob": ("mintres", "mintrespj"), "MinPrioThreshold": ("minpriothreshold", "minpriothres"),
}  # fmt: skip
#: Older names of limits, which are of one resource.
_OF_ONE: dict[str, tuple[str, str]] = {
    "grpcpus": ("GrpTRES", "cpu"), "grpmem": ("GrpTRES", "mem"), "grpmemory": ("GrpTRES", "mem"),
    "grpnodes": ("GrpTRES", "node"), "grpcpumins": ("GrpTRESMins", "cpu"),
    "grpcpurunmins": ("GrpTRESRunMins", "cpu"), "maxcpus": ("MaxTRESPerJob", "cpu"),
    "maxcpusperjob": ("MaxTRESPerJob", "cpu"), "maxnodes": ("MaxTRESPerJob", "node"),
    "maxnodesperjob": ("MaxTRESPerJob", "node"), "maxcpumins": ("MaxTRESMinsPerJob", "cpu"),
    "maxcpuminsperjob": ("MaxTRESMinsPerJob", "cpu"), "maxcpusperuser": ("MaxTRESPerUser", "cpu"),
    "maxcpuspu": ("MaxTRESPerUser", "cpu"), "maxnodesperuser": ("MaxTRESPerUser", "node"),
    "maxnodespu": ("MaxTRESPerUser", "node"), "mincpus": ("MinTRESPerJob", "cpu"),
}  # fmt: skip
_OF_TRES = frozenset(name for name in _LIMITS if "TRES" in name)
_CANONICAL = {other: name for name, others in _LIMITS.items() for other in (name.lower(), *others)}
#: Keys that change no start.
_NO_START = frozenset(
    {"description", "organization", "adminlevel", "defaultaccount", "cluster", "clusters", "classification", "flags",
     "defaultwckey", "wckeys", "comment", "coordinators", "rawusage", "withassoc", "withcoord", "cluster rpc", "rpc",
     "lineage", "id", "parent id", "parentid", "parent name", "controlhost", "controlport", "tres", "def wckey",
     "defwckey"}
)  # fmt: skip
_FORMS = "sacctmgr dump, commands of sacctmgr (add account ...), or sacctmgr --parsable2 show qos or show assoc"
_KINDS = ("account", "user", "qos", "cluster", "association", "coordinator", "wckey", "tres", "federation", "resource")
_COMMAND = re.compile(r"(sacctmgr|add|create|modify|update|delete|remove|list|show)\b", re.IGNORECASE)
#: Most levels of the tree of accounts.
MOST_LEVELS = 100


@dataclass
class _Association:
    account: str
    user: str = ""
    parent: str = ""
    shares: int | None = 1
    priority: int | None = None
    limits: dict[str, Limit] = field(default_factory=dict)
    #: None: those of the accounts above; a list with + and - changes those.
    qos: tuple[str, ...] | None = None
    default_qos: str = ""
    partition: str = ""
    where: str = ""


@dataclass
class _Qos:
    name: str
    where: str = ""
    values: dict[str, object] = field(default_factory=dict)
    limits: dict[str, Limit] = field(default_factory=dict)


@dataclass
class SlurmAccounts:
    """What was read.

    Attributes
    ----------
    associations : tuple of SlurmAssociation
        The tree: accounts before what is below them; root first.
    qos : dict of str to SlurmQos
        By name.
    ignored : list of IgnoredKey
        Keys that are not read.
    stated : set of str
        Names of QOS that a file defines.
    where : dict of (str, str) to str
        File and line of each association.
    """

    associations: tuple[SlurmAssociation, ...]
    qos: dict[str, SlurmQos]
    ignored: list[IgnoredKey]
    stated: set[str]
    where: dict[tuple[str, str], str]


def read_accounts(paths: Iterable[str | os.PathLike[str]]) -> SlurmAccounts:
    """Read files of sacctmgr, told apart by their content.

    Raises
    ------
    InputError
        No such file, text of another kind, a value that cannot be read, an account that is named but not there.
    """
    tree = _Tree()
    for path in paths:
        lines = Lines(path)
        text = b"".join(lines).decode("utf-8-sig", "replace").splitlines()
        rows = [(f"{lines.name}, line {number}", line.strip()) for number, line in enumerate(text, 1)]
        rows = [(where, line) for where, line in rows if line and not line.startswith("#")]
        if not rows:
            raise InputError(f"{lines.name}: empty; expected {_FORMS}")
        where, first = rows[0]
        if re.match(r"(Cluster|Parent|Account|User) *- *'", first):
            tree.read_dump(rows)
        elif "|" in first and "Name" in first.split("|") and "Priority" in first.split("|"):
            tree.read_qos_table(rows)
        elif "|" in first and {"Account", "User"} <= set(first.split("|")):
            tree.read_association_table(rows, text)
        elif _COMMAND.match(first):
            tree.read_commands(rows)
        else:
            raise InputError(f"{where}: expected {_FORMS}, got {shown(first.encode())}")
    return tree.finished()


class _Tree:
    def __init__(self) -> None:
        self.rows: dict[tuple[str, str, str], _Association] = {}
        self.qos: dict[str, _Qos] = {}
        self.removed: set[str] = set()
        self.ignored: list[IgnoredKey] = []
        self.add(_Association("root", where="root"))
        self.add(_Association("root", "root", "root", where="root"))

    def add(self, row: _Association) -> _Association:
        self.rows[row.account, row.user, row.partition] = row
        return row

    # -- values

    def set_association(self, row: _Association, key: str, sign: str, value: str, where: str) -> None:
        low = key.lower().replace(" ", "")
        if low in ("fairshare", "shares", "share", "rawshares"):
            if value.lower() != "parent" and value not in ("-1", "") and not is_whole(value):
                raise InputError(f"{where}: {key}={value:.60}: expected a whole number or parent")
            row.shares = None if value.lower() == "parent" else int(value) if is_whole(value) else 1
        elif low == "priority":
            row.priority = self._number(where, key, value)
        elif low in ("qos", "qoslevel"):
            row.qos = self._changed(row.qos, sign, value)
        elif low in ("defaultqos", "defqos"):
            row.default_qos = "" if value == "-1" else value
        elif low == "parent":
            row.parent = value
        elif low in ("partition", "partitions"):
            row.partition = value
        elif not self._limit(row.limits, key, value, where):
            self._ignore(key, value, where)

    def set_qos(self, row: _Qos, key: str, sign: str, value: str, where: str) -> None:
        low = key.lower().replace(" ", "")
        if low == "priority":
            row.values["priority"] = self._number(where, key, value) or 0
        elif low == "gracetime":
            row.values["grace_time"] = seconds(where, key, value, plain=1.0) or 0.0
        elif low in ("preemptexempttime", "preemptexempt"):
            row.values["exempt_time"] = seconds(where, key, value, plain=60.0) if value else None
        elif low == "preempt":
            old = row.values.get("preempt", ())
            assert isinstance(old, tuple)
            row.values["preempt"] = self._changed(old, sign, value)
        elif low == "preemptmode":
            row.values["preempt_mode"] = value or "cluster"
        elif low == "flags":
            row.values["flags"] = tuple(names(value)) if value != "-1" else ()
        elif low == "usagefactor":
            if not re.fullmatch(r"\d{1,9}(\.\d{0,9})?", value, re.ASCII):
                raise InputError(f"{where}: {key}={value:.60}: expected a number")
            row.values["usage_factor"] = float(value)
        elif low in ("usagethreshold", "usagethres", "limitfactor"):
            if value not in ("", "-1") and not re.fullmatch(r"1?\.?0*", value):
                effect = "limits of jobs in this QOS would be others" if low == "limitfactor" else (
                    "jobs of users with a lower fair share would be refused")  # fmt: skip
                self.ignored.append(IgnoredKey(key, value, where, effect))
        elif not self._limit(row.limits, key, value, where):
            self._ignore(key, value, where)

    def _number(self, where: str, key: str, value: str) -> int | None:
        if value in ("-1", ""):
            return None
        if not is_whole(value):
            raise InputError(f"{where}: {key}={value:.60}: expected a whole number")
        return int(value)

    def _limit(self, limits: dict[str, Limit], key: str, value: str, where: str) -> bool:
        low = key.lower().replace(" ", "")
        if low in _OF_ONE:
            name, resource = _OF_ONE[low]
            value = f"{resource}={value}"
        elif low in _CANONICAL:
            name = _CANONICAL[low]
        else:
            return False
        if name in _OF_TRES:
            old = limits.get(name, {})
            assert not isinstance(old, int)
            amounts = {**old, **tres(where, key, value)} if value != "-1" else {}
            kept = {resource: amount for resource, amount in amounts.items() if amount is not None}
            limits.pop(name, None)
            if kept:
                limits[name] = kept
            return True
        found: float | None
        if name in ("MaxWall", "GrpWall"):
            found = seconds(where, key, value) if value else None
            found = None if found is None else found // 60
        else:
            found = self._number(where, key, value)
        limits.pop(name, None)
        if found is not None:
            limits[name] = int(found)
        return True

    def _changed(self, old: tuple[str, ...] | None, sign: str, value: str) -> tuple[str, ...]:
        """A list that is replaced, or to which names are added."""
        parts = tuple(dict.fromkeys(part.strip() for part in value.strip("'\"").split(",") if part.strip()))
        if not sign:
            return parts
        if old is None or any(name[:1] in "+-" for name in old):
            return (*(old or ()), *(f"{sign}{part}" for part in parts))
        kept = tuple(name for name in old if name not in parts)
        return (*kept, *parts) if sign == "+" else kept

    def _ignore(self, key: str, value: str, where: str) -> None:
        if key.lower().replace(" ", "") in {name.replace(" ", "") for name in _NO_START}:
            return
        known = [*_LIMITS, "Fairshare", "Priority", "QOS", "DefaultQOS", "Parent"]
        self.ignored.append(
            IgnoredKey(key, value, where, f"unknown key{checks.did_you_mean(key, known)}", unknown=True)
        )

    # -- forms

    def read_dump(self, rows: list[tuple[str, str]]) -> None:
        """``Account - 'bio':Fairshare=40``, each below the last ``Parent``."""
        parent = "root"
        for where, text in rows:
            match = re.fullmatch(r"(Cluster|Parent|Account|User) *- *'([^']*)'(?::(.*))?", text)
            if match is None or not match[2]:
                raise InputError(f"{where}: expected Account - 'name':Key=value, got {shown(text.encode())}")
            kind, own, rest = match.groups()
            if kind == "Parent":
                if (own, "", "") not in self.rows:
                    raise InputError(f"{where}: the parent {own!r:.60} is no account so far")
                parent = own
                continue
            if kind == "Cluster":
                row = self.rows["root", "", ""]
            elif kind == "Account":
                row = self.add(_Association(own, "", parent, where=where))
            else:
                row = self.add(_Association(parent, own, parent, where=where))
            for part in re.split(r":(?=[A-Za-z_]+=)", rest or ""):
                key, equals, value = part.partition("=")
                if part and not equals:
                    raise InputError(f"{where}: expected Key=value after ':', got {part:.60}")
                if part:
                    self.set_association(row, key, "", value.strip("'"), where)

    def read_qos_table(self, rows: list[tuple[str, str]]) -> None:
        """``sacctmgr --parsable2 show qos``."""
        head = rows[0][1].split("|")
        of_user = {"MaxTRESPU": "MaxTRESPerUser", "MaxTRES": "MaxTRESPerJob", "MaxTRESMins": "MaxTRESMinsPerJob"}
        for where, text in rows[1:]:
            cells = text.split("|")
            if len(cells) != len(head):
                raise InputError(f"{where}: {len(cells)} fields, but {len(head)} in the first line")
            values = dict(zip(head, cells, strict=True))
            row = self.qos.setdefault(values["Name"], _Qos(values["Name"], where))
            self.removed.discard(row.name)
            for key, value in values.items():
                if key not in ("Name", "") and value:
                    self.set_qos(row, of_user.get(key, key), "", value, where)

    def read_association_table(self, rows: list[tuple[str, str]], text: list[str]) -> None:
        """``sacctmgr --parsable2 show assoc tree``: accounts are indented by their level."""
        head = rows[0][1].split("|")
        above: list[str] = []
        for where, _ in rows[1:]:
            line = text[int(where.rpartition(" ")[2]) - 1]
            cells = line.split("|")
            if len(cells) != len(head):
                raise InputError(f"{where}: {len(cells)} fields, but {len(head)} in the first line")
            values = dict(zip(head, cells, strict=True))
            account, user = values["Account"].strip(), values["User"].strip()
            level = len(values["Account"]) - len(values["Account"].lstrip()) - bool(user)
            if not user:
                above = [*above[: max(level, 0)], account]
            parent = values.get("ParentName", "") or (account if user else above[-2] if len(above) > 1 else "")
            if (account, user) == ("root", ""):
                parent = ""
            row = self.add(_Association(account, user, parent, where=where))
            for key, value in values.items():
                if key not in ("Account", "User", "Cluster", "") and value.strip():
                    self.set_association(row, key, "", value.strip(), where)

    def read_commands(self, rows: list[tuple[str, str]]) -> None:
        """``add account physics fairshare=60``, with or without ``sacctmgr -i`` before."""
        for where, text in rows:
            try:
                words = shlex.split(text, comments=True)
            except ValueError as error:
                raise InputError(f"{where}: {error}") from None
            while words and (words[0].rpartition("/")[2] == "sacctmgr" or words[0].startswith("-")):
                words = words[1:]
            if not words:
                continue
            action = words[0].lower()
            if action in ("list", "show", "quit", "exit", "dump", "load"):
                continue
            if action not in ("add", "create", "modify", "update", "delete", "remove"):
                raise InputError(f"{where}: expected add, modify or delete, got {shown(text.encode())}")
            kind = _kind(where, words[1] if len(words) > 1 else "")
            self._command(where, action, kind, words[2:])

    def _command(self, where: str, action: str, kind: str, words: list[str]) -> None:
        modify = action in ("modify", "update")
        listed: list[str] = []
        where_pairs: list[tuple[str, str, str]] = []
        pairs: list[tuple[str, str, str]] = []
        into = where_pairs if modify else pairs
        for word in words:
            match = re.fullmatch(r"([A-Za-z][\w-]*?)([+-]?)=(.*)", word, re.DOTALL)
            if word.lower() == "set":
                into = pairs
            elif word.lower() == "where":
                into = where_pairs
            elif match is None:
                listed += names(word)
            elif match[1].lower() in ("name", "names", kind, f"{kind}s") and (into is where_pairs or not modify):
                listed += names(match[3])
            else:
                into.append((match[1], match[2], match[3]))
        if kind not in ("account", "user", "qos", "cluster"):
            return
        if not listed and not where_pairs:
            raise InputError(f"{where}: {action} {kind}: which? give a name")
        if modify and not pairs:
            raise InputError(f"{where}: modify {kind}: nothing to set")
        if action in ("add", "create"):
            self._add(where, kind, listed, pairs)
        elif modify:
            self._modify(where, kind, listed, where_pairs, pairs)
        else:
            self._remove(kind, listed, [*where_pairs, *pairs])

    def _add(self, where: str, kind: str, listed: list[str], pairs: list[tuple[str, str, str]]) -> None:
        given = {key.lower(): value for key, _, value in pairs}
        if kind == "cluster":
            self._set_all([self.rows["root", "", ""]], pairs, where)
        elif kind == "qos":
            for name in listed:
                of_qos = self.qos.setdefault(name, _Qos(name, where))
                self.removed.discard(name)
                for key, sign, value in pairs:
                    self.set_qos(of_qos, key, sign, value, where)
        elif kind == "account":
            parent = given.get("parent", "root")
            if (parent, "", "") not in self.rows:
                raise InputError(f"{where}: the parent {parent!r:.60} is no account so far")
            for name in listed:
                self._set_all([self.add(_Association(name, "", parent, where=where))], pairs, where)
        else:
            text = next((given[key] for key in ("account", "accounts", "defaultaccount") if key in given), "")
            if not names(text):
                raise InputError(f"{where}: add user: its account is missing; write account=NAME")
            for account in names(text):
                if (account, "", "") not in self.rows:
                    raise InputError(f"{where}: {account!r:.60} is no account so far")
                rest = [pair for pair in pairs if pair[0].lower() not in ("account", "accounts")]
                for name in listed:
                    partition = given.get("partition", "")
                    row = self.add(_Association(account, name, account, partition=partition, where=where))
                    self._set_all([row], rest, where)

    def _set_all(self, rows: Iterable[_Association], pairs: list[tuple[str, str, str]], where: str) -> None:
        for row in rows:
            for key, sign, value in pairs:
                self.set_association(row, key, sign, value, where)

    def _modify(
        self,
        where: str,
        kind: str,
        listed: list[str],
        selected: list[tuple[str, str, str]],
        pairs: list[tuple[str, str, str]],
    ) -> None:
        if kind == "qos":
            for name in listed:
                if name not in self.qos and name != "normal":
                    raise InputError(f"{where}: no QOS {name!r:.60}{checks.did_you_mean(name, self.qos)}")
                row = self.qos.setdefault(name, _Qos(name, where))
                for key, sign, value in pairs:
                    self.set_qos(row, key, sign, value, where)
            return
        if kind == "cluster":
            self._set_all([self.rows["root", "", ""]], pairs, where)
            return
        accounts = [
            name for key, _, value in selected if key.lower() in ("account", "accounts") for name in names(value)
        ]
        found = self._matching(kind, listed, accounts)
        there = {row.user if kind == "user" else row.account for row in found}
        for name in listed:
            if name not in there:
                known = {row.user if kind == "user" else row.account for row in self.rows.values()}
                raise InputError(f"{where}: no {kind} {name!r:.60}{checks.did_you_mean(name, known)}")
        self._set_all(found, pairs, where)

    def _matching(self, kind: str, listed: list[str], accounts: list[str]) -> list[_Association]:
        return [
            row
            for row in self.rows.values()
            if (not accounts or row.account in accounts)
            and bool(row.user) == (kind == "user")
            and (not listed or (row.user if kind == "user" else row.account) in listed)
        ]

    def _remove(self, kind: str, listed: list[str], selected: list[tuple[str, str, str]]) -> None:
        if kind == "qos":
            for name in listed:
                self.qos.pop(name, None)
                self.removed.add(name)
            for row in self.rows.values():
                row.qos = row.qos and tuple(each for each in row.qos if each.lstrip("+-") not in listed)
            return
        accounts = [
            name for key, _, value in selected if key.lower() in ("account", "accounts") for name in names(value)
        ]
        gone = self._matching(kind, listed, accounts)
        lost = {row.account for row in gone} if kind == "account" else set()
        while more := {row.account for row in self.rows.values() if row.parent in lost and not row.user} - lost:
            lost |= more
        self.rows = {
            key: row for key, row in self.rows.items()
            if not any(row is each for each in gone) and row.account not in lost
        }  # fmt: skip

    # -- the end

    def finished(self) -> SlurmAccounts:
        """The tree in order, with QOS of accounts above."""
        for row in self.rows.values():
            if row.parent and (row.parent, "", "") not in self.rows:
                raise InputError(f"{row.where}: the account {row.parent!r:.60} is not there")
        stated = set(self.qos)
        if "normal" not in self.removed:
            self.qos.setdefault("normal", _Qos("normal"))
        children: dict[str, list[_Association]] = {}
        for row in self.rows.values():
            children.setdefault(row.parent, []).append(row)
        root = self.rows["root", "", ""]
        found: list[SlurmAssociation] = []
        default = tuple(name for name in ("normal",) if name in self.qos)
        left: list[tuple[_Association, tuple[str, ...], int]] = [(root, default, 0)]
        while left:
            row, above, level = left.pop()
            if level > MOST_LEVELS:
                raise InputError(f"{row.where}: accounts are more than {MOST_LEVELS} levels deep")
            qos = _of(above, row.qos)
            found.append(
                SlurmAssociation(
                    row.account, row.user, row.parent, row.shares, row.priority, dict(row.limits), qos,
                    row.default_qos, row.partition,
                )
            )  # fmt: skip
            if not row.user:
                below = [(child, qos, level + 1) for child in children.get(row.account, ()) if child is not row]
                left += reversed(below)
        if len(found) < len(self.rows):
            seen = {(each.account, each.user, each.partition) for each in found}
            lost = next(row for key, row in self.rows.items() if key not in seen)
            raise InputError(f"{lost.where}: the account {lost.account!r:.60} is below itself")
        qos_rows = {row.name: SlurmQos(row.name, limits=dict(row.limits), **row.values) for row in self.qos.values()}  # type: ignore[arg-type]
        where = {(row.account, row.user): row.where for row in self.rows.values()}
        return SlurmAccounts(tuple(found), qos_rows, self.ignored, stated, where)


def names(text: str) -> list[str]:
    """Names between commas, each once.

    Examples
    --------
    >>> names("ann, bob,ann")
    ['ann', 'bob']
    """
    return list(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))


def _of(above: tuple[str, ...], own: tuple[str, ...] | None) -> tuple[str, ...]:
    """The QOS of an association, sorted: its own list, or that of the account above with its changes."""
    if own is None:
        return above
    changes = all(name[:1] in "+-" for name in own) and bool(own)
    held = set(above) if changes else set()
    for name in own:
        if name.startswith("-"):
            held.discard(name[1:])
        else:
            held.add(name.removeprefix("+"))
    return tuple(sorted(held))


def _kind(where: str, word: str) -> str:
    low = word.lower()
    low = "qos" if low == "qos" else low.rstrip("s")
    found = next((kind for kind in _KINDS if low and (kind == low or (len(low) > 2 and kind.startswith(low)))), None)
    if found is None:
        raise InputError(f"{where}: expected account, user, qos or cluster after the command, got {word!r:.60}")
    return found
