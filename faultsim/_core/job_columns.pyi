from collections.abc import Iterator
from typing import Any

from faultsim.arrays import Flags, Floats, Integers, Values

class Moment: ...

class Jobs:
    index: Integers
    submit: Floats
    estimate: Floats
    restarts: Integers
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[int]: ...
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
