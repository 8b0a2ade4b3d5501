"""Call every public name with odd values, and print a table of what is not an error of faultsim.

    python tests/verification/odd_values.py --minutes 60 [--seed 1] [--only Workload.] [--jobs 1]

First each parameter of each call with each odd value (None, negative, NaN, huge, wrong types and shapes, masked values,
text with NUL, objects of other libraries), then two or three at once and inside of lists, until the time is over.
A raw error is one that is not of `faultsim.errors`, nor an `OSError` that names its file, nor a `MemoryError`; a slow
call takes more than 10 s of processor time.  The command ends with 1 where the table is not empty.
"""

import argparse
import contextlib
import json
import os
import random
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))

from helpers.counts import record  # noqa: E402

#: Seconds of processor time of a call that is slow; seconds after which a call that never ends is given up.
SLOW, GIVEN_UP = 10, 90
#: Bytes that a worker may have.
MEMORY = 4 << 30


class Slow(BaseException):
    """A call took too long."""


def place_of(error: BaseException) -> str:
    """The innermost line of the package in a traceback."""
    found = "?"
    for frame in traceback.extract_tb(error.__traceback__):
        name = frame.filename.replace("\\", "/")
        if "faultsim/" in name and "/tests/" not in name:
            found = f"{name.rpartition('faultsim/')[2]}:{frame.lineno} {frame.name}"
    return found


def raised_here(error: BaseException) -> bool:
    """Whether a statement of the package raises it, as what its tables and rows are to their readers: a mapping."""
    return (traceback.extract_tb(error.__traceback__)[-1].line or "").startswith("raise ")


def raw(error: BaseException, name: str) -> str:
    """Why an error should not be; "" if it may be."""
    import faultsim as fs
    from helpers.odd_calls import PROTOCOL

    if isinstance(error, fs.FaultsimError):
        lines = str(error).split("\n")
        return "a message of many lines" if len(lines) > 1 and len(str(error)) > 2000 else ""
    if isinstance(error, OSError) and (error.filename is not None or error.errno is not None):
        return ""
    if isinstance(error, MemoryError):
        return ""
    if isinstance(error, KeyError | IndexError) and raised_here(error):
        return ""
    if isinstance(error, PROTOCOL.get(name.rpartition(".")[2], ())):
        return ""
    return type(error).__name__


def worker(seed: int, share: int, of: int, begin: int, only: str, out: Path, until: float) -> None:
    """Make every `of`-th call, beginning with one; a line for each error, the number of the current call beside."""
    from helpers import odd_calls

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    sys.setrecursionlimit(1000)
    warnings.simplefilter("ignore")
    calls = {name: each for name, each in odd_calls.harvest().items() if name.startswith(only)}
    odd = odd_calls.odd_values()
    odd_calls.sys.stdin.close()

    def slow(*_: object) -> None:
        raise Slow

    signal.signal(signal.SIGVTALRM, slow)
    lines, current = out.open("a", encoding="utf-8"), out.with_suffix(".now").open("w", encoding="utf-8")
    every = _all(calls, list(odd), seed)
    for number, changed in enumerate(every):
        if number % of != share or number < begin:
            continue
        if time.time() > until:
            break
        current.seek(0)
        current.write(f"{number} {str(changed).encode('ascii', 'backslashreplace').decode():<200.200}\n")
        current.flush()
        found: dict[str, Any] | None = None
        with contextlib.redirect_stdout(None):
            try:
                signal.setitimer(signal.ITIMER_VIRTUAL, SLOW)
                odd_calls.act(changed, odd)
            except Slow as error:
                found = {"kind": "slow", "place": place_of(error), "message": "10 s of processor time"}
            except (Exception, RecursionError) as error:
                is_own = any(word.startswith(odd_calls.CALLED) for word in changed.odd.values())
                if (kind := raw(error, changed.call.name)) and not (is_own and isinstance(error, TypeError)):
                    said = str(error).encode("ascii", "backslashreplace").decode()
                    found = {"kind": kind, "place": place_of(error), "message": said[:120]}
            finally:
                signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        if found:
            found["call"] = str(changed).encode("ascii", "backslashreplace").decode()[:160]
            lines.write(json.dumps(found) + "\n")
            lines.flush()
    current.seek(0)
    current.write(f"{number} done{' ' * 200}\n")


def _all(calls: dict[str, list[Any]], words: list[str], seed: int) -> Any:
    from helpers import odd_calls

    draw = random.Random(seed)
    first = list(odd_calls.systematic(calls, words))
    draw.shuffle(first)  # so that a short time sees some of all
    yield from first
    yield from odd_calls.at_random(calls, words, draw)


def watched(given: argparse.Namespace, share: int, folder: Path, until: float) -> tuple[list[dict[str, Any]], int]:
    """Run a worker, and another one after a call that crashes it or never ends; what was found, and how many calls."""
    out, begin, found = folder / f"{share}.jsonl", 0, []
    now = out.with_suffix(".now")
    (folder / f"work{share}").mkdir()
    while time.time() < until:
        arguments = [given.seed, share, given.jobs, begin, given.only, out, until]
        command = [sys.executable, __file__, "--worker", *map(str, arguments)]
        errors = (folder / f"{share}.err").open("w+")
        process = subprocess.Popen(
            command, cwd=folder / f"work{share}", stdout=subprocess.DEVNULL, stderr=errors, start_new_session=True,
            env=os.environ | {"MPLBACKEND": "Agg"},
        )  # fmt: skip
        before, since = "", time.time()
        while process.poll() is None:
            time.sleep(0.2)
            text = now.read_text(encoding="utf-8") if now.exists() else ""
            if text != before:
                before, since = text, time.time()
            elif time.time() - since > GIVEN_UP and text:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        with contextlib.suppress(ProcessLookupError):  # what a call has started
            os.killpg(process.pid, signal.SIGKILL)
        text = now.read_text(encoding="utf-8") if now.exists() else ""
        number, _, word = text.strip().partition(" ")
        if word == "done":
            break
        errors.seek(0)
        said = errors.read()[-300:]
        if not number or (int(number) < begin and begin):
            sys.exit(f"the worker cannot begin: {said}")
        kind = "never ends" if process.returncode == -signal.SIGKILL else f"ends Python with {process.returncode}"
        found.append({"kind": kind, "place": "?", "message": said, "call": word.strip()})
        begin = int(number) + 1
        now.unlink()
    lines = out.read_text(encoding="utf-8").splitlines() if out.exists() else []
    return [*found, *map(json.loads, lines)], int(text.split()[0]) // given.jobs if text else begin


def table(found: list[dict[str, Any]]) -> str:
    """A line for each place and kind: how often, and a call."""
    counts = Counter((each["kind"], each["place"]) for each in found)
    first = {(each["kind"], each["place"]): each for each in reversed(found)}
    lines = [
        f"{number:6d}  {kind:<22}  {place:<58}  {first[kind, place]['call']}  |  {first[kind, place]['message']}"
        for (kind, place), number in counts.most_common()
    ]
    return "\n".join([re.sub(r"[\r\n]+", " / ", line) for line in lines])


def main() -> int:
    """Print the table."""
    if sys.argv[1:2] == ["--worker"]:
        seed, share, of, begin, only, out, until = sys.argv[2:]
        worker(int(seed), int(share), int(of), int(begin), only, Path(out), float(until))
        return 0
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=5.0, help="how long, about")
    parser.add_argument("--seed", type=int, default=1, help="of the order and of random calls")
    parser.add_argument("--only", default="", help="names that begin so: Workload. or plot.")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    given = parser.parse_args()
    from concurrent.futures import ThreadPoolExecutor

    begin = time.time()
    with tempfile.TemporaryDirectory() as scratch, ThreadPoolExecutor(given.jobs) as pool:
        until = begin + 60 * given.minutes
        parts = list(pool.map(lambda share: watched(given, share, Path(scratch), until), range(given.jobs)))
    found, calls = [each for part, _ in parts for each in part], sum(number for _, number in parts)
    print(table(found))
    places = len({(each["kind"], each["place"]) for each in found})
    minutes = (time.time() - begin) / 60
    print(f"{calls:,} calls in {minutes:.0f} minutes: {len(found):,} raw errors and slow calls at {places} places")
    if not given.only:
        record(
            "odd-values", "trouble",
            "Every public name and method is called with odd values, one and several at once: each call gives a result "
            "or an error of faultsim, within 10 s.",
            {"calls": calls, "minutes": round(minutes), "raw errors and slow calls": len(found), "places": places},
            "python tests/verification/odd_values.py --minutes 60",
        )  # fmt: skip
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
