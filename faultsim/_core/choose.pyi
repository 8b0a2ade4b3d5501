from typing import Any

from faultsim._core.torus import Torus

def choose(
    torus: Torus,
    rule: str,
    busy: Any,
    size: int,
    order: int = 0,
    forbidden: Any = None,
    later: Any = None,
    need: int = 0,
) -> Any: ...
