"""Environments of `faultsim.rl` for Stable-Baselines3, as it takes them: `as_vec_env`."""

import importlib
import time
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import ArrayLike

from faultsim.errors import MissingExtraError, OptionError
from faultsim.rl.vector import VectorEnvironment

__all__ = ["as_vec_env"]


def as_vec_env(envs: object) -> Any:
    """Environments as a ``VecEnv`` of Stable-Baselines3, without a copy and without processes.

    Its algorithms take it as they take a ``DummyVecEnv``, and MaskablePPO of sb3-contrib finds the masks. Episodes that
    end are in ``info["episode"]``, as ``Monitor`` writes them, with the metric of the episode as ``info["metric"]``.

    Parameters
    ----------
    envs : VectorPickJob, VectorPickBox or VectorRespond
        With ``autoreset_mode="SameStep"``, since Stable-Baselines3 expects the next episode to begin in the step that
        ends one.

    Returns
    -------
    stable_baselines3.common.vec_env.VecEnv

    Raises
    ------
    OptionError
        If they are something else, or reset in another way.
    MissingExtraError
        Without Stable-Baselines3.
    """
    envs = getattr(envs, "unwrapped", envs)
    if not isinstance(envs, VectorEnvironment):
        raise OptionError(f"as_vec_env takes a VectorPickJob, VectorPickBox or VectorRespond, got {envs!r:.60}")
    if envs.metadata["autoreset_mode"] != AutoresetMode.SAME_STEP:
        raise OptionError(
            f"Stable-Baselines3 expects the next episode in the step that ends one: make the environments with "
            f"autoreset_mode='SameStep', got {envs.metadata['autoreset_mode'].value!r}"
        )
    return _vec_env_class()(envs)


@cache
def _vec_env_class() -> Any:
    """A subclass of the ``VecEnv`` of Stable-Baselines3, which is imported only now."""
    try:
        base = importlib.import_module("stable_baselines3.common.vec_env").VecEnv
    except ImportError:
        raise MissingExtraError("as_vec_env needs Stable-Baselines3: pip install stable-baselines3") from None
    return type("VecEnv", (_Calls, base), {})


class _Calls:
    """The methods of a ``VecEnv``, which call environments of Gymnasium; `_vec_env_class` adds the base."""

    num_envs: int
    _options: list[dict[str, object]]
    _seeds: list[int | None]
    _reset_seeds: Callable[[], None]
    _reset_options: Callable[[], None]
    _actions: ArrayLike | None

    def __init__(self, envs: VectorEnvironment) -> None:
        self._envs, self._actions, self._clock = envs, None, time.perf_counter()
        self._returns, self._lengths = np.zeros(envs.num_envs), np.zeros(envs.num_envs, np.int64)
        base: Any = super()
        base.__init__(envs.num_envs, envs.single_observation_space, envs.single_action_space)

    def reset(self) -> object:
        """Begin episodes with the seeds that were set, once."""
        if any(self._options):
            raise OptionError(f"the environments take no options of set_options, got {self._options!r:.60}")
        seeds = self._seeds if any(seed is not None for seed in self._seeds) else None
        seen, info = self._envs.reset(seed=seeds)
        self.reset_infos = [{name: values[i] for name, values in info.items()} for i in range(self.num_envs)]
        self._returns[:], self._lengths[:], self._clock = 0.0, 0, time.perf_counter()
        self._reset_seeds()
        self._reset_options()
        return seen

    def step_async(self, actions: ArrayLike) -> None:
        """Keep the actions for `step_wait`."""
        self._actions = actions

    def step_wait(self) -> tuple[object, object, object, list[dict[str, object]]]:
        """A step of all."""
        seen, rewards, ended, _, info = self._envs.step(self._actions)
        self._returns += rewards
        self._lengths += 1
        infos: list[dict[str, object]] = [{} for _ in range(self.num_envs)]
        for i in np.flatnonzero(ended).tolist():
            infos[i] = {
                "terminal_observation": info["final_obs"][i],
                "TimeLimit.truncated": False,
                "metric": float(info["metric"][i]),
                "episode": {
                    "r": float(self._returns[i]),
                    "l": int(self._lengths[i]),
                    "t": round(time.perf_counter() - self._clock, 6),
                },
            }
            self._returns[i], self._lengths[i] = 0.0, 0
        return seen, rewards.astype(np.float32), ended, infos

    def close(self) -> None:
        """End the environments."""
        self._envs.close()

    def _which(self, indices: int | Iterable[int] | None) -> list[int]:
        given = [indices] if isinstance(indices, int) else range(self.num_envs) if indices is None else indices
        return list(given)

    def get_attr(self, attr_name: str, indices: int | Iterable[int] | None = None) -> list[object]:
        """An attribute of each of these."""
        found = self._envs.get_attr(attr_name)
        return [found[i] for i in self._which(indices)]

    def set_attr(self, attr_name: str, value: object, indices: int | Iterable[int] | None = None) -> None:
        """Give each of these an attribute."""
        which = self._which(indices)
        if len(which) == self.num_envs:
            self._envs.set_attr(attr_name, [value] * self.num_envs)
            return
        try:
            values = list(self._envs.get_attr(attr_name))
        except AttributeError:
            values = [None] * self.num_envs
        for i in which:
            values[i] = value
        self._envs.set_attr(attr_name, values)

    def env_method(
        self, method_name: str, *args: object, indices: int | Iterable[int] | None = None, **kwargs: object
    ) -> list[object]:
        """What a method of each of these returns."""
        if method_name == "action_masks":  # before every decision of MaskablePPO
            masks = self._envs.action_masks()
            return [masks[i] for i in self._which(indices)]
        found = self._envs.call(method_name, *args, **kwargs)
        return [found[i] for i in self._which(indices)]

    def env_is_wrapped(self, wrapper_class: type, indices: int | Iterable[int] | None = None) -> list[bool]:
        """Whether each has what a wrapper adds: that of ``Monitor`` is there."""
        return [wrapper_class.__name__ == "Monitor" for _ in self._which(indices)]

    def get_images(self) -> Sequence[object]:
        """Pictures, with ``render_mode="rgb_array"``."""
        return self._envs.render() or [None] * self.num_envs
