"""``faultsim slurm forecast``: when each waiting job of a site will start, and how often such forecasts were right."""

import argparse
import math
from typing import Any

import faultsim as fs
from faultsim import checks
from faultsim.cli.log_files import read_log
from faultsim.cli.output import print_json, table
from faultsim.cli.specs import policy
from faultsim.readers.squeue import HOW

_HEAD = ("job", "user", "10 %", "median", "90 %", "by limits")


def add_command(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add ``forecast`` to the commands of ``faultsim slurm``."""
    parser = commands.add_parser(
        "forecast",
        help="when each waiting job will start, as percentiles",
        description="Draw the run times of all jobs, those that arrive, and failures from the past of the site, again "
        "and again, and print when each waiting job starts, from now: 10th, 50th and 90th percentile, and the start "
        f"if each job ran as long as its limit. SQUEUE is what {HOW.replace('%', '%%')} prints. Exit status: 0, or 2 "
        "for bad input.",
    )
    parser.add_argument("conf", metavar="CONF", help="slurm.conf")
    parser.add_argument("queue", metavar="SQUEUE", nargs="?", help="output of squeue; '-' is standard input")
    parser.add_argument("--jobs", metavar="LOG", required=True, help="the past: sacct --parsable2 --allocations")
    parser.add_argument("--gres", metavar="F", help="gres.conf, which says the types of GPUs")
    parser.add_argument("--scheduler", metavar="SPEC", default="easy", help="as for 'faultsim run' (default easy)")
    parser.add_argument("--failures", metavar="FILE", help="failures of the nodes in the past")
    parser.add_argument("--replicates", metavar="N", type=int, default=200, help="number of draws (default 200)")
    parser.add_argument("--seed", metavar="N", type=int, default=0, help="of the draws (default 0)")
    parser.add_argument("--no-arrivals", action="store_true", help="no jobs arrive after now")
    parser.add_argument(
        "--calibrate", metavar="N", type=int, help="also forecast the past at N moments, and say how often it was right"
    )
    parser.add_argument("--json", action="store_true", help="print only one JSON document")
    parser.set_defaults(perform=perform)


def perform(args: argparse.Namespace) -> int:
    """Read, forecast and print."""
    if args.queue is None and args.calibrate is None:
        raise fs.OptionError("give the output of squeue, or --calibrate N to forecast the past alone")
    site = fs.read_slurm_conf(args.conf, gres=args.gres).site
    log, _ = read_log(args.jobs)
    options: dict[str, Any] = {
        "scheduler": policy("scheduler", args.scheduler),
        "failures": None if args.failures is None else fs.read_failures(args.failures),
        "arrivals": not args.no_arrivals,
        "replicates": checks.whole("--replicates", args.replicates, low=1),
        "rng": checks.whole("--seed", args.seed, low=0),
    }
    state = found = right = None
    if args.queue is not None:
        state = fs.read_squeue(args.queue)
        found = fs.forecast(site, state, log, **options)
    if args.calibrate is not None:
        right = fs.calibrate_forecast(site, log, times=checks.whole("--calibrate", args.calibrate, low=1), **options)
    if args.json:
        print_json(_document(state, found, right))
        return 0
    if state is not None and found is not None:
        users = dict(zip(state.jobs.id.tolist(), state.jobs.columns["user_name"], strict=True))
        print(f"{state!r}, {found.replicates:,} replicates; times from now\n")
        rows = [
            [f"{row['id']:.0f}", users[int(row["id"])], *map(_in_words, list(row.values())[1:])] for row in found.rows()
        ]
        print(table(rows, _HEAD))
        for warning in found.warnings:
            print(f"note: {warning}")
    if right is not None:
        print(
            f"of {right.jobs:,} forecasts of the past {right.inside:.0%} started between the 10 and the 90 % mark, "
            f"{right.before:.0%} before, {right.after:.0%} after; the median of the distance to the start is "
            f"{_in_words(right.miss)}, of the plan by limits {_in_words(right.plan_miss)}"
        )
    return 0


def _document(
    state: fs.QueueState | None, found: fs.Forecast | None, right: fs.Calibration | None
) -> dict[str, object]:
    document: dict[str, object] = {}
    if state is not None and found is not None:
        document = {
            "running": int(state.running.sum()),
            "waiting": len(found),
            "held": int(state.is_held.sum()),
            "replicates": found.replicates,
            "jobs": [
                {name: None if math.isinf(value) else value for name, value in row.items()} for row in found.rows()
            ],
            "warnings": list(found.warnings),
        }
    return document if right is None else document | {"calibration": right._asdict()}


def _in_words(seconds: float) -> str:
    """Days, hours and minutes.

    Examples
    --------
    >>> _in_words(0.0), _in_words(5400.0), _in_words(100_000.0), _in_words(float("inf"))
    ('0 min', '1 h 30 min', '1 d 3 h', 'not within the draws')
    """
    if math.isinf(seconds):
        return "not within the draws"
    minutes = round(seconds / 60)
    if minutes >= 1440:
        return f"{minutes // 1440} d {minutes % 1440 // 60} h"
    return f"{minutes // 60} h {minutes % 60} min" if minutes >= 60 else f"{minutes} min"
