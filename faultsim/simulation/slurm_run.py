"""A run under `Slurm`: an engine owns time, jobs, failures and records, and Slurm's controller decides."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from faultsim._core.decisions import Decision
from faultsim.arrays import Floats, Integers
from faultsim.data.failures import FailureTrace
from faultsim.data.node_parts import parts_down
from faultsim.data.slurm_site import SlurmAssociation, SlurmNode, SlurmPartition, SlurmQos, SlurmRecord
from faultsim.data.workload import Workload
from faultsim.data.world import AskRows
from faultsim.errors import InputError, NotAvailableError, OptionError
from faultsim.machines import Machine, NodeClass, Partition
from faultsim.machines.node_classes import NO_TYPE
from faultsim.policies.queueing import Scheduler
from faultsim.policies.slurm import Slurm
from faultsim.reference.slurm.site_priorities import site_of
from faultsim.reference.slurm.state import Ask, SlurmNodes, Waiting
from faultsim.simulation.slurm_controllers import controller_of
from faultsim.simulation.slurm_reservations import MOST_EDGES, SlurmReservations, next_edge

#: Seconds without a start, an arrival or the end of a job after which nothing is expected of waiting jobs any more.
GIVE_UP = 7 * 86400.0
#: QOS and account of jobs that name none, where the configuration names none either.
NORMAL, ACCOUNT = "normal", "default"


class SlurmDecisions(Scheduler):
    """What `Slurm` is for an engine: it starts, kills and requeues jobs as the controller says.

    Parameters
    ----------
    slurm : Slurm
        The options, and what its slurm.conf says of partitions, accounts and QOS.
    machine : Site
        The nodes.
    log : Workload
        The jobs.
    estimate : array of float
        Their time limits in seconds.
    asks : AskRows or None
        What they ask for on each node; None: whole nodes.
    numbers : array of int or None
        Of each row of the user's log, its row in `log`; None: the same.
    reservations : SlurmReservations, optional
        Nodes that are closed to most jobs at known times.
    engine : str, default "core"
        Which controller decides: "core" or "reference".
    failures : FailureTrace, optional
        The failures of the run, some of which may be of parts of nodes.

    Raises
    ------
    OptionError
        PreemptMode=SUSPEND or GANG, or priorities that are not multifactor; a machine that is no site.
    InputError
        A job of a user without an association.
    """

    def __init__(
        self,
        slurm: Slurm,
        machine: Machine,
        log: Workload,
        estimate: Floats,
        asks: AskRows | None,
        numbers: Integers | None = None,
        reservations: SlurmReservations | None = None,
        engine: str = "core",
        failures: FailureTrace | None = None,
    ) -> None:
        parts = machine.site_parts()
        if parts is None:
            raise OptionError(f"scheduler Slurm needs a Site, whose nodes it knows one by one; got {machine}")
        words = {word.upper() for word in slurm.PreemptMode}
        if bad := words & {"SUSPEND", "GANG"}:
            raise OptionError(f"PreemptMode={sorted(bad)[0]} of Slurm is not simulated; use REQUEUE or CANCEL")
        classes, partitions = parts
        nodes, self._number = _nodes_of(classes)
        named = {part.name: set(machine.nodes_named("partition", part.name).tolist()) for part in partitions}
        members = {
            name: tuple(node.name for node, number in zip(nodes, self._number, strict=True) if number in of)
            for name, of in named.items()
        }
        record = record_of(slurm, log, nodes, partitions, members)
        reservations = reservations or SlurmReservations((), log)
        self._site = SlurmNodes(record)
        self._jobs = _Jobs(log, estimate, asks, numbers, record, reservations)
        self._begin = float(math.floor(log.submit[0])) if len(log) else 0.0
        factors = replace(record, settings={**record.settings, "PriorityType": "priority/multifactor"})
        self._place = {number: at for at, number in enumerate(self._number)}
        self._booked = reservations.booked(machine, self._place)
        self._until = np.empty(0) if reservations.until is None else reservations.until
        self._may_be_late = np.flatnonzero(np.isfinite(self._until))
        self._edge, self._edges = next_edge(self._booked, self._begin), len(self._booked) * MOST_EDGES
        priorities = site_of(factors, merge_tied=slurm.version != "22.05")
        self._controller = controller_of(self._site, priorities, self._begin, self._booked, engine)
        self._requeues = bool(record.settings["JobRequeue"])
        self._waits, self._runs = (np.zeros(self._jobs.rows, np.bool_) for _ in range(2))
        self._run_count = self._wait_count = 0
        self._down = np.empty(0, np.int32)
        self._incomplete = _Incomplete(machine, failures)
        self._now, self._news, self._wake = -math.inf, self._begin, -math.inf

    def asks(self, asks: AskRows) -> AskRows:
        """What an engine is to know of the requests: the controller has the say on all that it does not test."""
        memory = asks.memory if self._site.manages_memory else np.zeros_like(asks.memory)
        classes = np.full_like(asks.classes, np.iinfo(asks.classes.dtype).max)
        return replace(asks, memory=memory, exclusive=asks.exclusive | self._jobs.whole, classes=classes)

    def schedule(self, decision: Decision) -> None:
        """Tell the controller what has happened, and do what it says."""
        now = float(decision.now)
        if now < self._now:
            raise NotAvailableError("a simulation under Slurm cannot be copied: make another with the same options")
        self._now = now
        if now != math.floor(now):  # Slurm's instants are whole seconds
            over = self._edges < 0 and now - self._news > GIVE_UP and not self._run_count
            if over and len(decision.queue.index) == self._wait_count:  # the begin or end of a reservation
                return
            decision.wake(float(math.ceil(now)))
            return
        controller = self._controller
        self._hear(decision, now)
        self._withdraw_late(decision, now)
        if self._edge <= now:
            self._edge = next_edge(self._booked, now)
            self._edges -= 1
            if self._edges < 0 and now - self._news > GIVE_UP and not self._run_count:
                return
            self._news = now if self._edges >= 0 else self._news
        acts = controller.decide(now)
        for job, again in acts.stop:
            (decision.requeue if again else decision.kill)(job)
            self._runs[job], self._waits[job] = False, again
            self._run_count -= 1
            self._wait_count += again
        for run in acts.start:
            nodes = [self._number[node] for node in run.nodes]
            if self._jobs.shares:
                decision.start(run.job, nodes=nodes, cores=self._jobs.cores(run.job, run.cpus))
            else:
                decision.start(run.job, nodes=nodes)
            self._runs[run.job], self._waits[run.job] = True, False
            self._run_count += 1
            self._wait_count -= 1
        if acts.start or acts.stop:
            self._news, self._edges = now, len(self._booked) * MOST_EDGES
        soon = controller.next(now)
        if now - self._news > GIVE_UP and not self._run_count:
            soon = self._edge if self._edges > 0 else math.inf
        if soon == self._wake:
            return
        if math.isfinite(soon):
            self._wake = soon
            decision.wake(soon)

    def _withdraw_late(self, decision: Decision, now: float) -> None:
        """Withdraw waiting jobs of reservations that are over: Slurm never starts them."""
        named = self._may_be_late
        if not len(named):
            return
        for job in named[self._waits[named] & (self._until[named] <= now)].tolist():
            decision.withdraw(job)
            self._controller.withdraw(job)
            self._waits[job] = False
            self._wait_count -= 1

    def _hear(self, decision: Decision, now: float) -> None:
        """What has changed since the last decision."""
        controller = self._controller
        queue, running = decision.queue.index, decision.running
        if len(running) != self._run_count:  # only ends change it between two decisions
            ended = self._runs.copy()
            ended[running.index] = False
            for job in np.flatnonzero(ended).tolist():
                again = bool((queue == job).any())
                if again and not self._requeues:  # its node failed, and it may not wait again
                    decision.withdraw(job)
                    again, queue = False, queue[queue != job]
                controller.end(job, now, again=now if again else None)
                self._news = now
                self._runs[job], self._waits[job] = False, again
                self._wait_count += again
            self._run_count = len(running)
        down = self._incomplete.with_nodes(decision.down, now)
        if (len(down) or len(self._down)) and not np.array_equal(down, self._down):
            for number in np.setxor1d(down, self._down).tolist():
                controller.node(self._place[number], number not in down)
            self._down = down
        known = self._waits[queue]
        if len(queue) == self._wait_count and known.all():
            return
        new = np.sort(queue[~known])
        if len(queue) - len(new) != self._wait_count:
            gone = self._waits.copy()
            gone[queue] = False
            for job in np.flatnonzero(gone).tolist():
                controller.withdraw(job)
            self._waits &= ~gone
        for job in new.tolist():
            controller.submit(self._jobs.waiting(job), now, self._jobs.nice(job))
            self._news = now
        self._waits[new] = True
        self._wait_count = len(queue)


class _Incomplete:
    """The nodes of which a part is down, on which Slurm starts no job (model.md#slurm-parts)."""

    def __init__(self, machine: Machine, failures: FailureTrace | None) -> None:
        self._edges: list[tuple[float, int, int]] = []  # when a part of a node goes down (1) or comes up (-1)
        part, has = None if failures is None else failures.part_amounts(), machine.node_amounts()
        if failures is not None and part is not None and has is not None:
            rows = part.any(axis=1) & (failures.downtime > 0)
            begin, end = failures.time[rows], (failures.time + failures.downtime)[rows]
            parts = parts_down(begin, end, failures.node[rows], part[rows], has)
            for since, until, node, amounts in zip(*(column.tolist() for column in parts), strict=True):
                if any(amounts):
                    self._edges += [(since, node, 1), (until, node, -1)]
        self._edges.sort(reverse=True)
        self._down: dict[int, int] = {}  # how many parts of a node are down

    def with_nodes(self, down: Integers, now: float) -> Integers:
        """These nodes, and those of which a part is down now."""
        while self._edges and self._edges[-1][0] <= now:
            _, node, change = self._edges.pop()
            self._down[node] = self._down.get(node, 0) + change
            if not self._down[node]:
                del self._down[node]
        return np.union1d(down, [*self._down]).astype(np.int32) if self._down else down


class _Jobs:
    """What jobs ask for, in the form that the controller takes."""

    def __init__(
        self,
        log: Workload,
        estimate: Floats,
        asks: AskRows | None,
        numbers: Integers | None,
        record: SlurmRecord,
        reservations: SlurmReservations,
    ) -> None:
        self._reservations = reservations
        self._log, self._limit, self._asks, self._record = log, estimate / 60.0, asks, record
        self._numbers = numbers
        self.rows = len(log) if numbers is None else len(numbers)
        self.shares = asks is not None
        self._user, self._account = _users(log), _words(log, "account", "")
        self._qos, self._partition = _words(log, "qos", ""), _words(log, "partition", "")
        self._features, self._type = _words(log, "features", ""), _words(log, "gpu_type", "")
        if {kind for node in record.nodes for kind in node.gpus} == {NO_TYPE}:  # no job may ask for one
            self._type = [""] * len(log)
        self._nice = np.asarray(log.columns["nice"], np.float64) if "nice" in log.further else None
        self._default = next((part.name for part in record.partitions if part.default), record.partitions[0].name)
        self._users: dict[str, list[SlurmAssociation]] = {}
        for each in record.associations:
            if each.user:
                self._users.setdefault(each.user, []).append(each)
        for row in range(len(log)):
            self._association(row)
        self._cores = np.asarray(log.columns["cores"], np.int64) if "cores" in log.further else log.size
        whole = {part.name for part in record.partitions if part.over_subscribe.upper().startswith("EXCLUSIVE")}
        #: Jobs that get whole nodes in all of their partitions.
        self.whole = np.array([whole.issuperset(self._named(row)) for row in range(len(log))], np.bool_)

    def nice(self, job: int) -> float:
        """What is subtracted from its priority."""
        row = self._row(job)
        return 0.0 if self._nice is None or math.isnan(self._nice[row]) else float(self._nice[row])

    def cores(self, job: int, cpus: list[int]) -> list[int]:
        """What an engine is to count of the CPUs of each node.

        It is less where only some of the job's partitions give whole nodes: for an engine a job has them or not.
        """
        row = self._row(job)
        assert self._asks is not None
        if self.whole[row] or self._asks.exclusive[row]:
            return cpus
        left, counted = int(self._cores[row]), []
        for at, here in enumerate(cpus):
            counted.append(min(here, max(1, left - (len(cpus) - at - 1))))
            left -= counted[-1]
        return counted

    def _row(self, job: int) -> int:
        return job if self._numbers is None else int(self._numbers[job])

    def waiting(self, job: int) -> Waiting:
        """A job by its row in the user's log."""
        row = self._row(job)
        ask = self._ask(row)
        user, of = self._user[row], self._association(row)
        amounts = {"cpu": float(ask.need), "node": float(max(1, ask.min_nodes)), "billing": float(ask.need)}
        amounts["gres/gpu"] = float(ask.gpus * max(1, ask.min_nodes))
        amounts["mem"] = float(ask.memory * (ask.need if ask.per_cpu else max(1, ask.min_nodes)))
        qos = self._qos[row] or (of.default_qos if of is not None else "") or NORMAL
        return Waiting(
            job, ask, user, of.account if of is not None else self._account[row] or ACCOUNT, qos, self._named(row),
            float(self._limit[row]), float(math.floor(self._log.submit[row])), amounts=amounts,
            reservation=self._reservations.name(job),
        )  # fmt: skip

    def _named(self, row: int) -> tuple[str, ...]:
        """Its partitions."""
        named = filter(None, (part.strip() for part in self._partition[row].split(",")))
        return tuple(dict.fromkeys(named)) or (self._default,)

    def _association(self, row: int) -> SlurmAssociation | None:
        own = self._users.get(self._user[row], [])
        account = self._account[row]
        found = next((each for each in own if each.account == account), None) if account else next(iter(own), None)
        if found is None and self._record.associations:
            where = f"in the account {account!r}" if account else "in any account"
            raise InputError(
                f"job {self._log.id[row]}: the user {self._user[row]!r} has no association {where}; Slurm refuses such "
                f"a job: add it to the accounts, or leave conf= out of Slurm"
            )
        return found

    def _ask(self, row: int) -> Ask:
        asks = self._asks
        if asks is None:
            size, cores = int(self._log.size[row]), self._record.nodes[0].cpus
            return Ask(size, size, size * cores, exclusive=True)
        nodes = int(asks.nodes[row])
        memory, by_core = int(asks.memory[row]), bool(asks.by_core[row])
        return Ask(
            max(1, nodes), nodes, int(self._cores[row]), 1, memory, by_core, int(asks.gpus[row]), self._type[row],
            bool(asks.exclusive[row]), self._features[row].replace(",", "&"),
        )  # fmt: skip


def _words(log: Workload, name: str, missing: str) -> list[str]:
    column = log.columns.get(name)
    if column is None:
        return [missing] * len(log)
    if column.dtype.kind == "f":
        return [missing if value != value else f"{value:g}" for value in column.tolist()]
    return [str(value) if str(value) else missing for value in column.tolist()]


def _users(log: Workload) -> list[str]:
    """Names of users, or else their numbers."""
    return _words(log, "user_name" if "user_name" in log.columns else "user", "user")


def _nodes_of(classes: Sequence[NodeClass]) -> tuple[list[SlurmNode], list[int]]:
    """The nodes in Slurm's order, and the number that each has on the site."""
    found: list[tuple[tuple[str, int, str], SlurmNode, int]] = []
    number = 0
    for at, each in enumerate(classes):
        for place in range(each.count):
            if each.hosts:
                name = each.hosts[place]
                letters = name.rstrip("0123456789")
                key = letters, int(name[len(letters) :] or 0), name
            else:
                name = f"{each.name}{place}"
                key = "", at, f"{place:09d}"
            gpus = {each.gpu_type: each.gpu_count} if each.gpu_count else {}
            node = SlurmNode(name, each.cores, each.mebibytes or 1, gpus, each.weight, tuple(each.features))
            found.append((key, node, number))
            number += 1
    found.sort(key=lambda row: row[0])
    return [node for _, node, _ in found], [number for _, _, number in found]


def record_of(
    slurm: Slurm,
    log: Workload,
    nodes: Sequence[SlurmNode],
    of_site: Sequence[Partition],
    members: Mapping[str, tuple[str, ...]],
) -> SlurmRecord:
    """What a configuration would say of the site: its nodes, with the partitions, accounts and QOS of `slurm`."""
    known: Mapping[str, SlurmPartition] = {part.name: part for part in slurm.partitions}
    partitions = []
    for part in of_site:
        base = known.get(part.name, SlurmPartition(part.name, default=part.default))
        limit = base.max_time if part.max_time is None else float(part.max_time)  # type: ignore[arg-type]
        tier = base.priority_tier if part.tier == 1 else part.tier
        partitions.append(replace(base, nodes=members[part.name], max_time=limit, priority_tier=tier))
    if not partitions:
        partitions = [SlurmPartition("all", tuple(node.name for node in nodes), default=True)]
    associations = slurm.associations or _accounts_of(log)
    qos = dict(slurm.qos)
    for name in {NORMAL, *(word for word in _words(log, "qos", "") if word)}:
        qos.setdefault(name, SlurmQos(name))
    return SlurmRecord(dict(slurm.options), tuple(nodes), tuple(partitions), associations, qos, name="Slurm")


def _accounts_of(log: Workload) -> tuple[SlurmAssociation, ...]:
    """A tree for logs without one: each account of the log below root, and its users below it, with one share each."""
    pairs = dict.fromkeys(zip(_words(log, "account", ACCOUNT), _users(log), strict=True))
    accounts = dict.fromkeys(account for account, _ in pairs)
    rows = [SlurmAssociation("root")]
    rows += [SlurmAssociation(account, parent="root") for account in accounts]
    rows += [SlurmAssociation(account, user, account) for account, user in pairs]
    return tuple(rows)
