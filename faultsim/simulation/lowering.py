"""A checked run becomes what an engine reads: settings, the columns of the jobs, and the world."""

from dataclasses import dataclass, fields, replace

import numpy as np

from faultsim.arrays import Flags, Floats, Values
from faultsim.data.lowered import Lowered
from faultsim.data.workload import Workload
from faultsim.data.world import World
from faultsim.errors import InputError, NotAvailableError, OptionError
from faultsim.policies import BOX_ORDERS
from faultsim.policies.adapters import guarded_settings
from faultsim.policies.settings import Settings
from faultsim.policies.slurm import Slurm
from faultsim.simulation.absences import user_groups
from faultsim.simulation.eligibility import refuse_conditions
from faultsim.simulation.engine_inputs import make_world
from faultsim.simulation.jobs import expected_runtimes, fitting_log
from faultsim.simulation.options import RunOptions
from faultsim.simulation.slurm_reservations import SlurmReservations
from faultsim.simulation.slurm_run import SlurmDecisions
from faultsim.simulation.told import Told
from faultsim.simulation.without_effect import recovers, without_effect

INFINITY = float("inf")
#: Submit time, run time, estimate and size of jobs that the caller has not submitted yet.
_TO_COME = (INFINITY, 0.0, 0.0, 1)
#: Which run times are unknown: of all jobs, or of each.
Unknown = bool | Flags


@dataclass(frozen=True, slots=True)
class LoweredRun:
    """A run as an engine reads it, and as provenance keeps it.

    Attributes
    ----------
    settings : Settings
    columns : list of array
        Submit time, run time, estimate and size of the jobs.
    world : World
    provenance : dict
        All options in plain form.
    log : Workload
        The jobs that fit the machine.
    told : Told, optional
        The same and those that the caller submits later, with ``live=``.
    """

    settings: Settings
    columns: list[Values]
    world: World
    provenance: Lowered
    log: Workload
    told: Told | None


def lower(
    run: RunOptions,
    engine: str = "core",
    *,
    live: int = 0,
    unknown: Unknown = False,
    oracle_runtimes: bool = False,
    empty: bool = False,
) -> LoweredRun:
    """Lower a run for an engine.

    `live` is the number of jobs for which there is room at first, 0 if all are known; with `empty` there are none yet,
    and the log of the run only shows what they are like.
    """
    provenance: Lowered = {**run.lower(), "engine": engine}
    unused, matters = without_effect(run), recovers(run)
    given = {each.name: provenance[each.name] for each in fields(Settings) if each.name in provenance}
    given["placement"] = {"box_order": BOX_ORDERS[0], **provenance["placement"]}
    if run.failures is None and not matters:
        given["recovery"] = None
    if unused and not live:
        provenance["without_effect"] = unused
    given["machine"] = run.machine.lower_for(run.log)
    settings = Settings(**given)
    if run.has_python or "object" in settings.scheduler["order"]:
        settings = guarded_settings(settings)
    log = fitting_log(run)
    estimate = expected_runtimes(run, log)
    columns: list[Values] = [log.submit, log.runtime, estimate, log.size]
    world = make_world(run, log, estimate, formulas=engine == "core")
    world.user_group = user_groups(run, run.log.user, more=live > 0)
    if isinstance(run.scheduler, Slurm):
        if live:
            raise NotAvailableError("live= is not available with scheduler=Slurm()")
        asks, reserved = run.machine.asks(log), SlurmReservations(run.reservations, run.log)
        acting = SlurmDecisions(
            run.scheduler, run.machine, log, estimate, asks, world.jobs, reserved, engine, run.failures
        )
        if world.absences is not None:
            world.absences, world.user_group = reserved.absences(world.absences), reserved.groups
        settings = replace(settings, scheduler=acting.lower())
        if world.asks is not None:
            world.asks = acting.asks(world.asks)
    if oracle_runtimes:
        world.oracle_runtimes = provenance["oracle_runtimes"] = True
    if not live:
        return LoweredRun(settings, columns, world, provenance, log, None)
    if run.failures is not None:
        run.failures.refuse_slowdowns("live=")
    refuse_conditions(log, "live=")
    columns[1] = known_runtimes(run, log, unknown)
    provenance["live"] = True
    told = Told(log, empty=empty)
    if empty:
        columns = [column[:0] for column in columns]
    return LoweredRun(
        replace(settings, record=True), make_room(live, columns, world, told), world, provenance, log, told
    )


def known_runtimes(run: RunOptions, log: Workload, unknown: Unknown) -> Floats:
    """Run times, infinite where they are unknown."""
    which = np.broadcast_to(unknown, len(log))
    if not which.any():
        return log.runtime
    if run.estimates != "requested":
        raise OptionError(f"estimates={run.estimates!r} are of run times, and some are unknown")
    if (log.estimate[which] < 0).any():
        row = int(np.flatnonzero(which & (log.estimate < 0))[0])
        raise InputError(f"job {log.id[row]} has no requested time: one whose run time is unknown needs it")
    return np.where(which, INFINITY, log.runtime)


def make_room(live: int, columns: list[Values], world: World, told: Told) -> list[Values]:
    """Columns with room for jobs that the caller has not submitted yet; those of the world are replaced."""
    known, rest = len(columns[0]), live - len(columns[0])  # one more, at least, than are known
    world.live, world.known, world.columns = True, known, told
    world.rows, world.jobs = np.arange(live, dtype=np.int32), np.full(live, -1, np.int32)
    world.jobs[:known] = world.rows[:known]
    if world.checkpoint_interval is not None:
        world.checkpoint_interval = np.append(world.checkpoint_interval[:known], np.full(rest, INFINITY))
    if world.shape_rank is not None:
        world.shape_rank = np.append(world.shape_rank[:known], np.zeros(rest, np.int32))
    if world.user_group is not None:
        world.user_group = np.append(world.user_group[:known], np.zeros(rest, np.int32))
    if world.asks is not None:
        world.asks = world.asks.with_room(rest)
    return [
        np.append(column, np.full(rest, value, column.dtype)) for column, value in zip(columns, _TO_COME, strict=True)
    ]
