from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

class Moment: ...

class Jobs:
    index: NDArray[np.int32]
    submit: NDArray[np.float64]
    estimate: NDArray[np.float64]
    restarts: NDArray[np.int32]
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[int]: ...
    def tolist(self) -> list[int]: ...
    def __getattr__(self, name: str) -> NDArray[Any]: ...

class Waiting(Jobs):
    wait: NDArray[np.float64]
    size: NDArray[np.int32]
    saved: NDArray[np.float64]
    fits: NDArray[np.bool_]

class Running(Jobs):
    size: NDArray[np.int32]
    start: NDArray[np.float64]
    expected_end: NDArray[np.float64]
    progress: NDArray[np.float64]
    saved: NDArray[np.float64]
    where: list[Any]
