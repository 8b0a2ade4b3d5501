"""Numbers of the runs that test faultsim: each kind in a JSON file that such a run writes.

Nothing is written unless ``FAULTSIM_COUNTS`` is set, to 1 for the folder of the checkout or to another folder:

    FAULTSIM_COUNTS=1 pytest -m slow tests/trust

The page docs/background/testing.md shows what the files say, by ``python tests/verification/count.py``.
"""

import json
import os
import platform
import re
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parents[1] / "verification" / "counts"
#: What a kind of numbers is about -> what the page says above them.
PARTS = {
    "answers": "Whether the answers are right",
    "trouble": "Whatever the threads, the memory, the file or the kill",
    "tests": "Whether the tests would notice",
}
FIELDS = ("kind", "part", "what", "numbers", "command", "date", "machine")


def machine() -> str:
    """What a run ran on, as words."""
    return (
        f"{platform.system()} on {platform.machine()}, {os.cpu_count()} cores, "
        f"{platform.python_implementation()} {platform.python_version()}"
    )


def record(kind: str, part: str, what: str, numbers: Mapping[str, int | float], command: str) -> Path | None:
    """Keep the numbers of a run, in place of those of the run before; the file, or None where none is asked for.

    To be called once everything has held.  `kind` names the file ("kills"), `part` is one of `PARTS`, `what` is a
    sentence ("A sweep is killed at random moments, and resumed."), `numbers` are named as the page shall say them
    ("kills": 200, "processes left": 0), and `command` repeats the run ("pytest -m soak tests/soak/test_kills.py").
    """
    where = os.environ.get("FAULTSIM_COUNTS", "")
    if where in ("", "0"):
        return None
    kept = {"kind": kind, "part": part, "what": what, "numbers": dict(numbers), "command": command}
    kept |= {"date": time.strftime("%Y-%m-%d", time.gmtime()), "machine": machine()}
    check(kept)
    path = (FOLDER if where == "1" else Path(where)) / f"{kind}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    return path


def check(kept: Mapping[str, Any]) -> None:
    """Refuse a file that the page could not show."""
    assert tuple(kept) == FIELDS, tuple(kept)
    assert re.fullmatch(r"[a-z][a-z0-9-]*", kept["kind"]), kept["kind"]
    assert kept["part"] in PARTS, kept["part"]
    assert kept["what"].endswith("."), kept["what"]
    assert not set("|\n`") & set(kept["command"] + kept["what"]), "a cell of a table has no bars, ticks or line ends"
    assert kept["numbers"]
    for name, number in kept["numbers"].items():
        assert not set("|\n") & set(name), name
        assert type(number) in (int, float), (name, number)
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", kept["date"]), kept["date"]


def kept_in(folder: Path = FOLDER) -> list[dict[str, Any]]:
    """All that is kept, in the order of `PARTS` and then of kinds."""
    found = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))]
    return sorted(found, key=lambda kept: (list(PARTS).index(kept["part"]), kept["kind"]))
