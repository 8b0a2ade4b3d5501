from collections.abc import Mapping

from faultsim.arrays import Floats, Values

COLUMNS: tuple[str, ...]

def job_terms(
    columns: Mapping[str, Values], begin: int, end: int, failures: bool, checkpoints: bool
) -> tuple[Floats, int, int, int, int]: ...
