"""What the numbers say, in sentences."""

import math

from faultsim.reproduce.rlscheduler.inputs import PUBLISHED
from faultsim.reproduce.rlscheduler.runs import Evidence, Key

_FIRST = (
    "The agent of the paper is not run here, and nothing is said about it: it was trained and measured under the same "
    "rules as the heuristics, and would have to be trained again under others. What is measured is how far the numbers "
    "that it is compared with depend on the simulator. The rules for judging what was not known before (textbook "
    "rules, SDSC-SP2) were written and committed before the first run of it."
)
_LAST = (
    "Neither set of rules is the right one. But a value belongs to the rules under which it was measured, and should "
    "not be held against one that was measured under others."
)


def _of(e: Evidence, policy: str, rules: str, log: str = "lublin", backfill: bool = False) -> float:
    return e.mean(log, backfill, policy, rules)


def _waiting_time(e: Evidence) -> str:
    table, bug = PUBLISHED["lublin", False], _of(e, "UNICEF", "published") / _of(e, "UNICEF", "waiting time")
    ratios = [_of(e, "UNICEF", rules) / _of(e, "F1", rules) for rules in ("waiting time", "textbook")]
    share = 1 - math.log(ratios[0]) / math.log(table["UNICEF"] / table["F1"])
    return (
        f"Waiting time. Without backfilling on Lublin-1 the table has UNICEF at {table['UNICEF'] / table['F1']:.0f} "
        f"times the slowdown of F1. The waiting time that the code does not compute is worth a factor of {bug:.0f} to "
        f"UNICEF and {_of(e, 'WFP3', 'published') / _of(e, 'WFP3', 'waiting time'):.0f} to WFP3: with it, and all else "
        f"the same, UNICEF is at {ratios[0]:.2f} times F1, and under textbook rules at {ratios[1]:.2f} times. "
        f"On a logarithmic scale {100 * share:.0f} % of that published difference is the missing waiting time."
    )


def _committing(e: Evidence) -> str:
    gains = {p: _of(e, p, "waiting time") / _of(e, p, "textbook") for p in ("FCFS", "SJF", "F1", "WFP3", "UNICEF")}
    text = ", ".join(f"{policy} {gain:.2f}" for policy, gain in gains.items())
    return (
        "Committing. Without backfilling its rules, with the real waiting time, differ from the textbook's in one "
        "thing: the first job of the queue, once found not to fit, is not replaced by a better one that arrives later "
        "(and events of one instant are seen one by one). A queue that is sorted again in every pass divides the "
        f"slowdown on Lublin-1 by: {text}. Under FCFS nobody overtakes, so nothing changes there."
    )


def _margin(e: Evidence) -> str:
    lead = PUBLISHED["lublin", False]["F1"] / PUBLISHED["lublin", False]["RL"] - 1
    values = e.runs[Key("lublin", False, "F1", "published")]["slowdown"]
    return (
        f"Margins. There the agent is {100 * lead:.1f} % ahead of the best heuristic, F1. The ten means behind F1's "
        f"{values.mean():.2f} run from {values.min():.2f} to {values.max():.2f}, and the rules of the simulator change "
        f"it to {_of(e, 'F1', 'textbook'):.2f}. H10 has the other rows."
    )


def _longest(e: Evidence) -> str:
    """Whether those who wait longest pay for the textbook's rules."""
    shown, longer = [], []
    for backfill, words in ((False, "without"), (True, "with")):
        for policy in ("SJF", "F1"):
            hours = [
                e.mean("lublin", backfill, policy, rules, "longest_wait") / 3600 for rules in ("published", "textbook")
            ]
            longer.append(hours[1] / hours[0] - 1)
            shown.append(f"{policy} {words} backfilling {hours[0]:.0f} h and {hours[1]:.0f} h")
    return (
        "Longest waits. A mean does not say who pays. The longest wait of a sequence on Lublin-1, mean of the ten, is "
        f"under its rules and under textbook rules: {'; '.join(shown)}; so it changes by {100 * min(longer):+.0f} to "
        f"{100 * max(longer):+.0f} %. But a sequence ends after 1,024 jobs, so that nobody can be overtaken for ever."
    )


_SDSC = (
    "SDSC-SP2. The published runs used an altered copy of the log, which is not at hand; ours is that of the archive. "
    "So the published values stand there for comparison only, and how far ours are from them (H8) says nothing about "
    "the rules. What does are the ratios of our own values."
)


def remarks(e: Evidence) -> tuple[str, ...]:
    """Paragraphs for the page; those with published numbers only where ours can be held against them."""
    measured = [_waiting_time(e), _committing(e), _margin(e), _longest(e)] if e.comparable("lublin") else []
    return (_FIRST, *measured, _SDSC, _LAST)
