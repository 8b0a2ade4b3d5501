"""Both controllers of Slurm's rules on many random sites: the same jobs, nodes and cores in each second.

python tests/verification/slurm_sites.py 10000             sites 0 to 9,999
python tests/verification/slurm_sites.py 500 --first 9500  the last 500 of them

Ends with status 1 if a site differs.  A site takes a fifth of a second.
"""

import argparse
import sys
import tempfile
from pathlib import Path

import faultsim as fs
from faultsim.simulation import slurm_run

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from helpers.slurm_sites import Both, random_site, with_reservations

#: Seconds after which nothing is expected of jobs that can never run.
GIVE_UP = 1200.0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sites", type=int, help="how many")
    parser.add_argument("--first", type=int, default=0, help="the number of the first one")
    args = parser.parse_args()
    pairs: list[Both] = []

    def make(site, priorities, begin, booked, engine):
        pairs.append(Both(site, priorities, begin, booked))
        return pairs[-1], ""

    slurm_run.controller_of, slurm_run.GIVE_UP = make, GIVE_UP
    starts, differ = 0, []
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(args.first, args.first + args.sites):
            conf, log, failures = random_site(Path(folder), seed)
            log, reserved = with_reservations(seed, conf, log)
            pairs.clear()
            try:
                fs.simulate(
                    log, conf.site, scheduler=conf.scheduler, failures=failures, reservations=reserved, oversized="drop"
                )
            except fs.FaultsimError as error:
                if "deadlock" not in str(error) and not str(error).startswith("all "):
                    differ.append(seed)
                    print(f"site {seed}: {error}", flush=True)
            except AssertionError as error:
                differ.append(seed)
                print(f"site {seed} differs: {error}", flush=True)
            starts += sum(pair.acts for pair in pairs)
    print(f"{args.sites:,} sites, {starts:,} starts, {len(differ)} sites differ")
    return int(bool(differ))


if __name__ == "__main__":
    sys.exit(main())
