"""A week of a university cluster under its own slurm.conf, by the compiled controller of Slurm's rules: seconds.

python benchmarks/run_slurm.py          writes its section of RESULTS.md
python benchmarks/run_slurm.py --dry    prints only

Needs FAULTSIM_DATA (or ../shared/data beside the checkout) with slurm/ub-hpc.
"""

import time

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
        assert "decided_in_python" not in result.settings
        wait = result.metrics["mean_wait"] / 3600
        rows.append({"jobs": f"{count:,}", "s": spent, "ms per job": 1e3 * spent / count, "mean wait, h": wait})
    return "The first jobs, and all", table(rows)


if __name__ == "__main__":
    run_parts(
        "slurm", "Slurm's rules", HEAD.format(left_out=len(ALL) - len(LOG)), {"week": the_week}, __doc__ or ""
    )  # fmt: skip
