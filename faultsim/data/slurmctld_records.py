"""What a ``slurmctld.log`` says, as records: `faultsim.readers.slurmctld_log` makes them.

Each kind of record has a class; they know nothing of lines and forms.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeVar

from faultsim.errors import InputError

#: ``DebugFlags`` and the level of `slurm.conf` that write the lines of this module.
NEEDED = "DebugFlags=Backfill,Priority"


@dataclass(frozen=True, slots=True)
class Record:
    """What a line says, or several lines of one decision.

    Parameters
    ----------
    time : float
        Of the first line, in seconds since 1970 of the controller's own clock (no zone is applied).
    line : int
        Number of the first line, from 1.
    """

    time: float
    line: int

    @property
    def second(self) -> int:
        """The whole second of the line."""
        return int(self.time // 1)


@dataclass(frozen=True, slots=True)
class Submission(Record):
    """``_slurm_rpc_submit_batch_job: JobId=7 InitPrio=4602``."""

    job: int
    priority: int


@dataclass(frozen=True, slots=True)
class Priority(Record):
    """All lines of one computed priority.

    Parameters
    ----------
    job : int
        Id of the job.
    user, account : str
        Of the association; "" without weight of fair share.
    fairshare : float
        As printed: six decimals.
    factors : dict of str to float
        By the names of the log: ``Age``, ``Assoc``, ``Fairshare``, ``JobSize``, ``Partition``, ``QOS``.
    weights : dict of str to float
        By the same names.
    tres : dict of str to float
        Factor of each resource that the job asks for: ``cpu``, ``mem``, ``gres/gpu`` and so on.
    site : float
        The site's own term.
    nice : float
        What is subtracted.
    total : float
        The sum, with two decimals.
    partitions : dict of str to int
        Priority in each partition, of a job that names several.
    """

    job: int
    user: str
    account: str
    fairshare: float
    factors: dict[str, float]
    weights: dict[str, float]
    tres: dict[str, float]
    site: float
    nice: float
    total: float
    partitions: dict[str, int]

    @property
    def priority(self) -> int:
        """The priority that results: the sum without its fraction, at least 1."""
        return max(1, int(min(self.total, 2.0**32 - 1)))


@dataclass(frozen=True, slots=True)
class NewPriority(Record):
    """``priority for job 7 is now 4602`` or ``initial priority for job 7 is 4602``."""

    job: int
    priority: int
    initial: bool


@dataclass(frozen=True, slots=True)
class Decay(Record):
    """``Decay factor over 60 seconds goes from 0.9994225 -> 0.965933769``: a calculation period begins."""

    seconds: float
    rate: float
    factor: float


@dataclass(frozen=True, slots=True)
class Charge(Record):
    """Usage that a job adds to its associations, from the user's up to root.

    Parameters
    ----------
    job : int
        Id of the job.
    seconds : float
        That it ran since the last charge.
    tres : dict of str to float
        What it holds.
    added : list of tuple of (str, str, float, float)
        Account, user ("" for an account), usage added, usage after it.
    """

    job: int
    seconds: float
    tres: dict[str, float]
    added: list[tuple[str, str, float, float]]


@dataclass(frozen=True, slots=True)
class RunSecondsLeft(Record):
    """``job 3: Removed 72 unused seconds from QOS normal TRES cpu grp_used_tres_run_secs = 6168``.

    Parameters
    ----------
    job : int
        Id of the job.
    kind : str
        "QOS" or "assoc".
    name : str
        Of the QOS; the number of the association.
    tres : str
        The resource.
    removed, left : float
        Amount times seconds that is taken off, and that running jobs may still use after it.
    """

    job: int
    kind: str
    name: str
    tres: str
    removed: float
    left: float


@dataclass(frozen=True, slots=True)
class JobEnd(Record):
    """``priority_p_job_end: called for job 7``: the last piece of its usage follows."""

    job: int


@dataclass(frozen=True, slots=True)
class Level:
    """An association in the printed fair tree.

    Parameters
    ----------
    depth : int
        1 for children of root.
    name : str
        Of the user, or of the account.
    account : str
        Its account; equal to `name` for an account.
    fs : float
        Its level of fair share.
    tied : bool
        Whether it is equal to its predecessor.
    """

    depth: int
    name: str
    account: str
    fs: float
    tied: bool


@dataclass(frozen=True, slots=True)
class FairTree(Record):
    """``Fair Tree fairshare algorithm, starting at root:`` and all levels that follow, in the order of ranks."""

    levels: list[Level]


@dataclass(frozen=True, slots=True)
class EffectiveUsage(Record):
    """Classic fair share: ``Effective usage for user u1 off bio(bio) ... = 0.000420``."""

    kind: str
    name: str
    parent: str
    usage: float


@dataclass(frozen=True, slots=True)
class NormalizedUsage(Record):
    """Classic fair share: ``Normalized usage for user u1 off bio(bio) 433.739399 / 5924.634615 = 0.073209``: usage of
    an association, and of root."""

    kind: str
    name: str
    parent: str
    usage: float
    whole: float


@dataclass(frozen=True, slots=True)
class Plan(Record):
    """``JobId=12 to start at ..., end at ... on nodes g[1-2] in partition batch``: a plan of the backfill loop."""

    job: int
    start: float
    end: float
    nodes: str
    partition: str


@dataclass(frozen=True, slots=True)
class PlanDropped(Record):
    """``JobId=12 StartTime set to time after current backfill window. No reservation created``: the plan that the line
    before announces is none."""

    job: int


@dataclass(frozen=True, slots=True)
class Start(Record):
    """A job starts: ``sched: Allocate JobId=1 NodeList=n1 #CPUs=2 Partition=batch``, or in the backfill loop
    ``Started JobId=1 in batch on n1`` (without CPUs: 0); `array` is the id of its array, 0 for none."""

    job: int
    nodes: str
    cpus: int
    partition: str
    backfilled: bool
    array: int = 0


@dataclass(frozen=True, slots=True)
class Requeue(Record):
    """A job waits again: its node failed, it was preempted, or it was requeued by hand."""

    job: int


@dataclass(frozen=True, slots=True)
class DownNodeReply(Record):
    """``JobId=6 complete response from DOWN node g1``: the clean-up of a job ends on a node that is down."""

    job: int


@dataclass(frozen=True, slots=True)
class QueueBuild(Record):
    """A pass of the main loop or a cycle of the backfill loop begins: the queue of waiting jobs is built; `full` is
    a pass over the whole queue."""

    backfill: bool
    full: bool = False


@dataclass(frozen=True, slots=True)
class JobComplete(Record):
    """``_job_complete: JobId=7 WEXITSTATUS 0``: a job ends by itself."""

    job: int


@dataclass(frozen=True, slots=True)
class CleanedUp(Record):
    """``_slurm_rpc_epilog_complete: JobId=7 Node=n1``: the clean-up of a job is over on a node; without a job,
    ``node_did_resp n1``: a node has answered some message; without a node, ``Requeuing JobId=7``: it is over."""

    job: int
    node: str


@dataclass(frozen=True, slots=True)
class NodeState(Record):
    """``update_node: node n1 state set to DOWN``; RESPONDING for ``Node n1 now responding``, and NOT_RESPONDING for
    ``Nodes n[1-2] not responding``.
    """

    node: str
    state: str


@dataclass(frozen=True, slots=True)
class Grace(Record):
    """``setting 30 sec preemption grace time for JobId=15 to reclaim resources for JobId=22``."""

    seconds: float
    job: int
    by: int


@dataclass(frozen=True, slots=True)
class Preempted(Record):
    """``preempted JobId=4 has been requeued to reclaim resources for JobId=14``; `by` is 0 where it is not written."""

    job: int
    by: int


@dataclass(frozen=True, slots=True)
class ReservationMade(Record):
    """``Created reservation=team users=u1 nodes=n[5-6] ... start=... end=...``."""

    name: str
    nodes: str
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class ReservationGone(Record):
    """``delete_resv: Name=later`` or ``Purging vestigial reservation team``."""

    name: str


@dataclass(frozen=True, slots=True)
class ReservationFlags(Record):
    """``create_resv: Name=maint ... Flags=MAINT``: comes before the record of its nodes."""

    name: str
    flags: str


@dataclass(frozen=True, slots=True)
class CycleTest(Record):
    """``Test JobId=25 at 2026-12-01T00:05:24 on g[1-2],n[1-6]``: a test of node selection in a backfill cycle."""

    job: int
    at: float
    nodes: str


@dataclass(frozen=True, slots=True)
class CycleEnd(Record):
    """The end of a backfill cycle, or of a part of it if `yields` is set."""

    yields: bool


@dataclass(frozen=True, slots=True)
class QueuedPriority(Record):
    """``BACKFILL: test for JobId=21 Prio=4006 Partition=gpu``: a job's priority as the backfill loop has it."""

    job: int
    priority: int
    partition: str


@dataclass(frozen=True, slots=True)
class DependencyTest(Record):
    """``update_job_dependency: Dependency information for JobId=7``: the job waits for others."""

    job: int


@dataclass(frozen=True, slots=True)
class Setting(Record):
    """``priority: Weight Age is 1000``: what the controller has read of its configuration."""

    name: str
    value: float


R = TypeVar("R", bound=Record)


@dataclass
class SlurmctldLog:
    """The records of a log, in the order of its lines.

    Parameters
    ----------
    name : str
        The file, for messages.
    records : list of Record
        In the order of the lines that complete them.
    lines : int
        Number of lines of the log.
    version : str
        Of Slurm, "" if the log does not begin with the start of the controller.
    """

    name: str
    records: list[Record] = field(default_factory=list)
    lines: int = 0
    version: str = ""

    def of(self, kind: type[R]) -> Iterator[R]:
        """The records of a kind."""
        return (record for record in self.records if type(record) is kind)

    def needs(self, kind: type[Record], what: str) -> None:
        """Refuse a log without records of a kind.

        Raises
        ------
        InputError
            There is none.
        """
        if not any(type(record) is kind for record in self.records):
            raise InputError(
                f"{self.name}: no {what} among {self.lines:,} lines; the controller writes them with {NEEDED} in "
                "slurm.conf, or after 'scontrol setdebugflags +Priority' and 'scontrol setdebugflags +Backfill'"
            )
