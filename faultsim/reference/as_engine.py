"""The reference engine behind the calls of the compiled one, for ``faultsim.simulate(..., engine="reference")``."""

import math
from collections.abc import Mapping
from typing import Any, NoReturn

import numpy as np

from faultsim.arrays import Floats, Integers, Values
from faultsim.data.world import World
from faultsim.errors import DecisionError, NotAvailableError
from faultsim.policies.settings import Settings
from faultsim.reference.decisions import Decision
from faultsim.reference.drains import close_node, drained_nodes
from faultsim.reference.engine import Run, run_whole
from faultsim.reference.live import Live
from faultsim.reference.scheduling.queueing import queue_order
from faultsim.reference.so_far import what_became_of
from faultsim.reference.state import CHANGE, State
from faultsim.reference.verify import check_instant


class ReferenceEngine:
    """The plain Python engine behind the same calls.

    It runs a whole log at once, or from decision to decision; with ``live`` it is told what happens.
    """

    n_handled = 0
    owed = ""
    acts: list[object] | None = None
    changer: Any = None

    def __init__(
        self,
        settings: Settings,
        submit: Floats,
        runtime: Floats,
        estimate: Floats,
        size: Integers,
        world: World | None = None,
    ) -> None:
        self._arguments = (settings, submit, runtime, estimate, size, world)
        self._output: dict[str, Any] | None = None
        self._made: Run | None = None
        self._live: Live | None = None
        if world is not None and world.live:
            self._made = self._live = Live(settings, submit, runtime, estimate, size, world=world)
            self._live.state.engine = self

    @property
    def _run(self) -> Run:
        if self._made is None:
            self._made = Run(*self._arguments)
            self._made.state.engine = self
        return self._made

    # -- running

    def advance(self, until: float = math.inf) -> Decision | None:
        """To the next decision from outside."""
        return self._run.advance(until)

    @property
    def decision(self) -> Decision | None:
        """What is to be decided now."""
        run = self._run
        return None if run.waits is None else Decision(run.state, run.waits, queue_order(run.state))

    def is_open(self, decision: Decision) -> bool:
        """Whether it is the one that is to be decided now."""
        return decision.is_of(self._run.state)

    def run(self, budget: int, until: float = math.inf) -> str:
        if self._live is not None:
            return "decide" if self._live.go_on(until) else "done"
        if until != math.inf or self._made is not None:
            self._whole()
        whole = self._run
        try:
            self._output = run_whole(whole)
        finally:
            self._made = None
        return "done"

    def output(self) -> dict[str, object]:
        return self._run.output() if self._output is None else self._output

    def output_so_far(self) -> dict[str, object]:
        return self._run.output_so_far()

    def _whole(self, *_: object) -> NoReturn:
        raise NotAvailableError('the reference engine runs a whole log at once; step with engine="core"')

    step = copy = _whole

    # -- what there is

    @property
    def n_done(self) -> int:
        if self._output is not None:
            return len(self._arguments[1])
        return 0 if self._made is None else len(self._made.state.done)

    @property
    def now(self) -> float:
        if self._output is not None:
            return float(self._output["makespan_end"])
        return 0.0 if self._made is None else self._made.state.now

    @property
    def _open(self) -> Live:
        return self._live or self._whole()

    @property
    def next_time(self) -> float:
        return self._open.coming.next_time()

    @property
    def n_events(self) -> int:
        """For pickles, which repeat the acts of decisions too: nobody keeps them here."""
        return int(self._whole())

    @property
    def free(self) -> int:
        return self._open.state.free

    @property
    def lost_work(self) -> float:
        return sum(job.lost_work for job in self._open.state.jobs)

    @property
    def state(self) -> State:
        """What the rules of schedulers depend on."""
        return self._whole() if self._output is not None else self._run.state

    def state_of(self, row: int) -> tuple[int, int, float, float, float]:
        """Of the job of a row: state (a `JobState` by number), kills, and submit, start and finish (s)."""
        if self._output is not None:
            submit, names = self._arguments[1][row], ("start", "finish")
            return 4, int(self._output["restarts"][row]), submit, *(float(self._output[name][row]) for name in names)
        state = self._run.state
        job = next(job for job in state.jobs if (job.row if state.world.live else job.index) == row)
        return what_became_of(state, job), job.restarts, job.submit, job.start, job.finish

    def queue(self) -> Integers:
        return np.array([job.row for job in queue_order(self._open.state)], np.int32)

    def running(self) -> Integers:
        return np.sort(np.array([job.row for job in self._open.state.running], np.int32))

    def verify(self) -> None:
        check_instant((self._made or self._whole()).state, between=True)

    # -- what the caller tells

    @property
    def _told(self) -> Live:
        if self._live is None:
            raise DecisionError("only a simulation that was made with live= takes this")
        return self._live

    def submit(self, *columns: Any) -> None:
        self._told.submit(*columns)

    def submit_one(
        self, submit: float, runtime: float, estimate: float, size: int, columns: Mapping[str, Values]
    ) -> None:
        self._told.submit_one(submit, runtime, estimate, size, columns)

    def foresee(self, begin: Floats, end: Floats, node: Integers, p: float) -> None:
        self._told.foresee(begin, end, node, p)

    def end_job(self, row: object) -> None:
        self._told.end_job(row)

    def withdraw(self, row: object) -> None:
        self._run.withdraw(row)

    def hold(self, row: object) -> None:
        self._run.hold(row)

    def release(self, row: object) -> None:
        self._run.release(row)

    def change(
        self,
        row: object,
        estimate: float | None,
        size: int | None,
        columns: Mapping[str, Values],
        decided: bool = False,
    ) -> None:
        self._run.change(row, estimate, size, columns, decided)

    def postpone(self, row: object, begin: float, decided: bool = False) -> None:
        self._run.postpone(row, begin, decided)

    def record_change(self, row: object) -> None:
        self._run.state.write(CHANGE, self._run.job_at(row))

    def changeable(self, row: object, decided: bool = False) -> int:
        return self._run.changeable(row).index

    def take_over(self, *_: object) -> None:
        """Nothing to do: this engine keeps nothing of its orders and schedulers but what a disturbance voids."""

    def order_again(self, *_: object) -> None:
        queue_order(self._run.state)  # an order in Python may raise

    def drain(self, node: object) -> None:
        close_node(self._run.state, node, True)

    def resume(self, node: object) -> None:
        close_node(self._run.state, node, False)

    def drained(self) -> Integers:
        return drained_nodes(self._run.state)

    def is_on_hold(self, row: int) -> bool:
        jobs, live = self._run.state.jobs, self._run.state.world.live
        return self._run.is_on_hold(next(job.row for job in jobs if (job.row if live else job.index) == row))

    def extend_job(self, row: object, seconds: float) -> None:
        self._told.extend_job(row, seconds)

    def fail_node(self, node: object, downtime: float) -> None:
        self._told.fail_node(node, downtime)

    def repair_node(self, node: object) -> None:
        self._told.repair_node(node)
