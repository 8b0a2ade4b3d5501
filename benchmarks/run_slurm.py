"""A week of a university cluster under its own slurm.conf, by both controllers of Slurm's rules: seconds.

python benchmarks/run_slurm.py          writes its section of RESULTS.md; takes some minutes
python benchmarks/run_slurm.py --dry    prints only

Needs FAULTSIM_DATA (or ../shared/data beside the checkout) with slurm/ub-hpc.
"""

import time
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from results import run_parts, table
from run_site import DATA, week

import faultsim as fs

FOLDER = DATA / "slurm" / "ub-hpc"
HEAD = """\
UB-HPC's week under its own slurm.conf, accounts and QOS, on 217 nodes of five kinds; seconds of the processor.  Of the
19,579 jobs {left_out} are left out: their users have no association in the published accounts,
and Slurm would refuse them.
"""


def known(log: fs.Workload, conf: fs.SlurmConf) -> fs.Workload:
    """The jobs of users that have an association in their account."""
    there = {(each.account, each.user) for each in conf.associations if each.user}
    pairs = zip(log.columns["account"].tolist(), log.columns["user_name"].tolist(), strict=True)
    return log.drop(~np.array([pair in there for pair in pairs]), "without an association")


CONF = fs.read_slurm_conf(FOLDER / "slurm.conf", FOLDER / "accounts.sacctmgr", FOLDER / "gres.conf")
ALL = week()
LOG = known(ALL, CONF)


def the_week() -> tuple[str, str]:
    rows: list[dict[str, object]] = []
    for count in (1000, 5000, len(LOG)):
        log = LOG.head(count)
        begin = time.process_time()
        result = fs.simulate(log, CONF.site, scheduler=CONF.scheduler, oversized="drop")
        spent = time.process_time() - begin
        wait = result.metrics["mean_wait"] / 3600
        rows.append({"jobs": f"{count:,}", "s": spent, "ms per job": 1e3 * spent / count, "mean wait, h": wait})
    return "The first jobs, and all", table(rows)


#: Jobs of the comparison of both controllers.
FEW = 200


def limited() -> fs.Slurm:
    """The week's scheduler with limits of users in each QOS, and of all accounts."""
    of_user = {"MaxTRESPerUser": {"cpu": 2000}, "MaxJobsPerUser": 500}
    of_account = {"GrpTRES": {"cpu": 3000}, "GrpTRESRunMins": {"cpu": 5_000_000}}
    qos = {name: replace(each, limits={**each.limits, **of_user}) for name, each in CONF.qos.items()}
    associations = tuple(
        each if each.user or each.account == "root" else replace(each, limits={**each.limits, **of_account})
        for each in CONF.associations
    )
    return CONF.scheduler.replace(conf=replace(CONF, qos=qos, associations=associations))


def preempting() -> fs.Slurm:
    """The week's scheduler with QOS that take the place of others, whose jobs are requeued."""
    taken = ("general-compute", "supporters")
    qos = {
        name: replace(each, preempt=taken) if name.startswith("priority") else each for name, each in CONF.qos.items()
    }
    return CONF.scheduler.replace(
        conf=replace(CONF, qos=qos), PreemptType="preempt/qos", PreemptMode="REQUEUE", JobRequeue=True
    )


def seconds(log: fs.Workload, scheduler: fs.Slurm, engine: str) -> tuple[float, fs.Result]:
    """Of the processor, and the result."""
    begin = time.process_time()
    result = fs.simulate(log, CONF.site, scheduler=scheduler, oversized="drop", engine=engine)
    return time.process_time() - begin, result


def the_rules() -> tuple[str, str]:
    kinds: Mapping[str, fs.Slurm] = {"as it is": CONF.scheduler, "limits": limited(), "preemption": preempting()}
    rows: list[dict[str, object]] = []
    for name, scheduler in kinds.items():
        spent, result = seconds(LOG, scheduler, "core")
        few, fast = seconds(LOG.head(FEW), scheduler, "core")
        slow, same = seconds(LOG.head(FEW), scheduler, "reference")
        assert np.array_equal(fast.jobs["start"], same.jobs["start"])
        rows.append(
            {
                "rules": name,
                "s": spent,
                "mean wait, h": result.metrics["mean_wait"] / 3600,
                "requeued": int((result.jobs["restarts"] - (result.jobs["state"] == fs.JobState.KILLED)).sum()),
                f"first {FEW} jobs, s": few,
                "the same in Python, s": slow,
            }
        )
    return "All jobs with limits, and with preemption", table(rows)


if __name__ == "__main__":
    run_parts(
        "slurm",
        "Slurm's rules",
        HEAD.format(left_out=len(ALL) - len(LOG)),
        {"week": the_week, "rules": the_rules},
        __doc__ or "",
    )
