"""What all environments share: episodes, rewards, and how an episode ends."""

import copy
import inspect
import os
from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from faultsim import checks
from faultsim._core.decisions import Decision
from faultsim._core.door import Door
from faultsim.arrays import Flags
from faultsim.data.failures import FailureTrace
from faultsim.data.workload import Workload
from faultsim.errors import BusyError, InputError, NotAvailableError, OptionError
from faultsim.machines import Machine
from faultsim.policies import External
from faultsim.reading import read
from faultsim.results.result import Result
from faultsim.rl.pictures import as_picture, as_text
from faultsim.rl.rewards import RewardChoice, make_reward
from faultsim.simulation.eligibility import refuse_conditions
from faultsim.simulation.options import OPTIONS, refuse_unknown
from faultsim.simulation.run import Run
from faultsim.simulation.stepping import Simulation

#: How often `reset` draws an episode that has a decision.
DRAWS = 100

_ACTIONS = "its actions take the place of a scheduler"
_EPISODES = "an episode knows its jobs from the start"
#: Options of a simulation that an environment does not have, and why.
_REFUSED = {
    "scheduler": _ACTIONS, "record": _ACTIONS, "engine": _ACTIONS, "live": _EPISODES, "unknown": _EPISODES,
    "oracle_runtimes": "its observations have no run times",
}  # fmt: skip

Step = tuple[Any, float, bool, bool, dict[str, Any]]


def _scalar(action: object) -> object:
    """An action; agents also give it as an array of one."""
    return action.reshape(())[()] if isinstance(action, np.ndarray) and action.size == 1 else action


def episode_jobs(jobs: object, log: Workload) -> int:
    """The jobs of an episode, at most those of the log.

    Examples
    --------
    >>> import faultsim as fs
    >>> episode_jobs(256, fs.Workload(submit=[0], runtime=[1], size=[1]))
    Traceback (most recent call last):
    faultsim.errors.OptionError: jobs: an episode of 256 jobs needs a longer log, this one has 1: give jobs=1 or less
    """
    number = checks.whole("jobs", jobs, low=1)
    if number > len(log):
        raise OptionError(
            f"jobs: an episode of {number:,} jobs needs a longer log, this one has {len(log):,}: give jobs={len(log)} "
            f"or less"
        )
    return number


#: What a copy of an environment has in common with it: nothing changes them.
_SHARED = ("_log", "_machine", "_options")


def check_options(environment: type, options: dict[str, object]) -> None:
    """Refuse keywords that an environment does not have, with the one that was meant.

    Examples
    --------
    >>> from faultsim.rl import PickJob
    >>> check_options(PickJob, {"failure": None})
    Traceback (most recent call last):
    TypeError: PickJob() got an unexpected keyword argument 'failure' (did you mean 'failures'?)
    """
    for name, reason in _REFUSED.items():
        if name in options:
            raise OptionError(f"an environment has no option {name!r}: {reason}")
    own = [name for name, each in inspect.signature(environment).parameters.items() if each.kind != each.VAR_KEYWORD]
    refuse_unknown(environment.__name__, options, dict.fromkeys([*own, *OPTIONS]))


def check_run(log: Workload, machine: Machine, scheduler: External, options: dict[str, Any]) -> dict[str, Any]:
    """The options of a simulation as it holds them, checked with the whole log before any episode begins."""
    refuse_conditions(log, "an environment")
    run = Run(log, machine, scheduler=scheduler, **options)
    run.fitting_log()
    if run.machine.asks(run.machine.prepared(run.log)) is not None:
        raise NotAvailableError(
            f"environments are not available with a log whose jobs share the nodes of {run.machine}: leave the column "
            f"cores out, or give a Cluster"
        )
    return {name: getattr(run, name) for name in options}


def read_given(what: str, given: object, kind: type) -> Any:
    """A log or a trace; a path is read, so that what Gymnasium keeps of an environment can be JSON.

    Examples
    --------
    >>> import faultsim as fs
    >>> fs.FailureTrace([60], [0], [30], span=100).write_csv("trace.csv")
    >>> read_given("failures", "trace.csv", fs.FailureTrace)
    <FailureTrace 'trace': 1 failure, nodes 0-0, span 100 s>
    """
    if given is None or isinstance(given, kind):
        return given
    if not isinstance(given, str | os.PathLike):
        raise InputError(
            f"{what} must be a {kind.__name__} or the path of one, got {checks.shown(given, kind.__name__)}"
        )
    found = read(given)
    if not isinstance(found, kind):
        raise InputError(f"{what} must be the path of a {kind.__name__}, and {given} is a {type(found).__name__}")
    return found


def seed_of(seed: object) -> int | None:
    """A seed as Gymnasium takes it; whole numbers of NumPy are given, too."""
    return None if seed is None else checks.whole("seed", seed, low=0)


class Environment(gymnasium.Env[Any, np.int64]):
    """An episode is a stretch of a log, on a machine that is empty when it begins.

    What a decision is, and what is possible then, is for a subclass to say: `_observe`, `_mask`, `_act`, `_settle`.

    An environment can be pickled and deep-copied in the middle of an episode: the copy goes on from there by itself. A
    deep copy costs what a copy of the simulation costs, a pickle the repetition of the episode so far.
    """

    metadata: dict[str, Any] = {"render_modes": ["ansi", "rgb_array"], "render_fps": 10}  # noqa: RUF012 (as in Gymnasium)
    action_space: gymnasium.spaces.Discrete
    _decision: Decision | None

    def __init__(
        self,
        log: Workload,
        machine: Machine,
        scheduler: External,
        *,
        jobs: int,
        reward: RewardChoice,
        metric: str,
        render_mode: str | None,
        options: dict[str, object],
    ) -> None:
        check_options(type(self), options)
        if "failures" in options:
            options = {**options, "failures": read_given("failures", options["failures"], FailureTrace)}
        if render_mode is not None:
            checks.choice("render_mode", render_mode, self.metadata["render_modes"])
        self.render_mode = render_mode
        self._log, self._machine, self._scheduler = log, machine, scheduler
        self._options = check_run(log, machine, scheduler, options)
        self._jobs = episode_jobs(jobs, log)
        self._reward, self.metric = make_reward(reward, metric), metric
        self._result: Result | None = None
        self._illegal = 0
        self._decision = None
        self._door = Door(BusyError, "environment")

    # -- the interface of Gymnasium

    def reset(self, *, seed: int | None = None, options: dict[str, object] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode.

        Parameters
        ----------
        seed : int, optional
            0 or more; determines this episode and those that follow without a seed.
        options : dict, optional
            ``first``, the row of the log where the episode begins, instead of one that is drawn; ``jobs``, how many.

        Raises
        ------
        OptionError
            If the episode that is named, or each that was drawn, ends without a decision.
        BusyError
            By this and `step` while another thread is in one of them.
        """
        number = seed_of(seed)
        with self._door.enter():
            super().reset(seed=number)
            return self._reset(options)

    def _reset(self, options: dict[str, object] | None) -> tuple[object, dict[str, object]]:
        given = dict(options or {})
        jobs = checks.whole("jobs", given.pop("jobs", self._jobs), low=1, high=len(self._log))
        last, named = len(self._log) - jobs, given.pop("first", None)
        if given:
            raise OptionError(f"reset takes the options 'first' and 'jobs', got {', '.join(map(repr, given))}")
        for _ in range(1 if named is not None else DRAWS):
            drawn = self.np_random.integers(0, last + 1) if named is None else named
            first = checks.whole("first", drawn, low=0, high=last)
            self._enter(self._log[first : first + jobs])
            if self._decision is not None:
                return self._seen(), self._info()
        what = (
            f"the episode of {jobs} jobs from row {named}" if named is not None else f"each of {DRAWS} episodes drawn"
        )
        raise OptionError(f"{what} ends without a decision")

    def _enter(self, episode: Workload) -> None:
        self._sim = Simulation(episode, self._machine, scheduler=self._scheduler, **self._options)
        self._result, self._illegal = None, 0
        self._reward.begin(self._sim, episode)
        self._decision = self._settle()

    def step(self, action: Any) -> Step:
        """Do what the action says, and go on to the next decision."""
        with self._door.enter():
            return self._step(action)

    def _step(self, action: np.int64) -> Step:
        if self._decision is None:
            raise OptionError("the episode has ended, or none has begun: call reset()")
        mask = self.action_masks()
        number = checks.whole("action", _scalar(action), low=0, high=len(mask) - 1)
        if not mask[number]:
            self._illegal += 1
            number = self._instead(mask)
        self._decision = self._act(self._decision, number)
        if self._decision is not None:
            return self._seen(), float(self._reward.step(self._decision)), False, False, self._info()
        self._result = self._sim.result()
        return self._seen(), float(self._reward.end(self._result)), True, False, self._info()

    def action_masks(self) -> Flags:
        """Which actions are possible now, one bool per action; the last one only, once the episode has ended."""
        if self._decision is None:
            mask = np.zeros(int(self.action_space.n), np.bool_)
            mask[-1] = True
            return mask
        return self._mask(self._decision)

    @property
    def result(self) -> Result:
        """The result of the episode that has ended."""
        if self._result is None:
            raise OptionError("the episode has not ended")
        return self._result

    def render(self) -> str | NDArray[np.uint8] | None:
        """What there is now: with ``render_mode="ansi"`` text, with ``"rgb_array"`` a picture; otherwise None.

        The picture is an array of uint8, of shape (height, width, 3): the nodes above, green if free, red if down, and
        the darker the later the job of a node is expected to end; below, a bar for each of the first waiting jobs, as
        long as its share of the nodes, and green if it fits.
        """
        if self.render_mode is None:
            return None
        with self._door.enter(True):
            now = self._sim.now if hasattr(self, "_sim") else 0.0
            shown = as_text if self.render_mode == "ansi" else as_picture
            return shown(self._decision, self._machine, now)

    # -- copies

    def __getstate__(self) -> dict[str, object]:
        with self._door.enter(True):
            return {**self.__dict__, "_decision": self._decision is not None}

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)
        self._decision = self._sim.decision if state["_decision"] else None

    def __deepcopy__(self, memo: dict[int, object]) -> "Environment":
        for name in _SHARED:
            memo[id(self.__dict__[name])] = self.__dict__[name]
        other = memo[id(self)] = type(self).__new__(type(self))
        other.__setstate__(copy.deepcopy(self.__getstate__(), memo))
        return other

    # -- for subclasses

    def _settle(self) -> Decision | None:
        """The next decision with more than one possible action; None: the episode is over."""
        raise NotImplementedError

    def _mask(self, decision: Decision) -> Flags:
        raise NotImplementedError

    def _act(self, decision: Decision, action: int) -> Decision | None:
        """Do what is possible, and settle."""
        raise NotImplementedError

    def _observe(self, decision: Decision | None) -> Any:
        raise NotImplementedError

    def _instead(self, mask: Flags) -> int:
        """What is done in place of an action that is not possible: the first that is."""
        return int(np.argmax(mask))

    def _begin(self, decision: Decision, job: int, box: Sequence[int] | None = None) -> None:
        """Start a job."""
        decision.start(job, box=box)
        self._reward.started(job, decision.now)

    # -- below

    def _seen(self) -> object:
        return self._observe(self._decision)

    def _info(self) -> dict[str, object]:
        now = self._sim.now if self._decision is None else self._decision.now
        return {"action_mask": self.action_masks(), "now": now, "illegal": self._illegal}
