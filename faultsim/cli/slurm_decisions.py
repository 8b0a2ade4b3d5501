"""``faultsim slurm compare-decisions``: how many decisions of a slurmctld.log the model reproduces."""

import argparse
import math
import os
from collections.abc import Sequence

import faultsim as fs
from faultsim.cli.output import print_json, shown
from faultsim.data import slurmctld_records as lines
from faultsim.data.slurm_requests import JobRequest
from faultsim.errors import InputError, OptionError
from faultsim.readers.slurm_requests import COMMAND, read_slurm_requests
from faultsim.readers.slurmctld_log import read_slurmctld_log, written_clock
from faultsim.reference.slurm.compare_passes import PassComparison, compare_passes
from faultsim.reference.slurm.compare_priorities import (
    Compared,
    PriorityComparison,
    PrioritySite,
    compare_priorities,
)
from faultsim.reference.slurm.site_priorities import site_of

#: What each kind of decision is, and the share of it that a model to be trusted reproduces.
LEAST = {"priorities": 0.999, "main passes": 0.998, "backfill cycles": 0.995}
#: Files beside the log that are used if none are named.
_BESIDE_CONF, _BESIDE_ACCOUNTS = "slurm.conf", (("accounts.txt",), ("sacctmgr.cfg", "qos.txt"))
_BESIDE_JOBS, _BESIDE_GRES = "sacct.txt", "gres.conf"
_SETTINGS = {
    "Damp Factor": "fairsharedampeningfactor", "Max Age": "prioritymaxage", "Weight Age": "priorityweightage",
    "Weight Assoc": "priorityweightassoc", "Weight Fairshare": "priorityweightfairshare",
    "Weight JobSize": "priorityweightjobsize", "Weight Part": "priorityweightpartition",
    "Weight QOS": "priorityweightqos",
}  # fmt: skip


def add_command(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add ``compare-decisions`` to the commands of ``faultsim slurm``."""
    parser = commands.add_parser(
        "compare-decisions",
        help="how many of a site's own decisions the model reproduces",
        description="Compare the decisions in a slurmctld.log with those of the model, each from the recorded state "
        "before it: priorities, and the usage, levels of fair share and seconds of running jobs (of GrpTRESRunMins) "
        "on which they and limits depend; with --jobs also the starts and nodes of each pass of the main loop, and the "
        "starts, nodes and plans of each cycle of the backfill loop. The log needs DebugFlags=Backfill,Priority. Exit "
        "status: 0 if the model reproduces at least 99.9 % of the priorities, 99.8 % of the passes and 99.5 % of the "
        "cycles, 1 if it reproduces fewer, 2 for bad input.",
    )
    parser.add_argument("log", metavar="LOG", help="a slurmctld.log, also packed, or a folder that has one")
    parser.add_argument("--conf", metavar="F", help="slurm.conf (default: beside the log)")
    parser.add_argument(
        "--accounts", metavar="F", nargs="+",
        help="sacctmgr dump and sacctmgr --parsable2 show qos, or commands of sacctmgr (default: accounts.txt, or "
        "sacctmgr.cfg and qos.txt, beside the log)",
    )  # fmt: skip
    parser.add_argument("--gres", metavar="F", help="gres.conf, with which numbers of GPUs are checked")
    parser.add_argument(
        "--jobs", metavar="F", help=f"what jobs asked for, of {COMMAND} (default: sacct.txt beside the log, if it is "
        "there; else sizes and resources are taken from the log)",
    )  # fmt: skip
    parser.add_argument("--first", metavar="N", type=int, default=20, help="differences to print (default 20)")
    parser.add_argument("--json", action="store_true", help="print only one JSON document")
    parser.set_defaults(perform=perform)


def _log_in(path: str) -> str:
    """The log: a file, or the one in a folder."""
    if not os.path.isdir(path):
        return path
    names = ("slurmctld.log", "slurmctld.log.xz", "slurmctld.log.gz", "slurmctld.log.bz2")
    found = next((name for name in names if os.path.isfile(os.path.join(path, name))), None)
    if found is None:
        raise InputError(f"{path}: a folder without slurmctld.log (or .xz, .gz, .bz2)")
    return os.path.join(path, found)


def _beside(log: str, name: str) -> str | None:
    path = os.path.join(os.path.dirname(log), name)
    return path if log != "-" and os.path.isfile(path) else None


def _files(args: argparse.Namespace) -> tuple[str, str, list[str], str | None, str | None]:
    """The log, slurm.conf, accounts, gres.conf and jobs: as named, or beside the log."""
    log = _log_in(args.log)
    conf = args.conf or _beside(log, _BESIDE_CONF)
    if conf is None:
        if log != "-" and not os.path.exists(log):
            raise InputError(f"{log}: no such file")
        raise OptionError("--conf: there is no slurm.conf beside the log; name the one that the controller read")
    accounts = args.accounts
    if accounts is None:
        for names in _BESIDE_ACCOUNTS:
            found = [_beside(log, name) for name in names]
            if found[0] is not None:
                accounts = [path for path in found if path is not None]
                break
        else:
            raise OptionError(
                "--accounts: there is no accounts.txt or sacctmgr.cfg beside the log; write them with 'sacctmgr dump "
                "CLUSTER file=sacctmgr.cfg' and 'sacctmgr --parsable2 show qos > qos.txt'"
            )
    gres = args.gres or _beside(log, _BESIDE_GRES)
    return log, conf, accounts, gres, args.jobs or _beside(log, _BESIDE_JOBS)


def _other_settings(log: lines.SlurmctldLog, site: PrioritySite) -> list[str]:
    """Settings that the controller has read otherwise than they stand in slurm.conf."""
    weights = site.weights
    ours = {
        "Damp Factor": site.dampening, "Max Age": weights.max_age, "Weight Age": weights.age,
        "Weight Assoc": weights.assoc, "Weight Fairshare": weights.fairshare, "Weight JobSize": weights.job_size,
        "Weight Part": weights.partition, "Weight QOS": weights.qos,
    }  # fmt: skip
    read = {record.name: record.value for record in log.of(lines.Setting)}
    if not read and (first := next(log.of(lines.Priority), None)) is not None:
        names = {"Age": "Weight Age", "Assoc": "Weight Assoc", "Fairshare": "Weight Fairshare",
                 "JobSize": "Weight JobSize", "Partition": "Weight Part", "QOS": "Weight QOS"}  # fmt: skip
        read = {names[name]: value for name, value in first.weights.items() if name in names}
    return [
        f"{_SETTINGS[name]}: {value:g} in slurm.conf, {read[name]:g} in the log"
        for name, value in ours.items()
        if name in read and read[name] != value
    ]


def _document(compared: Compared, first: int) -> dict[str, object]:
    return {
        "total": compared.total,
        "reproduced": compared.exact,
        "a_second_late": compared.late,
        "clean_up_unseen": compared.unseen,
        "share": compared.share,
        "left_out": compared.left_out,
        "differences": [
            {
                "time": written_clock(each.time),
                "line": each.line,
                "job": each.job or None,
                "recorded": each.recorded,
                "computed": each.computed,
                "cause": each.cause,
            }
            for each in compared.differences[:first]
        ],
    }


def _print(name: str, compared: Compared, first: int) -> None:
    if not compared.total:
        return
    percent = f"{math.floor(10_000 * compared.share) / 100:.2f} %"
    late = f", {compared.late} of them a second late" if compared.late else ""
    late += f", {compared.unseen} of them before a clean-up of that moment" if compared.unseen else ""
    print(f"{name:<26}{compared.exact:>9,} of {compared.total:,} ({percent}){late}")
    for each in compared.differences[:first]:
        job = f" job {each.job}" if each.job else ""
        print(
            f"  {written_clock(each.time)} line {each.line}{job}: recorded {each.recorded}, computed {each.computed}: "
            f"{shown(each.cause)}"
        )
    more = len(compared.differences) - first
    if more > 0:
        print(f"  and {more:,} more")
    for reason, count in sorted(compared.left_out.items()):
        print(f"  not compared: {count:,} {shown(reason)}")


def compare(
    log: lines.SlurmctldLog, conf: fs.SlurmConf, jobs: dict[int, JobRequest]
) -> tuple[PriorityComparison, PrioritySite]:
    """The comparison of a log that was read."""
    major = log.version.partition(".")[0]
    site = site_of(conf, merge_tied=major.isdigit() and int(major) > 22)
    return compare_priorities(log, site, jobs), site


def perform(args: argparse.Namespace) -> int:
    """Perform the command; its exit status."""
    if args.first < 0:
        raise OptionError(f"--first: got {args.first}, at least 0 is needed")
    log_file, conf_file, accounts, gres, jobs_file = _files(args)
    log = read_slurmctld_log(log_file)
    log.needs(lines.Priority, "computed priorities")
    conf = fs.read_slurm_conf(conf_file, accounts, gres)
    jobs = read_slurm_requests(jobs_file) if jobs_file else {}
    result, site = compare(log, conf, jobs)
    other = _other_settings(log, site)
    passes = compare_passes(log, conf, jobs) if jobs else PassComparison()
    kinds: dict[str, Compared] = {
        "priorities": result.priorities, "charges of usage": result.charges, "levels of fair share": result.levels,
        "seconds of running jobs": result.run_seconds, "main passes": passes.passes, "starts in them": passes.starts,
        "backfill cycles": passes.cycles, "cycles with arrays": passes.array_cycles, "plans in cycles": passes.plans,
    }  # fmt: skip
    if not result.priorities.total:
        reasons: Sequence[str] = sorted(result.priorities.left_out)
        raise InputError(f"{log.name}: no priority can be compared: {'; '.join(reasons)}")
    good = all(not kinds[name].total or kinds[name].share >= least for name, least in LEAST.items())
    if args.json:
        print_json(
            {
                "log": log.name, "version": log.version, "lines": log.lines,
                "files": {"conf": conf_file, "accounts": accounts, "gres": gres, "jobs": jobs_file},
                "other_settings": other,
                "reproduced": good,
                "taken_from_the_log": dict(result.given),
                **{name.replace(" ", "_"): _document(compared, args.first) for name, compared in kinds.items()},
            }
        )  # fmt: skip
        return 0 if good else 1
    print(f"{shown(log.name)}: {log.lines:,} lines" + (f", Slurm {log.version}" if log.version else ""))
    print(
        f"jobs: {shown(jobs_file) if jobs_file else 'none given (--jobs); sizes and resources as printed in the log'}"
    )
    for text in other:
        print(f"other setting: {text}")
    for name, compared in kinds.items():
        _print(name, compared, args.first)
    for fact, count in sorted(result.given.items()):
        print(f"taken from the log: {fact}: {count:,} priorities")
    return 0 if good else 1
