"""The arrays of the package, by name: what a column holds is said once, here."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

#: Times, durations, shares: 64-bit floating point.
Floats: TypeAlias = NDArray[np.float64]
#: Jobs, nodes, sizes and counts that the core takes.
Integers: TypeAlias = NDArray[np.int32]
#: Offsets and sums, which may be larger.
LongIntegers: TypeAlias = NDArray[np.int64]
#: Numbers of rows, as NumPy returns them from a search or a sort.
Indices: TypeAlias = NDArray[np.intp]
#: Yes or no for each row.
Flags: TypeAlias = NDArray[np.bool_]
#: Text, one entry for each row.
Texts: TypeAlias = NDArray[np.str_]
#: The number of a row: of Python's, or of an array.
RowNumber: TypeAlias = int | np.integer[Any]
#: A column whose type depends on its name, such as a further column of a log.
Values: TypeAlias = NDArray[Any]
