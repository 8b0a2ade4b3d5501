"""One job: what it asks for, in which phase it is, and where its time went (model.md#running-job).

From its start on a job is in a *stretch*: a lead phase (the restart cost, a checkpoint, a migration; often of no
length), then work with planned checkpoints in between.  Whatever ends a stretch (a kill, a requested checkpoint, a
migration, the finish) closes it, which books its time by the clock; `set_out` opens the next.
"""

import math
from dataclasses import dataclass, field
from typing import NamedTuple

from faultsim.errors import EngineError
from faultsim.reference.own_clock import OwnClock, own
from faultsim.reference.site.nodes import Ask, Grant
from faultsim.reference.torus.boxes import Box

NEVER = float("-inf")
NOTHING = Ask(0, 0, 0, 0, by_core=False, exclusive=False, classes=0)


class Where(NamedTuple):
    """Where a job is at one moment."""

    phase: str  # "start_delay", a lead phase, "planned" (in a planned checkpoint) or "work"
    safe: float  # progress that a failure leaves
    progress: float  # in a lead phase: what it leads to
    unsaved: float  # work since the safe point, by the clock
    checkpoints: float  # time in planned checkpoints so far in this stretch
    since: float  # when, by its own clock, it was last safe, or started
    points: int  # of the planned checkpoints of the stretch, how many that takes into account; -1: not even its lead
    again: float = 0.0  # time so far in the planned checkpoint that it is in


@dataclass(eq=False, slots=True)
class Job:
    """One job: what it asks for, and what became of it.  Times in seconds."""

    index: int
    submit: float
    runtime: float  # as executed: the estimate for a job that overrun="kill" ends there
    estimate: float
    size: int  # requested nodes
    needs: int  # size, rounded up to a feasible one on a torus, and hot spares
    interval: float = 0.0  # W: work between planned checkpoints, 0 for none
    cost: float = 0.0  # C of a planned checkpoint
    restart_cost: float = 0.0  # r
    spares: int = 0  # nodes, of those that it needs
    decision: float = -1.0  # when its nodes were taken
    start: float = -1.0  # decision + start_delay
    first_start: float = -1.0
    finish: float = -1.0  # known to the engine, not to the scheduler
    expected: float = -1.0  # what the scheduler goes by
    allocated: int = 0
    box: Box | None = None  # torus
    ask: Ask = NOTHING  # site: what it asks of nodes that jobs share ...
    grant: Grant = field(default_factory=dict)  # ... and what it has
    nodes: list[int] = field(default_factory=list)  # cluster, ascending, when node identities are tracked
    moves: int = 0
    backfilled: bool = False
    row: int = -1  # in the log that the user gave
    user_group: int = 0  # of those whom reservations are for (AbsenceRows.permits)
    wanted: float = 0.0  # run time without the limit that overrun="kill" sets
    done: float | None = None  # what it had done when somebody said that it ends
    killed: bool = False  # for good
    clock: OwnClock | None = None  # its own, where it may be slow

    # when it may begin (reference/eligibility.py)
    logged: float = 0.0  # submit time of the log; `submit` is that, or the time at which it became eligible
    earliest: float = NEVER
    cancel: float = math.inf
    array: int = -1
    entry: int = 0  # place in the order in which jobs entered the queue for the first time
    first_decision: float | None = None
    over_at: float = math.nan  # when it ended
    fate: str = ""  # "withdrawn" or "unmet" of a job that ended without a run

    # the stretch that it is in, or what is left of the last one; the times are those of its own clock
    lead: str = "restart"
    lead_begin: float = 0.0
    t0: float = 0.0  # end of the lead phase, begin of the work
    safe_at: float = 0.0  # when what the lead phase leads to is safe: at t0, or earlier in a move of Fars
    safe: float = 0.0  # safe progress until then ...
    after: float = 0.0  # ... and from then on
    carried: float = 0.0  # unsaved work, by the clock, that is lost with a failure before then
    since: float = 0.0  # when, by the clock, it was last safe, or started
    points: int = 0  # as in `Where`
    pause_until: float = NEVER  # Defragment, live moves of Fars
    ends: float = -1.0  # its finish
    as_of: float = NEVER  # not by its own clock: when these were set
    asked: int = 0  # requests of a risk-based policy in this stretch

    # failures
    restarts: int = 0  # kills
    held: bool = False
    waiting_since: float | None = None  # the kill after which it has not started yet
    last_kill: float = NEVER

    # seconds of its holding periods by account; what no other account has is useful
    holding: float = 0.0
    start_delay: float = 0.0
    restart: float = 0.0
    checkpoint: float = 0.0
    migration: float = 0.0
    hold: float = 0.0
    lost: float = 0.0
    failure_wait: float = 0.0
    growth: float = 0.0  # node-seconds
    slowed: float = 0.0  # by which time was longer than its own clock

    @property
    def node_mask(self) -> int:
        """Its nodes as a bit mask, on every machine."""
        return sum(1 << node for node in self.nodes) if self.box is None else self.box.mask

    @property
    def mask(self) -> int:
        """Its nodes on a torus as a bit mask."""
        if self.box is None:
            raise EngineError(f"job {self.index} has no box")
        return self.box.mask

    def has(self, node: int) -> bool:
        """Whether it holds this node."""
        return node in self.nodes if self.box is None else bool(self.box.mask >> node & 1)

    @property
    def lost_work(self) -> float:
        """Node-seconds rolled back."""
        return self.size * self.lost

    @property
    def timed_out(self) -> bool:
        """Whether its limit ends it: "it ends at the estimate" (model.md#overrun)."""
        return self.done is None and self.wanted > self.runtime == self.estimate

    @property
    def over(self) -> bool:
        """Whether it has ended."""
        return not math.isnan(self.over_at)

    @property
    def in_time(self) -> bool:
        """Whether it ended as it was to: not killed for good, cut at its limit, withdrawn or unmet."""
        return not (self.killed or self.timed_out or self.fate)

    @property
    def useful(self) -> float:
        """Seconds: "the time held that is in no other account"."""
        others = (self.start_delay, self.restart, self.checkpoint, self.migration, self.hold, self.lost)
        return (self.holding - sum(others)) - self.slowed

    def own(self, t: float) -> float:
        """What its own clock shows at t."""
        return own(self.clock, t)

    def will_be(self, u: float, now: float) -> float:
        """When its own clock will show u, as of now."""
        return u if self.clock is None or math.isinf(u) else self.clock.time_from(now, u)

    def was(self, u: float) -> float:
        """When its own clock showed u."""
        return u if self.clock is None else self.clock.time_at(u)

    def slowed_between(self, begin: float, end: float) -> float:
        """Seconds that its own clock lost."""
        return 0.0 if self.clock is None else (end - begin) - (self.own(end) - self.own(begin))


# -- times


def planned(job: Job, left: float) -> float:
    """n(L): "the number of k >= 1 with L - k W > C: a checkpoint is skipped when what remains then is C or less"."""
    n = 0
    if left == math.inf and job.interval > 0.0:
        return math.inf  # nobody knows its run time
    while job.interval > 0.0 and left - (n + 1) * job.interval > job.cost:
        n += 1
    return n


def duration(job: Job, left: float) -> float:
    """Work and planned checkpoints: L + n(L) C."""
    return left + planned(job, left) * job.cost if left < math.inf else left


def expected_if_started(job: Job, start: float) -> float:
    """model.md#expected-end: "if it were decided at t: ((t + start_delay) + r) + (Le + n(Le) C)"; `start` is t +
    start_delay.
    """
    r = job.restart_cost if job.restarts else 0.0
    return (start + r) + duration(job, max(0.0, job.estimate - job.safe))


def set_out(
    job: Job,
    lead: str,
    begin: float,
    t0: float,
    safe: float,
    after: float,
    carried: float,
    *,
    since: float,
    now: float,
    saves: bool = False,
    safe_at: float | None = None,
) -> None:
    """Open a stretch: a lead phase [begin, t0), then work from the progress `after` on; that is safe from `safe_at` on.

    The job was last safe, or started, at `since`; it is again at `safe_at` if the lead phase `saves` its progress.  All
    of these are times of its own clock, and it is now `now`, or the job starts then.

    "finish = t0 + (L + n(L) C), expected end = t0 + (Le + n(Le) C)" (L is kept from below 0 too: p is a sum of
    doubles.)
    """
    job.lead, job.lead_begin, job.t0 = lead, begin, t0
    job.safe, job.after, job.carried = safe, after, carried
    job.safe_at = t0 if safe_at is None else safe_at
    job.since, job.points = since, -1 if saves else 0
    job.asked = 0
    job.ends = t0 + duration(job, max(0.0, job.runtime - after))
    job.finish, job.as_of = job.will_be(job.ends, now), now
    # "Expected ends are those at full speed from now on: in them what the clock will show as b is at (now + (b -
    # u(now)))" (model.md#slowness)
    ahead = t0 if job.clock is None else now + (t0 - job.own(now))
    job.expected = ahead + duration(job, max(0.0, job.estimate - after))


# -- where it is


def where(job: Job, t: float) -> Where:
    """Position at t of a running job.

    model.md#progress: "Checkpoint k begins at b = t0 + ((k - 1)(W + C) + W) and ends at c = t0 + k (W + C), k = 1 ...
    n(L); c_0 = t0. At time t let j be the number of k with c_k <= t [...]. The job is in checkpoint j + 1 if j < n(L)
    and t >= b_(j+1), else it works."  In a pause, the position is the one "at the end of the pause".
    """
    if t < job.start:
        return Where("start_delay", job.safe, job.after, 0.0, 0.0, job.own(job.start), 0)
    t = max(job.own(t), job.pause_until)
    if t < job.t0:
        if t >= job.safe_at:
            return Where(job.lead, job.after, job.after, 0.0, 0.0, *last_safe(job, 0, job.safe_at))
        return Where(job.lead, job.safe, job.after, job.carried, 0.0, job.since, job.points)
    w, c = job.interval, job.cost
    n = planned(job, max(0.0, job.runtime - job.after))
    j = 0
    while j < n and job.t0 + (j + 1) * (w + c) <= t:
        j += 1
    safe, c_j = job.after + j * w, job.t0 + j * (w + c)
    since = last_safe(job, j, c_j if j else job.safe_at)
    if j < n:
        b = job.t0 + (j * (w + c) + w)
        if t >= b:
            return Where("planned", safe, safe + w, b - c_j, j * c + (t - b), *since, t - b)
    return Where("work", safe, safe + (t - c_j), t - c_j, j * c, *since)


def last_safe(job: Job, j: int, end: float) -> tuple[float, int]:
    """Since when the job is safe after checkpoint j of its stretch (0: after its lead phase), which ended then.

    What was safe before a pause began has its place on the clock, although the pause shifts the times of the stretch.
    """
    return (end, j) if j > job.points else (job.since, job.points)


def close_stretch(job: Job, t: float) -> Where:
    """Where the job is at t, with the time in phases other than work booked, each in its own account."""
    here = where(job, t)
    if here.phase != "start_delay":
        spent = min(max(job.own(t), job.pause_until), job.t0) - job.lead_begin
        if job.lead == "restart":
            job.restart += spent
        elif job.lead == "checkpoint":
            job.checkpoint += spent
        else:
            job.migration += spent
        job.checkpoint += here.checkpoints
    return here


def pause(job: Job, now: float, cost: float, again: float = 0.0) -> None:
    """model.md#pause: "from the latest of now, its start and the end of that pause. Begin of work, finish and expected
    end each shift by `cost`".

    Everything shifts by `again` more if that much of a planned checkpoint must be repeated.
    """
    _, _, _, _, _, job.since, job.points, _ = where(job, now)
    now = max(now, job.start)
    begin = max(job.own(now), job.pause_until)
    job.pause_until = begin + cost
    later = again + cost
    job.lead_begin += later
    if job.safe_at > begin:
        job.safe_at += later
    job.t0 += later
    job.ends += later
    job.finish = job.will_be(job.ends, now)
    job.expected += later
    job.checkpoint += again
    job.migration += cost


def break_off(job: Job, now: float) -> None:
    """model.md#live: "The rest of a pause that it is in already, E - t where that would end at E, is given back first:
    the begin of work, finish and expected end are earlier by it, the finish not before t."
    """
    rest = job.pause_until - job.own(now)
    if rest > 0.0:
        job.lead_begin -= rest
        if job.safe_at > job.pause_until:
            job.safe_at -= rest
        job.t0 -= rest
        job.ends = max(job.ends - rest, job.own(now))
        job.finish = job.will_be(job.ends, now)
        job.expected -= rest
        job.migration -= rest
        job.pause_until = job.own(now)


def unpause(job: Job, t: float) -> None:
    """ "The part of a pause that a kill, or an end that is told, cuts off is deducted from the account"."""
    if job.own(t) < job.pause_until:
        job.migration -= job.pause_until - job.own(max(t, job.start))
    job.pause_until = NEVER
