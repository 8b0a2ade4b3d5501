"""The claims Z9-Z19 of [zhang2004]: checkpoints, predictions, and nodes with the least failures first.

Rules and tolerances were written before the runs were looked at; see `measures` for the words in them.
"""

from collections.abc import Callable

import numpy as np

from faultsim.arrays import Floats
from faultsim.reproduce.claims import Claims, Finding, Part, combine, nearness
from faultsim.reproduce.parts import every, higher, known, lower, sized, within
from faultsim.reproduce.zhang2004.claims import CHOSEN
from faultsim.reproduce.zhang2004.measures import (
    band,
    change,
    changes,
    gap_closed,
    largest_change,
    level,
    over_band,
    shown,
)
from faultsim.reproduce.zhang2004.runs import HEURISTICS, PERIODS, View
from faultsim.sweep.jackknife import Estimate, jackknife

TRACES = {"I": "b85", "T": "w64", "S": "a99"}
CLAIMS = Claims[View](CHOSEN)


def _periodic(v: View, kind: str) -> dict[str, Estimate]:
    """Change of the slowdown with each interval against no checkpoints."""
    return {f"{hours} h": change(v, "slowdown", (kind, f"periodic {hours} h"), (kind, "none")) for hours in PERIODS}


def _best(found: dict[str, Estimate]) -> Estimate:
    """The largest reduction, as a positive number when it is one."""
    least = min(found.values(), key=lambda estimate: estimate.value)
    return Estimate(-least.value, least.half)


def _marginal(found: dict[str, Estimate]) -> Part:
    """Whether no interval lowers the slowdown by more than 20 %."""
    return lower(_best(found), 0.2)


def _helps_more(v: View, kind: str, rival: str) -> Estimate:
    """How much further the best interval lowers the slowdown with one kind of failures than with another."""
    keep = band(v, "all")
    best = {}
    for name in (kind, rival):
        found = _periodic(v, name)
        best[name] = min(found, key=lambda interval, found=found: found[interval].value)  # type: ignore[misc]
    arms = [v("slowdown", name, policy) for name in (kind, rival) for policy in (f"periodic {best[name]}", "none")]
    return jackknife(lambda a, b, c, d: over_band(changes(c, d), keep) - over_band(changes(a, b), keep), *arms)


@CLAIMS.add(
    "Z9",
    "Fig. 5a, 5.1",
    "order",
    "marginal; less with fewer",
    settings="C, I with shapes .65 and .2, P",
)
def _z9(v: View) -> Finding:
    """Failures without correlation: periodic checkpoints help only marginally, less so with fewer failures.

    Over the factors the best of 2, 4 and 24 h lowers the slowdown by clearly at most 20 % with shape .65 (3.2 a day)
    and with .2 (1.2), and by clearly more with .65.
    """
    many, few = _periodic(v, "b65"), _periodic(v, "b20")
    good = [_marginal(many), _marginal(few), higher(_helps_more(v, "b65", "b20"))]
    return Finding(f"slowdown, 3.2 a day: {shown(many)}; 1.2 a day: {shown(few)}", combine(*good))


@CLAIMS.add("Z10", "Fig. 5, 5.1", "order", "2, 4 h better; none", settings="C, I with shapes .65 and .2, P")
def _z10(v: View) -> Finding:
    """3.2 a day: every 2 or 4 h is better than every 24 h; 1.2 a day: no noticeable difference.

    Over the factors: slowdown with 2 h and with 4 h clearly below that with 24 h at shape .65; the three clearly within
    5 % of each other at .2.
    """
    many = {
        f"{hours} h": change(v, "slowdown", ("b65", f"periodic {hours} h"), ("b65", "periodic 24 h"))
        for hours in (2, 4)
    }
    few = {
        f"{a} h against {b} h": change(v, "slowdown", ("b20", f"periodic {a} h"), ("b20", f"periodic {b} h"))
        for a, b in ((2, 24), (4, 24), (2, 4))
    }
    same = every(*(within(estimate, -0.05, 0.05) for estimate in few.values()))
    return Finding(
        f"slowdown, 3.2 a day, against 24 h: {shown(many)}; 1.2 a day: {shown(few)}",
        combine(*map(lower, many.values()), same),
    )


@CLAIMS.add("Z11", "Fig. 5, 5.1", "number", "< .2 %, > .4 %", settings="C, I with shape .65, P")
def _z11(v: View) -> Finding:
    """Checkpoints every 2 h: work loss below .2 %, checkpoint overhead above .4 %.

    Over the factors at shape .65, each as far as a factor of two: work loss from .1 to .2 %, overhead from .4 to .8 %.
    """
    loss, cost = (level(v, column, ("b65", "periodic 2 h")) for column in ("work_loss", "checkpoint_overhead"))
    return Finding(
        f"work loss {loss.percent(3, '')}, checkpoint overhead {cost.percent(2, '')}",
        combine(
            known(0.001 <= loss.value < 0.002, loss.value),
            known(0.004 < cost.value <= 0.008, cost.value),
        ),
    )


@CLAIMS.add("Z12", "Fig. 6, 5.1", "order", "no help", settings="C, T, S, P")
def _z12(v: View) -> Finding:
    """Periodic checkpoints do not help under correlation in time, nor obviously under alpha = .99.

    Over the factors the best of 2, 4 and 24 h lowers the slowdown by clearly at most 20 % on T and on S.
    """
    found = {name: _periodic(v, TRACES[name]) for name in ("T", "S")}
    words = "; ".join(f"{name}: {shown(estimates)}" for name, estimates in found.items())
    return Finding(f"slowdown, {words}", combine(*map(_marginal, found.values())))


@CLAIMS.add("Z13", "Fig. 7, 5.2.1", "order", "almost none left", settings="C, I, T, S, BeforeFailure(300)")
def _z13(v: View) -> Finding:
    """A checkpoint right before each failure almost removes the loss.

    Over the factors at least 90 % less work loss on I, T and S. By the work loss, because a checkpoint before a kill is
    a free preemption, and the slowdown can end below that without failures.
    """
    left = {name: change(v, "work_loss", (kind, "before"), (kind, "none")) for name, kind in TRACES.items()}
    gaps = {name: gap_closed(v, (kind, "before"), (kind, "none")) for name, kind in TRACES.items()}
    return Finding(
        f"work loss {shown(left)}; of the slowdown that failures add {shown(gaps, sign='')} go",
        combine(*(lower(estimate, -0.9) for estimate in left.values())),
    )


def _distance(v: View, hours: int) -> Estimate:
    """How far the slowdown is from perfect prediction's, over the factors."""
    return jackknife(_away(v), *_arms(v, "slowdown", f"{hours} h all", "before"))


def _farther(v: View, a: int, b: int) -> Estimate:
    """How much farther the slowdown is from perfect prediction's with buckets of `b` hours than of `a`."""
    away = _away(v)
    arms = _arms(v, "slowdown", f"{a} h all", f"{b} h all", "before")
    return jackknife(lambda x, y, base: away(y, base) - away(x, base), *arms)


def _away(v: View) -> Callable[[Floats, Floats], float]:
    keep = band(v, "all")
    return lambda a, b: over_band(abs(changes(a, b)), keep)


def _arms(v: View, column: str, *policies: str) -> list[Floats]:
    return [v(column, "b85", policy) for policy in policies]


def _waste(v: View, policy: str) -> Floats:
    total: Floats = v("work_loss", "b85", policy) + v("checkpoint_overhead", "b85", policy)
    return total


def _gap(waste: Floats, base: Floats) -> float:
    return abs(float(waste.mean() - base.mean()))


def _wastes_more(v: View, a: int, b: int) -> Estimate:
    """How much farther work loss and overhead are from perfect prediction's with buckets of `b` hours than of `a`."""
    arms = (_waste(v, policy) for policy in (f"{a} h all", f"{b} h all", "before"))
    return jackknife(lambda x, y, base: _gap(y, base) - _gap(x, base), *arms)


@CLAIMS.add("Z14", "Fig. 8, 5.2.2", "order", "1 < 4 < 8 h; noticeable", settings="C, I, X; BeforeFailure(300)")
def _z14(v: View) -> Finding:
    """Knowing the bucket of each failure: closer to perfect prediction with smaller buckets, and noticeable with 8 h.

    For checkpoints of all jobs, from 1 to 4 to 8 h, work loss plus overhead goes clearly away from perfect
    prediction's, and so does the slowdown; with 8 h each heuristic lowers the slowdown by at least 10 % over the
    factors.
    """
    hours = (1, 4, 8)
    waste = [_gap(_waste(v, f"{h} h all"), _waste(v, "before")) for h in hours]
    away = [_distance(v, h) for h in hours]
    eight = {name: change(v, "slowdown", ("b85", f"8 h {name}"), ("b85", "none")) for name in HEURISTICS}
    good = [
        every(*(higher(_wastes_more(v, *pair)) for pair in ((1, 4), (4, 8)))),
        every(*(higher(_farther(v, *pair)) for pair in ((1, 4), (4, 8)))),
        every(*(sized(estimate, estimate.value <= -0.1) for estimate in eight.values())),
    ]
    return Finding(
        f"1 / 4 / 8 h, all jobs, away from perfect prediction: slowdown "
        f"{' / '.join(a.percent(sign='') for a in away)}, work loss and overhead "
        f"{' / '.join(f'{100 * w:.2f}' for w in waste)} points; slowdown with 8 h: {shown(eight)}",
        combine(*good),
    )


@CLAIMS.add("Z15", "Fig. 9, 5.2.2", "number", "equal; -70 %", settings="C, I, X")
def _z15(v: View) -> Finding:
    """4 h buckets: checkpointing all, long or big jobs does equally well, up to 70 % less slowdown.

    Over the factors the slowdowns are clearly within 10 % of each other; the largest fall over factors and heuristics
    is 50 to 90 %.
    """
    pairs = {
        f"{a} against {b}": change(v, "slowdown", ("b85", f"4 h {a}"), ("b85", f"4 h {b}"))
        for a, b in (("all", "long"), ("all", "big"), ("long", "big"))
    }
    best = {name: largest_change(v, "slowdown", ("b85", f"4 h {name}"), ("b85", "none"), -1) for name in HEURISTICS}
    most = max((fall for fall, _ in best.values()), key=lambda fall: fall.value)
    words = ", ".join(f"{name} {fall.percent(sign='')} (factor {at:g})" for name, (fall, at) in best.items())
    return Finding(
        f"slowdown: {shown(pairs)}; largest fall: {words}",
        combine(every(*(within(pair, -0.1, 0.1) for pair in pairs.values())), sized(most, 0.5 <= most.value <= 0.9)),
    )


def _benefit(v: View, column: str) -> Estimate:
    """How much more a column falls with W = 64 than with W = 2, over the factors and the three heuristics."""
    keep = band(v, "all")
    arms = [v(column, kind, policy) for kind in ("w2", "w64") for policy in ("none", *(f"4 h {h}" for h in HEURISTICS))]

    half = len(arms) // 2

    def fall(without: Floats, *rest: Floats) -> float:
        return -float(np.mean([over_band(changes(values, without), keep) for values in rest]))

    def more(*values: Floats) -> float:
        return fall(*values[half:]) - fall(*values[:half])

    return jackknife(more, *arms)


@CLAIMS.add("Z16", "Fig. 10, 5.2.2", "order", "more", settings="C, X; shape .85, alpha = .5, down 2 min")
def _z16(v: View) -> Finding:
    """Failures with correlation in time benefit more from buckets.

    Over the factors and the three heuristics with 4 h buckets, slowdown and work loss fall clearly more with W = 64
    than with W = 2.
    """
    slow, loss = _benefit(v, "slowdown"), _benefit(v, "work_loss")
    return Finding(
        f"W = 64 against 2, more taken away (points): slowdown {slow.percent()}, work loss {loss.percent()}",
        combine(higher(slow), higher(loss)),
    )


@CLAIMS.add("Z17", "Fig. 11c, 5.2.3", "number", "-50 %", settings="C, S, L")
def _z17(v: View) -> Finding:
    """Least failures first takes away nearly 50 % of the work loss where locations are not uniform.

    35 to 65 % less over the factors with threshold 1, and 20 to 80 %; clearly less.
    """
    found = {
        policy: change(v, "work_loss", ("a99", policy), ("a99", "none"))
        for policy in ("LFF 1", "LFF 2", "LFF 4", "LFF placement")
    }
    first = found["LFF 1"]
    others = {
        "threshold 2": found["LFF 2"],
        "threshold 4": found["LFF 4"],
        "without migration": found["LFF placement"],
        "uniform failures (I), threshold 1": change(v, "work_loss", ("b85", "LFF 1"), ("b85", "none")),
    }
    return Finding(
        f"work loss {first.percent()} (threshold 1); {shown(others)}",
        nearness(-first.value, 0.5, 0.15, clear=lower(first)),
    )


@CLAIMS.add("Z18", "sections 1, 5.2.3", "order", "better; most of the gap", settings="C, S, L, P")
def _z18(v: View) -> Finding:
    """Least failures first does better than periodic checkpoints and bridges most of the gap.

    On S: over the factors slowdown clearly below that with checkpoints every 2, 4 and 24 h; at least half of the gap
    closed.
    """
    rivals = {
        f"{hours} h": change(v, "slowdown", ("a99", "LFF 1"), ("a99", f"periodic {hours} h")) for hours in PERIODS
    }
    gap = gap_closed(v, ("a99", "LFF 1"), ("a99", "none"))
    good = [every(*map(lower, rivals.values())), sized(gap, gap.value >= 0.5)]
    return Finding(
        f"slowdown against checkpoints every {shown(rivals)}; {gap.percent(sign='')} of the gap closed", combine(*good)
    )


@CLAIMS.add("Z19", "section 1", "order", "a significant part", settings="C, I, X")
def _z19(v: View) -> Finding:
    """Knowing failures to 2-4 hours bridges a significant part of the gap.

    At least a quarter of the gap closed with buckets of 2 h and of 4 h, all jobs.
    """
    gaps = {f"{hours} h": gap_closed(v, ("b85", f"{hours} h all"), ("b85", "none")) for hours in (2, 4)}
    less = {f"{hours} h": change(v, "work_loss", ("b85", f"{hours} h all"), ("b85", "none")) for hours in (2, 4)}
    return Finding(
        f"of the slowdown that failures add {shown(gaps, sign='')} go; work loss {shown(less)}",
        combine(*(sized(gap, gap.value >= 0.25) for gap in gaps.values())),
    )
