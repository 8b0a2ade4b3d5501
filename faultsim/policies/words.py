"""The words that stand for policies, as types: what type checkers accept, and a test compares with the registry.

A word is here if it needs no parameters, by its name or a short one; with dashes it is the same at run time.  Text with
parameters is any text to a type checker, and goes through `parse_policy`.
"""

from typing import Literal, TypeAlias

__all__ = [
    "WORDS",
    "CheckpointingWord",
    "MigrationWord",
    "OrderWord",
    "PlacementWord",
    "PredictorWord",
    "RecoveryWord",
    "ReschedulingWord",
    "SchedulerWord",
    "StrategyWord",
    "VictimsWord",
    "WorkflowSchedulerWord",
]

SchedulerWord: TypeAlias = Literal[
    "fcfs", "easy", "easy_backfill", "conservative", "conservative_backfill", "preemptive",
]  # fmt: skip
OrderWord: TypeAlias = Literal[
    "arrival", "shortest", "sjf", "largest", "ljf", "wfp3", "unicef", "saf", "f1", "f2", "f3", "f4",
    "submit", "estimate", "size", "index", "restarts", "wait",
]  # fmt: skip
PlacementWord: TypeAlias = Literal[
    "first_fit", "first-fit", "ff", "max_free_partition", "mfp", "most_cubic", "cubic", "balancing", "tie_breaking",
    "tie-breaking", "least_failures_first", "lff", "safest_first", "safest", "curve_best_fit", "curve",
    "consecutive_best_fit", "consecutive-best-fit", "consecutive", "best_fit", "best-fit", "least_loaded",
    "least-loaded", "lln",
    "slurm_torus", "slurm-torus", "torus3d",
]  # fmt: skip
MigrationWord: TypeAlias = Literal["defragment", "least_failures", "lfm", "none"]
RecoveryWord: TypeAlias = Literal["requeue", "hot_spares", "hold"]
PredictorWord: TypeAlias = Literal["blind", "none", "perfect"]
CheckpointingWord: TypeAlias = Literal["none"]
VictimsWord: TypeAlias = Literal["all", "long", "big"]
StrategyWord: TypeAlias = Literal[
    "service_unit_loss", "sul", "sul_d", "job_failure_rate", "jfr", "jfr_d", "failure_slowdown", "fsd", "fsd_d",
    "node_stealing", "node-stealing",
]  # fmt: skip
ReschedulingWord: TypeAlias = Literal["none"]
WorkflowSchedulerWord: TypeAlias = Literal["rank_hybd", "flaw", "fifo", "heft"]

#: Kind -> type of its words; the kinds that are missing have none without parameters.
WORDS: dict[str, object] = {
    "scheduler": SchedulerWord,
    "order": OrderWord,
    "placement": PlacementWord,
    "migration": MigrationWord,
    "recovery": RecoveryWord,
    "predictor": PredictorWord,
    "checkpointing": CheckpointingWord,
    "victims": VictimsWord,
    "strategy": StrategyWord,
    "rescheduling": ReschedulingWord,
    "workflow_scheduler": WorkflowSchedulerWord,
}
