from typing import Any

import numpy as np
from numpy.typing import NDArray

KEY: Any

def values(
    program: Any,
    submit: NDArray[np.float64],
    estimate: NDArray[np.float64],
    size: NDArray[np.int32],
    index: NDArray[np.int32],
    restarts: NDArray[np.int32],
    now: float,
    further: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]: ...
