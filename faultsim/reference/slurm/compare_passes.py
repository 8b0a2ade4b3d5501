"""Passes of the main loop in a log of slurmctld against those of the model, each from the recorded state before it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from faultsim.data import slurmctld_records as lines
from faultsim.data.host_lists import expanded
from faultsim.data.slurm_requests import JobRequest
from faultsim.data.slurm_site import SlurmRecord
from faultsim.reference.slurm.compare_priorities import Compared, Difference
from faultsim.reference.slurm.limits import Limits
from faultsim.reference.slurm.main_pass import Decisions, main_pass
from faultsim.reference.slurm.replay import Replay
from faultsim.reference.slurm.state import Running

#: Seconds around the end of a job in which its clean-up decides what a pass finds.
RACE = 0.6


@dataclass
class PassComparison:
    """What `compare_passes` counts."""

    passes: Compared = field(default_factory=Compared)
    starts: Compared = field(default_factory=Compared)


def compare_passes(log: lines.SlurmctldLog, conf: SlurmRecord, requests: Mapping[int, JobRequest]) -> PassComparison:
    """Compare the starts of each pass, with their nodes and in their order.

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
    replay = Replay(log, conf, requests)
    limits = Limits(replay.site)
    records = log.records
    for at, record in enumerate(records):
        replay.take(record)
        if not isinstance(record, lines.QueueBuild) or record.backfill:
            continue
        starts = _starts_after(records, at)
        if any(replay.unknown(start.array or start.job) for start in starts):
            left_out["passes that start a job which accounting does not list"] += 1
            continue
        state = replay.state_at(record.time, asked=not record.full)
        decisions = main_pass(state, float(record.second), full=record.full, limits=limits)
        recorded = [_of_start(start) for start in starts]
        names = replay.site.names
        computed = [_of_run(run, names) for run in decisions.started]
        result.passes.total += 1
        same = recorded == computed
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
    return result


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
    if since_end < RACE:
        text += f"; {since_end:.2f} s after the end or clean-up of a job: a race"
    return text
