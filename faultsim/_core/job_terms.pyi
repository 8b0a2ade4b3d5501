from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

COLUMNS: tuple[str, ...]

def job_terms(
    columns: Mapping[str, NDArray[Any]], begin: int, end: int, failures: bool, checkpoints: bool
) -> tuple[NDArray[np.float64], int, int, int, int]: ...
