"""What a first look on one log suggested of Slurm's torus3d, and when it holds.

The hypotheses and their rules were written before the first full run, those of segments, of larger boxes, of
predictors and of two tori before theirs.  An interval is a 95 % confidence interval over windows of a log, of paired
differences: all settings meet the same windows.
"""

import math
from collections.abc import Iterator

import numpy as np

from faultsim.arrays import Floats
from faultsim.reproduce.claims import NOT_JUDGED, Claims, Finding, Part, combine
from faultsim.reproduce.parts import higher, known, lower, sized, within
from faultsim.reproduce.replicates import difference
from faultsim.reproduce.torus3d.runs import FORESEEING, KREVAT, REVERSED, TWO_TORI, USUAL, Evidence, Key
from faultsim.sweep.jackknife import Estimate, jackknife

SETTINGS = {
    "S": "FCFS, all jobs of a window at once; saturation is what jobs ask for, until the last start, per node",
    "E": f'EasyBackfill(reservation="fixed"), offered load {USUAL:g}, requested times as planned, no failures',
    "J": "jobs: windows from r/R of a log on, sizes scaled by the ratio of the machines and rounded up (Mira as 65,536 "
    "nodes); times between arrivals scaled to the load; sizes without a shape rounded up to the next listed size",
    "F": "failures of a node every 50 days on average, Weibull shape 0.7, single or in bursts of eight on average; "
    "repairs take 1 h or 24 h",
    "P": "Confidence(0.5): every failure is foreseen, with probability 1/2",
}
CHOSEN = {"J": "sizes scaled and rounded up", "F": "rate and kind of failures"}
CLAIMS = Claims[Evidence](CHOSEN)


def _full(log: str, machine: str, shapes: str, **rest: str) -> Key:
    return Key(log, machine, 0.0, "fcfs", shapes, **rest)


def _easy(log: str, machine: str, shapes: str, **rest: str) -> Key:
    return Key(log, machine, USUAL, "easy", shapes, **rest)


def _gain(e: Evidence, low: Key, high: Key) -> Estimate:
    """By how much the saturation of `high` is above that of `low`, in points of the machine."""
    return difference(100 * e.values("saturation", low), 100 * e.values("saturation", high))


def ratio(e: Evidence, one: Key, other: Key, column: str = "slowdown") -> Estimate:
    """Mean over windows of the logarithm of the slowdown of `other` over that of `one`."""
    return difference(np.log(e.values(column, one)), np.log(e.values(column, other)))


def _points(found: Estimate) -> str:
    return f"{found.value:+.1f} +- {found.half:.1f}"


def _times(found: Estimate) -> str:
    return f"{math.exp(found.value):.2f} [{math.exp(found.low):.2f}, {math.exp(found.high):.2f}]"


def _count(good: list[Part]) -> str:
    return f"{good.count(True)} of {len(good)}"


def _with_every_node(e: Evidence) -> Iterator[tuple[str, str, str]]:
    """Cases with the longest list that their machine has."""
    for log, machine in e.cases:
        yield log, machine, e.what.lists(machine)[-1]


@CLAIMS.add("V1", "the list or the score", "order", "the list", settings="E, J")
def _list_not_score(e: Evidence) -> Finding:
    """Under EASY the score hardly matters and the list of shapes does.

    Every score changes the slowdown of one shape per size clearly by less than 10 %, and the longest list that of the
    powers of two clearly by more than 10 %; of each case both.
    """
    ours: list[str] = []
    good: list[Part] = []
    ten = math.log(1.1)
    for log, machine, longest in _with_every_node(e):
        base = _easy(log, machine, "one per size")
        scores = [ratio(e, base, base._replace(score=score)) for score in ("first", "mfp", "random")]
        lists = ratio(e, _easy(log, machine, longest), _easy(log, machine, "powers"))
        parts = [within(each, -ten, ten) for each in scores]
        good.append(None if None in parts and False not in parts else all(parts))
        good.append(True if higher(lists, ten) or lower(lists, -ten) else within(lists, -ten, ten) and False)
        most = max(scores, key=lambda each: abs(each.value))
        ours.append(f"{e.at(log, machine)} score {_times(most)}, powers over longest list {_times(lists)}")
    return Finding(f"{_count(good)}: {'; '.join(ours)}", combine(*good))


@CLAIMS.add("V2", "the score under FCFS", "order", "between", settings="S, J")
def _between(e: Evidence) -> Finding:
    """Under FCFS with one shape per size the score lies between the first anchor and MFP.

    Slurm's saturation is clearly above that of the first anchor, and MFP's clearly above Slurm's, in every case.
    """
    ours: list[str] = []
    good: list[Part] = []
    for log, machine in e.cases:
        slurm, first, mfp = (_full(log, machine, "one per size", score=s) for s in ("slurm", "first", "mfp"))
        above, below = _gain(e, first, slurm), _gain(e, slurm, mfp)
        good += [higher(above), higher(below)]
        ours.append(f"{e.at(log, machine)} {_points(above)} over first, MFP {_points(below)} over it")
    return Finding(f"{_count(good)}, points: {'; '.join(ours)}", combine(*good))


@CLAIMS.add("V3", "the score under FCFS", "order", "no better", settings="S, J")
def _rotations(e: Evidence) -> Finding:
    """With rotations Slurm's score is no better than the first anchor.

    Its saturation is clearly less than one point above that of the first anchor, in every case.
    """
    ours: list[str] = []
    good: list[Part] = []
    for log, machine in e.cases:
        slurm, first = (_full(log, machine, "rotations", score=s) for s in ("slurm", "first"))
        above = _gain(e, first, slurm)
        good.append(lower(above, 1.0))
        ours.append(f"{e.at(log, machine)} {_points(above)}")
    return Finding(f"{_count(good)}, points: {'; '.join(ours)}", combine(*good))


@CLAIMS.add("V4", "sizes without a shape", "number", "a factor of 2", settings="E, J")
def _rounding(e: Evidence) -> Finding:
    """Rounding sizes to powers of two costs a factor of two in slowdown.

    The slowdown with powers of two is at least twice that of one shape per size, in every case but Mira's, whose sizes
    are powers of two.
    """
    ours: list[str] = []
    good: list[Part] = []
    for log, machine in e.cases:
        if log == "mira":
            continue
        cost = ratio(e, _easy(log, machine, "one per size"), _easy(log, machine, "powers"))
        good.append(sized(cost, cost.value >= math.log(2.0)))
        ours.append(f"{e.at(log, machine)} {_times(cost)}")
    return Finding(f"{_count(good)}, times: {'; '.join(ours)}", combine(*good))


@CLAIMS.add("V5", "what Krevat's rule has more", "order", "most", settings="S, J")
def _larger(e: Evidence) -> Finding:
    """Never allowing a larger box costs most of the saturation that Slurm's rule lacks.

    Of the points of saturation between Krevat's rule and Slurm's with one shape per size, at least half are between
    Krevat's rule and the same boxes and score without larger ones, by value where that difference is clearly not 0.
    """
    ours: list[str] = []
    good: list[Part] = []
    for log, machine, longest in _with_every_node(e):
        if longest != "every box, every node":
            continue
        krevat, same = _full(log, machine, KREVAT), _full(log, machine, longest, score="mfp")
        lack = _gain(e, _full(log, machine, "one per size"), krevat)
        larger = _gain(e, same, krevat)
        share = larger.value / lack.value if lack.value > 0 else math.nan
        good.append(sized(larger, share >= 0.5) if lack.value > 0 else known(False, lack.value))
        ours.append(f"{e.at(log, machine)} {_points(larger)} of {_points(lack)}")
    if not good:
        return Finding("not run", NOT_JUDGED)
    return Finding(f"{_count(good)}, points: {'; '.join(ours)}", combine(*good))


@CLAIMS.add("V6", "migration", "number", "several points", settings="S, J")
def _migration(e: Evidence) -> Finding:
    """Migration adds several points of saturation.

    At least two points, clearly not 0, to one shape per size and to Krevat's rule, in every case.
    """
    ours: list[str] = []
    good: list[Part] = []
    for log, machine in e.cases:
        said = []
        for shapes in ("one per size", KREVAT):
            base = _full(log, machine, shapes)
            more = _gain(e, base, base._replace(extra="migration"))
            good.append(sized(more, more.value >= 2.0))
            said.append(_points(more))
        ours.append(f"{e.at(log, machine)} {' and '.join(said)}")
    return Finding(f"{_count(good)}, points: {'; '.join(ours)}", combine(*good))


def _sizes_of_effects(order: Floats, score: Floats) -> float:
    return abs(float(order.mean())) - abs(float(score.mean()))


@CLAIMS.add("V7", "the order of equal sizes", "order", "as much", settings="S, J")
def _order(e: Evidence) -> Finding:
    """The order in which equal sizes are listed matters as much as the score.

    The change of the saturation by listing rotations in reverse order is clearly not smaller than that by the first
    anchor instead of Slurm's score, less one point, in every case.
    """
    ours: list[str] = []
    good: list[Part] = []
    for log, machine in e.cases:
        base = _full(log, machine, "rotations")
        order, score = (
            100 * (e.values("saturation", other) - e.values("saturation", base))
            for other in (base._replace(shapes=REVERSED), base._replace(score="first"))
        )
        good.append(higher(jackknife(_sizes_of_effects, order, score), -1.0))
        ours.append(f"{e.at(log, machine)} order {order.mean():+.1f}, score {score.mean():+.1f}")
    return Finding(f"{_count(good)}, points: {'; '.join(ours)}", combine(*good))


@CLAIMS.add("V8", "a better score", "order", "a gain", settings="S, E, J")
def _next_size(e: Evidence) -> Finding:
    """A cost over all shapes of the next size, compared across rotations, is a free gain.

    With rotations it raises the saturation clearly, and the slowdown under EASY is clearly less than 5 % higher, in
    every case.
    """
    ours: list[str] = []
    good: list[Part] = []
    for log, machine in e.cases:
        full, easy = _full(log, machine, "rotations"), _easy(log, machine, "rotations")
        more = _gain(e, full, full._replace(score="next-size"))
        slower = ratio(e, easy, easy._replace(score="next-size"))
        good += [higher(more), lower(slower, math.log(1.05))]
        ours.append(f"{e.at(log, machine)} {_points(more)} points, slowdown times {_times(slower)}")
    return Finding(f"{_count(good)}: {'; '.join(ours)}", combine(*good))


@CLAIMS.add("V9", "down nodes", "order", "short lists most", settings="E, J, F")
def _down(e: Evidence) -> Finding:
    """Down nodes hurt short lists most.

    The kind of failures with the longest repairs multiplies the slowdown clearly more with powers of two than with
    the longest list, on every log.
    """
    ours: list[str] = []
    good: list[Part] = []
    machine, kind = e.failing, e.what.failures[-1]
    longest = e.what.lists(machine)[-1]
    for log in e.what.logs:
        rise = {
            name: np.log(e.values("slowdown", _easy(log, machine, name, failures=kind)))
            - np.log(e.values("slowdown", _easy(log, machine, name)))
            for name in ("powers", longest)
        }
        more = difference(rise[longest], rise["powers"])
        good.append(higher(more))
        ours.append(
            f"{e.at(log, machine)} powers times {math.exp(rise['powers'].mean()):.2f}, {longest} times "
            f"{math.exp(rise[longest].mean()):.2f}, ratio {_times(more)}"
        )
    return Finding(f"{_count(good)}: {'; '.join(ours)}", combine(*good))


@CLAIMS.add("V10", "sizes without a shape", "order", "segments", settings="E, J")
def _segments(e: Evidence) -> Finding:
    """Segments of powers of two take back what rounding to powers of two costs.

    With powers of two the slowdown is clearly lower in segments than rounded up, and clearly at most 10 % above that of
    one shape per size, in every case but Mira's, whose sizes are powers of two.
    """
    ours: list[str] = []
    good: list[Part] = []
    for log, machine in e.cases:
        if log == "mira":
            continue
        parted = _easy(log, machine, "powers", unlisted="segments")
        rounded = ratio(e, _easy(log, machine, "powers"), parted)
        above = ratio(e, _easy(log, machine, "one per size"), parted)
        good += [lower(rounded), lower(above, math.log(1.1))]
        ours.append(f"{e.at(log, machine)} {_times(rounded)} of rounded up, {_times(above)} of one shape per size")
    return Finding(f"{_count(good)}, times: {'; '.join(ours)}", combine(*good))


@CLAIMS.add("V11", "larger boxes", "order", "a gain", settings="S, E, J")
def _larger_listed(e: Evidence) -> Finding:
    """A larger listed box for the head of the queue is a free gain.

    With one shape per size it raises the saturation clearly, and the slowdown under EASY is clearly less than 5 %
    higher, in every case.
    """
    ours: list[str] = []
    good: list[Part] = []
    for log, machine in e.cases:
        full, easy = _full(log, machine, "one per size"), _easy(log, machine, "one per size")
        more = _gain(e, full, full._replace(extra="larger"))
        slower = ratio(e, easy, easy._replace(extra="larger"))
        good += [higher(more), lower(slower, math.log(1.05))]
        ours.append(f"{e.at(log, machine)} {_points(more)} points, slowdown times {_times(slower)}")
    return Finding(f"{_count(good)}: {'; '.join(ours)}", combine(*good))


def _stopped(e: Evidence, without: Key, foreseen: Key) -> Estimate:
    """By how much more jobs of 1,000 failures stop in `foreseen`."""
    per = 1000 / e.what.jobs
    return difference(per * e.values("kills", without), per * e.values("kills", foreseen))


@CLAIMS.add("V12", "a predictor", "order", "fewer stopped jobs", settings="E, J, F, P")
def _ties(e: Evidence) -> Finding:
    """A predictor that breaks ties lets failures stop fewer jobs, whatever the list.

    Of the kind of failures with the longest repairs, clearly fewer jobs are stopped with `score="tie-breaking"` than
    with Slurm's, with powers of two, one shape per size and the longest list, on every log.
    """
    ours: list[str] = []
    good: list[Part] = []
    machine = e.failing
    for log in e.what.logs:
        said = []
        for name in ("powers", "one per size", e.what.lists(machine)[-1]):
            base = _easy(log, machine, name, failures=e.what.failures[-1])
            more = _stopped(e, base, base._replace(score="tie-breaking", extra="predictor"))
            good.append(lower(more))
            said.append(f"{name} {_points(more)} of {1000 / e.what.jobs * e.values('kills', base).mean():.1f}")
        ours.append(f"{e.at(log, machine)} {', '.join(said)}")
    return Finding(f"{_count(good)}, stopped of 1,000 jobs: {'; '.join(ours)}", combine(*good))


@CLAIMS.add("V13", "a predictor", "order", "balancing", settings="E, J, F, P")
def _balancing(e: Evidence) -> Finding:
    """Balancing avoids more failures than ties do, at no cost in slowdown.

    With one shape per size and with the longest list clearly fewer jobs are stopped with `score="balancing"` than with
    `"tie-breaking"`, and the slowdown is clearly less than 5 % above that of `"mfp"` without a predictor, on every log.
    """
    ours: list[str] = []
    good: list[Part] = []
    machine = e.failing
    for log in e.what.logs:
        said = []
        for name in ("one per size", e.what.lists(machine)[-1]):
            ties, balanced = (
                _easy(log, machine, name, failures=e.what.failures[-1], score=score, extra="predictor")
                for score in FORESEEING
            )
            more = _stopped(e, ties, balanced)
            slower = ratio(e, balanced._replace(score=FORESEEING["balancing"], extra=""), balanced)
            good += [lower(more), lower(slower, math.log(1.05))]
            said.append(f"{name} {_points(more)}, slowdown times {_times(slower)}")
        ours.append(f"{e.at(log, machine)} {', '.join(said)}")
    return Finding(f"{_count(good)}, stopped of 1,000 jobs: {'; '.join(ours)}", combine(*good))


@CLAIMS.add("V14", "several tori", "order", "costs little", settings="S, E, J")
def _two_tori(e: Evidence) -> Finding:
    """Two tori of half the nodes cost little if jobs may have segments.

    With powers of two in segments the saturation on two tori is clearly less than two points below that on one, and
    the slowdown under EASY is clearly less than 10 % higher, on every log.
    """
    ours: list[str] = []
    good: list[Part] = []
    machine = e.what.parted
    for log in e.what.logs:
        full, easy = (kind(log, machine, "powers", unlisted="segments") for kind in (_full, _easy))
        less = _gain(e, full, full._replace(extra=TWO_TORI))
        slower = ratio(e, easy, easy._replace(extra=TWO_TORI))
        good += [higher(less, -2.0), lower(slower, math.log(1.1))]
        ours.append(f"{e.at(log, machine)} {_points(less)} points, slowdown times {_times(slower)}")
    return Finding(f"{_count(good)}: {'; '.join(ours)}", combine(*good))
