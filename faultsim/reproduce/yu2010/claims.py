"""The claims L1-L11 of [yu2010] with the rules that judge them; written before the first full run.

See `measures` for the words in the rules.
"""

from itertools import pairwise

import numpy as np

from faultsim.arrays import Floats
from faultsim.reproduce.claims import Claims, Finding, all_of, combine, nearness
from faultsim.reproduce.parts import every, higher, lower, sized, within
from faultsim.reproduce.yu2010.checks import DECISIONS
from faultsim.reproduce.yu2010.measures import correlation, growth, listed, mean, rise, saved, saving, trend
from faultsim.reproduce.yu2010.runs import READINGS, View

#: Claims about the worked example and the definitions: they need no runs.
UNITS = ("L1", "L2", "L3", "L4")
#: What the letters in the claims' settings stand for.
SETTINGS = {
    "E": "the worked example: 5 jobs, Resources(3), costs reconstructed, failures and predictions as printed",
    "W": 'Resources(32), Flaw(across="ascending"), transfers="parallel", outputs="node"; 1, 5, 10, 20 workflows, all '
    "of which arrive at time 0; ten windows of 32 nodes and 60 days, five prediction traces each at AOA .5, .6, ... .9 "
    "with a random share of false positives; AOA 0 is Blind(), AOA 1 is Perfect()",
    "N": "W without failures and predictions, RankHybd()",
}
_BENCH = 'ranges of the random workflows; across="ascending"'
#: Letter of the settings -> what we chose with it; N is W without failures.
CHOSEN = {"E": "costs of the jobs, with which both traces come out as printed", "W": _BENCH, "N": _BENCH}
_HOUR = 3600.0
CLAIMS = Claims[View](CHOSEN)


#: Of the worked example: makespan, loss time and reschedulings.
PRINTED_TOTALS = {"RANK_HYBD": (155, 30, 4), "FLAW": (150, 20, 1)}


@CLAIMS.add("L1", "Fig. 6-8", "unit", "155 / 30 / 4, 150 / 20 / 1", settings="E")
def _l1(v: View) -> Finding:
    """The worked example: makespan, loss time and reschedulings 155 / 30 / 4 with RANK_HYBD, 150 / 20 / 1 with FLAW, by
    the decisions of Figures 7 and 8.

    Exact, decision by decision.
    """
    runs = v.evidence.checks["example"]
    ours = ", ".join("{}: {:g} / {:g} / {}".format(name, *runs[name].totals) for name in PRINTED_TOTALS)
    same = {name: runs[name].decisions == DECISIONS[name] for name in PRINTED_TOTALS}
    good = [runs[name].totals == totals and same[name] for name, totals in PRINTED_TOTALS.items()]
    found = "; ".join(f"decisions of {name} {'as printed' if yes else 'differ'}" for name, yes in same.items())
    return Finding(ours, combine(*good), found)


@CLAIMS.add("L2", "Fig. 5, 8; section 4.D", "unit", "50 %; 10 queries, 90 %", settings="E")
def _l2(v: View) -> Finding:
    """The example's predictions have an AOA of 50 %; FLAW's 10 queries an AAA of 90 %.

    Exact, with one query a pass and free node.
    """
    flaw = v.evidence.checks["example"]["FLAW"].result
    asked, right = flaw.questions["per_pass"]
    really, also = flaw.questions["per_node"]
    return Finding(
        f"AOA {100 * flaw.aoa:g} %; {asked} queries, {right} right: AAA {100 * right / asked:g} %",
        combine(flaw.aoa == 0.5, (asked, right) == (10, 9)),
        f"counting only what was asked: {also} of {really}",
    )


@CLAIMS.add("L3", "Fig. 1", "unit", "33.3 %; 100 %, 50 %", settings="one node, two failures, two predictions")
def _l3(v: View) -> Finding:
    """One hit, one miss and one false positive are an AOA of 33.3 %, while precision and recall are 100 % or 50 %, by
    the length of the prediction period.

    Exact, on two failures and two predictions placed as in the figure.
    """
    found = v.evidence.checks["figure 1"]
    large, small = found["large"], found["small"]
    return Finding(
        f"AOA {100 * found['aoa']:.1f} %; precision and recall {100 * large[0]:g} and {100 * large[1]:g} % with a long "
        f"period, {100 * small[0]:g} and {100 * small[1]:g} % with a short one",
        combine(abs(found["aoa"] - 1 / 3) < 1e-12, large == (1.0, 1.0), small == (0.5, 0.5)),
    )


@CLAIMS.add("L4", "section 4.C", "unit", "false positive; right", settings="two nodes, one job, Flaw()")
def _l4(v: View) -> Finding:
    """A prediction at 130 for a node down from 100 to 120 is a false positive, and yet the right answer for a job until
    140.

    Exact: AOA 0, the node is refused, all answers right.
    """
    found = v.evidence.checks["window"]
    asked, right = found["first"]
    return Finding(
        f"AOA {found['aoa']:g}; the node is refused, {right} of {asked} answers right",
        combine(found["aoa"] == 0.0, found["node"] == 1, (asked, right) == (2, 2)),
        "a second node, which stays up, takes the job",
    )


@CLAIMS.add("L5", "Fig. 9", "order", "lower makespan", settings="W; 10 workflows")
def _l5(v: View) -> Finding:
    """FLAW beats the FIFO-based failure-aware scheduler with 10 concurrent workflows.

    Mean makespan clearly below that of Fifo(aware=True) at every AOA.
    """
    many = v.what.many
    ours = {f"{aoa:g}": saved(v("makespan", many, aoa), v("makespan", many, aoa, "fifo")) for aoa in v.what.aoas}
    return Finding(
        f"mean makespan against FIFO, {many} workflows, by AOA: {listed(ours)} less",
        combine(*(higher(estimate) for estimate in ours.values())),
    )


@CLAIMS.add("L6", "Fig. 10, 13", "order", "falls; more with load", settings="W")
def _l6(v: View) -> Finding:
    """Makespans fall with AOA, the more the more workflows there are.

    For every number of workflows the saving at AOA 1 is clearly above 0 and the trend clearly below; from the least to
    the largest number the saving at AOA 1 grows clearly in hours and in percent.
    """
    flows = v.what.flows
    gains = {n: saving(v, "makespan", n, 1.0) for n in flows}
    slopes = {n: trend(v, "makespan", n) for n in flows}
    ends = [(v("makespan", n, 1.0), v("makespan", n, 0.0)) for n in (flows[0], flows[-1])]
    hours, share = (growth(*ends, relative=relative) for relative in (False, True))
    middle = {n: saving(v, "makespan", n, 0.5) for n in flows}
    return Finding(
        f"saved at AOA 1, by workflows: {listed({str(n): e for n, e in gains.items()})}; trend over AOA "
        f"{listed({str(n): e for n, e in slopes.items()})}; from {flows[0]} to {flows[-1]} workflows the saving grows "
        f"by {hours.value / _HOUR:.1f} +- {hours.half / _HOUR:.1f} h and by {100 * share.value:.1f} +- "
        f"{100 * share.half:.1f} points",
        combine(*map(higher, gains.values()), *map(lower, slopes.values()), higher(hours), higher(share)),
        f"at AOA .5: {listed({str(n): e for n, e in middle.items()})}",
    )


@CLAIMS.add("L7", "Fig. 11", "order", "considerably", settings="W")
def _l7(v: View) -> Finding:
    """Higher AOA reduces the loss time considerably.

    For every number of workflows at AOA .9 at least 25 % less by value, and clearly not 0; a trend clearly below 0.
    """
    flows = v.what.flows
    gains = {n: saving(v, "loss", n, 0.9) for n in flows}
    slopes = {n: trend(v, "loss", n) for n in flows}
    half = {n: saving(v, "loss", n, 0.5) for n in flows}
    return Finding(
        f"loss time saved at AOA .9, by workflows: {listed({str(n): e for n, e in gains.items()})}; trend over AOA "
        f"{listed({str(n): e for n, e in slopes.items()})}",
        combine(*(sized(e, e.value >= 0.25) for e in gains.values()), *map(lower, slopes.values())),
        f"at AOA .5: {listed({str(n): e for n, e in half.items()})}",
    )


@CLAIMS.add("L8", "Fig. 12; section 1", "order", "falls; significantly", settings="W")
def _l8(v: View) -> Finding:
    """Reschedulings fall with AOA, significantly with trivial AOA under intensive load.

    The trend is clearly below 0 for every number of workflows; with 10 or more at AOA .5 at least 20 % fewer by value,
    and clearly not 0.
    """
    flows = v.what.flows
    heavy = [n for n in flows if n >= 10]
    slopes = {n: trend(v, "reschedulings", n) for n in flows}
    half = {n: saving(v, "reschedulings", n, 0.5) for n in flows}
    blind = ", ".join(f"{v('reschedulings', n, 0.0).mean():.1f}" for n in flows)
    return Finding(
        f"fewer reschedulings at AOA .5, by workflows: {listed({str(n): e for n, e in half.items()})}; trend over AOA "
        f"{listed({str(n): e for n, e in slopes.items()})}",
        combine(
            *(sized(half[n], half[n].value >= 0.2) for n in heavy),
            *map(lower, slopes.values()),
        ),
        f"reschedulings at AOA 0: {blind}",
    )


@CLAIMS.add("L9", "Fig. 14", "order", "no correlation", settings="W; 10 workflows")
def _l9(v: View) -> Finding:
    """The makespan does not correlate with the share of false positives among the mistakes.

    At AOA .5 and .6, ten shares from 0 to 1 in every window: the correlation of the share with the makespan (relative
    to the window's mean) is clearly within .3 of 0.
    """
    found = {aoa: correlation(v, aoa) for aoa in v.what.mix_aoas}
    words = ", ".join(f"AOA {aoa:g}: r = {r.value:+.2f} +- {r.half:.2f}" for aoa, r in found.items())
    return Finding(f"{words} ({v.what.many} workflows)", combine(*(within(r, -0.3, 0.3) for r in found.values())))


@CLAIMS.add("L10", "Fig. 15", "number", "96 %; closer to 50 %; increases", settings="W")
def _l10(v: View) -> Finding:
    """AAA is about 96 % at an AOA of 50 %; failure-blind it comes closer to 50 % under heavy load; it increases
    steadily with AOA.

    Counted per pass and free node: at AOA .5, mean over the numbers of workflows, within 3 points of 96 %; at AOA 0
    with the most workflows at most 75 %; for every number of workflows it rises from each AOA to the next; all of it
    clearly: three parts.
    """
    flows = v.what.flows
    half, blind = mean(*(v("aaa", n, 0.5) for n in flows)), mean(v("aaa", flows[-1], 0.0))
    rising = [every(*(higher(rise(v("aaa", n, a), v("aaa", n, b))) for a, b in pairwise(v.what.aoas))) for n in flows]
    asked = float(np.mean([v("aaa_asked", n, 0.5).mean() for n in flows]))
    alike = float(v("aaa_asked", flows[-1], 0.0).mean())
    return Finding(
        f"AAA {half.percent(1, '')} at AOA .5 (mean over the numbers of workflows), {blind.percent(1, '')} at AOA "
        f"0 with {flows[-1]} workflows; clearly rises from each AOA to the next with {rising.count(True)} of "
        f"{len(rising)} numbers of workflows",
        combine(within(half, 0.93, 0.99), lower(blind, 0.75), every(*rising)),
        f"counting only what was asked: {100 * asked:.1f} % and {100 * alike:.1f} %",
    )


@CLAIMS.add("L11", "Yu and Shi 2008, abstract", "number", "43.6 %, 36.7 %", settings="N")
def _l11(v: View) -> Finding:
    """RANK_HYBD beats two other algorithms by 43.6 % (makespan) and 36.7 % (turnaround), more with more workflows and
    fewer resources.

    Without failures, against Fifo(), the one rival that the paper at hand has: mean makespan of 10 workflows lower by
    43.6 %, within 15 points and within 30; the saving grows clearly from the least to the largest number of workflows,
    and from 32 to 16 nodes: four parts.
    """
    up, down = READINGS
    many, small = v.what.many, v.what.small
    few, most = (min(v.what.flows), max(v.what.flows))

    def pair(other: str, flows: int, reading: str, nodes: int = 32) -> tuple[Floats, Floats]:
        return v.calm("makespan", flows, "rank", up, nodes), v.calm("makespan", flows, other, reading, nodes)

    fifo, turned = saved(*pair("plain fifo", many, up)), saved(*pair("rank", many, down))
    more = growth(pair("plain fifo", few, up), pair("plain fifo", most, up), relative=True)
    fewer = growth(pair("plain fifo", many, up), pair("plain fifo", many, up, small), relative=True)
    near = nearness(fifo.value, 0.436, 0.15, clear=higher(fifo))
    return Finding(
        f"mean makespan of {many} workflows: {fifo.percent()} less than FIFO; against FIFO from {few} to {most} "
        f"workflows by {100 * more.value:+.1f} +- {100 * more.half:.1f} points, from 32 to {small} nodes by "
        f"{100 * fewer.value:+.1f} +- {100 * fewer.half:.1f} points",
        all_of([near, combine(higher(more), higher(fewer))]),
        f"{turned.percent()} less than with the order descending, which is no rival of the paper's; all arrive at time "
        "0, so makespan and turnaround are one",
    )
