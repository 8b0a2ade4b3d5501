"""The week of the site with its configuration of Slurm; a stand-in, with its own configuration, where it is absent."""

import csv
import gzip
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from faultsim import vocabulary
from faultsim.arrays import Flags, Integers
from faultsim.data.failures import FailureTrace
from faultsim.data.workload import Workload
from faultsim.errors import InputError
from faultsim.machines import Site
from faultsim.reproduce.data_files import find_files
from faultsim.slurm_site import SlurmConf, read_slurm_conf
from faultsim.synthetic import exponential_failures

FILES = {"week": "week.csv"}
DAY = 86_400.0
#: Memory per core of jobs that state none (DefMemPerCPU of the site), in MiB.
DEFAULT_MEMORY = 2800
#: Kinds of jobs, as bits of the column ``kinds``.
ALL, GPU, LARGE, SMALL, LIGHT = "all", "with GPUs", "large", "small", "light users"
KINDS = {ALL: 1, GPU: 2, LARGE: 4, SMALL: 8, LIGHT: 16}
#: Cores of the smallest node of the site: a job of so many is large.
WHOLE_NODE = 32
#: Seconds within which each replicate moves submissions: those in which Slurm's own loops already differ.
JITTER = 60.0
#: Days of failures: the week, and what its last jobs take.
SPAN = 40 * DAY
#: Seconds that a node is down after a failure.
DOWN = 4 * 3600.0
_STAND_IN = """\
PriorityType=priority/multifactor
PriorityWeightAge=70000
PriorityWeightFairshare=120000
PriorityWeightJobSize=200000
SchedulerParameters=bf_window=4320,bf_interval=120,bf_max_job_user=100,bf_max_job_test=2500
NodeName=n[1-6] CPUs=32 RealMemory=187000
NodeName=g[1-2] CPUs=32 RealMemory=187000 Gres=gpu:2 Weight=9
PartitionName=batch Nodes=ALL Default=YES MaxTime=3-0
"""


@dataclass(frozen=True)
class Week:
    """The jobs of a week, and the configuration of the site that ran them."""

    log: Workload
    conf: SlurmConf
    real: bool
    text: str
    gpu_class: str

    @property
    def site(self) -> Site:
        """The site as it is."""
        return self.conf.site

    @property
    def larger(self) -> Site:
        """The site with 8 more of its nodes with GPUs."""
        before = next(each.count for each in self.site.classes if each.name == self.gpu_class)
        return self.site.with_nodes(self.gpu_class, before + 8)

    def rows_of(self, kind: str) -> Flags:
        """Which jobs are of a kind."""
        rows: Flags = (np.asarray(self.log.columns["kinds"]).astype(np.int64) & KINDS[kind]) > 0
        return rows


def load(data: str | Path | None, *, seed: int, jobs: int | None = None) -> Week:
    """The week of the folder `data`, or the stand-in; only its first `jobs`.

    Raises
    ------
    OptionError
        `data` is not a folder, or has no week.
    InputError
        The configuration does not lie beside the week.
    """
    path = find_files(data, FILES).get("week")
    if path is None:
        return _stand_in(seed, jobs or 2000)
    here = {name: path.parent / name for name in ("slurm.conf", "accounts.sacctmgr", "gres.conf")}
    if missing := [name for name, file in here.items() if not file.is_file()]:
        raise InputError(f"{path}: needs {' and '.join(missing)} beside it")
    conf = read_slurm_conf(here["slurm.conf"], here["accounts.sacctmgr"], here["gres.conf"])
    every = read_week(path)
    there = {(each.account, each.user) for each in conf.associations if each.user}
    pairs = zip(every.columns["account"].tolist(), every.columns["user_name"].tolist(), strict=True)
    log = every.drop(~np.array([pair in there for pair in pairs]), "without an association")
    text = f"{path.name}: {len(log):,} of {len(every):,} jobs, those of users with an association"
    if jobs is not None and jobs < len(log):
        log, text = log.head(jobs), f"{text}; the first {jobs:,}"
    return Week(_with_kinds(log), conf, True, f"{text}; {conf.site.nodes} nodes", "g")


def read_week(path: Path) -> Workload:
    """The week as a log of jobs that share nodes."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    nodes, tasks = (np.array([int(row[name]) for row in rows]) for name in ("nodes", "tasks"))
    default = -(-tasks // nodes) * DEFAULT_MEMORY
    memory = [
        int((vocabulary.size(row["memory"], binary=True) or 0.0) / 2**20) if row["memory"] else int(default[at])
        for at, row in enumerate(rows)
    ]
    return Workload(
        [float(row["submit"]) for row in rows],
        [float(row["runtime"]) for row in rows],
        tasks,
        estimate=[vocabulary.duration(row["limit"]) or -1.0 for row in rows],
        id=[int(row["id"]) for row in rows],
        name="ub-hpc",
        columns={
            "cores": tasks,
            "nodes": nodes,
            "memory": memory,
            "gpus": [int(row["gres"].rpartition(":")[2] or 0) for row in rows],
            "exclusive": [bool(row["exclusive"]) for row in rows],
            "features": [row["constraint"] for row in rows],
            "partition": [row["partition"] for row in rows],
            "account": [row["account"] for row in rows],
            "user_name": [row["user"] for row in rows],
            "qos": [row["qos"] for row in rows],
        },
    )


def _stand_in(seed: int, jobs: int) -> Week:
    rng = np.random.default_rng([seed, 0x517E])
    limit = rng.choice([3600.0, 14400.0, 43200.0], jobs)
    cores = rng.choice([1, 4, 16, 32], jobs)
    gpus = (rng.random(jobs) < 0.1).astype(int)
    user = np.minimum(rng.geometric(0.3, jobs), 12)
    log = Workload(
        np.sort(rng.uniform(0, 7 * DAY * min(1.0, jobs / 1500), jobs)).round(),
        np.ceil(limit * rng.beta(1, 2, jobs)),
        cores,
        estimate=limit,
        name="stand-in",
        columns={
            "cores": cores, "nodes": np.ones(jobs, int), "gpus": gpus, "exclusive": np.zeros(jobs, bool),
            "user_name": [f"user{each}" for each in user], "account": ["all"] * jobs,
        },
    )  # fmt: skip
    with TemporaryDirectory() as folder:
        (Path(folder) / "slurm.conf").write_text(_STAND_IN)
        conf = read_slurm_conf(Path(folder) / "slurm.conf")
    text = f"built-in stand-in (seed {seed}): {jobs:,} jobs; {conf.site.nodes} nodes"
    return Week(_with_kinds(log), conf, False, text, "g")


def _with_kinds(log: Workload) -> Workload:
    """The log with the column ``kinds``: bits of `KINDS`."""
    columns = {name: np.asarray(log.columns[name]) for name in log.further}
    large = (columns["cores"] >= WHOLE_NODE) | (columns["nodes"] > 1) | columns["exclusive"].astype(bool)
    gpu = columns["gpus"] > 0
    kinds = np.full(len(log), KINDS[ALL]) | gpu * KINDS[GPU] | (large & ~gpu) * KINDS[LARGE]
    kinds |= (~large & ~gpu) * KINDS[SMALL] | _light(columns["user_name"], columns["cores"] * log.runtime) * KINDS[
        LIGHT
    ]
    return Workload(
        log.submit, log.runtime, log.size, estimate=log.estimate, id=log.id, name=log.name,
        columns={**columns, "kinds": kinds},
    )  # fmt: skip


def _light(user: Integers, work: "np.ndarray[tuple[int], np.dtype[np.float64]]") -> Flags:
    """Jobs of users that together have a tenth of the work, the lightest first."""
    _, number = np.unique(user, return_inverse=True)
    total = np.bincount(number, work)
    order = np.argsort(total, kind="stable")
    light = np.zeros(len(total), bool)
    light[order] = np.cumsum(total[order]) <= 0.1 * total.sum()
    rows: Flags = light[number]
    return rows


def jittered(log: Workload, replicate: int, seed: int) -> Workload:
    """The log of a replicate: the first is the week itself, of others submissions move by up to `JITTER` seconds.

    Examples
    --------
    >>> log = Workload([0, 100], [60, 60], [1, 1])
    >>> jittered(log, 0, 0) is log, len(jittered(log, 1, 0))
    (True, 2)
    """
    if not replicate:
        return log
    rng = np.random.default_rng([seed, replicate, 0x717])
    submit = np.floor(log.submit + rng.uniform(0.0, JITTER, len(log)))
    order = np.argsort(submit, kind="stable")
    return Workload(
        submit[order], log.runtime[order], log.size[order], estimate=log.estimate[order], id=log.id[order],
        name=f"{log.name} {replicate}", columns={name: np.asarray(log.columns[name])[order] for name in log.further},
    )  # fmt: skip


def failures(site: Site, per_year: float, replicate: int, seed: int) -> FailureTrace | None:
    """Failures of the nodes of the site, each so often a year, independently; None for 0."""
    if not per_year:
        return None
    return exponential_failures(
        nodes=site.nodes,
        span=SPAN,
        mtbf=365 * DAY / per_year,
        downtime=DOWN,
        rng=np.random.default_rng([seed, replicate, 0xFA11]),
    )
