"""What a migration may do, and when (model.md#migration)."""

from faultsim.data.lowered import Lowered
from faultsim.reference.job import Job
from faultsim.reference.state import State


class NoMigration:
    """Jobs stay where they are."""

    def __init__(self, rule: Lowered) -> None:
        self.rule = rule

    def in_pass(self, state: State, order: list[Job]) -> bool:
        """In a pass, when `order` is what still waits; whether jobs moved."""
        return False

    def at_finish(self, state: State, finished: Job) -> None:
        """Right after the nodes of a job that finished are free."""
