"""Why a job waits: now, in a simulation, and over its whole wait, by repeating the run of a result.

The rules are in `faultsim.explain`; here is only where a job is, and the instants of its wait.
"""

import math
import warnings
from collections.abc import Mapping

import numpy as np

from faultsim import checks, renames
from faultsim.data.conditions import KINDS
from faultsim.data.event_kinds import FIRST_ENDED, JOB_STATES, JobState
from faultsim.errors import OptionError
from faultsim.results.reasons import Cause, Reason, Span, Why
from faultsim.results.result import Result
from faultsim.results.revision import caveat
from faultsim.simulation.execution import Execution
from faultsim.simulation.repeat import run_of

_OVER = tuple(JOB_STATES[FIRST_ENDED:])


def why_now(execution: Execution, job: int) -> Reason:
    """`Simulation.why`."""
    from faultsim.explain.rules import reason

    row = checks.whole("job, a row of the log,", job, low=0, high=execution.n_jobs - 1)
    number, _, submit, start, finish = execution.engine.state_of(row)
    state = JOB_STATES[number]
    if state == JobState.FUTURE and submit <= execution.engine.now:
        return Reason(Cause.ON_HOLD) if execution.engine.is_on_hold(row) else _not_eligible(execution, row)
    if state == JobState.FUTURE:
        return Reason(Cause.NOT_SUBMITTED, until=submit)
    if state in _OVER:
        return Reason(Cause.ENDED, start=start, finish=finish)
    moment = execution.moment(row)
    found = moment.find(row)
    return why_now(execution, row) if found is None else reason(moment, found)  # None: it has ended in the meantime


def _not_eligible(execution: Execution, row: int) -> Reason:
    """The first job, in order of the log, that it waits for, or else its earliest start, if that is to come."""
    engine, world = execution.engine, execution.world
    rows = world.eligibility
    postponed = execution.postponed.get(row, -math.inf)
    if postponed > engine.now:
        return Reason(Cause.NOT_ELIGIBLE, until=postponed)
    if rows is None:
        return Reason(Cause.NOT_ELIGIBLE)
    before = [int(other) for other in np.searchsorted(rows.first, np.flatnonzero(rows.waiter == row), "right") - 1]
    kinds = [KINDS[kind] for kind in rows.kind[rows.waiter == row].tolist()]
    if rows.single[row]:
        earlier = np.flatnonzero(rows.group[:row] == rows.group[row]).tolist()
        before, kinds = before + earlier, kinds + ["afterany"] * len(earlier)
    for other, kind in sorted(zip(before, kinds, strict=True)):
        number, restarts, *_ = engine.state_of(other)
        has_begun = restarts > 0 or JOB_STATES[number] in (JobState.RUNNING, JobState.HELD)
        if JOB_STATES[number] not in _OVER and not (kind == "after" and has_begun):
            return Reason(Cause.NOT_ELIGIBLE, blocker=other, blocker_id=execution.log.id[other].item())
    earliest = float(rows.begin[row])
    return Reason(Cause.NOT_ELIGIBLE, until=earliest if earliest > engine.now else None)


def explain_result(result: Result, job: int, policies: Mapping[str, object]) -> Why:
    """`Result.why`."""
    row = checks.whole("job, a row of the result,", job, low=0, high=len(result) - 1)
    unknown = [name for name in policies if name not in _OWN]
    if unknown:
        raise OptionError(f"why takes the policies {', '.join(_OWN)}, not {unknown[0]!r}")
    for text in caveat(result.model_revision):
        warnings.warn(
            f"why: the result is {text}: its run is repeated by this revision",
            stacklevel=renames.level_without_entries(3),
        )
    try:
        run = run_of(result, policies)
    except OptionError as error:
        raise OptionError(f"why repeats the run, which is not possible: {error}") from None
    execution = Execution(run)
    spans = list(_spans(execution, result, row))
    started, expected = execution.engine.state_of(row)[3], float(result.jobs["start"][row])
    if not math.isnan(expected) and started != expected:
        raise OptionError(
            f"why repeats the run, and job {result.jobs['id'][row]} then starts at {started:.15g} s, not at "
            f"{expected:.15g} s as in the result: another scheduler took over in it, a policy written in Python "
            f"decides differently now, or another version computed it"
        )
    return Why(row, result.jobs["id"][row].item(), spans)


_OWN = ("scheduler", "placement", "predictor", "recovery", "checkpointing", "rescheduling")


def _spans(execution: Execution, result: Result, row: int) -> list[Span]:
    """The wait of a job, from instant to instant."""
    engine, kills = execution.engine, int(result.jobs["restarts"][row])
    last = math.inf if result.is_over else result.span[1]
    eligible = float(result.jobs["eligible"][row])
    if math.isnan(eligible):  # never in the queue
        return []
    execution.go_on(math.nextafter(eligible, -math.inf))
    spans: list[Span] = []
    reason: Reason | None = None
    since = -math.inf
    # Invariant: from `since` on the job waits for `reason`, or does not wait (None).
    while True:
        goes_on = engine.next_time <= last and engine.step()
        now = engine.now if goes_on else last
        if reason is not None:
            end = min(now, reason.until) if reason.cause == Cause.START_DELAY and reason.until is not None else now
            spans.append(Span(since, end, reason))
        number, killed, *_ = engine.state_of(row)
        if not goes_on or JOB_STATES[number] in _OVER:
            return spans
        reason, since = why_now(execution, row), now
        if reason.cause == Cause.RUNNING:
            if killed == kills:
                return spans
            reason = None


Result.explain = explain_result
