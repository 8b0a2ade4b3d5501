"""Decisions of a ``slurmctld.log``, line by line: see `read_slurmctld_log`.

Each kind of record has a class in `faultsim.data.slurmctld_records`, and a `Kind` here that makes it of lines.  A
further kind is one more class and one more `Kind`: of one line in `_one_line_kinds`, of several a class of its own in
`read_slurmctld_log`.  Lines that no kind claims are skipped.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol

from faultsim.data.slurmctld_records import (
    Charge,
    CleanedUp,
    CycleEnd,
    CycleTest,
    Decay,
    DependencyTest,
    DownNodeReply,
    EffectiveUsage,
    FairTree,
    Grace,
    JobComplete,
    JobEnd,
    Level,
    NewPriority,
    NodeState,
    NormalizedUsage,
    Plan,
    PlanDropped,
    Preempted,
    Priority,
    QueueBuild,
    QueuedPriority,
    Record,
    Requeue,
    ReservationFlags,
    ReservationGone,
    ReservationMade,
    RunSecondsLeft,
    Setting,
    SlurmctldLog,
    Start,
    Submission,
)
from faultsim.errors import InputError
from faultsim.readers.input_lines import Lines, shown

#: Lines without a time that may come before the first one with a time: what is no log is refused before its end.
_MOST_PREFACE = 10_000


class Kind(Protocol):
    """Makes records of lines."""

    #: Words of a line by which it is recognised: one of its first words after the time.
    words: tuple[bytes, ...]

    def take(self, time: float, line: int, word: bytes, text: bytes) -> Record | None:
        """Take a line; a record that is complete with it."""
        ...

    def finish(self) -> Record | None:
        """The record that is open at the end of the log."""
        ...


@dataclass
class OneLine:
    """A kind of record that one line makes.

    Parameters
    ----------
    words : tuple of bytes
        As of `Kind`.
    pattern : bytes
        Regular expression, searched in the line.
    make : callable
        The record, of the time, the line and the groups.
    """

    words: tuple[bytes, ...]
    pattern: bytes
    make: Callable[[float, int, tuple[str, ...]], Record]

    def __post_init__(self) -> None:
        self._search = re.compile(self.pattern).search

    def take(self, time: float, line: int, word: bytes, text: bytes) -> Record | None:
        """The record, if the line has its form."""
        found = self._search(text)
        if found is None:
            return None
        return self.make(time, line, tuple(_text(group) for group in found.groups(b"")))

    def finish(self) -> None:
        """Nothing is open."""


#: A job by its number, or as versions after 22.05 write it: ``JobId=7``, ``JobId=7_2(9)``.
_JOB = rb"(?:[Jj]ob |JobId=(?:\d+_\S*\()?)(\d+)\)?"
_FAIRSHARE = re.compile(rb"Fairshare priority of " + _JOB + rb" for user (\S+) in acct (\S+) is (.*)")
_WEIGHTED = re.compile(rb"Weighted (\S+) priority is (\S+) \* (\S+) = ")
_TRES = re.compile(rb"Weighted TRES:(\S+) is (\S+) \* (\S+) = ")
_SITE = re.compile(rb"Site priority is (\S+)")
_PARTITIONS = re.compile(rb"JobId=(\S+) multi-partition priorities: (.*)")
_TOTAL = re.compile(_JOB + rb" priority: .* - (-?\d+(?:\.\d+)?) = (-?\d+(?:\.\d+)?)\s*$")


class PriorityLines:
    """Lines of one priority, from the fair share to the sum."""

    words: tuple[bytes, ...] = (b"_get_priority_internal:", b"_get_fairshare_priority:")

    def __init__(self) -> None:
        self._clear()

    def _clear(self) -> None:
        self._fair: tuple[str, str, str, float] | None = None
        self._factors: dict[str, float] = {}
        self._weights: dict[str, float] = {}
        self._tres: dict[str, float] = {}
        self._site = 0.0
        self._partitions: dict[str, int] = {}
        self._first: tuple[float, int] | None = None

    def take(self, time: float, line: int, word: bytes, text: bytes) -> Record | None:
        """Collect a line; the record with the sum."""
        if word == b"_get_fairshare_priority:":
            found = _FAIRSHARE.search(text)
            if found is not None:
                self._clear()  # of a priority whose sum is missing
                self._first = time, line
                self._fair = (
                    _text(found[1]), _text(found[2]), _text(found[3]), _float(found[4].rpartition(b"= ")[2].split()[0])
                )  # fmt: skip
            return None
        if self._first is None:
            self._first = time, line
        if (found := _WEIGHTED.search(text)) is not None:
            name = _text(found[1])
            self._factors[name], self._weights[name] = _float(found[2]), _float(found[3])
        elif (found := _TRES.search(text)) is not None:
            self._tres[_text(found[1])] = _float(found[2])
        elif (found := _TOTAL.search(text)) is not None:
            return self._record(int(found[1]), _float(found[2]), _float(found[3]))
        elif (found := _SITE.search(text)) is not None:
            self._site = _float(found[1])
        elif (found := _PARTITIONS.search(text)) is not None:
            pairs = (pair.partition("=") for pair in _text(found[2]).split(", "))
            self._partitions = {name: int(value) for name, _, value in pairs if value.strip().isdigit()}
        return None

    def _record(self, job: int, nice: float, total: float) -> Priority:
        fair = self._fair if self._fair is not None and self._fair[0] == str(job) else ("", "", "", 0.0)
        time, line = self._first or (0.0, 0)
        made = Priority(
            time, line, job, fair[1], fair[2], fair[3], self._factors, self._weights, self._tres, self._site, nice,
            total, self._partitions,
        )  # fmt: skip
        self._clear()
        return made

    def finish(self) -> None:
        """A priority without its sum is left out: the log ends within it."""


_RAN = re.compile(_JOB + rb" ran for (\S+) seconds")
_HELD = re.compile(rb"TRES (\S+): (\d+)")
_ADDING = re.compile(rb"Adding (\S+) new usage to assoc \d+ \(([^/]*)/([^/]*)/.*?\) raw usage is now (\S+?)\.? ")
#: Energy that is not measured: no amount.
_NO_AMOUNT = 2**63


class UsageLines:
    """Lines of usage that one job adds."""

    words: tuple[bytes, ...] = (b"_apply_new_usage:",)

    def __init__(self) -> None:
        self._open: Charge | None = None

    def take(self, time: float, line: int, word: bytes, text: bytes) -> Record | None:
        """Collect a line; root's share is the last of a charge."""
        if (found := _RAN.search(text)) is not None:
            done, self._open = self._open, Charge(time, line, int(found[1]), _float(found[2]), {}, [])
            return done
        if (found := _ADDING.search(text)) is not None:
            if self._open is None:
                return None  # the log begins within a charge
            account, user = _text(found[2]), _text(found[3])
            self._open.added.append((account, "" if user == "(null)" else user, _float(found[1]), _float(found[4])))
            if account == "root" and user == "(null)":
                return self.finish()
        elif self._open is not None and (found := _HELD.search(text)) is not None and int(found[2]) < _NO_AMOUNT:
            self._open.tres[_text(found[1])] = float(found[2])
        return None

    def finish(self) -> Record | None:
        """The open charge."""
        done, self._open = self._open, None
        return done


_LEVEL = re.compile(rb"_ft_debug:(\s+)(=?)(\S+) \((\S+)\):\s+(\S+)")


#: What the thread that computes priorities writes after a tree.
_AFTER_TREE = frozenset({
    b"_get_fairshare_priority:", b"_get_priority_internal:", b"_apply_new_usage:", b"_decay_thread:",
    b"priority_p_job_end:", b"_internal_setup:", b"_handle_qos_tres_run_secs:", b"_handle_assoc_tres_run_secs:",
})  # fmt: skip


class FairTreeLines:
    """The printed fair tree: ends with what its thread writes next, so it is complete when that is read."""

    words: tuple[bytes, ...] = (b"_apply_priority_fs:", b"_ft_debug:")

    def __init__(self) -> None:
        self.open: FairTree | None = None

    def take(self, time: float, line: int, word: bytes, text: bytes) -> Record | None:
        """Collect a level."""
        if word == b"_apply_priority_fs:":
            done = self.finish()
            if b"Fair Tree" in text:
                self.open = FairTree(time, line, [])
            return done
        found = _LEVEL.search(text)
        if found is not None and self.open is not None:
            depth = max(1, (len(found[1]) - 1) // 4)
            level = Level(depth, _text(found[3]), _text(found[4]), _float(found[5]), bool(found[2]))
            self.open.levels.append(level)
        return None

    def finish(self) -> Record | None:
        """The open tree."""
        done, self.open = self.open, None
        return done


def _one_line_kinds() -> list[OneLine]:
    """Kinds whose records are one line each."""
    return [
        OneLine(
            (b"_slurm_rpc_submit_batch_job:", b"slurm_allocate_resources:", b"_slurm_rpc_allocate_resources:"),
            rb"JobId=(\d+) .*?(?:InitPrio|priority)=(\d+)",
            lambda time, line, found: Submission(time, line, int(found[0]), int(found[1])),
        ),
        OneLine(
            (b"decay_apply_weighted_factors:",),
            rb"priority for " + _JOB + rb" is now (\d+)",
            lambda time, line, found: NewPriority(time, line, int(found[0]), int(found[1]), False),
        ),
        OneLine(
            (b"priority_p_set:",),
            rb"initial priority for " + _JOB + rb" is (\d+)",
            lambda time, line, found: NewPriority(time, line, int(found[0]), int(found[1]), True),
        ),
        OneLine(
            (b"_decay_thread:",),
            rb"Decay factor over (\d+(?:\.\d+)?) seconds goes from (\S+) -> (\S+)",
            lambda time, line, found: Decay(time, line, float(found[0]), float(found[1]), float(found[2])),
        ),
        OneLine(
            (b"_handle_qos_tres_run_secs:", b"_handle_assoc_tres_run_secs:"),
            rb"" + _JOB + rb": Removed (\d+) unused seconds from (QOS|assoc) (\S+) TRES (\S+) "
            rb"grp_used_tres_run_secs = (\d+)",
            lambda time, line, found: RunSecondsLeft(
                time, line, int(found[0]), found[2], found[3], found[4], float(found[1]), float(found[5])
            ),
        ),
        OneLine(
            (b"priority_p_job_end:",),
            rb"called for " + _JOB + rb"",
            lambda time, line, found: JobEnd(time, line, int(found[0])),
        ),
        OneLine(
            (b"_priority_p_set_assoc_usage_debug:",),
            rb"Effective usage for (user|account) (\S+) off ([^(\s]+)\(.* (\S+)\s*$",
            lambda time, line, found: EffectiveUsage(time, line, found[0], found[1], found[2], float(found[3])),
        ),
        OneLine(
            (b"_priority_p_set_assoc_usage_debug:",),
            rb"Normalized usage for (user|account) (\S+) off ([^(\s]+)\(.*\) (\S+) / (\S+) = ",
            lambda time, line, found: NormalizedUsage(
                time, line, found[0], found[1], found[2], float(found[3]), float(found[4])
            ),
        ),
        OneLine(
            (b"_dump_job_sched:",),
            rb"JobId=(\d+)\S* to start at (\S+), end at (\S+) on nodes (\S+) in partition (\S+)",
            lambda time, line, found: Plan(
                time, line, int(found[0]), clock(found[1]), clock(found[2]), found[3], found[4]
            ),
        ),
        OneLine(
            (b"_attempt_backfill:",),
            rb"BACKFILL: JobId=(\d+)\S* StartTime set to time after current backfill window",
            lambda time, line, found: PlanDropped(time, line, int(found[0])),
        ),
        OneLine(
            (b"Allocate",),
            rb"Allocate JobId=(?:(\d+)_\d+\()?(\d+)\)? NodeList=(\S+) #CPUs=(\d+) Partition=(\S+)",
            lambda time, line, found: Start(
                time, line, int(found[1]), found[2], int(found[3]), found[4], False, int(found[0] or 0)
            ),
        ),
        OneLine(
            (b"_start_job:",),
            rb"Started JobId=(?:(\d+)_\d+\()?(\d+)\)? in (\S+) on (\S+)",
            lambda time, line, found: Start(time, line, int(found[1]), found[3], 0, found[2], True, int(found[0] or 0)),
        ),
        OneLine(
            (b"requeue",),
            rb"requeue job JobId=(?:\d+_\d+\()?(\d+)",
            lambda time, line, found: Requeue(time, line, int(found[0])),
        ),
        OneLine(
            (b"preempted",),
            rb"preempted JobId=(?:\d+_\d+\()?(\d+)\)? has been requeued",
            lambda time, line, found: Requeue(time, line, int(found[0])),
        ),
        OneLine(
            (b"_job_requeue_op:",),
            rb"JobId=(?:\d+_\d+\()?(\d+)",
            lambda time, line, found: Requeue(time, line, int(found[0])),
        ),
        OneLine(
            (b"job_epilog_complete:",),
            rb"JobId=(?:\d+_\d+\()?(\d+)\)? complete response from DOWN node",
            lambda time, line, found: DownNodeReply(time, line, int(found[0])),
        ),
        OneLine(
            (b"Running",),
            rb"sched: Running job scheduler(?: for)?( full queue)?",
            lambda time, line, found: QueueBuild(time, line, False, bool(found[0])),
        ),
        OneLine(
            (b"_attempt_backfill:",),
            rb"_attempt_backfill: beginning",
            lambda time, line, found: QueueBuild(time, line, True),
        ),
        OneLine(
            (b"_attempt_backfill:",),
            rb"BACKFILL: test for JobId=(\d+)\S* Prio=(\d+) Partition=(\S+)",
            lambda time, line, found: QueuedPriority(time, line, int(found[0]), int(found[1]), found[2]),
        ),
        OneLine(
            (b"update_job_dependency:",),
            rb"Dependency information for JobId=(\d+)",
            lambda time, line, found: DependencyTest(time, line, int(found[0])),
        ),
        OneLine(
            (b"_job_complete:",),
            rb"_job_complete: JobId=(?:\d+_\d+\()?(\d+)\)? (?:WEXITSTATUS|WTERMSIG|OOM)",
            lambda time, line, found: JobComplete(time, line, int(found[0])),
        ),
        OneLine(
            (b"_slurm_rpc_epilog_complete:",),
            rb"epilog_complete: JobId=(?:\d+_\d+\()?(\d+)\)? Node=(\S+)",
            lambda time, line, found: CleanedUp(time, line, int(found[0]), found[1]),
        ),
        OneLine(
            (b"Requeuing",),
            rb"Requeuing JobId=(?:\d+_\d+\()?(\d+)",
            lambda time, line, found: CleanedUp(time, line, int(found[0]), ""),
        ),
        OneLine(
            (b"node_did_resp",),
            rb"node_did_resp (\S+)",
            lambda time, line, found: CleanedUp(time, line, 0, found[0]),
        ),
        OneLine(
            (b"update_node:",),
            rb"update_node: node (\S+) state set to (\S+)",
            lambda time, line, found: NodeState(time, line, found[0], found[1]),
        ),
        OneLine(
            (b"Nodes",),
            rb"\] error: Nodes (\S+) not responding",
            lambda time, line, found: NodeState(time, line, found[0], "NOT_RESPONDING"),
        ),
        OneLine(
            (b"Node",),
            rb"\] Node (\S+) now responding",
            lambda time, line, found: NodeState(time, line, found[0], "RESPONDING"),
        ),
        OneLine(
            (b"setting",),
            rb"setting (\d+) sec preemption grace time for JobId=(?:\d+_\d+\()?(\d+)\)? to reclaim resources for "
            rb"JobId=(?:\d+_\d+\()?(\d+)",
            lambda time, line, found: Grace(time, line, float(found[0]), int(found[1]), int(found[2])),
        ),
        OneLine(
            (b"preempted",),
            rb"preempted JobId=(?:\d+_\d+\()?(\d+)\)? has been \w+ to reclaim resources for JobId=(?:\d+_\S*\()?(\d*)",
            lambda time, line, found: Preempted(time, line, int(found[0]), int(found[1] or 0)),
        ),
        OneLine(
            (b"Created",),
            rb"Created reservation=(\S+) .*?nodes=(\S+) .*?start=(\S+) end=(\S+)",
            lambda time, line, found: ReservationMade(time, line, found[0], found[1], clock(found[2]), clock(found[3])),
        ),
        OneLine(
            (b"create_resv:",),
            rb"create_resv: Name=(\S+) .*?Flags=(\S+)",
            lambda time, line, found: ReservationFlags(time, line, found[0], found[1]),
        ),
        OneLine(
            (b"delete_resv:", b"Purging"),
            rb"(?:delete_resv: Name=|Purging vestigial reservation )(\S+)",
            lambda time, line, found: ReservationGone(time, line, found[0]),
        ),
        OneLine(
            (b"_dump_job_test:",),
            rb"Test JobId=(?:\d+_\S*\()?(\d+)\S* at (\S+) on (\S+)",
            lambda time, line, found: CycleTest(time, line, int(found[0]), clock(found[1]), found[2]),
        ),
        OneLine(
            (b"_attempt_backfill:",),
            rb"_attempt_backfill: (?:completed|(yield)ing|no jobs to backfill|.*?(yield)ing)",
            lambda time, line, found: CycleEnd(time, line, bool(found[0] or found[1])),
        ),
        OneLine(
            (b"_internal_setup:",),
            rb"priority: (.+) is ([\d.]+)\s*$",
            lambda time, line, found: Setting(time, line, found[0], float(found[1])),
        ),
    ]


def read_slurmctld_log(path: str | os.PathLike[str], kinds: Sequence[Kind] = ()) -> SlurmctldLog:
    """Read the decisions of a ``slurmctld.log`` with ``DebugFlags=Backfill,Priority``.

    Lines of other kinds and of all levels of ``SlurmctldDebug`` are skipped; time is linear in the size of the log.

    Parameters
    ----------
    path : path
        The log, plain or packed with gzip, xz or bzip2; "-" is standard input.
    kinds : sequence of Kind, default ()
        Kinds of records in addition to those of this module.

    Returns
    -------
    SlurmctldLog
        With at least one line that has a time; it may have no record.

    Raises
    ------
    InputError
        No such file; no log of slurmctld; times in a form that names no day (``LogTimeFormat``).

    Examples
    --------
    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "slurmctld.log")
    ...     with open(path, "w") as file:
    ...         _ = file.write("[2026-12-01T00:03:32.118] _slurm_rpc_submit_batch_job: JobId=4 InitPrio=1784\\n")
    ...     log = read_slurmctld_log(path)
    >>> log.records
    [Submission(time=1796083412.118, line=1, job=4, priority=1784)]
    """
    lines = Lines(path, ends=True)
    log = SlurmctldLog(lines.name)
    tree = FairTreeLines()
    all_kinds: list[Kind] = [PriorityLines(), UsageLines(), tree, *_one_line_kinds(), *kinds]
    by_word: dict[bytes, list[Kind]] = {}
    for kind in all_kinds:
        for word in kind.words:
            by_word.setdefault(word, []).append(kind)
    add = log.records.append
    times = _Times(log.name)
    number = 0
    for block in lines:
        for text in block.splitlines():
            number += 1
            words = text.split(None, 5)
            if len(words) < 2 or not text.startswith(b"["):
                if not times.begun and number > _MOST_PREFACE:
                    raise times.refused(text)
                continue
            for word in words[1:5]:
                if word in by_word:
                    break
            else:
                if not times.begun:
                    log.version = _version(text) or log.version
                    times.check(words[0], text)
                elif not log.version and b" version " in text:
                    log.version = _version(text)
                continue
            time = times.of(words[0], text)
            for kind in by_word[word]:
                # The tree has no last line of its own: what the same thread writes next ends it.
                if tree.open is not None and kind is not tree and word in _AFTER_TREE:
                    add(tree.finish())  # type: ignore[arg-type]
                try:
                    made = kind.take(time, number, word, text)
                except ValueError:
                    continue  # the words of a line of this kind, but no number where it has one
                if made is not None:
                    add(made)
    log.lines = number
    for kind in all_kinds:
        if (made := kind.finish()) is not None:
            add(made)
    if not times.begun:
        if number == 0:
            raise InputError(f"{log.name}: empty; expected the log of slurmctld")
        raise times.refused(b"")
    return log


class _Times:
    """Times of lines: ``[2026-12-01T00:03:32.118]``, also without the fraction and with a zone, which is left out."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._last, self._seconds = b"", 0.0
        self.begun = False
        self._first = b""

    def of(self, stamp: bytes, text: bytes) -> float:
        """Seconds since 1970 of a line."""
        second = stamp[1:20]
        if second != self._last:
            try:
                moment = datetime.fromisoformat(second.decode("ascii", "replace"))
            except ValueError:
                raise self.refused(text) from None
            self._seconds = moment.replace(tzinfo=UTC).timestamp()
            self._last, self.begun = second, True
        fraction = stamp[21:24]
        return self._seconds + (int(fraction) / 1000.0 if stamp[20:21] == b"." and fraction.isdigit() else 0.0)

    def check(self, stamp: bytes, text: bytes) -> None:
        """A line of no kind, before the first record."""
        if not self._first:
            self._first = text
        try:
            datetime.fromisoformat(stamp[1:20].decode("ascii", "replace"))
        except ValueError:
            raise self.refused(text) from None
        self.begun = True

    def refused(self, text: bytes) -> InputError:
        """The message about a file that is no such log."""
        quoted = f" but {shown(text)}" if text else ""
        return InputError(
            f"{self._name}: not a log of slurmctld: lines begin with a time such as [2026-12-01T00:03:32.118] "
            f"(LogTimeFormat=iso8601_ms){quoted}"
        )


def clock(text: str) -> float:
    """Seconds since 1970 of ``2026-12-01T00:03:32`` on a clock without zone; NaN of other text.

    Examples
    --------
    >>> clock("1970-01-02T00:00:01"), clock("Unknown")
    (86401.0, nan)
    """
    try:
        return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()
    except ValueError:
        return float("nan")


def written_clock(seconds: float) -> str:
    """The inverse of `clock`, without the fraction.

    Examples
    --------
    >>> written_clock(86401.5)
    '1970-01-02T00:00:01'
    """
    return datetime.fromtimestamp(int(seconds), UTC).strftime("%Y-%m-%dT%H:%M:%S")


def _version(text: bytes) -> str:
    found = re.search(rb"slurmctld version (\S+)", text)
    return "" if found is None else _text(found[1])


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _float(data: bytes) -> float:
    try:
        return float(data)
    except ValueError:
        return float("nan")
