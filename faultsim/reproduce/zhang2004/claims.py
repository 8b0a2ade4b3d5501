"""The claims Z1-Z8 of [zhang2004]: the failures, and what they do to a scheduler that knows nothing of them.

Rules and tolerances were written before the runs were looked at; see `measures` for the words in them.
"""

import itertools

import numpy as np

from faultsim.reproduce.claims import Claims, Finding, Part, combine, nearness
from faultsim.reproduce.parts import every, higher, known, sized, within
from faultsim.reproduce.zhang2004.inputs import COUNTS, DAYS
from faultsim.reproduce.zhang2004.measures import change, changes, larger, largest_change, level, shown
from faultsim.reproduce.zhang2004.runs import CLEAN, View
from faultsim.sweep.jackknife import Estimate, jackknife

#: What the letters in the claims' settings stand for.
SETTINGS = {
    "C": 'Cluster(320), EasyBackfill(), FirstFit(), estimates="actual", Requeue(place=...) by arrival and at the tail'
    ", no restart cost; run-time factors .3, .4, ... 1.1",
    "I": "failures without correlation: Weibull(18,000 s, shape .85), 266 of them scaled to 62 days, W = 2, alpha = .01"
    ", down 2 min; with another shape, Table 1's number of failures",
    "T": "I with correlation in time: W = 64, alpha = .5 (the trace of Figure 3b)",
    "S": "I with correlation in space: alpha = .99",
    "P": "Periodic(interval, cost=300)",
    "X": "PredictedWindows(bucket, victims, interval=7200, cost=300); victims AllJobs(), LongJobs(300), BigJobs(1)",
    "L": "LeastFailuresFirst(), LeastFailuresMigration(threshold=1, cost=300)",
}
SHAPES = {0.2: "b20", 0.55: "b55", 0.65: "b65", 0.85: "b85"}
#: Table 1 as printed: failures a day.
PRINTED = {0.2: 1.2, 0.55: 2.2, 0.65: 3.2, 0.85: 4.3}
#: Letter of the settings -> what we chose with it.
CHOSEN = {
    # The paper's abscissa has no values, and its workload is not public.
    "C": "job lengths (run-time factors .3 to 1.1 of another log's)",
    "X": "checkpoints every 2 h within a bucket",
    "L": "threshold 1",
}
CLAIMS = Claims[View](CHOSEN)


@CLAIMS.add(
    "Z1", "Table 1", "number", "78 / 1.2, 138 / 2.2, 198 / 3.2, 266 / 4.3", settings="Weibull renewal processes"
)
def _z1(v: View) -> Finding:
    """Weibull times between failures (18,000 s; shapes .2, .55, .65, .85) give 78, 138, 198, 266 failures, 1.2, 2.2,
    3.2, 4.3 a day.

    For each row the count over 62 days is within .1 of the printed rate, and within the 5-95 % range of a Weibull
    renewal process over 62 days (2,000 draws; in parentheses).
    """
    ours: list[str] = []
    good: list[Part] = []
    for shape, count in COUNTS.items():
        low, mean, high = v.evidence.checks["Z1"][shape]
        rate = count / DAYS
        good += [abs(rate - PRINTED[shape]) <= 0.1, known(low <= count <= high, low, high)]
        ours.append(f"{shape:g}: {rate:.2f} a day, drawn {mean:.0f} ({low:.0f}-{high:.0f})")
    return Finding("; ".join(ours), combine(*good), "the counts are taken from the paper and scaled to the 62 days")


@CLAIMS.add("Z2", "Fig. 3a, 4.1", "number", "+40 %, +300 %", settings="C, I")
def _z2(v: View) -> Finding:
    """1.2 failures a day raise the slowdown by up to 40 %, 4.3 by up to 300 %.

    The largest rise over the factors against the run without failures is within a factor of 2: 20-80 % with shape .2
    and 150-600 % with .85; both clearly above 0.
    """
    rises = {shape: largest_change(v, "slowdown", (SHAPES[shape], "none"), CLEAN) for shape in (0.2, 0.85)}
    few, many = rises[0.2][0], rises[0.85][0]
    good = [sized(few, 0.2 <= few.value <= 0.8), sized(many, 1.5 <= many.value <= 6.0)]
    words = [f"shape {shape:g} {rise.percent()} (factor {at:g})" for shape, (rise, at) in rises.items()]
    return Finding("largest rise of the slowdown: " + ", ".join(words), combine(*good))


@CLAIMS.add("Z3", "Fig. 3a, 4.1", "number", "linear; .2 %", settings="C, I")
def _z3(v: View) -> Finding:
    """The work loss grows almost linearly with beta; .2 % suffices for a considerable degradation.

    Work loss over the factors rises clearly from shape to shape and R2 of a line through the four is at least .9; at
    the point with a work loss of at most .2 % at which the slowdown rises most it rises by at least 10 %, clearly.
    """
    losses = {shape: level(v, "work_loss", (kind, "none")) for shape, kind in SHAPES.items()}
    values = np.array([loss.value for loss in losses.values()])
    r2 = float(np.corrcoef(list(losses), values)[0, 1] ** 2) if values.std() else 0.0
    steps = [higher(_step(v, *pair)) for pair in itertools.pairwise(SHAPES.values())]
    most, words = Estimate(float("nan"), float("nan")), "no point has a work loss of .2 % or less"
    for kind in SHAPES.values():
        small = v("work_loss", kind).mean(axis=1) <= 0.002
        if small.any():
            arms = [values[small] for values in (v("slowdown", kind), v("slowdown"))]
            at = int(np.argmax(changes(*arms)))
            found = jackknife(lambda a, b: float(changes(a, b)[0]), *(arm[[at]] for arm in arms))
            most = most if most.value >= found.value else found
    if not np.isnan(most.value):
        words = f"with a work loss of .2 % or less the slowdown rises by up to {most.percent()}"
    return Finding(
        f"work loss {shown({f'{shape:g}': loss for shape, loss in losses.items()}, 3, '')}; "
        f"R2 of a line {r2:.2f}; {words}",
        combine(every(*steps, known(r2 >= 0.9, *values)), sized(most, most.value >= 0.10)),
    )


def _step(v: View, low: str, high: str) -> Estimate:
    """By how much more work is lost under one kind of failures than under another."""
    return jackknife(lambda a, b: float(b.mean() - a.mean()), *(v("work_loss", kind) for kind in (low, high)))


@CLAIMS.add("Z4", "Fig. 3a, 4.1", "number", "+40 %", settings="C, I")
def _z4(v: View) -> Finding:
    """beta = .85: the work loss is 40 % higher at high than at low load.

    More at high load (factors .9-1.1) than at low load (.3-.5) by 40 %, within 20 points and within 40.
    """
    high, low = (level(v, "work_loss", ("b85", "none"), where) for where in ("high", "low"))
    more = high.value / low.value - 1 if low.value else float("nan")
    return Finding(
        f"low load {low.percent(3, '')}, high {high.percent(3, '')}: {100 * more:+.0f} %", nearness(more, 0.4, 0.2)
    )


@CLAIMS.add("Z5", "Fig. 3b, 4.1", "order", "slightly more", settings="C; shape .85, alpha = .5, down 2 min")
def _z5(v: View) -> Finding:
    """Correlation in time matters little: W = 64 loses slightly more work than W = 2.

    Over the factors: work loss clearly higher; by at most 25 %, clearly; slowdown clearly within 25 %.
    """
    loss, slow = (change(v, column, ("w64", "none"), ("w2", "none")) for column in ("work_loss", "slowdown"))
    good = [higher(loss), within(loss, -0.25, 0.25), within(slow, -0.25, 0.25)]
    return Finding(f"W = 64 against 2: {shown({'work loss': loss, 'slowdown': slow})}", combine(*good))


@CLAIMS.add("Z6", "Fig. 3c, 4.1", "order", "more at low, equal at high; medium", settings="C, I, S")
def _z6(v: View) -> Finding:
    """alpha = .99 against .01: much more work loss at low load, none more at high; the slowdown differs most at medium
    load (node 0 fails most and is allocated first).

    Work loss at least 50 % higher at low load and clearly within 20 % at high load; the change of the slowdown is
    clearly larger at medium load than at low and at high.
    """

    def at(column: str, where: str) -> Estimate:
        return change(v, column, ("a99", "none"), ("b85", "none"), where)

    loss = {where: at("work_loss", where) for where in ("low", "medium", "high")}
    slow = {where: at("slowdown", where) for where in ("low", "medium", "high")}
    arms = ("a99", "none"), ("b85", "none")
    middle = [higher(larger(v, "slowdown", arms, arms, wheres=("medium", end))) for end in ("low", "high")]
    good = [sized(loss["low"], loss["low"].value >= 0.5), within(loss["high"], -0.2, 0.2), every(*middle)]
    return Finding(
        f"alpha = .99 against .01 at low, medium, high load: work loss {_three(loss)}; slowdown {_three(slow)}",
        combine(*good),
    )


def _three(estimates: dict[str, Estimate]) -> str:
    return ", ".join(estimate.percent() for estimate in estimates.values())


#: Failure parameter -> its two ends.
_ENDS = {
    "beta .2 to .85": ("b20", "b85"),
    "W 2 to 64": ("w2", "w64"),
    "alpha .01 to .99": ("b85", "a99"),
    "down 2 min to 4 h": ("b85", "b85, 4 h down"),
}


@CLAIMS.add("Z7", "4.1", "order", "beta", settings="C, I, T, S")
def _z7(v: View) -> Finding:
    """Of all failure parameters beta has the strongest effect.

    Over the factors the change from beta .2 to .85 is clearly larger than from W 2 to 64, alpha .01 to .99 and down
    times of 2 min to 4 h, for the slowdown and for the work loss.
    """
    ours: list[str] = []
    good: list[Part] = []
    for column, word in (("slowdown", "slowdown"), ("work_loss", "work loss")):
        found = {name: change(v, column, (b, "none"), (a, "none")) for name, (a, b) in _ENDS.items()}
        first, *others = (((b, "none"), (a, "none")) for a, b in _ENDS.values())
        good.append(every(*(higher(larger(v, column, first, other)) for other in others)))
        ours.append(f"{word}: {shown(found)}")
    return Finding("; ".join(ours), combine(*good))


@CLAIMS.add("Z8", "Fig. 4, 4.2", "order", "negligible", settings="C, I, T, S; down 2 min, 1 h, 4 h")
def _z8(v: View) -> Finding:
    """Down times from 2 minutes to 4 hours make a negligible difference.

    Over the factors the slowdown with 1 h and with 4 h is clearly within 10 % of that with 2 min, for I, T and S.
    """
    ours: list[str] = []
    good: list[Part] = []
    for kind, word in (("b85", "I"), ("w64", "T"), ("a99", "S")):
        found = [change(v, "slowdown", (f"{kind}, {hours} h down", "none"), (kind, "none")) for hours in (1, 4)]
        good += [within(estimate, -0.1, 0.1) for estimate in found]
        ours.append(f"{word} {found[0].percent()} / {found[1].percent()}")
    return Finding("slowdown with 1 h / 4 h against 2 min: " + "; ".join(ours), combine(*good))
