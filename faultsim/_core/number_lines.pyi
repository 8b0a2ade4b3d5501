from collections.abc import Mapping, Sequence
from typing import Any

from numpy.typing import NDArray

def parse_block(
    block: bytes, wanted: Sequence[int], width: int, usual: Mapping[int, Sequence[int]] | None = None
) -> list[NDArray[Any]] | None: ...
