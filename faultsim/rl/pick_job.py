"""`PickJob`: which waiting job starts next."""

import os

import numpy as np
from gymnasium.spaces import Discrete

from faultsim._core.decisions import Decision
from faultsim.arrays import Flags
from faultsim.data.workload import Workload
from faultsim.errors import DecisionError
from faultsim.machines import Cluster, Machine, as_machine
from faultsim.policies import External, QueueOrder
from faultsim.policies.words import OrderWord
from faultsim.rl.environment import Environment, read_given
from faultsim.rl.observations import ObservationChoice, make_observation, slots_shown
from faultsim.rl.rewards import RewardChoice
from faultsim.synthetic import lublin


class PickJob(Environment):
    """Which waiting job starts next (``faultsim/PickJob-v0``).

    An action is a place in the queue: the job that waits there starts now.  The last action starts no job and lets time
    go on; it is not possible if nothing else would ever happen.  A decision is shown when at least one of the jobs that
    are shown fits, after each start again (model.md#decisions).  An action that is not possible counts in
    ``info["illegal"]`` and is taken for the last one, or, where that is not possible, for the first that is.

    Parameters
    ----------
    log : Workload or path, optional
        What episodes are taken from; by default 10,000 jobs of `synthetic.lublin` for 128 nodes, with seed 0.
    machine : Cluster, Torus or Pod, or text such as "cluster:128", optional
        By default `Cluster` of 128 nodes.
    observation : str or Observation class, default "compact"
        One of `OBSERVATIONS`: ``"compact"``; ``"rlscheduler"``, the 128 x 8 values of RLScheduler; ``"cqgym"``, the
        window of jobs and the nodes of CQGym; ``"cubes"``, on a pod, jobs and cubes.  Or a subclass of `Observation`.
    slots : int, optional
        Places of the queue that are shown; by default 16, 128, 50 and 16.
    order : QueueOrder or str, default "arrival"
        Order of the queue.
    jobs : int, default 256
        Length of an episode, whose first job is drawn.
    reward : str or Reward class, default "telescoping"
        One of `REWARDS`: ``"terminal"``, minus the metric at the end; ``"telescoping"``, what the metric has grown by
        since the step before, with minus, so that the sum over an episode is minus the metric; ``"lost"``, minus the
        node-seconds of work lost since then.  Or a subclass of `Reward`.
    metric : str, default "mean_bounded_slowdown"
        Or ``"mean_wait"`` or ``"mean_response"`` (s).
    render_mode : {"ansi", "rgb_array"}, optional
        What `render` returns: text, or a picture.
    **options
        Further parameters of `simulate`: failures, predictor, placement and so on.

    Raises
    ------
    TypeError
        By a keyword that there is not, with the one that was meant.
    OptionError
        By invalid options, and by `step` after the end of an episode.
    MissingExtraError
        By ``import faultsim.rl``, without Gymnasium.

    Examples
    --------
    >>> import faultsim as fs, faultsim.rl, gymnasium
    >>> log = fs.Workload(submit=[0, 1, 2], runtime=[10, 10, 5], size=[2, 4, 2])
    >>> env = gymnasium.make("faultsim/PickJob-v0", log=log, machine=fs.Cluster(4), jobs=3, metric="mean_wait")
    >>> seen, info = env.reset(seed=1)
    >>> total = 0.0
    >>> while True:
    ...     action = info["action_mask"].argmax()
    ...     seen, reward, terminated, truncated, info = env.step(action)
    ...     total += reward
    ...     if terminated:
    ...         break
    >>> total, env.unwrapped.result.metrics["mean_wait"]
    (-3.0, 3.0)
    """

    def __init__(
        self,
        log: Workload | str | os.PathLike[str] | None = None,
        machine: Machine | str | None = None,
        *,
        observation: ObservationChoice = "compact",
        slots: int | None = None,
        order: QueueOrder | OrderWord = "arrival",
        jobs: int = 256,
        reward: RewardChoice = "telescoping",
        metric: str = "mean_bounded_slowdown",
        render_mode: str | None = None,
        **options: object,
    ) -> None:
        whole: Workload = lublin(10_000, rng=0) if log is None else read_given("log", log, Workload)
        on: Machine = Cluster(128) if machine is None else as_machine(machine)
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
        self._slots = slots_shown(observation, slots)
        self._preset = make_observation(observation, whole, on, self._slots)
        self.observation_space = self._preset.space
        self.action_space: Discrete = Discrete(self._slots + 1)
        self._fits: list[bool] = []

    def _settle(self) -> Decision | None:
        while (decision := self._next_decision()) is not None:
            if self._any_fits(decision):
                return decision
        return None

    def _next_decision(self) -> Decision | None:
        """Go on; a decision stays open if waiting has changed nothing, and nothing will ever happen again."""
        try:
            return self._sim.advance()
        except DecisionError:
            decision = self._sim.decision
            if decision is None or not self._any_fits(decision):
                raise
            return decision

    def _any_fits(self, decision: Decision) -> bool:
        self._jobs_seen = decision.queue.tolist()[: self._slots]
        self._fits = [decision.fits(job) for job in self._jobs_seen]
        return any(self._fits)

    def _mask(self, decision: Decision) -> Flags:
        mask = np.zeros(self._slots + 1, np.bool_)
        mask[: len(self._fits)] = self._fits
        mask[-1] = np.isfinite(self._sim.next_time)
        return mask

    def _act(self, decision: Decision, action: int) -> Decision | None:
        if action < self._slots:
            self._begin(decision, self._jobs_seen[action])
            if self._any_fits(decision):
                return decision
        return self._settle()

    def _instead(self, mask: Flags) -> int:
        return self._slots if mask[-1] else super()._instead(mask)

    def _observe(self, decision: Decision | None) -> object:
        return self._preset.nothing() if decision is None else self._preset(decision, self._fits)
