"""A caller that owns time, jobs and failures (model.md#owned), in plain Python."""

import math
import operator
from collections.abc import Mapping
from typing import NoReturn, SupportsIndex, cast

import numpy as np

from faultsim import checks
from faultsim.arrays import Floats, Integers, Values
from faultsim.data.world import AskRows, World
from faultsim.errors import DecisionError
from faultsim.policies.settings import Settings
from faultsim.reference.engine import Run, make_jobs
from faultsim.reference.faults.failures import end_holds, fail_now, foresee_hold, repair
from faultsim.reference.job import duration, where
from faultsim.reference.scheduling.expressions import check_static
from faultsim.reference.site.nodes import asks_of


class Live(Run):
    """A run that is told what happens; the parameters are those of `Run`, of which only the first jobs are known."""

    def __init__(self, settings: Settings, *columns: Values, world: World) -> None:
        known = world.known
        submit, runtime, estimate, size = (column[:known] for column in columns)
        super().__init__(settings, submit, runtime, estimate, size, world)

    # -- jobs

    def submit(
        self,
        submit: Floats,
        runtime: Floats,
        estimate: Floats,
        size: Integers,
        interval: Floats | None,
        ranks: Integers | None,
        groups: Integers | None,
        key: Floats | None,
        columns: Mapping[str, Values],
        further: Floats | None,
        asks: AskRows | None,
    ) -> None:
        """ "Jobs arrive, now or later, also ahead of others that have not arrived yet. Their rows follow those of all
        jobs so far".
        """
        state, n = self.state, len(self.state.jobs)
        if submit[0] < state.now:
            refuse(f"a job cannot be submitted at {submit[0]:g} s: it is {state.now:g} s already")
        new = make_jobs(state.settings, state.rules, state.table, submit, runtime, estimate, size, interval, ranks)
        for i, job in enumerate(new):
            job.row = n + i
            job.user_group = 0 if groups is None else int(groups[i])
        for job, ask in zip(new, [] if asks is None else asks_of(asks), strict=False):
            job.ask = ask
        check_static(new, state.settings.scheduler["order"], columns)
        to_come = sorted(self.coming.arrivals + new, key=lambda job: (job.submit, job.row))
        here = [job for job in state.jobs if job not in self.coming.arrivals]
        state.jobs[:] = here + to_come
        for index, job in enumerate(state.jobs):
            job.index = index
        self.coming.arrivals[:] = to_come
        state.world.columns = columns

    def submit_one(
        self, submit: float, runtime: float, estimate: float, size: int, columns: Mapping[str, Values]
    ) -> None:
        """The same of one job."""
        times = np.array([[submit], [runtime], [estimate]])
        self.submit(
            times[0], times[1], times[2], np.array([size], np.int32), None, None, None, None, columns, None, None
        )

    def end_job(self, row: object) -> None:
        """ "What it has done is its run time"."""
        state, job = self.state, self.job_at(row)
        if job not in state.running or job.held or job.start > state.now:
            refuse(f"job {row} cannot end: it is not running at {state.now:g} s")
        if job.finish <= state.now:
            refuse(f"job {row} ends now, as was told")
        state.catch_up()
        job.done = where(job, state.now).progress
        job.finish = state.now

    def extend_job(self, row: object, seconds: float) -> None:
        """ "The run time of a job is longer or shorter than was said; what it has done stays"."""
        state, job = self.state, self.job_at(row)
        if job in state.done:
            refuse(f"job {row} has ended")
        if job.done is not None and job.done != job.runtime:
            refuse(f"job {row} ends now, as was told")
        if job.wanted == math.inf:
            refuse(
                f"job {row} cannot be extended: its run time is unknown, so it runs until finish, or with "
                f"overrun='kill' to its estimate, which stays"
            )
        wanted = job.wanted + seconds
        if not wanted >= 0.0:
            refuse(f"job {row} cannot be extended by {seconds:g} s: it runs for {job.wanted:g} s")
        if checks.LATEST < wanted < math.inf:
            refuse(f"job {row} cannot be extended by {seconds:g} s: the clock ends at {checks.LATEST} s")
        runtime = min(wanted, job.estimate) if state.settings.overrun == "kill" else wanted
        if job in state.running and not job.held and runtime != job.runtime:
            finish = job.t0 + duration(job, max(0.0, runtime - job.after))
            if finish < state.now:
                refuse(f"job {row} cannot be extended by {seconds:g} s: it would have ended before {state.now:g} s")
            job.finish = job.ends = finish
        state.catch_up()
        job.wanted, job.runtime, job.done = wanted, runtime, None

    # -- predictions

    def foresee(self, begin: Floats, end: Floats, node: Integers, p: float) -> None:
        """ "Predictions come to those that have not passed"."""
        state, world = self.state, self.state.world
        world.predictions = [row for row in world.predictions if row[1] > state.now]
        if world.predictions and p != world.p:
            refuse(f"predictions have one probability: those so far have p={world.p:g}, got {p:g}")
        world.predictions += zip(begin.tolist(), end.tolist(), node.tolist(), strict=True)
        world.predictions.sort()
        world.p = p

    # -- nodes

    def fail_node(self, node: object, downtime: float) -> None:
        """ "A node fails at t, as in section 8"."""
        state, number = self.state, self.node_at(node)
        if state.up.get(number) == math.inf:
            refuse(f"node {number} is down already, for an unknown time: call up({number}) first")
        for job in state.jobs_on(number):
            if not job.held and job.finish <= state.now:
                refuse(f"node {number} has job {job.row}, which ends now: let it end first")
        state.catch_up()
        effect = fail_now(state, number, downtime)
        state.events += 1
        end_holds(state)
        if effect:
            state.wakes.append(state.now)

    def repair_node(self, node: object) -> None:
        """ "It is repaired at t"."""
        state, number = self.state, self.node_at(node)
        if number not in state.up:
            refuse(f"node {number} is not down")
        state.catch_up()
        repair(state, number)
        state.events += 1
        for job in state.jobs_on(number):
            if job.held:
                foresee_hold(state, job)
        state.wakes.append(state.now)

    # -- below

    def node_at(self, node: object) -> int:
        """A node that there is."""
        try:
            number = operator.index(cast(SupportsIndex, node))
        except TypeError:
            refuse(f"a node is named by a whole number, not by {checks.shown(node)}")
        if not 0 <= number < self.state.nodes:
            refuse(f"there is no node {number}: nodes are 0 to {self.state.nodes - 1}")
        return number

    def is_over(self, until: float) -> bool:
        """There is always more that may be told; without a time to reach, the end of all jobs is the end."""
        return until == math.inf and super().is_over(until)


def refuse(text: str) -> NoReturn:
    """Nothing has changed."""
    raise DecisionError(text)
