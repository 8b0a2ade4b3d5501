"""Random runs, event by event: verified after each, copied on the way, and the same to the byte in the end.

python stepped.py FILE FIRST LAST: the cases of these seeds in a file of digests; prints how many runs, steps and copies
there were.
"""

import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "verification"))

import digest_cases
import digests

import faultsim as fs
from faultsim._core.engine import DEBUG

COPIES = 2


def stepped(case: digest_cases.Case, seed: int) -> tuple[list[str], int, int]:
    """What a run and its copies give, each as digests; its steps; and its copies."""
    sim, draw = case.simulation(), random.Random(seed)
    at = {draw.randrange(2 * len(sim.log) + 1) for _ in range(COPIES)}
    steps, forks = 0, []
    while sim.step():
        sim.verify()
        if steps in at:
            forks.append(sim.copy())
            forks[-1].verify()
        steps += 1
    for fork in forks:
        fork.run()
        fork.verify()
    return [digests.line_of(digests.tables(each.result())) for each in (sim, *forks)], steps, len(forks)


def main() -> None:
    """Complain, and end, at the first that differs."""
    assert DEBUG, "a build without assertions"
    file, seeds = sys.argv[1], range(*map(int, sys.argv[2:4]))
    kept, drawn = digests.kept(digests.GOLDEN / f"{file}.txt"), digests.drawn_in(file)
    runs = steps = copies = refused = 0
    for seed in seeds:
        case = drawn(seed)
        inputs, expected = kept[str(seed)]
        try:
            lines, more, forks = stepped(case, seed)
        except fs.FaultsimError as error:
            lines, more, forks = [type(error).__name__], 0, 0
            refused += 1
        if digests.digest(case.inputs(), 6) == inputs and not case.looks:  # what was looked at is in the digest
            lines.append(expected)
        assert len(set(lines)) == 1, f"{file} case {seed}: {lines}"
        runs, steps, copies = runs + 1, steps + more, copies + forks
    print(runs, steps, copies, refused)


if __name__ == "__main__":
    main()
