import numpy as np
from numpy.typing import NDArray

class Knapsack:
    def __new__(cls) -> Knapsack: ...
    def solve(
        self, values: NDArray[np.float64], weights: NDArray[np.int64], capacity: int, taken: NDArray[np.uint8]
    ) -> float: ...
