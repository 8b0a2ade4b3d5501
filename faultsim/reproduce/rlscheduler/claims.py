"""What RLScheduler's table says of its heuristics, and how much of that is the simulator.

The values under the published rules, with the waiting time of its code and with the real one, were known before; the
rules for all other claims were written and committed before the first textbook run and the first run of SDSC-SP2.
"""

import math

from faultsim.reproduce.claims import NOT_JUDGED, Claims, Finding, Parts, combine
from faultsim.reproduce.parts import known
from faultsim.reproduce.rlscheduler.inputs import PUBLISHED, WITH_WAIT
from faultsim.reproduce.rlscheduler.rules import SCORES, WAITING
from faultsim.reproduce.rlscheduler.runs import Evidence

SETTINGS = {
    "S": "ten sequences of 1,024 jobs as its environment draws them for seed 1, each on an empty machine; mean over "
    "the sequences of the mean bounded slowdown, threshold 10 s; Lublin-1 on Cluster(256), SDSC-SP2 on Cluster(128)",
    "P": "its rules, decided through External(): the first of the sorted queue is committed until it starts; while it "
    "does not fit, jobs are backfilled that end by estimate strictly before its expected start, which is computed "
    "once; waiting time -1 - submit, as in its code",
    "W": "P with the waiting time now - submit",
    "T": "textbook: Fcfs(order) and EasyBackfill(order), the queue sorted again in every pass, waiting time "
    "now - submit; the same scores",
}
NEAR = 0.1
CLAIMS = Claims[Evidence]()
_KIND = {False: "without backfilling", True: "with backfilling"}


def _values(e: Evidence, log: str, backfill: bool, rules: str) -> dict[str, float]:
    return {policy: e.mean(log, backfill, policy, rules) for policy in SCORES}


def _heuristics(log: str, backfill: bool) -> dict[str, float]:
    return {policy: PUBLISHED[log, backfill][policy] for policy in SCORES}


def _row(log: str, backfill: bool) -> str:
    return ", ".join(f"{policy} {value:.2f}" for policy, value in _heuristics(log, backfill).items())


def _ranked(values: dict[str, float]) -> list[str]:
    return sorted(values, key=values.__getitem__)


def _order(log: str, *backfill: bool) -> str:
    return "; ".join(" < ".join(_ranked(_heuristics(log, b))) for b in backfill)


def _judged(e: Evidence, log: str, parts: Parts) -> Parts:
    return parts if e.comparable(log) else NOT_JUDGED


def _to_the_digit(e: Evidence, log: str, backfill: bool) -> Finding:
    ours = {policy: f"{value:.2f}" for policy, value in _values(e, log, backfill, "published").items()}
    same = [ours[policy] == f"{value:.2f}" for policy, value in _heuristics(log, backfill).items()]
    text = ", ".join(f"{policy} {value}" for policy, value in ours.items())
    return Finding(f"{sum(same)} of {len(same)} the same: {text}", _judged(e, log, combine(*same)))


@CLAIMS.add("H1", "README, Lublin-1", "number", _row("lublin", False), settings="S, P")
def _without(e: Evidence) -> Finding:
    """Slowdowns of five heuristics without backfilling.

    Under its rules every value is the same to the printed digit. Not judged on a stand-in, or with fewer sequences.
    """
    return _to_the_digit(e, "lublin", False)


@CLAIMS.add("H2", "README, Lublin-1", "number", _row("lublin", True), settings="S, P")
def _with(e: Evidence) -> Finding:
    """Slowdowns of five heuristics with backfilling.

    As the claim before.
    """
    return _to_the_digit(e, "lublin", True)


@CLAIMS.add(
    "H3",
    "ours, Lublin-1",
    "number",
    "not in the table; an independent program has "
    + "; ".join(
        f"{_KIND[b]} " + ", ".join(f"{policy} {WITH_WAIT[b, policy]:.2f}" for policy in WAITING) for b in _KIND
    ),
    settings="S, W",
)
def _waited(e: Evidence) -> Finding:
    """What WFP3 and UNICEF give under its rules if the waiting time is computed.

    All four values are the same as those of the independent program, to the printed digit. Not judged on a stand-in, or
    with fewer sequences.
    """
    ours = {key: f"{e.mean('lublin', *key, 'waiting time'):.2f}" for key in WITH_WAIT}
    same = [ours[key] == f"{value:.2f}" for key, value in WITH_WAIT.items()]
    text = "; ".join(f"{_KIND[b]} " + ", ".join(f"{policy} {ours[b, policy]}" for policy in WAITING) for b in _KIND)
    return Finding(f"{sum(same)} of {len(same)} the same: {text}", _judged(e, "lublin", combine(*same)))


@CLAIMS.add(
    "H4", "README, Lublin-1", "order", "WFP3 19753.53 and UNICEF 22274.74, FCFS 7273.77: worse", settings="S, W"
)
def _worse(e: Evidence) -> Finding:
    """Without backfilling WFP3 and UNICEF are worse than FCFS.

    With the waiting time computed, both are still above FCFS.
    """
    values = _values(e, "lublin", False, "waiting time")
    fcfs = values["FCFS"]
    text = ", ".join(f"{policy} {values[policy]:.2f}" for policy in (*WAITING, "FCFS"))
    return Finding(text, combine(*(known(values[each] > fcfs, values[each], fcfs) for each in WAITING)))


def _same_order(e: Evidence, log: str, *backfill: bool) -> Finding:
    """Under textbook rules."""
    theirs = [_ranked(_heuristics(log, b)) for b in backfill]
    ours = [_values(e, log, b, "textbook") for b in backfill]
    ranked = [_ranked(values) for values in ours]
    first = all(a[0] == b[0] for a, b in zip(theirs, ranked, strict=True))
    numbers = [value for values in ours for value in values.values()]
    return Finding(
        "; ".join(" < ".join(f"{p} {v[p]:.2f}" for p in _ranked(v)) for v in ours),
        combine(known(first, *numbers), known(ranked == theirs, *numbers)),
    )


@CLAIMS.add("H5", "README, Lublin-1", "order", _order("lublin", False), settings="S, T")
def _order_without(e: Evidence) -> Finding:
    """The order of the heuristics without backfilling.

    Under textbook rules all five are in the same order. Another part: the best one is the same.
    """
    return _same_order(e, "lublin", False)


@CLAIMS.add("H6", "README, Lublin-1", "order", _order("lublin", True), settings="S, T")
def _order_with(e: Evidence) -> Finding:
    """The order of the heuristics with backfilling.

    Under textbook rules all five are in the same order. Another part: the best one is the same.
    """
    return _same_order(e, "lublin", True)


def _near(e: Evidence, log: str, rules: str) -> Finding:
    """How many of both rows are near the published values; how far off the others are."""
    near, ours = [], []
    for backfill in _KIND:
        values = _values(e, log, backfill, rules)
        off = {policy: values[policy] / value - 1 for policy, value in _heuristics(log, backfill).items()}
        near += [abs(value) <= NEAR for value in off.values()]
        shown = ", ".join(f"{policy} {100 * value:+.1f} %" for policy, value in off.items())
        ours.append(f"{_KIND[backfill]} {shown}")
    return Finding(f"{sum(near)} of {len(near)} within 10 %: {'; '.join(ours)}", _judged(e, log, combine(*near)))


@CLAIMS.add("H7", "README, Lublin-1", "number", "both rows, as in H1 and H2", settings="S, T")
def _policies(e: Evidence) -> Finding:
    """The values are those of the heuristics, whatever the simulator.

    Under textbook rules all ten are within 10 % of the published values. Not judged on a stand-in, or with fewer
    sequences.
    """
    return _near(e, "lublin", "textbook")


@CLAIMS.add(
    "H8", "README, SDSC-SP2", "number", "; ".join(f"{_KIND[b]} {_row('sdsc', b)}" for b in _KIND), settings="S, P"
)
def _sdsc(e: Evidence) -> Finding:
    """The values on SDSC-SP2, of which the published runs used an altered copy.

    Under its rules all ten are within 10 % of the published values on the log of the archive. Not judged on a stand-in,
    or with fewer sequences.
    """
    return _near(e, "sdsc", "published")


@CLAIMS.add("H9", "README, SDSC-SP2", "order", _order("sdsc", False, True), settings="S, T")
def _sdsc_order(e: Evidence) -> Finding:
    """The order of the heuristics on SDSC-SP2, without backfilling and with it.

    Under textbook rules all five are in the same order in both rows. Another part: the best one is the same in both.
    """
    return _same_order(e, "sdsc", False, True)


def _best(log: str, backfill: bool) -> tuple[str, float]:
    """The best published heuristic, and how many times the slowdown of RL it has."""
    policy = _ranked(_heuristics(log, backfill))[0]
    return policy, PUBLISHED[log, backfill][policy] / PUBLISHED[log, backfill]["RL"]


def _margins() -> str:
    shown = [f"{name} {_KIND[b]} {_best(log, b)[0]} {_best(log, b)[1]:.2f} times RL"
             for log, name in (("lublin", "Lublin-1"), ("sdsc", "SDSC-SP2")) for b in _KIND]  # fmt: skip
    return "; ".join(shown)


@CLAIMS.add("H10", "README, both logs", "order", _margins(), settings="S, P, T")
def _margin(e: Evidence) -> Finding:
    """RL is ahead of the best heuristic by more than the rules of the simulator are worth to that heuristic.

    In all four rows the best published heuristic changes by a smaller factor, up or down, from its rules to textbook
    rules than the factor by which RL is ahead. RL itself is not run. Not judged on stand-ins, or with fewer sequences.
    """
    more, ours = [], []
    for log, source in e.logs.items():
        for backfill in _KIND:
            policy, margin = _best(log, backfill)
            change = e.mean(log, backfill, policy, "textbook") / e.mean(log, backfill, policy, "published")
            more.append(abs(math.log(change)) < math.log(margin))
            ours.append(f"{source.label} {_KIND[backfill]} {policy} times {change:.2f}, against {margin:.2f}")
    parts = combine(*more) if all(map(e.comparable, e.logs)) else NOT_JUDGED
    return Finding(f"{sum(more)} of {len(more)}: {'; '.join(ours)}", parts)
