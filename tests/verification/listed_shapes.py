"""Random runs with listed shapes and failures in both engines:
``python tests/verification/listed_shapes.py --runs 20000``.

Of four runs one has jobs in segments, in one larger boxes may stand in, and one has a score that looks at predictions.
One of five is on several tori.  Draws without failures are made and compared, and not counted.
"""

import argparse
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[2])]

from helpers.counts import record  # noqa: E402
from helpers.listed_runs import differences, random_run  # noqa: E402


def compare(runs: int, seed: int) -> dict[str, int]:
    """Compare runs until so many have failures; how many there were of each kind, and how many differ."""
    found = {"random runs with failures": 0, "without failures": 0, "with jobs in segments": 0}
    found |= {"with larger boxes": 0, "with a predictor": 0, "on several tori": 0}
    found |= {"runs that differ": 0}
    while found["random runs with failures"] < runs:
        run = random_run(
            seed, segments=seed % 4 == 3, larger=seed % 4 == 1, foreseeing=seed % 4 == 2, several=seed % 5 == 4
        )
        names = differences(run.simulate(), run.simulate(engine="reference"))
        found["random runs with failures" if run.failures is not None else "without failures"] += 1
        found["with jobs in segments"] += seed % 4 == 3
        found["with larger boxes"] += seed % 4 == 1
        found["with a predictor"] += seed % 4 == 2
        found["on several tori"] += seed % 5 == 4
        if names:
            found["runs that differ"] += 1
            print(f"seed {seed}: {', '.join(names)}", flush=True)
        seed += 1
    return found


def main() -> int:
    """Print the numbers, and keep them if nothing differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    found = compare(args.runs, args.seed)
    print("; ".join(f"{number:,} {name}" for name, number in found.items()))
    if not found["runs that differ"]:
        record(
            "listed-shapes",
            "answers",
            "Random runs with listed shapes (SlurmTorus) in the compiled engine and in the reference: every job, "
            "place, event and sum.",
            found,
            f"python tests/verification/listed_shapes.py --runs {args.runs} --seed {args.seed}",
        )
    return int(found["runs that differ"] > 0)


if __name__ == "__main__":
    sys.exit(main())
