"""What commands write: tables and one JSON document."""

import json
import math
import re
from collections.abc import Mapping, Sequence


def _plain(value: object) -> object:
    """`value` as JSON values: NaN and infinity become null, NumPy scalars and arrays become numbers, lists."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if isinstance(value, (str, int, bool, type(None))) else str(value)


def dumps(document: object) -> str:
    """`document` as JSON text that every parser reads (no NaN)."""
    return json.dumps(_plain(document), indent=1, allow_nan=False)


def print_json(document: object) -> None:
    """Print one JSON document on stdout."""
    print(dumps(document))


def shown(text: object) -> str:
    """Text from a file for a terminal: control characters, which could act on it, as \\x1b.

    Examples
    --------
    >>> shown("a\\x1b[2Jb")
    'a\\\\x1b[2Jb'
    """
    return _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), str(text))


#: All of them but the end of a line, and what turns the direction of text.
_CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def table(rows: Sequence[Sequence[object]], header: Sequence[str]) -> str:
    """A plain text table; columns of numbers are aligned right.

    Examples
    --------
    >>> print(table([["easy", 12], ["fcfs", 3]], ["scheduler", "jobs"]))
    scheduler  jobs
    easy         12
    fcfs          3
    """
    cells = [[_cell(item) for item in row] for row in rows]
    widths = [max([len(title)] + [len(row[i]) for row in cells]) for i, title in enumerate(header)]
    right = [
        bool(rows) and all(isinstance(row[i], (int, float)) or row[i] is None for row in rows)
        for i in range(len(header))
    ]

    def line(items: Sequence[str]) -> str:
        parts = [item.rjust(w) if r else item.ljust(w) for item, w, r in zip(items, widths, right, strict=True)]
        return "  ".join(parts).rstrip()

    return "\n".join([line(list(header))] + [line(row) for row in cells])


def _cell(item: object) -> str:
    if item is None:
        return "-"
    if isinstance(item, bool) or not isinstance(item, (int, float)):
        return shown(item).replace("\n", "\\n")
    if isinstance(item, int) or (float(item).is_integer() and abs(item) >= 1000):
        return f"{int(item):,}"
    return f"{item:,.4g}" if abs(item) < 1000 else f"{item:,.0f}"
