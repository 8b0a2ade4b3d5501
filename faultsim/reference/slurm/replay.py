"""The state before each decision of a log of slurmctld: what runs, waits and is free, as the log says.

Starts, ends, clean-ups, states of nodes, reservations and priorities are those of the log; eligible times are those of
accounting, as are the requests of jobs.  The sort keys of nodes are the model's.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from faultsim.data import slurmctld_records as lines
from faultsim.data.host_lists import expanded
from faultsim.data.slurm_requests import JobRequest
from faultsim.data.slurm_site import SlurmRecord
from faultsim.reference.slurm.compare_priorities import period_times
from faultsim.reference.slurm.queue import reserved_away
from faultsim.reference.slurm.selection import Selection, placed
from faultsim.reference.slurm.state import Ask, Reserved, Room, Running, SlurmNodes, State, Waiting

#: Seconds after which the clean-up of a job is over though the log has no answer of its node.
CLEANED = 6.0
#: Seconds by which the line about a clean-up, or a node's answer, may be written after the state has changed: it is
#: written when the locks have been given back, and a pass may begin before, or not.
LATE_LINE, LATE_ANSWER = 0.02, 0.0
#: Seconds by which the line about a start may be written after it; a requeued job starts two minutes later at least.
LATE_START = 10
#: Seconds between the last line about the clean-up of a job and the pass that it asks for.
ASKED = 0.01
#: The same of a job that ended by itself, or was killed, in logs of a level that has no answers of nodes.
CLEANED_UNSEEN, KILLED_UNSEEN = 0.08, 0.2
_MEBI = {"": 1.0, "K": 1.0 / 1024, "M": 1.0, "G": 1024.0, "T": 1024.0 * 1024}


def ask_of(request: JobRequest, site: SlurmNodes) -> Ask:
    """What a job asks of nodes, of its submit line or, where there is none, of its accounting."""
    options = request.options
    low, _, high = options.get("nodes", "").partition("-")
    if low.isdigit():
        least, most = int(low), int(high) if high.isdigit() else int(low)
    else:
        least, most = max(1, request.nodes if not options else 1), 0
    per_task = _whole(options.get("cpus-per-task"), 1)
    tasks = _whole(options.get("ntasks"), 0)
    if not tasks:
        tasks = max(least, int(request.cpus) // per_task) if not options else least
    memory, per_cpu = _mebibytes(options.get("mem")), False
    if not memory and (memory := _mebibytes(options.get("mem-per-cpu"))):
        per_cpu = True
    gpus, kind = 0, ""
    asked = options.get("gres") or options.get("gpus-per-node") or ""
    for item in asked.split(","):
        words = item.split(":")
        if words[0] == "gpu" or "gpus-per-node" in options:
            rest = words[1:] if words[0] == "gpu" else words
            gpus = next((int(word) for word in rest if word.isdigit()), 1)
            kind = next((word for word in rest if word and not word.isdigit()), "")
    if not options:
        gpus = math.ceil(request.tres.get("gres/gpu", 0.0) / max(1, least))
    return Ask(
        least, most, tasks, per_task, memory, per_cpu, gpus, kind, request.exclusive, options.get("constraint", ""),
        _indices(options.get("nodelist"), site), _indices(options.get("exclude"), site),
    )  # fmt: skip


def _whole(text: str | None, default: int) -> int:
    return int(text) if text and text.isdigit() else default


def _mebibytes(text: str | None) -> int:
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([KMGT]?)B?", (text or "").upper())
    return math.ceil(float(found[1]) * _MEBI[found[2]]) if found else 0


def _indices(text: str | None, site: SlurmNodes) -> frozenset[int]:
    return frozenset(site.index[name] for name in expanded(text or "") if name in site.index)


@dataclass
class _Known:
    """What is known of a job."""

    job: int
    request: JobRequest | None
    ask: Ask | None = None
    order: int = 0
    starts: int = 0
    left: int = 1
    most: int = -1
    priority: dict[str, int] = field(default_factory=dict)
    preempts_since: float = -math.inf
    gone: bool = False


class Replay:
    """Follows a log.

    Parameters
    ----------
    log : SlurmctldLog
        The log.
    conf : SlurmRecord
        The configuration.
    requests : mapping of int to JobRequest
        What jobs asked for.
    """

    def __init__(self, log: lines.SlurmctldLog, conf: SlurmRecord, requests: Mapping[int, JobRequest]) -> None:
        self.site = SlurmNodes(conf)
        self.state = State(self.site)
        self._requests = requests
        self._jobs: dict[int, _Known] = {}
        self._running: dict[int, Running] = {}
        self._periods = period_times(log)
        self._completes: dict[int, float] = {}
        self._cleaning: dict[tuple[int, int], tuple[float, bool]] = {}
        self._clean_ups = list(log.of(lines.CleanedUp))
        self._next_clean_up = 0
        self._last_epilog: lines.CleanedUp | None = None
        self._pending_answer: dict[int, float] = {}
        self._flags: dict[str, str] = {}
        self._reservations: dict[str, Reserved] = {}
        self._usage: dict[tuple[str, str], float] = {}
        self._array_of: dict[int, int] = {}
        self._elements: dict[int, list[int]] = {}
        for start in log.of(lines.Start):
            if start.array:
                self._array_of[start.job] = start.array
                self._elements.setdefault(start.array, []).append(start.job)
        #: Nodes with a clean-up in the log up to LATE_LINE seconds after the last decision.
        self._late: set[int] = set()
        #: Time of the last end of a job, or of a change of a node.
        self.last_end = -math.inf

    def take(self, record: lines.Record) -> None:
        """Bring the state after a record."""
        action = _ACTIONS.get(type(record))
        if action is not None:
            action(self, record)

    def _known(self, job: int) -> _Known:
        known = self._jobs.get(job)
        if known is None:
            request = self._requests.get(job)
            known = self._jobs[job] = _Known(job, request, order=len(self._jobs))
            if request is not None:
                known.ask = ask_of(request, self.site)
                if "array" in request.options and self._array_of.get(job, job) == job:
                    known.left, known.most = _elements_of(request.options["array"])
        return known

    def _submission(self, record: lines.Submission) -> None:
        known = self._known(record.job)
        known.priority[""] = record.priority
        known.gone = False
        self._test_empty(known)

    def _test_empty(self, known: _Known) -> None:
        """Test a job on empty nodes, as its submission does: it leaves its sort keys."""
        part = self.site.partitions.get(known.request.partitions[0]) if known.request is not None else None
        if part is None or known.ask is None:
            return
        features = self.site.features_of(known.ask.features)
        nodes = [node for node in self.site.nodes_of[part.name] if features[node] and node in self.state.up]
        self.state.reset_keys(nodes)
        Selection(self.state.keys).choose(known.ask, nodes, Room(self.site), part)

    def _new_priority(self, record: lines.NewPriority) -> None:
        self._known(record.job).priority[""] = record.priority

    def _priority(self, record: lines.Priority) -> None:
        known = self._known(record.job)
        known.priority[""] = record.priority if record.total > 0 else 0
        known.priority.update(record.partitions)

    def _queued(self, record: lines.QueuedPriority) -> None:
        known = self._known(record.job)
        if known.request is not None and len(known.request.partitions) > 1:
            known.priority[record.partition] = record.priority

    def _start(self, record: lines.Start) -> None:
        array = record.array
        source = self._known(array or record.job)
        if array:
            source.left = max(0, source.left - 1)
            if array != record.job:
                # An element becomes a job of its own, made when it starts.
                self._jobs.pop(record.job, None)
        known = self._known(record.job)
        if array and known is not source:
            known.left = 1
            known.priority = dict(source.priority)
        known.starts += 1
        run = self.run_of(record)
        if run is not None:
            run.order = known.order
            self._running[record.job] = run

    def run_of(self, record: lines.Start) -> Running | None:
        """A job on the nodes on which it started; None of a job without accounting."""
        known = self._known(record.job)
        if known.ask is None:
            known = self._known(record.array or record.job)
        part = self.site.partitions.get(record.partition)
        if known.ask is None or known.request is None or part is None:
            return None
        nodes = sorted(self.site.index[name] for name in expanded(record.nodes) if name in self.site.index)
        room = Room(self.site, self._running.values())
        job = self._waiting(known, record.time)
        job.job, job.array = record.job, record.array
        # What it takes of each node depends on the nodes that it did not get, too.
        away, own = reserved_away(list(self._reservations.values()), job, record.time, record.time + 60.0 * job.limit)
        dirty = {node for _, node in self._cleaning}
        offered = [
            node
            for node in self.site.nodes_of[record.partition]
            if node in self.state.up and node not in away and node not in dirty and (own is None or node in own.nodes)
        ]
        # A start sets the keys of the nodes that it chooses from (model.md#slurm-nodes).
        keys = [weight * 256 + 255 for weight in self.site.weight]
        found = Selection(keys).choose(known.ask, offered, room, part)
        if found is None or sorted(found) != nodes:
            found = Selection(keys).choose(known.ask, nodes, room, part)
        if found is None or sorted(found) != nodes:
            total = record.cpus or known.ask.need
            found = {node: max(1, total // len(nodes)) for node in nodes}
        runs = known.request.runs
        accounted = runs[min(known.starts - 1, len(runs) - 1)].start if runs else math.nan
        start = accounted if 0 <= record.second - accounted <= LATE_START else float(record.second)
        return placed(job, found, part, room, start)

    def _end(self, record: lines.JobEnd) -> None:
        self._clean_before(record.time - LATE_LINE)
        run = self._running.pop(record.job, None)
        if run is None:
            return
        self.last_end = record.time
        killed = record.time - self._completes.get(record.job, -math.inf) > 1.0
        for node in run.nodes:
            self._cleaning[record.job, node] = record.time, killed

    def _clean_before(self, time: float) -> None:
        """Apply the clean-ups that a decision at a time has seen."""
        clean_ups = self._clean_ups
        while self._next_clean_up < len(clean_ups):
            record = clean_ups[self._next_clean_up]
            if record.time > time + (LATE_LINE if record.job else LATE_ANSWER):
                break
            self._next_clean_up += 1
            before = set(self._cleaning)
            self._cleaned(record)
            if record.time > time:
                self._late |= {node for _, node in before - set(self._cleaning)}
            self._last_epilog = record if record.job else self._last_epilog

    def _cleaned(self, record: lines.CleanedUp) -> None:
        if not record.node:
            for pair in [pair for pair in self._cleaning if pair[0] == record.job]:
                del self._cleaning[pair]
            self.last_end = record.time
            return
        node = self.site.index.get(record.node)
        if node is None:
            return
        for pair, (since, killed) in list(self._cleaning.items()):
            if pair[1] == node and (pair[0] == record.job or (not record.job and not killed and record.time > since)):
                del self._cleaning[pair]
                self.last_end = record.time

    def _down_reply(self, record: lines.DownNodeReply) -> None:
        for pair in list(self._cleaning):
            if pair[0] == record.job and pair[1] not in self.state.up:
                del self._cleaning[pair]

    def _node(self, record: lines.NodeState) -> None:
        """Note the state of nodes; those that do not respond are offered to no job."""
        state = record.state.upper()
        for node in [self.site.index[name] for name in expanded(record.node) if name in self.site.index]:
            self.last_end = record.time
            if state.startswith(("DOWN", "DRAIN", "FAIL", "NOT_RESPONDING")):
                self.state.up.discard(node)
                if state.startswith("DOWN"):
                    self._pending_answer[node] = math.inf
            elif state == "RESPONDING":
                if self._pending_answer.get(node, 0.0) < math.inf:
                    self._pending_answer.pop(node, None)
                    self.state.up.add(node)
            elif node in self._pending_answer:
                self._pending_answer[node] = record.time
            else:
                self.state.up.add(node)

    def _grace(self, record: lines.Grace) -> None:
        run = self._running.get(record.job)
        if run is not None:
            run.grace_end = record.second + record.seconds
        self._known(record.by).preempts_since = record.time

    def _preempted(self, record: lines.Preempted) -> None:
        if record.by:
            self._known(record.by).preempts_since = record.time

    def _made(self, record: lines.ReservationMade) -> None:
        nodes = frozenset(self.site.index[name] for name in expanded(record.nodes) if name in self.site.index)
        flags = self._flags.get(record.name, "")
        self._reservations[record.name] = Reserved(record.name, nodes, record.start, record.end, "MAINT" in flags)

    def _charge(self, record: lines.Charge) -> None:
        for account, user, _, after in record.added:
            self._usage[account, user] = after

    def _decay(self, record: lines.Decay) -> None:
        for name in self._usage:
            self._usage[name] *= record.factor
        self.state.last_period = float(self._periods.get(record.line, record.second))

    def _complete(self, record: lines.JobComplete) -> None:
        self._completes[record.job] = record.time

    def _flag(self, record: lines.ReservationFlags) -> None:
        self._flags[record.name] = record.flags

    def _gone(self, record: lines.ReservationGone) -> None:
        self._reservations.pop(record.name, None)

    def _waiting(self, known: _Known, time: float) -> Waiting:
        request = known.request
        assert request is not None
        assert known.ask is not None
        runs = request.runs
        submit = runs[min(known.starts, len(runs) - 1)].submit if runs else 0.0
        settings = self.site.conf.settings
        array = self._array_of.get(known.job, 0) or (known.job if known.most != -1 else 0)
        running = sum(each.array == array for each in self._running.values()) if known.most > 0 else 0
        return Waiting(
            known.job, known.ask, request.user, request.account, request.qos, request.partitions, request.limit, submit,
            known.priority, request.options.get("reservation", ""), array, known.left,
            max(0, known.most - running) if known.most > 0 else -1, _amounts(request),
            no_victims=time - known.preempts_since < settings["KillWait"] + settings["MessageTimeout"],
        )  # fmt: skip

    def _is_waiting(self, known: _Known, now: int) -> bool:
        request = known.request
        if request is None or known.ask is None or known.job in self._running or not known.left:
            return False
        if known.priority and not any(known.priority.values()):
            return False  # held
        if known.job in self._elements and known.job not in self._array_started(known):
            runs = [self._requests[each].runs[0] for each in self._elements[known.job] if each in self._requests]
            first = min((run.eligible for run in runs), default=math.inf)
            return first < now or (first == now and not self._depends_on_present(known))
        runs = request.runs
        if known.starts >= len(runs):
            return False
        run = runs[known.starts]
        if math.isnan(run.start) and run.end <= now:
            return False  # withdrawn
        return run.eligible < now or (run.eligible == now and not self._depends_on_present(known))

    def _depends_on_present(self, known: _Known) -> bool:
        """Whether a job that this one waits for runs, or its clean-up is not over: eligible times are whole seconds."""
        request = known.request
        text = request.options.get("dependency", "") if request is not None else ""
        ids = {int(word) for word in re.findall(r":(\d+)", text)}
        present = {*self._running, *(job for job, _ in self._cleaning)}
        present |= {self._array_of[job] for job in present if job in self._array_of}
        return bool(ids) and (present >= ids if "?" in text else not present.isdisjoint(ids))

    def _array_started(self, known: _Known) -> set[int]:
        """The array's own id, once its last element has started under it."""
        return {known.job} if known.starts else set()

    def state_at(self, time: float, *, asked: bool = False) -> State:
        """The state for a decision; `asked` is a pass that the end of a job may have asked for."""
        now = int(time)
        unseen = not self._clean_ups
        self._late = set()
        self._clean_before(time)
        last = self._last_epilog
        if asked and last is not None and abs(time - last.time) < ASKED:
            # The last node of a job asks for a pass: the others have answered before.
            for pair in [pair for pair in self._cleaning if pair[0] == last.job]:
                del self._cleaning[pair]
        for pair, (since, killed) in list(self._cleaning.items()):
            age = time - since
            if age > ((KILLED_UNSEEN if killed else CLEANED_UNSEEN) if unseen else CLEANED):
                del self._cleaning[pair]
        for node, since in list(self._pending_answer.items()):
            if time - since > 1.5:
                del self._pending_answer[node]
                self.state.up.add(node)
        state = self.state
        state.running = sorted(self._running.values(), key=lambda each: each.order)
        state.cleaning = {node for _, node in self._cleaning}
        state.reservations = list(self._reservations.values())
        state.used_minutes = {name: {"cpu": usage / 60.0} for name, usage in self._usage.items()}
        state.waiting = [
            self._waiting(known, time)
            for known in sorted(self._jobs.values(), key=lambda each: each.order)
            if self._is_waiting(known, now)
        ]
        return state

    def unseen(self, keys: list[int]) -> State | None:
        """The state of the last decision before the clean-ups of `LATE_LINE`; None: there were none.

        Parameters
        ----------
        keys : list of int
            The sort keys at that time.
        """
        if not self._late:
            return None
        self.state.keys[:] = keys
        self.state.cleaning = self.state.cleaning | self._late
        return self.state

    def unknown(self, job: int) -> bool:
        """Whether accounting says nothing of a job."""
        return self._known(job).request is None


def _amounts(request: JobRequest) -> dict[str, float]:
    found = dict(request.tres)
    found.setdefault("cpu", request.cpus)
    found.setdefault("node", float(request.nodes))
    return found


def _elements_of(text: str) -> tuple[int, int]:
    """Number of elements of ``0-9,12%3``, and how many may run at a time; -2 is any number."""
    items, _, most = text.partition("%")
    count = 0
    for item in items.split(","):
        ends, _, step = item.partition(":")
        low, _, high = ends.partition("-")
        if low.isdigit() and high.isdigit():
            count += len(range(int(low), int(high) + 1, max(1, _whole(step, 1))))
        else:
            count += 1
    return count, int(most) if most.isdigit() else -2


_ACTIONS: dict[type, Callable[..., None]] = {
    lines.Submission: Replay._submission, lines.NewPriority: Replay._new_priority, lines.Priority: Replay._priority,
    lines.QueuedPriority: Replay._queued, lines.Start: Replay._start, lines.JobEnd: Replay._end,
    lines.DownNodeReply: Replay._down_reply, lines.NodeState: Replay._node,
    lines.Grace: Replay._grace, lines.Preempted: Replay._preempted, lines.ReservationMade: Replay._made,
    lines.ReservationGone: Replay._gone, lines.ReservationFlags: Replay._flag, lines.Charge: Replay._charge,
    lines.Decay: Replay._decay, lines.JobComplete: Replay._complete,
}  # fmt: skip
