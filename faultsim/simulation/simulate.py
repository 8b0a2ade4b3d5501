"""`simulate`, and `rerun`: a log and a machine become a checked `Run`, the run becomes a `Result`."""

import warnings
from typing import Unpack

from faultsim import checks, renames
from faultsim.data.workload import Workload
from faultsim.entries import entry
from faultsim.errors import OptionError
from faultsim.machines import Machine
from faultsim.results.result import Result
from faultsim.results.revision import caveat
from faultsim.simulation.options import OPTIONS, EngineName, Options, OwnPolicies, refuse_unknown, takes
from faultsim.simulation.progress import Progress
from faultsim.simulation.repeat import run_of
from faultsim.simulation.run import Run


@entry
@takes(Options, OPTIONS)
def simulate(
    log: Workload,
    machine: Machine | str,
    *,
    progress: bool | Progress = False,
    engine: EngineName = "core",
    **options: Unpack[Options],
) -> Result:
    """Simulate a job log on a machine.

    A policy is an object, or words as on the command line: ``scheduler="easy"``.  Words with parameters,
    ``"easy:order=shortest"``, are taken too; type checkers know words without, and of others what `parse_policy` makes.

    Parameters
    ----------
    log : Workload
        The jobs; times in seconds, sizes in nodes.
    machine : Cluster, Torus, Pod or str
        Where they run; text as on the command line, such as ``"cluster:128"`` or ``"tpu-v4"``.
    scheduler : Scheduler, default EasyBackfill()
        `Fcfs`, `EasyBackfill`, `Backfill`, `ConservativeBackfill` or, on a cluster, `Preemptive`, each with ``order=``.
    placement : Placement, optional
        Which free nodes a job gets.  By default `MaxFreePartition` on a torus, elsewhere `FirstFit`.
    migration : Migration, optional
        `Defragment` on a torus, `LeastFailuresMigration` on a cluster; None: running jobs stay where they are.
    failures : FailureTrace, optional
        When each node fails, and for how long it is down; None means that nothing fails.
    recovery : Recovery, optional
        What happens to a job that a failure hits: `Requeue` (the default), `Hold` or `HotSpares`.
    predictor : Predictor, optional
        What `Balancing`, `TieBreaking`, `SafestFirst`, `BeforeFailure`, `RiskBased` and `Fars` know about upcoming
        failures: `Confidence`, `Accuracy`, `IntervalPredictor`, `PredictionTrace`, `Buckets`, `Perfect`, `Blind`.
    checkpointing : Checkpointing, optional
        When jobs save their progress: `NoCheckpoint` (as None), `Periodic`, `Young`, `Daly`, `MaxAvailability`,
        `BeforeFailure`, `PredictedWindows`, `RiskBased`.
    rescheduling : Rescheduling, optional
        `Fars`: running jobs move away from nodes that are predicted to fail. Requires a predictor that names nodes.
    estimates : "requested", "actual" or float, default "requested"
        What the scheduler uses: the requested time (the run time if that is missing), the run time, or the run time
        times a factor.
    overrun : {"extend", "kill"}, default "extend"
        What happens to a job that exceeds its estimate: it continues, or is killed there and counts as done.
    start_delay : float, default 0
        Seconds between the decision to start a job and its start; it holds its nodes meanwhile.
    seed : int, default 0
        Key of the streams from which `IntervalPredictor` draws its reports; nothing else is random.
    record : bool, default False
        Keep `Result.events` and `Result.allocations`.
    progress : bool or callable(done, total, now), default False
        True shows progress on stderr if that is a terminal.
    oversized : {"error", "drop"}, default "error"
        Whether jobs larger than the machine (with `Static`: without its spare nodes) are an error, or omitted and
        counted in `Result.dropped`.
    reservations : Reservation, or several, optional
        Nodes that are closed to most jobs at known times, as for maintenance; also as text, or as a `FailureTrace` of
        outages that are planned.
    engine : {"core", "reference"}, default "core"
        The compiled engine, or the reference implementation in plain Python, about a hundred times slower and meant for
        reading.

    Returns
    -------
    Result

    Raises
    ------
    InputError
        If jobs are larger than the machine, or failures are of nodes that it does not have.
    OptionError
        If an option has an invalid value, or options are combined in an unsupported way.
    NotAvailableError
        If the reference engine does not support what is requested.

    Examples
    --------
    >>> import faultsim as fs
    >>> log = fs.Workload(submit=[0, 1, 2], runtime=[10, 10, 5], size=[2, 4, 2])
    >>> result = fs.simulate(log, fs.Cluster(4))
    >>> result.jobs["start"]
    array([ 0., 10.,  2.])
    >>> result.jobs["backfilled"]
    array([False, False,  True])
    >>> fs.simulate(log, fs.Cluster(4), scheduler="fcfs").jobs["start"]
    array([ 0., 10., 20.])

    Node 0 fails at 15 s and kills the job on it, which starts again when the node is back:

    >>> failures = fs.FailureTrace([15], [0], [5], span=60)
    >>> result = fs.simulate(log, fs.Cluster(4), failures=failures)
    >>> result.jobs["finish"], result.jobs["lost_work"]
    (array([10., 30.,  7.]), array([ 0., 20.,  0.]))
    """
    refuse_unknown("simulate", options, OPTIONS)
    return Run(log, machine, **options).simulate(progress=progress, engine=engine)


@entry
@takes(OwnPolicies, dict.fromkeys(OwnPolicies.__annotations__))
def rerun(
    result: Result,
    *,
    progress: bool | Progress = False,
    **policies: Unpack[OwnPolicies],
) -> Result:
    """Repeat the run behind a result; the same model revision gives the same numbers.

    A result of an older revision, which `load_result` reads with ``allow_older_results=True``, is computed again by the
    revision of this version, with a `UserWarning` that says so.

    Parameters
    ----------
    result : Result
        A result of this session or a loaded one; it contains the workload.
    scheduler, placement, predictor, recovery, checkpointing, rescheduling : optional
        Needed only for a loaded result that used a policy written in Python, which is not saved.

    Raises
    ------
    OptionError
        If a policy written in Python is needed and not given.

    Examples
    --------
    >>> import faultsim as fs
    >>> log = fs.Workload(submit=[0, 1], runtime=[10, 5], size=[2, 2])
    >>> result = fs.simulate(log, fs.Cluster(2))
    >>> bool((fs.rerun(result).jobs["start"] == result.jobs["start"]).all())
    True
    """
    if not isinstance(result, Result):
        raise OptionError(f"rerun takes a Result, got {checks.shown(result)}")
    for text in caveat(result.model_revision):
        warnings.warn(
            f"rerun: the result is {text}: it is computed again by this revision",
            stacklevel=renames.level_without_entries(2),
        )
    refuse_unknown("rerun", policies, OwnPolicies.__annotations__)
    return run_of(result, policies).simulate(progress=progress, engine=result.record.settings["engine"])
