from typing import Any

from faultsim._core.torus import Torus

def kernels_agree(torus: Torus, a: Any, b: Any) -> int: ...
