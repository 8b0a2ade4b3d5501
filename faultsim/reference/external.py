"""Schedulers whose passes are decided elsewhere (model.md#decisions)."""

from faultsim.policies.base import nothing_returned
from faultsim.reference.decisions import Decision
from faultsim.reference.job import Job
from faultsim.reference.scheduling.schedulers import Fcfs
from faultsim.reference.state import State


class External(Fcfs):
    """The caller decides.  Nothing is promised."""

    outside, decides = True, False


class Written(Fcfs):
    """A method in Python decides, within the pass."""

    decides = False

    def run_pass(self, state: State, order: list[Job]) -> None:
        """One call of the scheduler."""
        given = self.rule["object"].schedule(Decision(state, "schedule", order, "scheduler"))
        if given is not None:
            raise nothing_returned(self.rule["object"], "schedule", given)
        state.n_decisions += 1
