"""Write the numbers that runs have kept into the page "How faultsim is tested".

    python tests/verification/count.py

Runs keep them, if ``FAULTSIM_COUNTS=1``, as `helpers.counts` says.
"""

import re
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))

from helpers.counts import PARTS, kept_in  # noqa: E402

PAGE = ROOT / "docs" / "background" / "testing.md"
BEGIN, END = "<!-- numbers: written by tests/verification/count.py -->\n", "<!-- end of numbers -->\n"


def said(number: float) -> str:
    return f"{number:,}" if isinstance(number, int) else f"{number:,.4g}"


def row(kept: Mapping[str, Any]) -> str:
    numbers = "<br>".join(f"{said(number)} {name}" for name, number in kept["numbers"].items())
    return f"| {kept['what']} | {numbers} | `{kept['command']}` | {kept['date']} |"


def tables(found: Iterable[Mapping[str, Any]]) -> str:
    """A table for each part that has numbers, and what the runs ran on."""
    found, lines = list(found), []
    for part, heading in PARTS.items():
        rows = [row(kept) for kept in found if kept["part"] == part]
        if rows:
            lines += [f"### {heading}", "", "| what | numbers | by | date |", "|---|---|---|---|", *rows, ""]
    machines = sorted({kept["machine"] for kept in found})
    return "\n".join([*lines, f"Machines: {'; '.join(machines)}.", ""])


def with_tables(page: str, found: Iterable[Mapping[str, Any]]) -> str:
    """The page, with what the files say between its two marks."""
    return re.sub(f"(?s)(?<={re.escape(BEGIN)}).*(?={re.escape(END)})", lambda _: tables(found), page)


def main() -> None:
    """Write the page."""
    page = PAGE.read_text(encoding="utf-8")
    if page.count(BEGIN) != 1 or page.count(END) != 1:
        sys.exit(f"{PAGE} does not have both marks once")
    PAGE.write_text(with_tables(page, kept_in()), encoding="utf-8")


if __name__ == "__main__":
    main()
