from typing import Any

import numpy as np
from numpy.typing import NDArray

class PickJobs:
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
    ) -> None: ...
    def reset(self, which: NDArray[np.int64], first: NDArray[np.int64]) -> None: ...
    def step(self, begin: int, end: int, actions: NDArray[np.int64], first: NDArray[np.int64]) -> None: ...
    def translate(self, code: int) -> None: ...
