"""All that compiled modules do, each case twice: it gives the same; prints how many cases there are."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "starving"))

from cases import answer, cases

if __name__ == "__main__":
    found = cases()
    for name, call in found.items():
        assert answer(call()) == answer(call()), name
    print(len(found))
