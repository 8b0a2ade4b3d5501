import numpy as np
from numpy.typing import NDArray

from faultsim._core.torus.occupancy import Torus

def kernels_agree(torus: Torus, a: NDArray[np.uint64], b: NDArray[np.uint64]) -> int: ...
