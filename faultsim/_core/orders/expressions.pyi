from faultsim.arrays import Floats, Integers

KEY: object

def values(
    program: object,
    submit: Floats,
    estimate: Floats,
    size: Integers,
    index: Integers,
    restarts: Integers,
    now: float,
    further: Floats | None = None,
) -> Floats: ...
