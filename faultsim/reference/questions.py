"""What somebody outside is asked besides passes: at failures, requests for checkpoints and ticks (model.md#asked)."""

import math
from collections.abc import Generator, Mapping
from types import MethodType

from faultsim.policies.base import nothing_returned
from faultsim.policies.settings import Settings
from faultsim.reference.decisions import Decision
from faultsim.reference.job import Job
from faultsim.reference.scheduling.queueing import queue_order
from faultsim.reference.state import Question, State

#: Kind of decision -> kind of the policy in Python that answers it.
_ANSWERS = {"failure": "recovery", "checkpoint": "checkpointing", "tick": "rescheduling"}


def answerers(settings: Settings) -> dict[str, MethodType | None]:
    """Kind of decision -> the method that answers it, None where the caller does; kinds that nobody is asked are not
    there.
    """
    found: dict[str, MethodType | None] = dict.fromkeys(settings.scheduler.get("at", ()))
    for kind, policy, method in (
        ("failure", "recovery", "react"),
        ("checkpoint", "checkpointing", "wants"),
        ("tick", "rescheduling", "tick"),
    ):
        rule = settings.policy(policy)
        if "object" in rule and (policy != "checkpointing" or "interval" in rule):
            found[kind] = getattr(rule["object"], method)
    found.pop("schedule", None)
    return found


def ask(
    state: State,
    answerers: Mapping[str, MethodType | None],
    kind: str,
    job: Job | None = None,
    *,
    node: int = -1,
    until: float = math.inf,
    asked: int = 0,
) -> Generator[str, None, object]:
    """Nothing if nobody is asked; "decide" if the caller is, and otherwise what a method in Python has answered."""
    if kind not in answerers:
        return None
    state.question, state.acted = Question(kind, job, node, until, asked), False
    answer = answerers[kind]
    granted = None
    if answer is None:
        yield "decide"
    else:
        granted = answer(Decision(state, kind, queue_order(state), _ANSWERS[kind]))
        if granted is not None and kind != "checkpoint":
            raise nothing_returned(answer.__self__, answer.__name__, granted)
        state.n_decisions += 1
    state.question = None
    return granted
