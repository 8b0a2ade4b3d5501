"""Jobs that hold spare nodes from the start (model.md#hot-spares)."""

from faultsim.data.lowered import Lowered
from faultsim.policies.settings import Settings
from faultsim.reference.faults.failures import requeue
from faultsim.reference.job import Job, close_stretch, set_out, unpause
from faultsim.reference.state import State


class HotSpares:
    def __init__(self, rule: Lowered) -> None:
        self.rule = rule

    def __call__(self, state: State, job: Job) -> None:
        """ "If a node of a job fails that holds m units, the job is killed, as with `Requeue`"."""
        requeue(state, job, self.rule["place"])

    def spares_of(self, needs: int, unit: int) -> int:
        """ "k, or with `per` k floor(m / per); a slice inside a cube has none", in nodes."""
        m, k, per = needs // unit, self.rule["count"], self.rule["per"]
        if m == 0:
            return 0
        return int(k * (m // per if per else 1) * unit)

    def relieve(self, state: State, job: Job, node: int) -> bool | None:
        """The unit of a node that fails leaves the job; whether it was at work, None if the job has no spare one."""
        unit = unit_of(state.settings)
        first = node - node % unit
        working = job.needs - job.spares
        if job.allocated == working:
            return None
        # "Of the units that it holds, the m lowest are at work, and the others are spare."
        works = sum(job.has(other) for other in range(first)) < working
        if works:
            swap(state, job)
        state.drop(job, list(range(first, first + unit)))
        return works


def swap(state: State, job: Job) -> None:
    """ "the work that is not safe is lost as by a kill, a lead phase of `restart_cost` seconds begins at once, and then
    it works, t0 = t + restart_cost. In its start delay nothing is lost, and it starts when it was to."
    """
    job.moves += 1
    if state.now < job.start:
        return
    here = close_stretch(job, state.now)
    unpause(job, state.now)
    job.lost += here.unsaved
    begin = job.own(state.now)
    set_out(job, "restart", begin, begin + job.restart_cost, here.safe, here.safe, 0.0, since=begin, now=state.now)


def unit_of(settings: Settings) -> int:
    """Nodes that are exchanged at once: one, or the hosts of a cube."""
    return int(settings.machine.get("hosts", 1))
