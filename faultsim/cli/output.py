"""What commands write: tables, one JSON document, a progress bar."""

import json
import math
import sys
import time
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Self

__all__ = ["Progress", "print_json", "table"]


def _plain(value: Any) -> Any:
    """`value` as something JSON has: NaN and infinity become null, NumPy scalars and arrays become numbers, lists."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if isinstance(value, (str, int, bool, type(None))) else str(value)


def dumps(document: Any) -> str:
    """`document` as JSON text that every parser reads (no NaN)."""
    return json.dumps(_plain(document), indent=1, allow_nan=False)


def print_json(document: Any) -> None:
    """Print one JSON document on stdout."""
    print(dumps(document))


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
    right = [bool(rows) and all(isinstance(row[i], (int, float)) or row[i] is None for row in rows)
             for i in range(len(header))]

    def line(items: Sequence[str]) -> str:
        parts = [item.rjust(w) if r else item.ljust(w) for item, w, r in zip(items, widths, right, strict=True)]
        return "  ".join(parts).rstrip()

    return "\n".join([line(list(header))] + [line(row) for row in cells])


def _cell(item: object) -> str:
    if item is None:
        return "-"
    if isinstance(item, bool) or not isinstance(item, (int, float)):
        return str(item)
    if isinstance(item, int) or (float(item).is_integer() and abs(item) >= 1000):
        return f"{int(item):,}"
    return f"{item:,.4g}" if abs(item) < 1000 else f"{item:,.0f}"


class Progress:
    """A bar on stderr, and only when stderr is a terminal: ``with Progress("runs") as bar: bar(done, total)``."""

    def __init__(self, label: str, *, width: int = 30) -> None:
        self.label, self.width = label, width
        self.shown = False
        self.begun = self.last = time.monotonic()
        self.live = sys.stderr is not None and sys.stderr.isatty()

    def __enter__(self) -> Self:
        return self

    def __call__(self, done: float, total: float) -> None:
        now = time.monotonic()
        if not self.live or total <= 0 or (done < total and now - self.last < 0.1):
            return
        self.last = now
        share = min(max(done / total, 0.0), 1.0)
        left = (now - self.begun) * (1 - share) / share if share > 0 else math.nan
        filled = round(share * self.width)
        bar = "█" * filled + "░" * (self.width - filled)
        remaining = f", {left:.0f} s left" if math.isfinite(left) and done < total else ""
        sys.stderr.write(f"\r{self.label} {bar} {share:4.0%}{remaining}\x1b[K")
        sys.stderr.flush()
        self.shown = True

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        if self.shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
