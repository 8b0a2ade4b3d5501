from collections.abc import Mapping, Sequence

from faultsim.arrays import Values

def parse_block(
    block: bytes, wanted: Sequence[int], width: int, usual: Mapping[int, Sequence[int]] | None = None
) -> list[Values] | None: ...
