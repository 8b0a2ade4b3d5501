"""Both controllers of Slurm's rules on many random sites: the same jobs, nodes and cores in each second.

python tests/verification/slurm_sites.py 10000                 sites 0 to 9,999
python tests/verification/slurm_sites.py 500 --first 9500      the last 500 of them
python tests/verification/slurm_sites.py 10000 --processes 2   on two cores

Half of the sites have limits of QOS and associations, three of eight preemption, and half reservations.  Ends with
status 1 if a site differs.  A site takes half a second.
"""

import argparse
import sys
import tempfile
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import faultsim as fs
from faultsim.reference.slurm import controller as written
from faultsim.simulation import slurm_run

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from helpers.counts import record
from helpers.slurm_sites import Both, Endless, of_kind, random_site, with_reservations

#: Seconds after which nothing is expected of jobs that can never run.
GIVE_UP = 1200.0
#: Sites of a task of a process.
TASK = 20
#: Reasons of jobs that a limit refuses.
OF_LIMITS = ("QOS", "Assoc", "Max")
#: What is counted.
CUT_SHORT = "runs cut short, in which jobs preempt each other for ever"
NUMBERS = ("random sites", "sites on which limits refuse jobs", "sites on which jobs are preempted")
NUMBERS += ("jobs preempted", "starts", CUT_SHORT)


def compare(seeds: range) -> tuple[Counter[str], list[str]]:
    """Numbers of what happened on these sites, and those that differ."""
    found, differ = Counter[str](), []
    pairs: list[Both] = []
    refused: set[int] = set()
    preempted: set[int] = set()
    apply = written.Controller._apply

    def make(site, priorities, begin, booked, engine):
        pairs.append(Both(site, priorities, begin, booked))
        return pairs[-1]

    def count(controller, done, now, acts):
        found["jobs preempted"] += len(done.preempted)
        preempted.update(id(controller) for _ in done.preempted)
        refused.update(id(controller) for reason in done.reasons.values() if reason.startswith(OF_LIMITS))
        return apply(controller, done, now, acts)

    slurm_run.controller_of, slurm_run.GIVE_UP, written.Controller._apply = make, GIVE_UP, count
    with tempfile.TemporaryDirectory() as folder:
        for seed in seeds:
            for made in (pairs, refused, preempted):
                made.clear()
            conf, log, failures = random_site(Path(folder), seed, **of_kind(seed))
            log, reserved = with_reservations(seed, conf, log)
            try:
                fs.simulate(
                    log, conf.site, scheduler=conf.scheduler, failures=failures, reservations=reserved, oversized="drop"
                )
            except Endless:
                found[CUT_SHORT] += 1
            except fs.FaultsimError as error:
                if "deadlock" not in str(error) and not str(error).startswith("all "):
                    differ.append(f"site {seed}: {error}")
            except AssertionError as error:
                differ.append(f"site {seed} differs: {error}")
            found["random sites"] += 1
            found["starts"] += sum(pair.acts for pair in pairs)
            found["sites on which limits refuse jobs"] += bool(refused)
            found["sites on which jobs are preempted"] += bool(preempted)
    written.Controller._apply = apply
    return found, differ


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sites", type=int, help="how many")
    parser.add_argument("--first", type=int, default=0, help="the number of the first one")
    parser.add_argument("--processes", type=int, default=1, help="how many work at once")
    args = parser.parse_args()
    last = args.first + args.sites
    tasks = [range(at, min(at + TASK, last)) for at in range(args.first, last, TASK)]
    total, differing = Counter[str](), 0
    with ProcessPoolExecutor(args.processes) as pool:
        for found, differ in pool.map(compare, tasks):
            total += found
            differing += len(differ)
            for line in differ:
                print(line, flush=True)
    numbers = {name: total[name] for name in NUMBERS} | {"sites that differ": differing}
    print("; ".join(f"{number:,} {name}" for name, number in numbers.items()))
    if not differing:
        record(
            "slurm-sites",
            "answers",
            "Random sites under Slurm with both controllers, the compiled one and that of the reference, side by side: "
            "all jobs that start and end, and nodes and cores of each, in every second.",
            numbers,
            f"python tests/verification/slurm_sites.py {args.sites} --first {args.first}",
        )
    return int(differing > 0)


if __name__ == "__main__":
    sys.exit(main())
