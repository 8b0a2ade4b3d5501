"""`VectorPickJob`: many `PickJob` at once, stepped by compiled code on threads."""

import threading
import weakref
from collections.abc import Iterable
from typing import Any

import numpy as np
from gymnasium.spaces import Discrete
from gymnasium.utils.seeding import np_random
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from faultsim import checks
from faultsim._core.door import Door
from faultsim._core.environments import PickJobs
from faultsim.arrays import Flags, LongIntegers, Values
from faultsim.data.workload import Workload
from faultsim.errors import BusyError, NotAvailableError, OptionError
from faultsim.machines import Cluster, as_machine
from faultsim.policies import Fcfs
from faultsim.rl.environment import episode_jobs
from faultsim.rl.observations import MOST_CHOICES, OBSERVATIONS, Compact, RLScheduler
from faultsim.rl.rewards import COSTS, GAMMA
from faultsim.simulation.run import Run
from faultsim.simulation.stepping import Simulation
from faultsim.synthetic import lublin

_PRESETS: dict[str, type[Compact | RLScheduler]] = {"compact": Compact, "rlscheduler": RLScheduler}
_REWARDS = ("terminal", "telescoping")
#: How many of an environment's next episodes are drawn at once.
AHEAD = 16
_MODES = (AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP, AutoresetMode.DISABLED)

Step = tuple[Any, Any, Any, Any, dict[str, Any]]


class VectorPickJob(VectorEnv[Any, Any, Any]):
    """Many `PickJob` at once: a step takes all of them to their next decision, without the global interpreter lock.

    Each is what `PickJob` is with the same parameters, on a cluster without failures, with the queue in order of
    arrival; ``gymnasium.make_vec("faultsim/PickJob-v0", num_envs=8)`` makes it.

    Parameters
    ----------
    num_envs : int, default 8
        How many.
    log, slots, jobs, metric
        As for `PickJob`.
    machine : Cluster, or text such as "cluster:128", optional
        By default of 128 nodes.
    observation : {"compact", "rlscheduler"}, default "compact"
        As for `PickJob`.
    reward : {"telescoping", "terminal"}, default "telescoping"
        As for `PickJob`.
    autoreset_mode : gymnasium.vector.AutoresetMode, default NEXT_STEP
        When an environment whose episode has ended begins the next one: in the next step, whose action it ignores; in
        the same step, with the last observation in ``info["final_obs"]``; or never, but by `reset` with the option
        ``reset_mask``.  ``metadata["autoreset_mode"]`` says which.
    threads : int, default 1
        On how many threads, at most 64.
    copy : bool, default True
        Whether a step returns copies; otherwise the next step writes to the arrays that it has returned.

    Raises
    ------
    OptionError
        By invalid options and actions.
    BusyError
        By `step` and `reset` while another thread is in one of them.
    NotAvailableError
        For presets, rewards and machines that only `PickJob` has.

    Examples
    --------
    >>> import numpy as np
    >>> from faultsim.rl import VectorPickJob
    >>> envs = VectorPickJob(4, slots=8, jobs=50)
    >>> seen, info = envs.reset(seed=1)
    >>> seen.shape
    (4, 9, 4)
    >>> seen, rewards, terminated, truncated, info = envs.step(info["action_mask"].argmax(axis=1))
    >>> rewards.shape, info["action_mask"].shape
    ((4,), (4, 9))
    """

    def __init__(
        self,
        num_envs: int = 8,
        *,
        log: Workload | None = None,
        machine: Cluster | str | None = None,
        observation: str = "compact",
        slots: int | None = None,
        jobs: int = 256,
        reward: str = "telescoping",
        metric: str = "mean_bounded_slowdown",
        autoreset_mode: AutoresetMode = AutoresetMode.NEXT_STEP,
        threads: int = 1,
        copy: bool = True,
    ) -> None:
        self.num_envs: int = checks.whole("num_envs", num_envs, low=1, high=MOST_CHOICES)
        log = lublin(10_000, rng=0) if log is None else log
        on: Any = Cluster(128) if machine is None else as_machine(machine)
        if not on.any_nodes:
            raise NotAvailableError(f"VectorPickJob is for clusters; on {on!r} use PickJob")
        if checks.choice("observation", observation, OBSERVATIONS) not in _PRESETS:
            raise NotAvailableError(f"VectorPickJob has no observation {observation!r}; use PickJob")
        if reward == "lost":
            raise NotAvailableError("VectorPickJob has no failures, so no reward 'lost'; use PickJob")
        checks.choice("reward", reward, _REWARDS)
        checks.choice("metric", metric, COSTS)
        preset = _PRESETS[observation]
        slots = preset.slots if slots is None else checks.whole("slots", slots, low=1, high=MOST_CHOICES)
        self._mode = AutoresetMode(autoreset_mode)
        self.metadata = {"render_modes": [], "autoreset_mode": self._mode}
        shown = preset(log, on, slots)
        self.single_observation_space = shown.space
        self.single_action_space = Discrete(slots + 1)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._jobs = episode_jobs(jobs, log)
        self._last, self._slots, self._copy = len(log) - self._jobs, slots, checks.flag("copy", copy)
        self._threads = min(checks.whole("threads", threads, low=1, high=64), self.num_envs)
        self._generators: list[np.random.Generator] = [np_random()[0] for _ in range(self.num_envs)]
        self._first = np.zeros((self.num_envs, AHEAD), np.int64)
        self._nothing = shown.nothing()
        self._out = self._room(self._nothing)
        template = Simulation(log[: self._jobs], on, scheduler=Fcfs())
        self._core = PickJobs(
            template._execution.engine,
            _columns(log, on, shown, metric),
            {**self._out, "first": self._first},
            slots=slots,
            preset=list(_PRESETS).index(observation),
            metric=list(COSTS).index(metric),
            autoreset=_MODES.index(self._mode),
            telescoping=reward == "telescoping",
            threads=self._threads,
        )
        self._helpers = [self._helper() for _ in range(self._threads - 1)]
        self._dismiss = weakref.finalize(self, self._core.dismiss)
        self._door = Door(BusyError, "environment")
        self._began = np.zeros(self.num_envs, np.bool_)
        self._all_began = False

    def _helper(self) -> threading.Thread:
        """A thread that waits for work."""
        helper = threading.Thread(target=self._core.serve, args=(self._core.enlist(),), daemon=True)
        helper.start()
        return helper

    def _room(self, nothing: NDArray[np.float32]) -> dict[str, Values]:
        n = self.num_envs
        return {
            "seen": np.tile(nothing, (n, 1, 1)),
            "mask": np.zeros((n, self._slots + 1), np.uint8),
            "reward": np.zeros(n),
            "now": np.zeros(n),
            "total": np.zeros(n),
            "ended": np.zeros(n, np.uint8),
            "illegal": np.zeros(n, np.int64),
        }

    # -- the interface of Gymnasium

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin episodes.

        Parameters
        ----------
        seed : int or list of int, optional
            Of each environment; a number is that of the first, and the others have those that follow.
        options : dict, optional
            ``reset_mask``: bool per environment, which of them begin; by default all.
        """
        given = dict(options or {})
        mask = np.asarray(given.pop("reset_mask", np.ones(self.num_envs, np.bool_)))
        if given:
            raise OptionError(f"reset takes the option 'reset_mask', got {', '.join(map(repr, given))}")
        if mask.shape != (self.num_envs,) or mask.dtype != np.bool_ or not mask.any():
            raise OptionError(f"reset_mask must be {self.num_envs} booleans, not all False")
        if seed is None or isinstance(seed, int):
            seeds = [None if seed is None else seed + i for i in range(self.num_envs)]
        elif isinstance(seed, Iterable) and getattr(seed, "shape", True):
            seeds = list(seed)
        else:
            raise OptionError(f"seed must be a number or {self.num_envs} of them, got {seed!r:.60}")
        if len(seeds) != self.num_envs:
            raise OptionError(f"seed must be a number or {self.num_envs} of them, got {len(seeds)}")
        for number in seeds:
            if number is not None:
                checks.whole("seed", number, low=0)
        which = np.flatnonzero(mask)
        seeded = [i for i in which.tolist() if seeds[i] is not None]
        with self._door.enter():
            for i in seeded:
                self._generators[i] = np_random(seeds[i])[0]
            self._draw(seeded)
            self._draw(self._core.used_up())
            if self._core.reset(which):
                self._draw(self._core.used_up())
            self._out["ended"][which] = False
            self._began[which] = True
            self._all_began = bool(self._began.all())
            return self._given("seen"), self._info()

    def step(self, actions: Any) -> Step:
        """Do what the actions say, and go on to the next decisions."""
        chosen = self._chosen(actions)
        with self._door.enter():
            if not self._all_began:
                raise OptionError("no episode has begun: call reset()")
            if self._mode == AutoresetMode.DISABLED and self._out["ended"].any():
                raise OptionError("an episode has ended: call reset() with the option 'reset_mask'")
            any_ended = self._go(chosen)
            ended = self._out["ended"].astype(np.bool_)
            info = self._info(ended if any_ended else None)
            return self._given("seen"), self._given("reward"), ended, np.zeros(self.num_envs, np.bool_), info

    def close(self, **kwargs: object) -> None:
        """End the threads."""
        super().close(**kwargs)
        if not hasattr(self, "_dismiss"):  # gymnasium 1.1 closes one whose options were refused, too
            return
        self._dismiss()
        for helper in self._helpers:
            helper.join()

    def action_masks(self) -> Flags:
        """Which actions are possible now, a row per environment."""
        with self._door.enter(True):
            return self._given("mask").view(np.bool_)

    # -- below

    def _chosen(self, actions: object) -> LongIntegers:
        """Whole numbers, and not what would have to be rounded or read to be one."""
        try:
            given = np.asarray(actions)
        except ValueError:  # rows of different lengths
            given = np.empty(0, object)
        if given.dtype.kind not in "iu" or (given.dtype.kind == "u" and (given > self._slots).any()):
            raise self._no_actions(actions)
        return np.array(given, np.int64)

    def _no_actions(self, given: object) -> OptionError:
        said = " ".join(repr(given).split())
        return OptionError(f"actions must be {self.num_envs} whole numbers from 0 to {self._slots}, got {said:.60}")

    def _go(self, actions: LongIntegers) -> bool:
        """The compiled part of a step; whether an episode ended."""
        told = self._core.step(actions) if actions.shape == (self.num_envs,) else None
        if told is None:
            raise self._no_actions(actions)
        any_ended, used_up = told
        if used_up:
            self._draw(self._core.used_up())
        return any_ended

    def _draw(self, which: list[int]) -> None:
        """Where the next episodes of these environments begin."""
        for i in which:
            self._first[i] = self._generators[i].integers(0, self._last + 1, AHEAD)
            self._core.drawn(i)

    def _given(self, name: str) -> Values:
        return self._out[name].copy() if self._copy else self._out[name]

    def _info(self, ended: Flags | None = None) -> dict[str, object]:
        info: dict[str, Any] = {
            "action_mask": self.action_masks(),
            "now": self._given("now"),
            "illegal": self._given("illegal"),
        }
        if ended is not None:
            info["metric"], info["_metric"] = self._given("total"), ended
            if self._mode == AutoresetMode.SAME_STEP:
                info["final_obs"] = np.full(self.num_envs, None, object)
                for i in np.flatnonzero(ended).tolist():
                    info["final_obs"][i] = self._nothing.copy()
                info["final_info"] = {"metric": info["metric"], "_metric": ended}
                info["_final_obs"] = info["_final_info"] = ended
        return info


def _columns(log: Workload, machine: Cluster, shown: Compact | RLScheduler, metric: str) -> tuple[Values, ...]:
    """What the compiled environments read of a log."""
    run = Run(log, machine)
    estimate = np.ascontiguousarray(run.expected_runtimes(run.fitting_log()))
    divisor = np.maximum(log.runtime, GAMMA) if metric == "mean_bounded_slowdown" else np.ones(len(log))
    still = np.column_stack(shown.still(estimate, log.columns)).astype(np.float32)
    return log.submit, log.runtime, estimate, log.size, divisor, still
