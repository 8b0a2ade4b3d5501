"""Random runs with listed shapes in both engines: ``python tests/verification/listed_shapes.py --runs 20000``."""

import argparse
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[2])]

from helpers.listed_runs import differences, random_run  # noqa: E402


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    wrong = 0
    for seed in range(args.seed, args.seed + args.runs):
        run = random_run(seed)
        found = differences(run.simulate(), run.simulate(engine="reference"))
        if found:
            wrong += 1
            print(f"seed {seed}: {', '.join(found)}", flush=True)
    print(f"{args.runs:,} runs, {wrong} differ")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
