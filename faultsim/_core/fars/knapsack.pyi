import numpy as np
from numpy.typing import NDArray

from faultsim.arrays import Floats, LongIntegers

class Knapsack:
    def __new__(cls) -> Knapsack: ...
    def solve(self, values: Floats, weights: LongIntegers, capacity: int, taken: NDArray[np.uint8]) -> float: ...
