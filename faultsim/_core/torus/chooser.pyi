from typing import Any

from faultsim._core.torus.occupancy import Torus

class Chooser:
    def __new__(cls, torus: Torus) -> Chooser: ...
    def largest(self, busy: Any) -> tuple[int, tuple[int, ...] | None]: ...
    def has_free(self, busy: Any, at_least: int) -> tuple[int, ...] | None: ...
    def first(self, busy: Any, size: int, order: int = 0) -> tuple[int, ...] | None: ...
    def choose(
        self,
        rule: str,
        busy: Any,
        size: int,
        order: int = 0,
        forbidden: Any = None,
        later: Any = None,
        need: int = 0,
        failing: Any = None,
        p: float = 0.0,
        rule_max: bool = False,
    ) -> Any: ...
    def repeat(
        self,
        rule: str,
        busy: Any,
        size: int,
        times: int = 1,
        failing: Any = None,
        p: float = 0.1,
        rule_max: bool = False,
    ) -> int: ...
