from typing import Any

from faultsim._core.torus.occupancy import Torus

def kernels_agree(torus: Torus, a: Any, b: Any) -> int: ...
