from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faultsim._core.border import Border

class Live(Border):
    def submit(
        self,
        submit: NDArray[np.float64],
        runtime: NDArray[np.float64],
        estimate: NDArray[np.float64],
        size: NDArray[np.int32],
        interval: NDArray[np.float64] | None,
        rank: NDArray[np.int32] | None,
        key: NDArray[np.float64] | None,
        columns: Mapping[str, NDArray[Any]],
        further: NDArray[np.float64] | None,
    ) -> None: ...
    def foresee(
        self, begin: NDArray[np.float64], end: NDArray[np.float64], node: NDArray[np.int32], p: float
    ) -> None: ...
    def end_job(self, row: int) -> None: ...
    def extend_job(self, row: int, seconds: float) -> None: ...
    def fail_node(self, which: int, downtime: float) -> None: ...
    def repair_node(self, which: int) -> None: ...
