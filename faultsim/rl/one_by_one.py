"""Many environments in Python, stepped one after another: `OneByOne`."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import concatenate

from faultsim.arrays import Flags, LongIntegers
from faultsim.rl.environment import Environment


class OneByOne:
    """Environments that write what they give into the arrays of a `VectorEnvironment`.

    Parameters
    ----------
    make : callable
        Makes one.
    n : int
        How many.
    mode : AutoresetMode
    metric : str
        That of the environments.
    """

    def __init__(self, make: Callable[[], Environment], n: int, mode: AutoresetMode, metric: str) -> None:
        self.environments = [make() for _ in range(n)]
        self._mode, self._metric = mode, metric
        self._seen: list[object] = [None] * n
        #: By environment whose episode ended in the last step: its last observation.
        self.final: dict[int, object] = {}

    def begin(self, which: Iterable[int], seeds: list[int | None], out: dict[str, object]) -> None:
        """Begin episodes of these."""
        for i in which:
            self._enter(i, out, seeds[i])
        self._gather(out)

    def _enter(self, i: int, out: dict[str, object], seed: int | None = None) -> None:
        self._seen[i], info = self.environments[i].reset(seed=seed)
        self._tell(i, info, out)

    def go(self, actions: LongIntegers, out: dict[str, Any]) -> bool | None:
        """A step of each; whether an episode ended; None: there is no such action."""
        if ((actions < 0) | (actions >= out["mask"].shape[1])).any():
            return None
        over: Flags = out["ended"].astype(np.bool_)
        out["ended"][:] = False
        out["reward"][:] = 0.0
        self.final = {}
        for i, environment in enumerate(self.environments):
            if over[i] and self._mode == AutoresetMode.NEXT_STEP:
                self._enter(i, out)
                continue
            self._seen[i], out["reward"][i], out["ended"][i], _, info = environment.step(actions[i])
            if out["ended"][i]:
                out["total"][i] = environment.result.metrics[self._metric]
                if self._mode == AutoresetMode.SAME_STEP:
                    self.final[i] = self._seen[i]
                    self._enter(i, out)
                    continue
            self._tell(i, info, out)
        self._gather(out)
        return bool(out["ended"].any())

    def _tell(self, i: int, info: dict[str, object], out: dict[str, Any]) -> None:
        out["mask"][i], out["now"][i], out["illegal"][i] = info["action_mask"], info["now"], info["illegal"]

    def _gather(self, out: dict[str, Any]) -> None:
        space = self.environments[0].observation_space
        blank = next(seen for seen in self._seen if seen is not None)
        concatenate(space, [blank if seen is None else seen for seen in self._seen], out["seen"])

    def close(self) -> None:
        """There is nothing to end."""
        for environment in self.environments:
            environment.close()
