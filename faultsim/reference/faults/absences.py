"""What happens when nodes become reserved, and when they are open again (model.md#absences)."""

from faultsim.reference.absences import Absences
from faultsim.reference.faults.failures import kill_for_good
from faultsim.reference.state import State


def begin_or_end(state: State, absences: Absences) -> bool:
    """The begins and ends of this instant; whether a pass is due.

    "At an end a pass runs. At a begin, jobs that hold reserved nodes and are not the users' continue, or with
    `overrun="kill"` are killed for good, by index; a held job is not."
    """
    due = False
    for i, each in enumerate(absences.all):
        k = each.last_begun(state.now)
        due |= k >= 0 and each.end_of(k) == state.now
        due |= each.every > 0.0 and k > 0 and each.end_of(k - 1) == state.now
        if not each.kills or k < 0 or each.begin_of(k) < state.now:
            continue
        for job in sorted(state.running, key=lambda job: job.index):
            if not job.held and job.node_mask & each.nodes and not absences.is_open_to(i, job):
                kill_for_good(state, job, "reservation")
                due = True
    return due
