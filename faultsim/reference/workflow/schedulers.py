"""The schedulers of workflows: the order of the pool at the beginning of a pass, and whether they ask or plan."""

from faultsim.data.lowered import Lowered
from faultsim.policies.registry import known_policies
from faultsim.reference.workflow.state import WorkflowJob


def scheduler_of(rule: Lowered) -> "RankHybd":
    """The scheduler of a lowered policy: the class here that its row in the registry names."""
    row = known_policies("workflow_scheduler")[rule["name"]]
    made: RankHybd = globals()[str(row.reference).partition(":")[2]](rule)
    return made


class RankHybd:
    asks = False
    plans = False

    def __init__(self, rule: Lowered) -> None:
        self.rule = rule

    def ordered(self, pool: list[WorkflowJob]) -> list[WorkflowJob]:
        """ "if the jobs in the pool belong to one workflow: rank descending; if to several: rank ascending
        (`across="ascending"`, the default) or descending (`across="descending"`); ties by (i, j) ascending".
        """
        several = len({job.key[0] for job in pool}) > 1
        if several and self.rule.get("across", "ascending") == "ascending":
            return sorted(pool, key=lambda job: (job.rank, job.key))
        return sorted(pool, key=lambda job: (-job.rank, job.key))


class Flaw(RankHybd):
    asks = True


class Fifo(RankHybd):
    def __init__(self, rule: Lowered) -> None:
        super().__init__(rule)
        self.asks = bool(rule.get("aware", False))

    def ordered(self, pool: list[WorkflowJob]) -> list[WorkflowJob]:
        """ "the time at which the job last entered the pool, ascending; ties by (i, j) ascending"."""
        return sorted(pool, key=lambda job: (job.entered, job.key))


class Heft(RankHybd):
    """It plans a workflow when it arrives (`plan`)."""

    plans = True
