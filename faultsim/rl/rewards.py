"""What an environment pays for a step: `REWARDS`."""

from collections.abc import Callable

import numpy as np

from faultsim import checks
from faultsim._core.decisions import Decision
from faultsim.arrays import Floats
from faultsim.data.workload import Workload
from faultsim.errors import OptionError
from faultsim.results.metrics import bounded_slowdown
from faultsim.results.result import Result
from faultsim.simulation.stepping import Simulation

#: Bound of the slowdown in seconds, as in `mean_bounded_slowdown`.
GAMMA = 10.0

#: Metric, a mean over jobs -> what a job of these wait and run times (s) adds to the sum.
COSTS: dict[str, Callable[[Floats, Floats], Floats]] = {
    "mean_wait": lambda wait, runtime: wait,
    "mean_response": lambda wait, runtime: wait + runtime,
    "mean_bounded_slowdown": lambda wait, runtime: np.maximum(wait + runtime, GAMMA) / np.maximum(runtime, GAMMA),
}


#: Metric -> the same of jobs that have ended, as the metric has it: the column of a result.
_ENDED: dict[str, Callable[[Result], Floats]] = {
    "mean_wait": lambda result: result.jobs["wait"],
    "mean_response": lambda result: result.jobs["response"],
    "mean_bounded_slowdown": lambda result: bounded_slowdown(result),
}


def sum_of(values: Floats, begin: float = 0.0) -> float:
    """The sum from first to last, to the bit: `VectorPickJob` adds in this order, and ``numpy.sum`` does not.

    Examples
    --------
    >>> sum_of(np.array([0.1, 0.2, 0.3])), sum_of(np.array([]), 2.0)
    (0.6000000000000001, 2.0)
    """
    return float(np.cumsum(np.append(begin, values))[-1])


def metric_of(metric: str, result: Result) -> float:
    """The metric of an episode, added up in the order of rows."""
    values = _ENDED[metric](result)
    return sum_of(values) / len(values)


class Reward:
    """What an environment pays, to be subclassed: ``reward=MyReward`` makes one per environment.

    A subclass defines `end`, `step` or both, and what else it needs. Copies and pickles of an environment contain its
    reward.

    Parameters
    ----------
    metric : str
        That of the environment.

    Examples
    --------
    >>> import faultsim as fs
    >>> from faultsim.rl import PickJob, Reward
    >>> class Utilization(Reward):
    ...     def end(self, result):
    ...         return result.metrics["utilization"]
    >>> log = fs.Workload(submit=[0, 0], runtime=[10, 10], size=[2, 4])
    >>> env = PickJob(log, fs.Cluster(4), jobs=2, reward=Utilization)
    >>> env.reset()[1]["now"], env.step(0)[1], env.step(0)[1]
    (0.0, 0.0, 0.75)
    """

    def __init__(self, metric: str) -> None:
        self._metric = metric

    def begin(self, sim: Simulation, log: Workload) -> None:
        """An episode begins: the simulation, and its jobs."""

    def started(self, job: int, now: float) -> None:
        """The job of a row of the episode was started at a time (s)."""

    def step(self, decision: Decision) -> float:
        """Of the step that led to this decision."""
        return 0.0

    def end(self, result: Result) -> float:
        """Of the step that led to the end."""
        return 0.0


class Terminal(Reward):
    """0 until the last step, which pays minus the metric."""

    def end(self, result: Result) -> float:
        return -metric_of(self._metric, result)


class Telescoping(Terminal):
    """What the metric has grown by, with minus: the mean over what jobs cost that have arrived, if all started now.

    The last step pays what is left to the metric itself, so that the sum over an episode is minus the metric.
    """

    def begin(self, sim: Simulation, log: Workload) -> None:
        self._submit, self._runtime = log.submit, log.runtime
        self._cost: Floats = np.zeros(len(log))
        self._started = self._last = 0.0

    def started(self, job: int, now: float) -> None:
        cost = float(COSTS[self._metric](now - self._submit[job], self._runtime[job]))
        self._started += cost - self._cost[job]
        self._cost[job] = cost

    def step(self, decision: Decision) -> float:
        jobs = decision.queue.index
        waiting = COSTS[self._metric](decision.now - self._submit[jobs], self._runtime[jobs]) - self._cost[jobs]
        return self._paid(sum_of(waiting, self._started) / len(self._cost))

    def end(self, result: Result) -> float:
        return self._paid(metric_of(self._metric, result))

    def _paid(self, now: float) -> float:
        change, self._last = self._last - now, now
        return change


class Lost(Reward):
    """Minus the node-seconds of work that were lost since the step before, whatever the metric."""

    def begin(self, sim: Simulation, log: Workload) -> None:
        self._sim, self._last = sim, 0.0

    def step(self, decision: Decision) -> float:
        return self._paid()

    def end(self, result: Result) -> float:
        return self._paid()

    def _paid(self) -> float:
        lost = self._sim.lost_work
        change, self._last = self._last - lost, lost
        return change


#: Name -> what it is.
REWARDS: dict[str, type[Reward]] = {"terminal": Terminal, "telescoping": Telescoping, "lost": Lost}

#: A name of `REWARDS`, or what makes one of a metric: a subclass of `Reward`, or a function.
RewardChoice = str | Callable[[str], Reward]


def make_reward(reward: RewardChoice, metric: str) -> Reward:
    """The reward of these names, or one of the user's own."""
    if metric not in COSTS:
        known = ", ".join(repr(name) for name in COSTS)
        raise OptionError(f"metric must be one of {known}, which a step can be paid by, got {metric!r}")
    if isinstance(reward, Reward):
        raise OptionError(f"reward makes one per environment: write reward={type(reward).__name__}, without brackets")
    if not callable(reward):
        return REWARDS[checks.choice("reward", reward, REWARDS)](metric)
    is_other_class = isinstance(reward, type) and not issubclass(reward, Reward)
    made = None if is_other_class else reward(metric)
    if not isinstance(made, Reward):
        raise OptionError(
            f"reward must be one of {', '.join(map(repr, REWARDS))} or a subclass of faultsim.rl.Reward, got "
            f"{checks.shown_function(reward)}"
        )
    return made
