from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

def parse_block(block: bytes, wanted: Sequence[int], width: int) -> list[NDArray[Any]] | None: ...
