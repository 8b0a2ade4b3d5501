import numpy as np
from numpy.typing import NDArray

from faultsim._core.torus.occupancy import Torus
from faultsim.arrays import Flags

_Busy = Flags | NDArray[np.uint8]

class Chooser:
    def __new__(cls, torus: Torus, follows: bool = False) -> Chooser: ...
    def give(self, box: tuple[int, ...]) -> None: ...
    def largest(self, busy: _Busy) -> tuple[int, tuple[int, ...] | None]: ...
    def has_free(self, busy: _Busy, at_least: int) -> tuple[int, ...] | None: ...
    def has_room(self, busy: _Busy, need: int, box: tuple[int, ...]) -> bool | None: ...
    def choose(
        self,
        rule: str,
        busy: _Busy,
        size: int,
        order: int = 0,
        forbidden: _Busy | None = None,
        later: _Busy | None = None,
        need: int = 0,
        failing: _Busy | None = None,
        p: float = 0.0,
        rule_max: bool = False,
        near: list[tuple[int, ...]] | None = None,
    ) -> object: ...
    def repeat(
        self,
        rule: str,
        busy: _Busy,
        size: int,
        times: int = 1,
        failing: _Busy | None = None,
        p: float = 0.1,
        rule_max: bool = False,
    ) -> int: ...
