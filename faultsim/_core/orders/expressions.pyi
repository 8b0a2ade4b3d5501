from typing import Any

from faultsim.arrays import Floats, Integers

KEY: object

def values(
    program: Any,
    submit: Floats,
    estimate: Floats,
    size: Integers,
    index: Integers,
    restarts: Integers,
    now: float,
    further: Floats | None = None,
) -> Floats: ...
