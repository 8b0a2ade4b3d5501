"""`Respond`: what to do at a warning."""

import os
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from gymnasium.spaces import Box, Discrete

from faultsim import checks
from faultsim._core.decisions import Decision
from faultsim.arrays import Flags
from faultsim.data.failures import FailureTrace
from faultsim.data.workload import Workload
from faultsim.errors import DecisionError, OptionError
from faultsim.machines import Cluster, Machine, as_machine
from faultsim.policies import External, Perfect, Predictor, QueueOrder
from faultsim.policies.words import OrderWord, PredictorWord
from faultsim.rl.environment import Environment, read_given
from faultsim.rl.observations import in_box, on_nodes, squash
from faultsim.rl.rewards import RewardChoice
from faultsim.synthetic import exponential_failures, lublin

#: What an agent can do.
ACTIONS = ("nothing", "requeue", "checkpoint", "move")


class Respond(Environment):
    """What to do at a warning (``faultsim/Respond-v0``).

    A warning comes `lead` seconds before a predicted failure begins, and is a decision if a job runs on the node then.
    An action is one of `actions` (model.md#acts): nothing; requeue, by which the job loses what it has not saved, and
    others may start at once; checkpoint, with the cost of ``checkpointing=``; or move, with the costs of `Fars`, 30 s
    each: on a cluster from the node that is warned of to a free one, on a pod with switches from its cube to a free
    one, else to another box or slice of its size, where as few nodes as possible are predicted to fail before the job
    is expected to end.  `EasyBackfill` decides who starts.
    The mask excludes what is known not to be possible; an action that is not possible is taken for nothing.

    The observation is 8 numbers from 0 to 1: share of the nodes that the job has; t / (t + 1 h) of its unsaved work, of
    the time to its expected end, of the time to the failure, and of how long the warning holds; the probability of the
    failure; share of free nodes; n / (n + 16) of n waiting jobs.

    Parameters
    ----------
    log : Workload or path, optional
        What episodes are taken from; by default 10,000 jobs of `synthetic.lublin` for 128 nodes, with seed 0.
    machine : Cluster, Torus or Pod, or text such as "cluster:128", optional
        By default `Cluster` of 128 nodes.
    failures : FailureTrace or path, optional
        By default each node fails every 30 days, and is down for an hour.
    predictor : Predictor, optional
        By default `Perfect`.
    lead : float, default 600
        Seconds.
    actions : sequence of str, default ("nothing", "requeue", "checkpoint", "move")
        What the actions mean: "nothing", and any of the others.
    order, jobs, metric, render_mode, **options
        As for `PickJob`; so is `reward`, by default ``"lost"``.

    Raises
    ------
    TypeError
        By a keyword that there is not, with the one that was meant.
    OptionError
        By invalid options, and by `step` after the end of an episode.

    Examples
    --------
    >>> import faultsim as fs, faultsim.rl, gymnasium
    >>> log = fs.Workload(submit=[0], runtime=[5000], size=[2])
    >>> failures = fs.FailureTrace([3600], [1], [60], span=7200)
    >>> env = gymnasium.make("faultsim/Respond-v0", log=log, machine=fs.Cluster(4), failures=failures, jobs=1)
    >>> seen, info = env.reset()
    >>> info["now"]
    3000.0
    >>> env.step(0)[1]
    -7200.0
    """

    def __init__(
        self,
        log: Workload | str | os.PathLike[str] | None = None,
        machine: Machine | str | None = None,
        *,
        failures: FailureTrace | str | os.PathLike[str] | None = None,
        predictor: Predictor | PredictorWord | None = None,
        lead: checks.Duration = 600.0,
        actions: Sequence[str] = ACTIONS,
        order: QueueOrder | OrderWord = "arrival",
        jobs: int = 256,
        reward: RewardChoice = "lost",
        metric: str = "mean_bounded_slowdown",
        render_mode: str | None = None,
        **options: object,
    ) -> None:
        self._actions = tuple(checks.choice("action", action, ACTIONS) for action in actions)
        if self._actions[:1] != ("nothing",) or len(set(self._actions)) < max(2, len(self._actions)):
            raise OptionError(f"actions must be 'nothing' and then others, each once, got {self._actions}")
        whole: Workload = lublin(10_000, rng=0) if log is None else read_given("log", log, Workload)
        on: Machine = Cluster(128) if machine is None else as_machine(machine)
        if failures is None:
            span = 2.0 * float(whole.submit[-1]) + 86400.0
            failures = exponential_failures(on.nodes, span, 30 * 86400.0, downtime=3600.0, rng=0)
        options.update(failures=failures, predictor=Perfect() if predictor is None else predictor)
        super().__init__(
            whole,
            on,
            External(order=order),
            jobs=jobs,
            reward=reward,
            metric=metric,
            render_mode=render_mode,
            options=options,
        )
        self._lead = checks.number("lead", lead, low=0.0, unit="seconds")
        self.action_space = Discrete(len(self._actions))
        self.observation_space = Box(0.0, 1.0, (8,), np.float32)

    def _settle(self) -> Decision | None:
        decision = self._advance(self._sim.next_time)
        assert decision is not None
        foreseen = decision.foreseen(float("inf"))
        times = np.maximum(foreseen["begin"] - self._lead, decision.now)
        order = np.argsort(times, kind="stable")
        self._foreseen, self._times, self._row = foreseen[order], times[order], 0
        return self._next_warning(decision)

    def _act(self, decision: Decision, action: int) -> Decision | None:
        what = self._actions[action]
        if what != "nothing":
            with suppress(DecisionError):  # a job may be too near to its end to save, which is unknown
                if what == "requeue":
                    decision.requeue(self._job)
                elif what == "checkpoint":
                    decision.checkpoint(self._job)
                else:
                    decision.move(self._job, **self._elsewhere(decision))
            self._schedule(decision)
        return self._next_warning(decision)

    def _advance(self, until: float) -> Decision | None:
        """Go on to a time, or if it is infinite to the end; jobs start as by `EasyBackfill` (model.md#easy)."""
        last = until if np.isfinite(until) else None
        while (decision := self._sim.advance(until=last)) is not None and decision.kind == "schedule":
            self._schedule(decision)
        return decision

    def _schedule(self, decision: Decision) -> None:
        """A pass of EASY."""
        waiting = decision.queue.tolist()
        while waiting and decision.fits(waiting[0]):
            self._begin(decision, waiting.pop(0))
        for job in waiting[1:]:
            if decision.backfill(job):
                self._reward.started(job, decision.now)

    def _elsewhere(self, decision: Decision) -> dict[str, Any]:
        """Where the job moves; {}: nowhere."""
        window = max(0.0, decision.running.expected_end[self._at] - decision.now)
        doomed = np.zeros(self._machine.nodes, np.bool_)
        doomed[decision.foreseen(window)["node"]] = True
        if self._machine.has_boxes:
            boxes = decision.boxes(self._job, int(decision.running.size[self._at]))
            if not len(boxes):
                return {}
            failing = doomed.reshape(self._machine.array_shape)
            counts = [int(failing[in_box(failing.shape, box)].sum()) for box in boxes]
            return {"box": boxes[int(np.argmin(counts))]}
        if not self._machine.any_nodes:
            return self._another_slice(decision, doomed)
        free = np.flatnonzero(~decision.occupancy)
        if not len(free):
            return {}
        own = decision.running.where[self._at]
        new = free[np.argmin(doomed[free])]
        return {"nodes": np.where(own == self._warning["node"], new, own)}

    def _another_slice(self, decision: Decision, doomed: Flags) -> dict[str, object]:
        """With switches one cube is exchanged; else the whole slice is another."""
        own = decision.running.where[self._at]
        _, hosts = self._machine.blocks or (1, self._machine.nodes)
        if self._machine.exchanges_nodes and len(own) >= hosts:
            free, cubes = decision.free_cubes, np.unique(own // hosts)
            if not len(free):
                return {}
            new = free[np.argmin(doomed.reshape(-1, hosts).sum(axis=1)[free])]
            return {"cubes": np.where(cubes == self._warning["node"] // hosts, new, cubes)}
        slices = decision.slices(self._job, len(own))
        return {"nodes": slices[np.argmin(doomed[slices].sum(axis=1))]} if len(slices) else {}

    def _next_warning(self, decision: Decision) -> Decision | None:
        """The next warning about a node that has a job; None: the episode is over."""
        while self._row < len(self._times):
            self._warning, at = self._foreseen[self._row], float(self._times[self._row])
            self._row += 1
            if at > decision.now:
                later = self._advance(at)
                assert later is not None
                decision = later
            if self._sim.done:
                return None
            if self._concerns_a_job(decision):
                return decision
        self._advance(float("inf"))
        return None

    def _concerns_a_job(self, decision: Decision) -> bool:
        running = decision.running
        begun = np.flatnonzero(running.start <= decision.now)
        owner = on_nodes(decision, self._machine, np.arange(len(running)), -1.0).ravel()
        at = int(owner[self._warning["node"]])
        if at not in begun:
            return False
        self._at, self._job = at, int(running.index[at])
        return True

    def _mask(self, decision: Decision) -> Flags:
        running, saves = decision.running, self._options.get("checkpointing")
        possible = {
            "checkpoint": hasattr(saves, "cost") and running.progress[self._at] > running.saved[self._at],
            "move": "move" in self._actions and bool(self._elsewhere(decision)),
        }
        return np.array([possible.get(action, True) for action in self._actions], np.bool_)

    def _observe(self, decision: Decision | None) -> object:
        if decision is None:
            return np.zeros(8, np.float32)
        running, at, warning, waiting = decision.running, self._at, self._warning, len(decision.queue)
        return np.array(
            [
                running.size[at] / self._machine.nodes,
                squash(running.progress[at] - running.saved[at]),
                squash(max(0.0, running.expected_end[at] - decision.now)),
                squash(max(0.0, warning["begin"] - decision.now)),
                squash(warning["end"] - max(warning["begin"], decision.now)),
                warning["p"],
                decision.free / self._machine.nodes,
                waiting / (waiting + 16),
            ],
            np.float32,
        )
