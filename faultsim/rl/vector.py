"""Many environments at once: `VectorPickJob`, in compiled code where it can be, `VectorPickBox` and `VectorRespond`."""

import copy
import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from gymnasium.spaces import Discrete
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space, create_empty_array
from numpy.typing import ArrayLike

from faultsim import checks
from faultsim._core.door import Door
from faultsim.arrays import Flags, Floats, LongIntegers, Values
from faultsim.data.failures import FailureTrace
from faultsim.data.workload import Workload
from faultsim.errors import BusyError, NotAvailableError, OptionError
from faultsim.machines import Cluster, Machine, as_machine
from faultsim.policies import QueueOrder
from faultsim.policies.words import OrderWord
from faultsim.rl.compiled import MODES, PRESETS, Compiled, why_not
from faultsim.rl.environment import Environment, check_options, episode_jobs, read_given, seed_of
from faultsim.rl.observations import MOST_CHOICES, Compact, ObservationChoice, RLScheduler, slots_shown
from faultsim.rl.one_by_one import OneByOne
from faultsim.rl.pick_box import PickBox
from faultsim.rl.pick_job import PickJob
from faultsim.rl.respond import Respond
from faultsim.rl.rewards import GAMMA, RewardChoice
from faultsim.simulation.run import Run
from faultsim.synthetic import lublin

Step = tuple[Any, Floats, Flags, Flags, dict[str, Any]]


class VectorEnvironment(VectorEnv[Any, ArrayLike, Values]):
    """Many environments at once, with the interface of Gymnasium.

    A subclass sets `_engine`, which steps them and writes what they give into `_out`.
    """

    single_action_space: Discrete
    _engine: Compiled | OneByOne

    def __init__(
        self,
        single: Environment,
        num_envs: int,
        autoreset_mode: AutoresetMode | str,
        copy: bool,
    ) -> None:
        """`single` has the spaces of each."""
        self.num_envs = checks.whole("num_envs", num_envs, low=1, high=MOST_CHOICES)
        self._mode = _mode(autoreset_mode)
        self._copy = checks.flag("copy", copy)
        self.metadata = {**single.metadata, "autoreset_mode": self._mode}
        self.render_mode = single.render_mode
        self.single_observation_space, self.single_action_space = single.observation_space, single.action_space
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._out = self._room()
        self._door = Door(BusyError, "environment")
        self._own: set[str] = set()  # attributes that `set_attr` made
        self._began = np.zeros(self.num_envs, np.bool_)
        self._all_began = False

    def _room(self) -> dict[str, Any]:
        n = self.num_envs
        return {
            "seen": create_empty_array(self.single_observation_space, n),
            "mask": np.zeros((n, int(self.single_action_space.n)), np.uint8),
            "reward": np.zeros(n),
            "now": np.zeros(n),
            "total": np.zeros(n),
            "ended": np.zeros(n, np.uint8),
            "illegal": np.zeros(n, np.int64),
        }

    @property
    def compiled(self) -> bool:
        """Whether compiled code steps them, or Python, one after another."""
        return isinstance(self._engine, Compiled)

    # -- the interface of Gymnasium

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, object] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin episodes.

        Parameters
        ----------
        seed : int or sequence of int, optional
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
        seeds, which = self._seeds(seed), np.flatnonzero(mask).tolist()
        with self._door.enter():
            self._engine.begin(which, seeds, self._out)
            self._out["ended"][which] = False
            self._began[which] = True
            self._all_began = bool(self._began.all())
            return self._given("seen"), self._info()

    def _seeds(self, seed: object) -> list[int | None]:
        if seed is None:
            return [None] * self.num_envs
        if isinstance(seed, list | tuple) or (isinstance(seed, np.ndarray) and seed.ndim == 1):
            seeds = [seed_of(each) for each in seed]
            if len(seeds) != self.num_envs:
                raise OptionError(f"seed must be a number or {self.num_envs} of them, got {len(seeds)}")
            return seeds
        first = checks.whole("seed", seed, low=0)
        return [first + i for i in range(self.num_envs)]

    def step(self, actions: object) -> Step:
        """Do what the actions say, and go on to the next decisions."""
        chosen = self._chosen(actions)
        with self._door.enter():
            if not self._all_began:
                raise OptionError("no episode has begun: call reset()")
            if self._mode == AutoresetMode.DISABLED and self._out["ended"].any():
                raise OptionError("an episode has ended: call reset() with the option 'reset_mask'")
            any_ended = self._engine.go(chosen, self._out)
            if any_ended is None:
                raise self._no_actions(actions)
            ended = self._out["ended"].astype(np.bool_)
            info = self._info(ended if any_ended else None)
            return self._given("seen"), self._given("reward"), ended, np.zeros(self.num_envs, np.bool_), info

    def close(self, **kwargs: object) -> None:
        """End the threads."""
        super().close(**kwargs)
        if hasattr(self, "_engine"):  # gymnasium 1.1 closes one whose options were refused, too
            self._engine.close()

    def action_masks(self) -> Flags:
        """Which actions are possible now, a row per environment."""
        with self._door.enter(True):
            mask: Flags = self._given("mask").view(np.bool_)
            return mask

    def render(self) -> tuple[Any, ...] | None:
        """What each renders; None without a `render_mode`."""
        return None if self.render_mode is None else self.call("render")

    # -- one of them, as with gymnasium.vector.SyncVectorEnv

    def call(self, name: str, *args: object, **kwargs: object) -> tuple[Any, ...]:
        """What a method of each returns, or an attribute of each.

        Compiled environments have `action_masks`, `np_random`, the spaces, and what `set_attr` gave them.

        Examples
        --------
        >>> from faultsim.rl import VectorPickJob
        >>> envs = VectorPickJob(2, jobs=20, slots=3)
        >>> envs.reset(seed=1)[0].shape, envs.call("action_masks")
        ((2, 4, 4), (array([ True, False, False,  True]), array([ True, False, False,  True])))
        """
        with self._door.enter():
            found = self._attributes(name)
            return tuple(each(*args, **kwargs) if callable(each) else each for each in found)

    def get_attr(self, name: str) -> tuple[object, ...]:
        """An attribute of each."""
        with self._door.enter():
            return tuple(self._attributes(name))

    def _attributes(self, name: str) -> list[object]:
        for each in self._engine.environments[:1]:
            if not hasattr(each, name):
                way = f"; only environments in Python have those of {type(self).__name__[6:]}" if self.compiled else ""
                raise AttributeError(f"these environments have no attribute {name!r}{way}")
        return [getattr(each, name) for each in self._engine.environments]

    def set_attr(self, name: str, values: object) -> None:
        """Give each an attribute: one value for all, or a list or tuple with one for each.

        What the environments have themselves stays as it is: their options are those of when they were made.
        """
        given = list(values) if isinstance(values, list | tuple) else [values] * self.num_envs
        if len(given) != self.num_envs:
            raise OptionError(f"values must be one, or a list of {self.num_envs}, got {len(given)}")
        with self._door.enter():
            each = self._engine.environments[0]
            if hasattr(type(each), name) or name in vars(each).keys() - self._own:
                raise OptionError(f"set_attr cannot change {name!r}, which the environments have themselves")
            self._own.add(name)
            for one, value in zip(self._engine.environments, given, strict=True):
                setattr(one, name, value)

    # -- below

    def _chosen(self, actions: object) -> LongIntegers:
        """Whole numbers, and not what would have to be rounded or read to be one."""
        try:
            given = np.asarray(actions)
        except ValueError:  # rows of different lengths
            given = np.empty(0, object)
        if given.dtype.kind not in "iu" or given.shape != (self.num_envs,) or given.dtype == np.uint64:
            given = self._exact(given, actions)
        return np.array(given, np.int64)

    def _exact(self, given: Values, actions: object) -> Values:
        """Large unsigned numbers, which int64 may not have."""
        is_unsigned = given.dtype == np.uint64 and given.shape == (self.num_envs,)
        if not is_unsigned or (given >= self.single_action_space.n).any():
            raise self._no_actions(actions)
        return given

    def _no_actions(self, given: object) -> OptionError:
        said, most = " ".join(repr(given).split()), int(self.single_action_space.n) - 1
        return OptionError(f"actions must be {self.num_envs} whole numbers from 0 to {most}, got {said:.60}")

    def _given(self, name: str) -> Any:
        out = self._out[name]
        if not self._copy:
            return out
        return out.copy() if isinstance(out, np.ndarray) else copy.deepcopy(out)

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
                for i, seen in self._engine.final.items():
                    info["final_obs"][i] = copy.deepcopy(seen)
                info["final_info"] = {"metric": info["metric"], "_metric": ended}
                info["_final_obs"] = info["_final_info"] = ended
        return info

    # -- copies

    def __getstate__(self) -> dict[str, object]:
        with self._door.enter(True):
            return dict(self.__dict__)


def _mode(given: object) -> AutoresetMode:
    """An autoreset mode, perhaps given by its name or its value."""
    if isinstance(given, AutoresetMode):
        return given
    words = {mode.value: mode for mode in MODES} | {mode.name: mode for mode in MODES}
    return words[checks.choice("autoreset_mode", given, words)]


class VectorPickJob(VectorEnvironment):
    """Many `PickJob` at once: a step takes all of them to their next decision.

    Each is what `PickJob` is with the same parameters; ``gymnasium.make_vec("faultsim/PickJob-v0", num_envs=8)`` makes
    it.  On clusters, with failures or without, compiled code steps them without the global interpreter lock, if the
    observation is ``"compact"`` or ``"rlscheduler"``, the reward ``"telescoping"`` or ``"terminal"``, the recovery
    `Requeue` or `Hold`, and nothing else is given.  With anything else, on other machines, or with observations and
    rewards of one's own, they are stepped in Python, one after another; `compiled` says which it is.

    Parameters
    ----------
    num_envs : int, default 8
        How many.
    log, machine, observation, slots, order, jobs, reward, metric, render_mode
        As for `PickJob`.
    autoreset_mode : gymnasium.vector.AutoresetMode or str, default NEXT_STEP
        When an environment whose episode has ended begins the next one: in the next step, whose action it ignores; in
        the same step, with the last observation in ``info["final_obs"]``; or never, but by `reset` with the option
        ``reset_mask``.  ``metadata["autoreset_mode"]`` says which.
    threads : int, default 1
        On how many threads, at most 64; only where they are compiled.
    copy : bool, default True
        Whether a step returns copies; otherwise the next step writes to the arrays that it has returned.
    **options
        Further parameters of `simulate`: failures, recovery and so on.

    Raises
    ------
    TypeError
        By a keyword that there is not, with the one that was meant.
    OptionError
        By invalid options and actions.
    BusyError
        By `step` and `reset` while another thread is in one of them.
    NotAvailableError
        For threads where the environments are not compiled.

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
        log: Workload | str | os.PathLike[str] | None = None,
        machine: Machine | str | None = None,
        observation: ObservationChoice = "compact",
        slots: int | None = None,
        order: QueueOrder | OrderWord = "arrival",
        jobs: int = 256,
        reward: RewardChoice = "telescoping",
        metric: str = "mean_bounded_slowdown",
        render_mode: str | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        threads: int = 1,
        copy: bool = True,
        **options: object,
    ) -> None:
        check_options(type(self), options)
        whole: Workload = lublin(10_000, rng=0) if log is None else read_given("log", log, Workload)
        if "failures" in options:
            options["failures"] = read_given("failures", options["failures"], FailureTrace)
        on: Machine = Cluster(128) if machine is None else as_machine(machine)
        threads = checks.whole("threads", threads, low=1, high=64)

        def make() -> PickJob:
            return PickJob(
                whole,
                on,
                observation=observation,
                slots=slots,
                order=order,
                jobs=jobs,
                reward=reward,
                metric=metric,
                render_mode=render_mode,
                **options,
            )

        single = make()  # checks everything
        super().__init__(single, num_envs, autoreset_mode, copy)
        reason = why_not(on, observation, reward, order, render_mode, options)
        if reason and threads > 1:
            raise NotAvailableError(
                f"threads: {reason} the environments are stepped in Python, which one thread does: give threads=1, or "
                f"make processes by gymnasium.make_vec(..., vectorization_mode='async')"
            )
        if reason:
            self._engine = OneByOne(make, self.num_envs, self._mode, metric)
            return
        preset = PRESETS[str(observation)]
        shown = preset(whole, on, slots_shown(observation, slots))
        self._engine = Compiled(
            whole,
            on,
            slots=slots_shown(observation, slots),
            jobs=episode_jobs(jobs, whole),
            observation=str(observation),
            reward=str(reward),
            metric=metric,
            options=options,
            columns=_columns(whole, on, shown, metric, options),
            n=self.num_envs,
            mode=self._mode,
            threads=min(threads, self.num_envs),
            out=self._out,
        )


class _InPython(VectorEnvironment):
    """Many environments of one class, stepped in Python."""

    _single: Callable[..., Environment]

    def __init__(
        self,
        num_envs: int = 8,
        *,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        copy: bool = True,
        **options: object,
    ) -> None:
        for name, kind in (("log", Workload), ("failures", FailureTrace)):
            if name in options:
                options[name] = read_given(name, options[name], kind)

        def make() -> Environment:
            return type(self)._single(**options)

        single = make()
        super().__init__(single, num_envs, autoreset_mode, copy)
        self._engine = OneByOne(make, self.num_envs, self._mode, single.metric)


class VectorPickBox(_InPython):
    """Many `PickBox` at once; ``gymnasium.make_vec("faultsim/PickBox-v0", num_envs=8)`` makes it.

    They are stepped in Python, one after another, and what they give is as of `VectorPickJob`; processes share the work
    with ``vectorization_mode="async"``.

    Parameters
    ----------
    num_envs : int, default 8
        How many.
    autoreset_mode, copy
        As for `VectorPickJob`.
    **options
        The parameters of `PickBox`.

    Raises
    ------
    TypeError
        By a keyword that there is not, with the one that was meant.
    OptionError
        By invalid options and actions.

    Examples
    --------
    >>> from faultsim.rl import VectorPickBox
    >>> envs = VectorPickBox(2, machine="torus:4x4x8", jobs=20, boxes=8)
    >>> seen, info = envs.reset(seed=1)
    >>> seen["nodes"].shape, seen["boxes"].shape, info["action_mask"].shape
    ((2, 4, 4, 8), (2, 8, 6), (2, 8))
    """

    _single = PickBox


class VectorRespond(_InPython):
    """Many `Respond` at once; ``gymnasium.make_vec("faultsim/Respond-v0", num_envs=8)`` makes it.

    They are stepped in Python, one after another, and what they give is as of `VectorPickJob`; processes share the work
    with ``vectorization_mode="async"``.

    Parameters
    ----------
    num_envs : int, default 8
        How many.
    autoreset_mode, copy
        As for `VectorPickJob`.
    **options
        The parameters of `Respond`.

    Raises
    ------
    TypeError
        By a keyword that there is not, with the one that was meant.
    OptionError
        By invalid options and actions.

    Examples
    --------
    >>> from faultsim.rl import VectorRespond
    >>> envs = VectorRespond(3, jobs=200, actions=("nothing", "requeue"))
    >>> envs.reset(seed=1)[0].shape
    (3, 8)
    """

    _single = Respond


def _columns(
    log: Workload, machine: Machine, shown: Compact | RLScheduler, metric: str, options: dict[str, Any]
) -> tuple[Values, ...]:
    """What the compiled environments read of a log."""
    run = Run(log, machine, **options)
    estimate = np.ascontiguousarray(run.expected_runtimes(run.fitting_log()))
    divisor = np.maximum(log.runtime, GAMMA) if metric == "mean_bounded_slowdown" else np.ones(len(log))
    still = np.column_stack(shown.still(estimate, log.columns)).astype(np.float32)
    return log.submit, log.runtime, estimate, log.size, divisor, still
