"""Sweeps in processes of their own, again and again: killed, their stores damaged, resumed, for some time.

    python tests/soak/troubled_sweeps.py --minutes 60 [--seed 1]

A sweep is begun on threads or processes and ended by a signal at a random moment, several times, and then resumed to
the end: its store has the rows of one that nothing has happened to.  A copy of a store that is not finished gets a byte
changed or its end cut off, and is resumed as well: it has these rows, too, or the process says what is wrong and ends
with 2.  No process may be left.
"""

import argparse
import contextlib
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS))

from helpers.counts import record  # noqa: E402
from helpers.damage import flipped  # noqa: E402
from helpers.scripts import environment  # noqa: E402
from helpers.stores import count, rows  # noqa: E402

VICTIM = TESTS / "helpers" / "sweep_victim.py"
#: Cells, jobs, replicates.
SIZE = ("10", "80", "6")
SIGNALS = (signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
#: Seconds that a sweep may take to end, after a signal or by itself, on a loaded machine.
LONGEST = 300.0


class Broken(AssertionError):
    """What should not be."""


def begun(store: Path, executor: str) -> subprocess.Popen[str]:
    """A sweep in a session of its own."""
    return subprocess.Popen(
        [sys.executable, str(VICTIM), str(store), executor, *SIZE],
        env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip


def ended(process: subprocess.Popen[str]) -> str:
    """What a process has said, once it and all of its session have ended."""
    said, wrong = process.communicate(timeout=LONGEST)
    end = time.monotonic() + 60
    while _alive(process.pid):
        if time.monotonic() > end:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            raise Broken("processes are left")
        time.sleep(0.05)
    # Python itself answers SIGINT while it is still importing, and in a worker that was just spawned the parent's end.
    early = "begun" not in said and wrong.rstrip().endswith("KeyboardInterrupt")
    orphan = "reduction.pickle.load(from_parent)" in wrong
    if "Traceback" in wrong and not early and not orphan:
        raise Broken(wrong[-2000:])
    return said


def _alive(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def damaged(store: Path, draw: random.Random) -> Path:
    """A copy with one byte changed, or without its end."""
    copy = store.with_name(f"damaged-{store.name}")
    for old in store.parent.glob("damaged-*"):
        old.unlink()
    content = store.read_bytes()
    if draw.random() < 0.7:
        content = flipped(content, draw.randrange(2**32))
    else:
        content = content[: draw.randrange(1, len(content))]
    copy.write_bytes(content)
    for end in ("-wal", "-shm"):
        if (there := Path(f"{store}{end}")).exists():
            shutil.copy(there, f"{copy}{end}")
    return copy


def one_round(folder: Path, draw: random.Random, whole: list[list[object]], usual: float) -> Counter[str]:
    """A store from its beginning to its end."""
    counts: Counter[str] = Counter()
    store, executor = folder / "sweep.db", draw.choice(["threads", "threads", "processes"])
    before = 0
    for _ in range(draw.randint(1, 5)):
        process = begun(store, executor)
        time.sleep(usual * draw.random())
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(draw.choice(SIGNALS))
        ended(process)
        counts["signals"] += 1
        if (there := count(store)) < before:
            raise Broken(f"{before - there} rows are gone")
        before = count(store)
        if store.exists() and store.stat().st_size and draw.random() < 0.5:
            copy = damaged(store, draw)
            process = begun(copy, executor)
            said = ended(process)
            counts["damaged stores"] += 1
            if "done" in said:
                if rows(copy) != whole:
                    raise Broken("a damaged store was finished, and has other rows")
                counts["damaged stores that were finished"] += 1
            elif process.returncode == 2:
                counts["damaged stores that were refused by name"] += 1
            else:
                raise Broken(f"status {process.returncode}: {said[-500:]}")
    said = ended(begun(store, executor))
    if "done" not in said or rows(store) != whole:
        raise Broken(f"not what it would be: {said[-500:]}")
    return counts + Counter({"stores finished": 1})


def main() -> int:
    """All rounds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=60.0, help="how long, about")
    parser.add_argument("--seed", type=int, default=1, help="of moments, signals and damage")
    given = parser.parse_args()
    draw, counts, begin = random.Random(given.seed), Counter[str](), time.time()
    with tempfile.TemporaryDirectory() as scratch:
        at = time.monotonic()
        ended(begun(Path(scratch) / "whole.db", "threads"))
        usual, whole = time.monotonic() - at, rows(Path(scratch) / "whole.db")
        while time.time() < begin + 60 * given.minutes:
            folder = Path(scratch) / "round"
            folder.mkdir()
            try:
                counts += one_round(folder, draw, whole, usual)
            except Broken as error:
                print(f"after {dict(counts)}: {error}")
                return 1
            shutil.rmtree(folder)
    minutes = round((time.time() - begin) / 60)
    print(f"{dict(counts)} in {minutes} minutes; nothing was lost, changed in silence or left behind")
    record(
        "troubled-sweeps", "trouble",
        "Sweeps on threads and processes are ended by signals at random moments, copies of their stores damaged, and "
        "all resumed: they have the rows of a sweep that nothing happened to, or what is wrong is said.",
        {"minutes": minutes, **dict(sorted(counts.items())), "rows lost, changed or processes left": 0},
        "python tests/soak/troubled_sweeps.py --minutes 60",
    )  # fmt: skip
    return 0


if __name__ == "__main__":
    sys.exit(main())
