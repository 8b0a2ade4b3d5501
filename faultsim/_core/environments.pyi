from typing import Any

import numpy as np
from numpy.typing import NDArray

from faultsim._core.team import Team

class PickJobs(Team):
    def __init__(
        self,
        template: Any,
        columns: tuple[NDArray[Any], ...],
        out: dict[str, NDArray[Any]],
        *,
        slots: int,
        preset: int,
        metric: int,
        autoreset: int,
        telescoping: bool,
        threads: int = 1,
    ) -> None: ...
    def reset(self, which: NDArray[np.int64]) -> bool: ...
    def step(self, actions: NDArray[np.int64]) -> tuple[bool, bool] | None: ...
    def used_up(self) -> list[int]: ...
    def drawn(self, i: int) -> None: ...
    def translate(self, code: int) -> None: ...
