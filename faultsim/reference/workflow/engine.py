"""The plain engine of workflows, which follows docs/background/workflow-model.md sentence by sentence.

It shares no code with the fast engine: when the two agree on every decision of random workflows, a misreading must have
been made twice.  Each rule is one function beside the sentence of the page that it stands for.

- `state`: jobs, nodes and the pool; moving data, putting and killing jobs
- `order`: upward ranks; `schedulers`: the order of the pool at a pass, and which schedulers use the predictor
- `schedule`: the pass, and the questions to the predictor
- `plan`: the plan of HEFT; `follow`: how that plan is followed when nodes fail
"""

import math
from collections.abc import Sequence

import numpy as np

from faultsim.arrays import Values
from faultsim.data.world import World
from faultsim.errors import DecisionError, EngineError
from faultsim.policies.settings import WorkflowSettings
from faultsim.reference.engine_inputs import WorldRows
from faultsim.reference.workflow.follow import follow
from faultsim.reference.workflow.order import set_ranks
from faultsim.reference.workflow.schedule import scheduling_pass
from faultsim.reference.workflow.schedulers import scheduler_of
from faultsim.reference.workflow.state import (
    ARRIVAL,
    FAILURE,
    FINISH,
    KILL,
    REPAIR,
    START,
    WAKE_UP,
    WorkflowJob,
    WorkflowState,
)


class WorkflowEngine:
    """The plain Python engine behind the calls of the compiled one; it runs everything at once.

    Parameters
    ----------
    settings : WorkflowSettings
        ``scheduler``, a dict with its name (rank_hybd, flaw, fifo, heft) and ``across`` or ``aware``; ``transfers``;
        ``outputs``, None or the seconds of a copy to shared storage; ``record``.
    tables : dict of arrays
        The jobs of all workflows, one workflow after the other: ``first_job`` of each workflow and one entry more,
        ``arrival`` (s), ``cost`` of shape (jobs,) or (jobs, nodes), ``speed`` of shape (nodes,), ``bandwidth``, a
        number or of shape (nodes, nodes), and the edges in compressed rows, both ways.
    world : World, optional
        ``failures`` and ``predictions``, each by time.
    sources_kill : bool, default True
        Whether a failure kills the jobs to which its node sends.  False is not the model: it shows what the rule does.

    Examples
    --------
    >>> settings = WorkflowSettings({"name": "rank_hybd"})
    >>> chain = {"first_job": [0, 2], "arrival": [0.0], "cost": [4.0, 4.0], "speed": [1.0, 2.0], "bandwidth": 1.0,
    ...          "predecessor_start": [0, 0, 1], "predecessor": [0], "predecessor_transfer": [1.0],
    ...          "successor_start": [0, 1, 1], "successor": [1], "successor_transfer": [1.0]}
    >>> engine = WorkflowEngine(settings, chain)
    >>> engine.run()
    'done'
    >>> engine.output()["finish"]
    array([2., 4.])
    """

    def __init__(
        self,
        settings: WorkflowSettings,
        tables: dict[str, object],
        world: World | None = None,
        *,
        sources_kill: bool = True,
    ) -> None:
        self.recording: bool = settings.record
        self.sources_kill = sources_kill
        self.state = WorkflowState(settings, tables, scheduler_of(settings.scheduler))
        given = WorldRows(world)
        self.state.failures = [(time, node, downtime) for time, node, downtime, *_ in given.failures]
        self.state.predictions = given.predictions

    @property
    def n_done(self) -> int:
        """Jobs that are done."""
        return sum(job.done for job in self.state.jobs)

    @property
    def now(self) -> float:
        """The clock (s)."""
        return self.state.now

    def run(self, budget: int | None = None) -> str:
        """Run to the end, whatever the budget."""
        set_ranks(self.state)
        if self.state.scheduler.plans:
            follow(self.state)
        else:
            run(self.state, self.sources_kill)
        return "done"

    def output(self) -> dict[str, object]:
        """What both engines hand back."""
        state = self.state
        rows = [(job.node, job.put, job.finish, job.kills) for job in state.jobs]
        result: dict[str, object] = {
            **table(rows, "node start finish kills", "i4 f8 f8 i4"),
            "decisions": table(state.decisions, "time job node asked begin finish", "f8 i4 i4 i4 f8 f8"),
            "loss_time": state.loss_time,
            "reschedulings": state.reschedulings,
            "questions": (state.asked_per_pass, state.right_per_pass, state.asked_per_node, state.right_per_node),
            "events": self._events(),
        }
        if self.recording:
            result["events_table"] = table(state.diary, "time kind workflow job node", "f8 i1 i4 i4 i4")
        return result

    def _events(self) -> int:
        """Events handled; kills and starts are what events lead to."""
        return sum(row[1] not in (KILL, START) for row in self.state.diary)


def table(rows: Sequence[Sequence[float]], names: str, types: str) -> dict[str, Values]:
    """Rows as columns."""
    columns = zip(*rows, strict=True) if rows else ((),) * len(names.split())
    return {
        name: np.array(column, dtype=kind)
        for name, kind, column in zip(names.split(), types.split(), columns, strict=True)
    }


def run(state: WorkflowState, sources_kill: bool) -> None:
    """ "After all events of an instant, one scheduling pass runs if they included a finish, a repair that brought a
    node up, a failure with an effect, a wake-up, or an arrival. A job of zero length that a pass puts on a node
    finishes at the same instant: such finishes are handled next, then another pass runs. The run ends with the finish
    of the last job".
    """
    coming = Coming(state)
    due = False
    while not all(job.done for job in state.jobs):
        time, kind, serial = coming.next()
        if due and time > state.now:
            scheduling_pass(state)
            due = False
            continue
        if time == math.inf:
            left = sum(not job.done for job in state.jobs)
            if math.inf in state.up.values():
                raise DecisionError(
                    f"deadlock: {left} jobs have not ended, none runs, and nothing else will happen: nodes do not "
                    f"return"
                )
            raise EngineError(f"reference engine at time {state.now}: jobs wait for ever")
        state.now = time
        due |= handle(state, coming, kind, serial, sources_kill)


class Coming:
    """What is still to come from outside: the rest of the failures and of the arrivals."""

    def __init__(self, state: WorkflowState) -> None:
        self.state = state
        self.failure = 0
        self.arrivals = [(time, ARRIVAL, i) for i, time in enumerate(state.arrivals)]

    def next(self) -> tuple[float, int, int]:
        """The next event, (time, kind, serial): "Events are ordered by (time, kind, serial)".

        The kinds and serials: finish 0, "order of jobs across workflows"; repair 1, node; failure 2, "order in the
        trace"; wake-up 4; arrival 5, workflow.
        """
        state = self.state
        events = [(math.inf, ARRIVAL, 0)]
        events += [(job.finish, FINISH, job.number) for job in state.running]
        events += [(up, REPAIR, node) for node, up in state.up.items()]
        if self.failure < len(state.failures):
            events.append((state.failures[self.failure][0], FAILURE, self.failure))
        if state.wake_up is not None:
            events.append((state.wake_up, WAKE_UP, 0))
        return min(events + self.arrivals)


def handle(state: WorkflowState, coming: Coming, kind: int, serial: int, sources_kill: bool) -> bool:
    """Handle an event; whether a pass is due."""
    if kind == REPAIR:
        state.write(REPAIR, node=serial)
        del state.up[serial]  # "A node that is down until u is up and free at u; only the latest u counts."
    elif kind == FAILURE:
        coming.failure += 1
        _, node, downtime = state.failures[serial]
        return fail(state, node, downtime, sources_kill)
    elif kind == WAKE_UP:
        state.write(WAKE_UP)
        state.wake_up = None
    elif kind == ARRIVAL:
        coming.arrivals.remove((state.now, ARRIVAL, serial))
        state.write(ARRIVAL, workflow=serial)
        for job in state.jobs:  # "The jobs without a predecessor enter the pool."
            if job.key[0] == serial and not job.inputs:
                state.enter_pool(job)
    else:
        state.end(state.jobs[serial])
    return True


def fail(state: WorkflowState, q: int, downtime: float, sources_kill: bool) -> bool:
    """Failure of node q; whether it had an effect.

    "A job that runs on q is killed. [...] With `outputs="node"`: a job that runs on another node is killed if it has an
    edge from a job whose output lies on q and the transfer over that edge ends later than t; such jobs are killed in
    the order of jobs across workflows."  "A failure has an effect if it kills, takes a node down, or makes an up time
    later."
    """
    state.write(FAILURE, node=q)
    killed = [job for job in state.running if job.node == q]
    if not state.shared and sources_kill:
        receiving = [job for job in state.running if job.node != q and receives_from(state, job, q)]
        killed += sorted(receiving, key=lambda job: job.key)
    for job in killed:
        state.kill(job)
    return state.take_down(q, downtime) or bool(killed)


def receives_from(state: WorkflowState, job: WorkflowJob, q: int) -> bool:
    """ "A transfer that has ended, or ends at t, is not affected"."""
    return any(u.node == q and end > state.now for (u, _), end in zip(job.inputs, job.transfers, strict=True))
