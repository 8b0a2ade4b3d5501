"""Passes of the main loop and cycles of the backfill loop in a log of slurmctld against those of the model.

Each is computed from the recorded state before it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import zip_longest

from faultsim.data import slurmctld_records as lines
from faultsim.data.host_lists import expanded
from faultsim.data.slurm_requests import JobRequest
from faultsim.data.slurm_site import SlurmRecord
from faultsim.reference.slurm.backfill import backfill_cycle
from faultsim.reference.slurm.compare_priorities import Compared, Difference
from faultsim.reference.slurm.limits import Limits
from faultsim.reference.slurm.main_pass import Decisions, main_pass
from faultsim.reference.slurm.replay import Replay
from faultsim.reference.slurm.state import Running, Waiting

#: Seconds around the end of a job in which its clean-up decides what a pass finds.
RACE = 0.6


@dataclass
class PassComparison:
    """What `compare_passes` counts."""

    passes: Compared = field(default_factory=Compared)
    starts: Compared = field(default_factory=Compared)
    cycles: Compared = field(default_factory=Compared)
    array_cycles: Compared = field(default_factory=Compared)
    plans: Compared = field(default_factory=Compared)


def compare_passes(log: lines.SlurmctldLog, conf: SlurmRecord, requests: Mapping[int, JobRequest]) -> PassComparison:
    """Compare the starts of each pass and cycle, with their nodes and in their order, and the plans of cycles.

    Parameters
    ----------
    log : SlurmctldLog
        The log.
    conf : SlurmRecord
        The configuration.
    requests : mapping of int to JobRequest
        What jobs asked for.
    """
    result = PassComparison()
    left_out: Counter[str] = Counter()
    cycles_left_out: Counter[str] = Counter()
    replay = Replay(log, conf, requests)
    limits = Limits(replay.site)
    records = log.records
    for at, record in enumerate(records):
        replay.take(record)
        if not isinstance(record, lines.QueueBuild):
            continue
        if record.backfill:
            _compare_cycle(result, cycles_left_out, replay, limits, records, at)
            continue
        starts = _starts_after(records, at)
        if any(replay.unknown(start.array or start.job) for start in starts):
            left_out["passes that start a job which accounting does not list"] += 1
            continue
        state = replay.state_at(record.time, asked=not record.full)
        keys = list(state.keys)
        decisions = main_pass(state, float(record.second), full=record.full, limits=limits)
        recorded = [_of_start(start) for start in starts]
        names = replay.site.names
        computed = [_of_run(run, names) for run in decisions.started]
        same = recorded == computed
        other = None if same else replay.unseen(keys)
        if other is not None:
            again = main_pass(other, float(record.second), full=record.full, limits=limits)
            if recorded == [_of_run(run, names) for run in again.started]:
                computed, same = recorded, True
                result.passes.unseen += 1
        result.passes.total += 1
        result.passes.exact += same
        result.starts.total += len(recorded)
        result.starts.exact += sum(one == other for one, other in zip(recorded, computed, strict=False))
        if not same:
            cause = _cause(recorded, computed, decisions, record.time - replay.last_end)
            first = next((one or other for one, other in _pairs(recorded, computed) if one != other), None)
            result.passes.differences.append(
                Difference(
                    record.time, record.line, first[0] if first else 0, _shown(recorded), _shown(computed), cause
                )
            )
    result.passes.left_out = dict(left_out)
    result.cycles.left_out = dict(cycles_left_out)
    return result


def _compare_cycle(
    result: PassComparison,
    left_out: Counter[str],
    replay: Replay,
    limits: Limits,
    records: list[lines.Record],
    at: int,
) -> None:
    """Compare the starts and plans of the cycle of the backfill loop that begins at a record."""
    begin = records[at]
    cycle = _cycle_after(records, at)
    if cycle is None:
        left_out["cycles that gave back the locks, or whose end is not in the log"] += 1
        return
    starts = [each for each in cycle if isinstance(each, lines.Start) and each.backfilled]
    if any(replay.unknown(start.array or start.job) for start in starts):
        left_out["cycles that start a job which accounting does not list"] += 1
        return
    state = replay.state_at(begin.time)
    seconds: dict[tuple[int, str], int] = {}
    for each in cycle:
        if isinstance(each, lines.QueuedPriority):
            seconds.setdefault((each.job, each.partition), each.second)

    def clock(job: Waiting, partition: str) -> float:
        return float(seconds.get((job.job, partition), begin.second))

    decisions = backfill_cycle(state, float(begin.second), limits=limits, clock=clock)
    names = replay.site.names
    recorded = [_of_start(start) for start in starts]
    computed = [_of_run(run, names) for run in decisions.started]
    planned = plans_of(cycle)
    plans = [(each.job, int(each.start), tuple(sorted(names[node] for node in each.nodes))) for each in decisions.plans]
    compared = result.array_cycles if any(job.array and job.left > 1 for job in state.waiting) else result.cycles
    compared.total += 1
    same = recorded == computed and planned == plans
    compared.exact += same
    result.plans.total += len(planned)
    result.plans.exact += sum(one == other for one, other in zip(planned, plans, strict=False))
    if same:
        return
    since_end = begin.time - replay.last_end
    if recorded != computed:
        start, instead = next((one, other) for one, other in _pairs(recorded, computed) if one != other)
        job = start[0] if start else instead[0] if instead else 0
        shown, other = _shown(recorded), _shown(computed)
        cause = _cause(recorded, computed, decisions, since_end)
    else:
        one, two = next((one, two) for one, two in zip_longest(planned, plans) if one != two)
        job = one[0] if one else two[0] if two else 0
        shown, other = _shown_plan(one), _shown_plan(two)
        cause = "another plan" + _race(since_end)
    compared.differences.append(Difference(begin.time, begin.line, job, shown, other, cause))


def plans_of(cycle: list[lines.Record]) -> list[tuple[int, int, tuple[str, ...]]]:
    """Job, start and nodes of each plan of a cycle that was kept."""
    plans: list[tuple[int, int, tuple[str, ...]]] = []
    for each in cycle:
        if isinstance(each, lines.Plan):
            plans.append((each.job, int(each.start), tuple(sorted(expanded(each.nodes)))))
        elif isinstance(each, lines.PlanDropped) and plans and plans[-1][0] == each.job:
            plans.pop()
    return plans


def _shown_plan(plan: tuple[int, int, tuple[str, ...]] | None) -> str:
    if plan is None:
        return "no plan"
    hours, rest = divmod(plan[1] % 86400, 3600)
    return f"{plan[0]} at {hours:02d}:{rest // 60:02d}:{rest % 60:02d} on {','.join(plan[2])}"


def _cycle_after(records: list[lines.Record], at: int) -> list[lines.Record] | None:
    """Records of the cycle that begins at a record; None if other decisions were taken in between."""
    for end in range(at + 1, len(records)):
        each = records[end]
        if isinstance(each, lines.QueueBuild):
            return None
        if isinstance(each, lines.CycleEnd):
            return None if each.yields else records[at + 1 : end]
    return None


Placed = tuple[int, tuple[str, ...]]


def _starts_after(records: list[lines.Record], at: int) -> list[lines.Start]:
    """Starts of the pass that begins at a record."""
    found = []
    for record in records[at + 1 :]:
        if isinstance(record, lines.QueueBuild):
            break
        if isinstance(record, lines.Start) and not record.backfilled:
            found.append(record)
    return found


def _of_start(start: lines.Start) -> Placed:
    return start.array or start.job, tuple(sorted(expanded(start.nodes)))


def _of_run(run: Running, names: list[str]) -> Placed:
    return run.array or run.job, tuple(sorted(names[node] for node in run.nodes))


def _pairs(one: list[Placed], other: list[Placed]) -> list[tuple[Placed | None, Placed | None]]:
    size = max(len(one), len(other))
    return [(one[at] if at < len(one) else None, other[at] if at < len(other) else None) for at in range(size)]


def _shown(placed: list[Placed]) -> str:
    return " ".join(f"{job}:{','.join(nodes)}" for job, nodes in placed) or "no start"


def _cause(recorded: list[Placed], computed: list[Placed], decisions: Decisions, since_end: float) -> str:
    first = next(((one, other) for one, other in _pairs(recorded, computed) if one != other), (None, None))
    text = "other nodes" if first[0] and first[1] and first[0][0] == first[1][0] else "another job starts first"
    if first[0] is None:
        text = "the model starts a job more"
    elif first[1] is None:
        text = "the model starts a job less"
        why = {reason for (job, _), reason in decisions.reasons.items() if job == first[0][0]}
        text += f" ({', '.join(sorted(why))})" if why else " (not in its queue)"
    return text + _race(since_end)


def _race(since_end: float) -> str:
    return f"; {since_end:.2f} s after the end or clean-up of a job: a race" if since_end < RACE else ""
