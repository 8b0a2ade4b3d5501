"""Run all cases with each of their blocks refused; a line for each, and what went wrong.

python starved.py MOST [CASE ...]: blocks of a case that are tried, evenly; 0: all.  Under LD_PRELOAD of starve.c, with
the thresholds of FAULTSIM_THRESHOLDS: at their least, more arrays grow.
"""

import ctypes
import faulthandler
import gc
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parent))
from cases import answer, cases

from helpers.thresholds import from_environment

LIBRARY = ctypes.CDLL(None)
LIBRARY.starve.argtypes = [ctypes.c_long, ctypes.c_int]
LIBRARY.starve.restype = None
for name in ("starve_asked", "starve_live"):
    getattr(LIBRARY, name).restype = ctypes.c_long


def starved(call, nth, for_good):
    """What became of a call, or its error; and how many blocks it asked for."""
    LIBRARY.starve(nth, for_good)
    try:
        return answer(call()), LIBRARY.starve_asked()
    except Exception as error:
        return error, LIBRARY.starve_asked()
    finally:
        LIBRARY.starve(0, 0)


def check(name, call, most):
    """How many blocks the case asks for, how many were refused, and how often it ended in MemoryError; complaints."""
    starved(call, 0, False)  # caches
    right, asked = starved(call, 0, False)
    assert not isinstance(right, Exception), (name, right)
    gc.collect()
    before, complaints, refusals, errors = LIBRARY.starve_live(), [], 0, 0
    every = 1 if not most else max(1, -(-asked // most))
    for nth in range(1, asked + 1, every):
        for for_good in (False, True):
            print(f"{name} {nth} {for_good}", file=sys.stderr, flush=True)  # the last line tells where it crashed
            refusals += 1
            got, _ = starved(call, nth, for_good)
            kind = "for good" if for_good else "once"
            if isinstance(got, MemoryError):
                errors += 1
            elif isinstance(got, Exception):
                complaints.append(f"{name}: block {nth} {kind}: {type(got).__name__}: {got}"[:200])
            elif got != right:
                complaints.append(f"{name}: block {nth} {kind}: another answer")
            del got
            if LIBRARY.starve_live() != before:
                gc.collect()
            if LIBRARY.starve_live() != before:
                complaints.append(f"{name}: block {nth} {kind}: {LIBRARY.starve_live() - before} blocks left")
                before = LIBRARY.starve_live()
            if starved(call, 0, False)[0] != right:
                complaints.append(f"{name}: after block {nth} {kind}: the next call differs")
    return asked, refusals, errors, complaints


def main():
    """All cases."""
    faulthandler.enable()
    from_environment()
    most, names, wrong = int(sys.argv[1]), sys.argv[2:], 0
    calls = cases()
    for call in calls.values():
        call()  # modules are loaded
    assert LIBRARY.starve_modules() > 50
    gc.collect()
    gc.freeze()  # what modules have is not looked at again, some ten thousand times
    total = [0, 0, 0]
    for name, call in calls.items():
        if names and name not in names:
            continue
        *numbers, complaints = check(name, call, most)
        total = [a + b for a, b in zip(total, numbers, strict=True)]
        wrong += len(complaints)
        print(name, *numbers, flush=True)
        print(*complaints[:8], sep="\n", end="\n" if complaints else "", flush=True)
    print(f"{len(calls)} cases, {total[0]} blocks, {total[1]} refused, {total[2]} MemoryErrors, {wrong} wrong")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
