from collections.abc import Iterator
from typing import Any, ClassVar, Self, overload

import numpy as np

from faultsim.arrays import Flags, Floats, Integers, LongIntegers, Values

class Moment: ...

class Rows(Iterator[int]):
    def __next__(self) -> int: ...

class Jobs:
    columns: ClassVar[tuple[str, ...]]
    index: Integers
    submit: Floats
    estimate: Floats
    restarts: Integers
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[int]: ...
    @overload
    def __getitem__(self, key: int | np.integer[Any], /) -> int: ...
    @overload
    def __getitem__(self, key: slice | Flags | LongIntegers | Integers | list[int] | list[bool], /) -> Self: ...
    @overload
    def __getitem__(self, key: str, /) -> object: ...
    def tolist(self) -> list[int]: ...
    def __getattr__(self, name: str) -> Values: ...

class Waiting(Jobs):
    wait: Floats
    size: Integers
    saved: Floats
    fits: Flags

class Running(Jobs):
    size: Integers
    start: Floats
    expected_end: Floats
    progress: Floats
    saved: Floats
    where: list[Any]
