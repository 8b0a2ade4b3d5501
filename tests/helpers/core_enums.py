"""The enums in the headers of the core."""

import re
from pathlib import Path

from faultsim import _core

CORE = Path(_core.__file__).parent


def enum(header: str, prefix: str) -> dict[str, int]:
    """Name without prefix -> number, of the enumerators in a header."""
    found = re.findall(rf"^ +{prefix}_(\w+) = (\d+)", (CORE / header).read_text(encoding="utf-8"), re.MULTILINE)
    return {name: int(number) for name, number in found}
