"""Priorities of a log of slurmctld against those that the rules give, each from the recorded state before it.

The state is what the log says: which jobs run and hold what, when periods begin, what is charged when.  Usage, fair
share, age, size and all other factors are the model's.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from faultsim.data import slurmctld_records as lines
from faultsim.data.host_lists import expanded
from faultsim.data.slurm_requests import JobRequest
from faultsim.reference.slurm import priority as rules
from faultsim.reference.slurm import usage
from faultsim.reference.slurm.accounts import Accounts, Association
from faultsim.reference.slurm.fair_share import Classic, FairTree

#: Seconds until a requeued job is eligible: the life of a credential, and one (model.md#slurm-age).
REQUEUE_DELAY = 121
#: Relative difference of two usages or levels that are equal: the log has six decimals.
SAME = 1e-9
#: Rounding of the factors in the log.
_ROUNDED = 5.1e-7
#: Seconds by which periods of one run of the controller may be late.
_LATE = 5


@dataclass(frozen=True)
class PrioritySite:
    """What priorities of a site depend on, besides the jobs.

    Parameters
    ----------
    weights : Weights
        Weights and flags.
    cluster : Cluster
        Totals.
    partitions : mapping of str to Totals
        By name.
    billing : mapping of str to mapping of str to float
        ``TRESBillingWeights``, by partition.
    node_cpus : mapping of str to int
        CPUs of each node.
    accounts : Accounts
        The tree; its usage is changed by a comparison.
    qos : mapping of str to int
        Priority of each QOS.
    usage_factors : mapping of str to float
        ``UsageFactor`` of each QOS, 1 if not listed.
    half_life : float
        ``PriorityDecayHalfLife`` in seconds.
    dampening : float
        ``FairShareDampeningFactor``.
    merge_tied : bool
        As of `FairTree`.
    """

    weights: rules.Weights
    cluster: rules.Cluster
    partitions: Mapping[str, rules.Totals]
    billing: Mapping[str, Mapping[str, float]]
    node_cpus: Mapping[str, int]
    accounts: Accounts
    qos: Mapping[str, int]
    usage_factors: Mapping[str, float] = field(default_factory=dict)
    half_life: float = 7 * 86400.0
    dampening: float = 1.0
    merge_tied: bool = False


@dataclass(frozen=True)
class Difference:
    """A decision that the model does not reproduce.

    Parameters
    ----------
    time : float
        Seconds since 1970 on the controller's clock.
    line : int
        Of the log.
    job : int
        Id of the job.
    recorded, computed : str
        What was decided, and what the model decides.
    cause : str
        The factor that differs, and why as far as the log says.
    """

    time: float
    line: int
    job: int
    recorded: str
    computed: str
    cause: str


@dataclass
class Compared:
    """How many decisions of a kind the model reproduces.

    Parameters
    ----------
    total : int
        Decisions in the log.
    exact : int
        Reproduced exactly.
    late : int
        Priorities that are exact if age begins one second later than accounted; counted in `exact`, too.
    unseen : int
        Passes that are exact only from the state before a clean-up of the next 0.02 s; counted in `exact`, too.
    differences : list of Difference
        All that are not reproduced.
    left_out : dict of str to int
        Decisions that are not compared, by reason; not in `total`.
    """

    total: int = 0
    exact: int = 0
    late: int = 0
    unseen: int = 0
    differences: list[Difference] = field(default_factory=list)
    left_out: dict[str, int] = field(default_factory=dict)

    @property
    def share(self) -> float:
        """Share of the decisions that are reproduced; NaN of none."""
        return self.exact / self.total if self.total else math.nan


@dataclass
class PriorityComparison:
    """What `compare_priorities` counts, each a `Compared`."""

    priorities: Compared = field(default_factory=Compared)
    charges: Compared = field(default_factory=Compared)
    levels: Compared = field(default_factory=Compared)
    run_seconds: Compared = field(default_factory=Compared)
    #: Priorities for which a fact is taken from the log itself, by fact.
    given: Counter[str] = field(default_factory=Counter)


@dataclass
class _Job:
    """What is known of a job while the log is read."""

    request: JobRequest
    #: Whether accounting does not list it.
    inferred: bool = False
    #: Partition of its last start, before it the first that it named.
    partition: str = ""
    #: CPUs of the last node selection, if other than asked for; and those of the last printed size.
    selected: float | None = None
    printed: float | None = None
    #: What it held in its last run, and whether priorities count it instead of the request.
    allocated: dict[str, float] | None = None
    keeps_allocation: bool = False
    #: When age began, as an earlier priority says; when a requeued job may begin.
    accrue: float | None = None
    begin: float | None = None
    seen_in_period: int = -1
    printed_before: bool = False


def period_times(log: lines.SlurmctldLog) -> dict[int, int]:
    """The second at which each calculation period begins, by line of its decay.

    Periods follow each other by the printed numbers of seconds; the line itself may be written a second later.
    """
    found: dict[int, int] = {}
    chain: list[tuple[int, int, int]] = []

    def close() -> None:
        if chain:
            first = min(second - past for _, second, past in chain)
            found.update({line: first + past for line, _, past in chain})
        chain.clear()

    past = 0
    for decay in log.of(lines.Decay):
        past += int(decay.seconds)
        if chain and abs((decay.second - past) - (chain[-1][1] - chain[-1][2])) > _LATE:
            close()
        chain.append((decay.line, decay.second, past))
    close()
    return found


def sums_at_once(log: lines.SlurmctldLog) -> set[int]:
    """Lines of sums that no calculation period makes, but a submission, a release or another change of a job."""
    found: set[int] = set()
    waiting: dict[int, int] = {}
    for record in log.records:
        if isinstance(record, lines.Priority):
            waiting[record.job] = record.line
        elif isinstance(record, lines.NewPriority):
            line = waiting.pop(record.job, None)
            if record.initial and line is not None:
                found.add(line)
    return found


def recorded_integers(log: lines.SlurmctldLog) -> dict[int, int]:
    """The priority that results of each sum, by the line of the sum: from the line after it, which some levels of the
    log have, or from the next test of the backfill loop."""
    found: dict[int, int] = {}
    waiting: dict[int, int] = {}
    for record in log.records:
        kind = type(record)
        if kind is lines.Priority:
            waiting[record.job] = record.line  # type: ignore[attr-defined]
        elif kind in (lines.NewPriority, lines.Submission):
            line = waiting.pop(record.job, None)  # type: ignore[attr-defined]
            if line is not None:
                found[line] = record.priority  # type: ignore[attr-defined]
    return found


def _same(total: float, recorded: int | None, printed: float, slack: float) -> bool:
    """Whether a sum is the recorded one: by its integer; by the two printed decimals where there is no integer, or
    where factors are only known as printed, and the sum so by `slack` only."""
    if recorded is not None and not slack:
        return int(total) == recorded
    return abs(total - printed) < 0.0051 + slack


def _as_printed(record: lines.Priority) -> dict[str, float]:
    """The factors of a job's request, from the line itself."""
    found = {name: record.factors[name] for name in ("JobSize", "QOS") if name in record.factors}
    return found | {f"TRES:{name}": value for name, value in record.tres.items()}


class _Comparison:
    """Goes through a log once, in its order."""

    def __init__(self, log: lines.SlurmctldLog, site: PrioritySite, jobs: Mapping[int, JobRequest]) -> None:
        self.log, self.site, self.result = log, site, PriorityComparison()
        self._requests = jobs
        self._jobs: dict[int, _Job] = {}
        self._rate = usage.decay_rate(site.half_life)
        self._periods = period_times(log)
        self._now, self._period, self._last_period = 0, 0, -math.inf
        self._submitted = {record.job: record for record in log.of(lines.Submission)}
        weights = site.weights
        self._given_weight = weights.job_size + weights.qos + sum(weights.tres.values())
        self._fair_tree = "NO_FAIR_TREE" not in site.weights.flags
        self._classic = Classic(site.accounts, site.dampening)
        # A log from the start of a controller without state begins at zero usage.
        self._known = dict.fromkeys(site.accounts.root.all(), True)
        self._factors: dict[tuple[str, str], float] = {}
        self._integers, self._at_once = recorded_integers(log), sums_at_once(log)
        self._partitions_of: dict[int, dict[str, None]] = {}
        self._ended = 0
        self._accounts_of_run_seconds: dict[tuple[str, str], usage.RunSeconds] = {}
        self._taken: dict[tuple[str, str], tuple[int, int, bool]] = {}
        # What jobs hold is first printed with their first charge, and what counts them with its lines.
        self._held_after: dict[int, dict[str, float]] = {}
        self._charged_to: dict[int, dict[tuple[str, str], None]] = {}
        begun: dict[int, int] = {}
        for record in log.records:
            if isinstance(record, lines.Start):
                begun[record.job] = record.line
            elif isinstance(record, lines.Charge) and record.job in begun:
                self._held_after[begun.pop(record.job)] = record.tres
            elif isinstance(record, lines.RunSecondsLeft):
                self._charged_to.setdefault(record.job, {})[record.kind, record.name] = None
            if isinstance(record, lines.Start | lines.QueuedPriority | lines.Plan):
                self._partitions_of.setdefault(record.job, {})[record.partition] = None
        self._builds: list[float] = []
        self._begin = log.records[0].time if log.records else 0.0
        self._seen_tree = False
        self._depending: set[int] = set()
        self._started = any(type(record) is lines.Setting for record in log.records[:40])
        if not self._started:
            self._known = dict.fromkeys(self._known, False)
        self._known_in_period = dict(self._known)

    def run(self) -> PriorityComparison:
        """Read all records."""
        actions = {
            lines.Decay: self._decay,
            lines.Charge: self._charge,
            lines.JobEnd: self._end,
            lines.RunSecondsLeft: self._run_seconds,
            lines.FairTree: self._tree,
            lines.EffectiveUsage: self._effective,
            lines.NormalizedUsage: self._normalized,
            lines.Priority: self._priority,
            lines.Plan: self._plan,
            lines.Start: self._start,
            lines.Requeue: self._requeue,
            lines.CleanedUp: self._cleaned,
            lines.DownNodeReply: self._down_node,
            lines.QueueBuild: lambda record: self._builds.append(record.time),
            lines.DependencyTest: self._depends,
        }
        for record in self.log.records:
            action = actions.get(type(record))
            if action is not None:
                action(record)  # type: ignore[operator]
        return self.result

    # -- Usage ---------------------------------------------------------------------------------------------------------

    def _decay(self, record: lines.Decay) -> None:
        now = self._periods[record.line]
        if not self._fair_tree:
            self._classic.begin_period()
            self._known_in_period = dict(self._known)
        usage.decay(self.site.accounts, self._rate, record.seconds)
        self._last_period = now - record.seconds
        self._now, self._period = now, self._period + 1

    def _charge(self, record: lines.Charge) -> None:
        if not record.added:
            return
        account, user, added, after = record.added[0]
        association = self.site.accounts.find(account, user)
        if association is None:
            self.result.charges.total += 1
            cause = f"no association of user {user} in account {account} is configured"
            self.result.charges.differences.append(
                Difference(record.time, record.line, record.job, f"{added:.6f}", "none", cause)
            )
            return
        held = self._job(record.job)
        if held is not None:
            held.allocated = record.tres
        weights = self.site.billing.get(held.partition, {}) if held is not None else {}
        amount = usage.billing(record.tres, weights, largest="MAX_TRES" in self.site.weights.flags)
        factor = self.site.usage_factors.get(held.request.qos, 1.0) if held is not None else 1.0
        accounted = self._seconds(record, held)
        seconds = record.seconds if accounted is None else accounted
        computed = usage.charge(self._rate, seconds, amount, factor)
        compared = self.result.charges
        right = math.isclose(computed, added, rel_tol=SAME, abs_tol=2e-6)
        charged = computed if right else usage.charge(self._rate, record.seconds, amount, factor)
        known = math.isclose(charged, added, rel_tol=SAME, abs_tol=2e-6)  # the log has six decimals
        usage.add(association, charged if known else added)
        if held is None and any(self.site.billing.values()):
            self._left_out(compared, "partition of the job not in the log")
        else:
            compared.total += 1
            compared.exact += right
        if not right and held is not None:
            compared.differences.append(
                Difference(
                    record.time, record.line, record.job, f"{added:.6f}", f"{computed:.6f}",
                    f"usage of {record.seconds:g} s with billing {record.tres.get('billing', math.nan):g}, computed "
                    f"{seconds:g} s with {amount:g}"
                    + ("; charged twice, as the job ends within the period's computation" if seconds == 0 else ""),
                )
            )  # fmt: skip
        for account, user, _, after in record.added:
            each = self.site.accounts.find(account, user)
            if each is not None and not math.isclose(each.usage, after, rel_tol=SAME, abs_tol=1e-5):
                each.usage = after  # what the log says: the state before the next decision
            if each is not None:
                self._known[each] = True

    def _end(self, record: lines.JobEnd) -> None:
        self._ended = record.job

    def _seconds(self, record: lines.Charge | lines.RunSecondsLeft, held: _Job | None) -> float | None:
        """Seconds of a job since its last charge, by its accounted start and end; None where there are none."""
        runs = [run for run in held.request.runs if run.start <= record.time + 0.5] if held is not None else []
        if not runs or self._period == 0:
            return None
        run = max(runs, key=lambda each: each.start)
        if self._ended != record.job:
            return usage.unpaid(self._now, run.start, self._last_period)
        return usage.unpaid(run.end, run.start, self._now) if run.end > 0 else None

    def _run_seconds(self, record: lines.RunSecondsLeft) -> None:
        """The account of a QOS or an association after a charge."""
        account = self._accounts_of_run_seconds.setdefault((record.kind, record.name), usage.RunSeconds())
        held = self._job(record.job)
        compared = self.result.run_seconds
        if not self._started:
            self._left_out(compared, "the log begins while jobs run")
            return
        seconds, at_end = self._seconds(record, held), self._ended == record.job
        if held is None or math.isinf(held.request.limit) or (seconds is None and not at_end):
            self._left_out(compared, "time limit or start of the job not known")
            account.correct(record.tres, record.left)
            return
        mark = record.job, self._period, at_end
        if self._taken.get((record.kind, record.name)) != mark:
            self._taken[record.kind, record.name] = mark
            if at_end:
                account.end(record.job)
            elif seconds is not None:
                account.elapse(record.job, seconds)
        compared.total += 1
        left = account.left(record.tres)
        if abs(left - record.left) < 1.0:
            compared.exact += 1
            return
        account.correct(record.tres, record.left)
        compared.differences.append(
            Difference(
                record.time, record.line, record.job, f"{record.left:.0f}", f"{left:.0f}",
                f"seconds times {record.tres} that {record.kind} {record.name} may still use",
            )
        )  # fmt: skip

    def _tree(self, record: lines.FairTree) -> None:
        self._learn(record)
        tree = FairTree(self.site.accounts, merge_tied=self.site.merge_tied)
        computed = {(each.account, each.user): level for each, _, level in tree.levels}
        compared = self.result.levels
        differs = False
        for level in record.levels:
            key = (level.account, level.name if self._is_user(level) else "")
            compared.total += 1
            value = computed.get(key)
            if value is not None and (value == level.fs or math.isclose(value, level.fs, rel_tol=SAME)):
                compared.exact += 1
                continue
            differs = True
            compared.differences.append(
                Difference(
                    record.time, record.line, 0, f"{level.fs:.9g}", f"{math.nan if value is None else value:.9g}",
                    f"level of {level.name} ({level.account})",
                )
            )  # fmt: skip
        self._factors = tree.factors
        self._seen_tree = True
        if differs:
            # What is printed is the state that priorities are computed from: ranks, and the usage behind the levels.
            self._factors = self._ranks(record)
            root = self.site.accounts.root
            self._known = {each: each is root for each in root.all()}
            self._learn(record)

    def _is_user(self, level: lines.Level) -> bool:
        return self.site.accounts.find(level.account, level.name) is not None and not (
            level.name == level.account and level.depth == 0
        )

    def _learn(self, record: lines.FairTree) -> None:
        """Usage that the log does not give otherwise, from the printed levels."""
        if all(self._known.values()):
            return
        root = self.site.accounts.root
        if not self._known[root]:
            root.usage = root.usage or 1.0
        by_key = {(level.account, level.name if self._is_user(level) else ""): level.fs for level in record.levels}
        for each in root.all():
            parent = each.parent
            if parent is None or self._known[each]:
                continue
            level = by_key.get((each.account, each.user))
            total = sum(child.shares for child in parent.children if child.shares > 0)
            if level is not None and total and level > 0:
                each.usage = 0.0 if math.isinf(level) else parent.usage * (each.shares / total) / level

    def _ranks(self, record: lines.FairTree) -> dict[tuple[str, str], float]:
        users = [level for level in record.levels if self._is_user(level)]
        count = len(self.site.accounts.users())
        found: dict[tuple[str, str], float] = {}
        rank = following = count
        for level in users:
            if not level.tied:
                rank = following
            found[level.account, level.name] = rank / count
            following -= 1
        return found

    def _normalized(self, record: lines.NormalizedUsage) -> None:
        """Usage that is not known from the beginning of the log."""
        user = record.kind == "user"
        association = self.site.accounts.find(record.parent if user else record.name, record.name if user else "")
        for each, value in ((association, record.usage), (self.site.accounts.root, record.whole)):
            if each is not None and not self._known[each]:
                each.usage = value
                self._known[each] = True

    def _effective(self, record: lines.EffectiveUsage) -> None:
        if self._fair_tree:
            return
        if record.kind == "user" and (association := self.site.accounts.find(record.parent, record.name)) is not None:
            self._classic.effective(association)

    # -- Jobs ----------------------------------------------------------------------------------------------------------

    def _job(self, job: int, record: lines.Priority | None = None) -> _Job | None:
        known = self._jobs.get(job)
        if known is None:
            request = self._requests.get(job)
            if request is not None:
                known = self._jobs[job] = _Job(request, partition=request.partitions[0] if request.partitions else "")
            elif record is not None:
                known = self._jobs[job] = _Job(self._inferred(record), inferred=True)
                known.partition = next(iter(self._partitions_of.get(job, known.request.partitions)), "")
        return known

    def _inferred(self, record: lines.Priority) -> JobRequest:
        """A request of which only the log is known: size, resources and QOS are taken as printed."""
        site = self.site
        names = list(record.partitions) or [
            name
            for name in self._partitions_of.get(record.job, site.partitions)
            if name in site.partitions
            and abs(self._partition_factor(name) - record.factors.get("Partition", 0.0)) < _ROUNDED
        ]
        return JobRequest(record.job, record.user, record.account, "", tuple(names), 1, 0.0, {}, math.inf, record.nice)

    def _partition_factor(self, name: str) -> float:
        found = rules.factors(
            rules.Request(1, 1, {}, 1.0), self.site.partitions[name], self.site.cluster, self.site.weights,
            age=0.0, fair_share=0.0, assoc_priority=0,
        )  # fmt: skip
        return found["Partition"]

    def _plan(self, record: lines.Plan) -> None:
        self._select(record.job, record.nodes)

    def _start(self, record: lines.Start) -> None:
        self._select(record.job, record.nodes)
        held = self._job(record.job)
        if held is not None:
            held.partition, held.keeps_allocation = record.partition, False
            self._ended = 0 if self._ended == record.job else self._ended
            amounts = self._held_after.get(record.line)
            for key in self._charged_to.get(record.job, ()):
                account = self._accounts_of_run_seconds.setdefault(key, usage.RunSeconds())
                if amounts is not None and math.isfinite(held.request.limit):
                    account.start(record.job, amounts, held.request.limit)

    def _select(self, job: int, nodes: str) -> None:
        held = self._job(job)
        if held is None:
            return
        if held.request.exclusive:
            held.selected = float(sum(self.site.node_cpus.get(name, 0) for name in expanded(nodes)))
        else:
            held.selected = None

    def _depends(self, record: lines.DependencyTest) -> None:
        self._depending.add(record.job)

    def _down_node(self, record: lines.DownNodeReply) -> None:
        held = self._job(record.job)
        if held is not None:
            held.keeps_allocation = True

    def _cleaned(self, record: lines.CleanedUp) -> None:
        if record.job and not record.node:  # what a period has computed since the requeue was of the run before
            self._requeue(record)

    def _requeue(self, record: lines.Requeue | lines.CleanedUp) -> None:
        held = self._job(record.job)
        if held is not None:
            held.accrue = None
            held.begin = record.second + REQUEUE_DELAY

    # -- Priorities ----------------------------------------------------------------------------------------------------

    def _priority(self, record: lines.Priority) -> None:
        held = self._job(record.job, record)
        if held is None:
            return
        compared = self.result.priorities
        if not record.user and self.site.weights.fairshare:
            self._left_out(compared, "cut by the beginning of the log")
            return
        association = self.site.accounts.find(record.account, record.user)
        names = held.request.partitions
        if held.inferred:
            held.request = replace(held.request, nice=record.nice)
        partitions = [self.site.partitions[name] for name in names if name in self.site.partitions]
        if association is None or len(partitions) < len(names) or not names:
            if association is None:
                cause = f"no association of user {record.user} in account {record.account}"
            else:
                cause = "no partition " + (
                    ", ".join(set(names) - set(self.site.partitions)) or "with the printed factor"
                )
            compared.total += 1
            compared.differences.append(
                Difference(record.time, record.line, record.job, str(record.priority), "none", f"{cause} is configured")
            )
            return
        reason = self._unknown(record, held, association)
        if reason:
            self._left_out(compared, reason)
            self._learn_from(held, record, record.second if self._period == 0 else self._now)
            return
        compared.total += 1
        submission = self._submitted.get(record.job)
        initial = submission is not None and record.line < submission.line
        at_once = initial or record.line in self._at_once
        periodic = not at_once and held.seen_in_period != self._period
        if periodic:
            held.seen_in_period = self._period
        now = self._now if periodic else record.second
        fair_share = self._fair_share(association)
        recorded = self._integers.get(record.line)
        if "INCR_ONLY" in self.site.weights.flags:
            recorded = None  # the job keeps a higher one; the sum is compared
        tried: list[tuple[int, rules.Request, rules.Totals, float]] = []
        ok = None
        for late, begin in self._age_begins(held, now, initial):
            age = max(0.0, now - begin) if begin is not None else 0.0
            for request in self._states(held):
                for partition in partitions:
                    tried.append((late, request, partition, age))
                    found = self._factors_of(request, partition, association, fair_share, age)
                    if held.inferred:
                        found |= _as_printed(record)
                    slack = _ROUNDED * self._given_weight if held.inferred else 0.0
                    if _same(rules.total(found, self.site.weights, request), recorded, record.total, slack) and (
                        held.inferred or self._others_agree(record, request, association, fair_share, age)
                    ):
                        ok = tried[-1]
                        break
                if ok:
                    break
            if ok:
                break
        self._learn_from(held, record, now)
        if ok is not None:
            compared.exact += 1
            compared.late += ok[0] == 1
            if ok[0] == 2:
                self.result.given["age begins as an earlier priority of the job says"] += 1
            if (ok[1].tres is held.allocated) != held.keeps_allocation:
                self.result.given["amounts of the last run, or not, as printed"] += 1
            if ok[1].cpus != held.request.cpus:
                self.result.given["CPUs of another node selection than the request"] += 1
            if held.inferred:
                self.result.given["size, resources and QOS, as printed"] += 1
            return
        _, request, partition, age = tried[0]
        found = self._factors_of(request, partition, association, fair_share, age)
        if held.inferred:
            found |= _as_printed(record)
        compared.differences.append(
            Difference(
                record.time, record.line, record.job, str(record.priority if recorded is None else recorded),
                str(rules.priority(found, self.site.weights, request)), self._cause(record, found, held, age),
            )
        )  # fmt: skip

    def _unknown(self, record: lines.Priority, held: _Job, association: Association) -> str:
        """What the log does not say of a priority's state, if it begins while the controller runs."""
        if self._started:
            return ""
        first, held.printed_before = not held.printed_before, True
        submission = self._submitted.get(record.job)
        if self._period == 0 and (submission is None or submission.line < record.line):
            return "before the first calculation period of the log"
        if self.site.weights.fairshare and self._fair_tree and not self._seen_tree:
            return "before the first fair tree of the log"
        known = self._fair_tree or all(self._known_in_period.get(each, False) for each in association.path())
        if self.site.weights.fairshare and not known:
            return "usage of the association not yet in the log"
        if any(run.start < self._begin for run in held.request.runs) and held.allocated is None:
            return "job that was requeued before the log begins"
        partly = held.inferred or held.request.exclusive or "array" in held.request.special
        if first and partly and submission is None:
            return "first priority of a job that was submitted before the log begins"
        return ""

    def _age_begins(self, held: _Job, now: float, initial: bool) -> list[tuple[int, float | None]]:
        """When age began: by the rule (0), a second later (1), as an earlier line says (2); None: not yet."""
        if "ACCRUE_ALWAYS" in self.site.weights.flags and held.request.runs:
            submits = [run.submit for run in held.request.runs if run.submit <= now]
            return [(0, submits[-1]), (1, submits[-1] + 1.0)] if submits else [(0, None)]
        if initial:
            return [(0, None)]
        runs = held.request.runs
        at = bisect_right([run.submit for run in runs], now + 0.5) - 1
        found: list[tuple[int, float | None]] = []
        if runs and "array" not in held.request.special:
            run = runs[max(at, 0)]
            if not math.isnan(run.eligible) and run.eligible <= now:
                submission = self._submitted.get(held.request.job)
                noticed = run.eligible if submission is None else max(run.eligible, submission.time)
                if self._built_since(noticed):
                    found += [(0, run.eligible), (1, run.eligible + 1)]
                else:
                    found.append((0, None))
        elif held.begin is not None:
            if self._built_since(held.begin) and held.begin <= now:
                found += [(0, held.begin), (1, held.begin + 1)]
            else:
                found.append((0, None))
        elif held.request.job in self._submitted and held.request.job not in self._depending:
            submission = self._submitted[held.request.job]
            build = bisect_left(self._builds, submission.time)
            if build == len(self._builds):
                found.append((0, None))
            elif "array" in held.request.special:  # age begins when the queue is built
                found.append((0, self._builds[build] // 1))
            else:
                found += [(0, submission.second), (0, self._builds[build] // 1), (1, submission.second + 1)]
        if held.accrue is not None:
            found.append((2, held.accrue))
        return found or [(0, None)]

    def _built_since(self, second: float) -> bool:
        """Whether a queue has been built since a second: what becomes eligible is noticed then."""
        return second < self._begin or (bool(self._builds) and self._builds[-1] >= second)

    def _states(self, held: _Job) -> list[rules.Request]:
        """What the job counts as: its request, or what it held in an earlier run."""
        found = [self._request(held, cpus, held.request.tres) for cpus in self._cpus(held)]
        if held.allocated is not None:
            allocated = self._request(held, held.allocated.get("cpu", 0.0), held.allocated)
            found.insert(0 if held.keeps_allocation else len(found), allocated)
        return found

    def _cpus(self, held: _Job) -> list[float]:
        """CPUs of the last selection: as asked, or as the log says."""
        found = [held.request.cpus]
        if held.selected is not None and held.selected not in found:
            found.insert(0, held.selected)
        if held.printed is not None and held.printed not in found:
            found.append(held.printed)
        return found

    def _request(self, held: _Job, cpus: float, tres: Mapping[str, float]) -> rules.Request:
        request = held.request
        return rules.Request(request.nodes, cpus, tres, request.limit, self.site.qos.get(request.qos, 0), request.nice)

    def _fair_share(self, association: Association) -> float:
        if self._fair_tree:
            return self._factors.get((association.account, association.user), 0.0)
        return self._classic.factor(association)

    def _factors_of(
        self,
        request: rules.Request,
        partition: rules.Totals,
        association: Association,
        fair_share: float,
        age: float,
    ) -> dict[str, float]:
        return rules.factors(
            request, partition, self.site.cluster, self.site.weights,
            age=age, fair_share=fair_share, assoc_priority=association.own_priority(),
        )  # fmt: skip

    def _others_agree(
        self,
        record: lines.Priority,
        request: rules.Request,
        association: Association,
        fair_share: float,
        age: float,
    ) -> bool:
        """Whether the priorities in all partitions of the job are the printed ones."""
        for name, printed in record.partitions.items():
            partition = self.site.partitions.get(name)
            if partition is None:
                return False
            found = self._factors_of(request, partition, association, fair_share, age)
            if rules.priority(found, self.site.weights, request, several=True) != printed:
                return False
        return True

    def _learn_from(self, held: _Job, record: lines.Priority, now: float) -> None:
        """State that the log prints with a priority: CPUs of the last selection, and when age began."""
        site = self.site
        if not {"SMALL_RELATIVE_TO_TIME"} & site.weights.flags and "JobSize" in record.factors:
            size = record.factors["JobSize"]
            nodes = held.request.nodes
            if site.weights.favor_small:
                cpus = (
                    site.cluster.cpus
                    - (2 * size - (site.cluster.nodes - nodes) / site.cluster.nodes) * site.cluster.cpus
                )
            else:
                cpus = (2 * size - nodes / site.cluster.nodes) * site.cluster.cpus
            if 0 < cpus < 1e12:
                held.printed = float(round(cpus))
        age = record.factors.get("Age", 0.0)
        if 0.0 < age <= 1.0 and math.isfinite(site.weights.max_age):
            held.accrue = now - round(age * site.weights.max_age)

    def _cause(self, record: lines.Priority, found: Mapping[str, float], held: _Job, age: float) -> str:
        """Which factors differ in their six decimals."""
        parts = []
        printed = {**record.factors, **{f"TRES:{name}": value for name, value in record.tres.items()}}
        for name, value in printed.items():
            computed = found.get(name, 0.0)
            if abs(computed - value) < 1.1e-6:
                continue
            if name == "Age":
                parts.append(f"age {value * self.site.weights.max_age:.0f} s, computed {age:g} s")
            elif name == "JobSize":
                cpus = "unknown" if held.printed is None else f"{held.printed:g}"
                parts.append(f"size of {cpus} CPUs, asked for {held.request.cpus:g}")
            else:
                parts.append(f"{name} {value:.6f}, computed {computed:.6f}")
        if held.request.special:
            parts.append(f"job with {', '.join(held.request.special)}")
        return "; ".join(parts) or "sum"

    def _left_out(self, compared: Compared, reason: str) -> None:
        compared.left_out[reason] = compared.left_out.get(reason, 0) + 1


def compare_priorities(
    log: lines.SlurmctldLog, site: PrioritySite, jobs: Mapping[int, JobRequest] | None = None
) -> PriorityComparison:
    """Compute every priority of a log from the state that the log has before it.

    Parameters
    ----------
    log : SlurmctldLog
        With priorities.
    site : PrioritySite
        The configuration; the usage of its accounts is changed.
    jobs : mapping of int to JobRequest, optional
        What the jobs asked for; of others it is derived from the first priority that the log has of them.
    """
    return _Comparison(log, site, jobs or {}).run()


__all__ = ["Compared", "Difference", "PriorityComparison", "PrioritySite", "compare_priorities"]
