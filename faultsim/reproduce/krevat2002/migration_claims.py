"""The claims K18-K26 of [krevat2002]: migrations (Figures 6 and 7) and capacity (Figure 8).

Section 2 migrates "immediately after the FCFS phase fails to schedule a job in the waiting queue"; section 3.4 speaks
of "every time the state of the torus is modified". The standard policy of K18-K23 is ``Defragment(when="always")``,
which also tries with an empty queue; what the reading of section 2 (``when="waiting"``) gives is in the remarks.
"""

from collections.abc import Iterator

import numpy as np

from faultsim.arrays import Floats
from faultsim.reproduce.claims import Claims, Finding, Parts, all_of, combine, judged, nearness
from faultsim.reproduce.krevat2002.claims import BOTH, CHOSEN
from faultsim.reproduce.krevat2002.measures import change, largest, middle, over, portion, relative_reduction
from faultsim.reproduce.krevat2002.runs import BOX_ORDERS, Curve, Evidence
from faultsim.reproduce.parts import known
from faultsim.reproduce.replicates import correlation

ALWAYS, AT_ONE = "A, N; c = 0.7-1.4", "T; c = 1.0"
PAIR = ("Migration", "B+M")
CLAIMS = Claims[Evidence](CHOSEN)


def _curves(e: Evidence, log: str, which: str = ", always") -> Iterator[tuple[str, Curve]]:
    for name in PAIR:
        yield name, e.curve(log, name + which).upto(1.4)


def _ratio(curve: Curve, of: str = "attempted") -> Floats:
    """Successful migrations over attempts (or passes); NaN without any."""
    return over(curve["successful"], curve[of])


def _success(e: Evidence, log: str, which: str) -> str:
    return " / ".join(
        f"{100 * middle(_ratio(curve)):.0f} %" if curve["attempted"].any() else "no attempts"
        for _, curve in _curves(e, log, which)
    )


@CLAIMS.add("K18", "Fig. 6a, b", "number", "almost all; 80 %; many more", settings=ALWAYS)
def _k18(e: Evidence) -> Finding:
    """Almost all migration attempts succeed on NASA, about 80 % on SDSC, which has many more.

    Median over c of successful / attempted: NASA at least 90 %, SDSC 70-90 %; attempts on SDSC at least 1.5 times
    NASA's (median at equal c); for Migration and B+M.
    """
    medians = {log: [middle(_ratio(curve)) for _, curve in _curves(e, log)] for log in BOTH}
    more = [
        middle(over(sdsc["attempted"], nasa["attempted"]))
        for (_, sdsc), (_, nasa) in zip(_curves(e, "sdsc"), _curves(e, "nasa"), strict=True)
    ]
    good = (min(medians["nasa"]) >= 0.9, all(abs(value - 0.8) <= 0.1 for value in medians["sdsc"]), min(more) >= 1.5)
    return Finding(
        f"successful (medians over c, Migration / B+M): NASA {_success(e, 'nasa', ', always')}, SDSC "
        f"{_success(e, 'sdsc', ', always')}; attempts SDSC over NASA at equal c: {more[0]:.1f} / {more[1]:.1f} times",
        judged(combine(*good), *medians["nasa"], *medians["sdsc"], *more),
        f'when="waiting": NASA {_success(e, "nasa", "")}, SDSC {_success(e, "sdsc", "")}',
    )


@CLAIMS.add("K19", "section 3.4", "number", "<= 20 %", settings="M, N; c = 0.7-1.4")
def _k19(e: Evidence) -> Finding:
    """Always migrating: no more than 20 % succeed, usually much less.

    Successful / scheduling passes at most 20 % at every c, log and scheduler.
    """
    passes = {
        (log, name): largest(_ratio(curve, "passes")) for log in BOTH for name, curve in _curves(e, log, ", full")
    }
    tries = {(log, name): largest(_ratio(curve)) for log in BOTH for name, curve in _curves(e, log, ", full")}

    def shown(found: dict[tuple[str, str], float]) -> str:
        return ", ".join(
            f"{log.upper()} {100 * found[log, PAIR[0]]:.0f} / {100 * found[log, PAIR[1]]:.0f} %" for log in BOTH
        )

    return Finding(
        f"largest over c (Migration / B+M), of all passes: {shown(passes)}",
        combine(*(known(value <= 0.20, value) for value in passes.values())),
        f"of the attempts that the engine makes (it skips passes that changed no node): {shown(tries)}",
    )


def _between(curve: Curve, column: str = "attempted") -> Floats:
    """Mean minutes between migrations."""
    return over(curve["makespan"] / 60.0, curve[column])


@CLAIMS.add("K20", "Fig. 6a, c", "number", "linear; 90 to 30 min", settings=ALWAYS)
def _k20(e: Evidence) -> Finding:
    """NASA: migrations grow linearly with utilization, every 90 down to 30 minutes.

    Line through (utilization, attempts) with R2 of at least 0.95; makespan / attempts of 90 +- 30 min at c = 0.7 and 30
    +- 10 min at c = 1.4, and within twice that; for Migration and B+M: ten parts.
    """
    ours: list[str] = []
    counts: list[Parts] = []
    numbers: list[float] = []
    for name, curve in _curves(e, "nasa"):
        r2 = correlation(curve["utilization"], curve["attempted"]) ** 2
        minutes = _between(curve)
        numbers += [r2, float(minutes[0]), float(minutes[-1])]
        counts += [combine(r2 >= 0.95), nearness(numbers[-2], 90, 30), nearness(numbers[-1], 30, 10)]
        ours.append(f"{name}: R2 of a line {r2:.2f}, {minutes[0]:.0f} to {minutes[-1]:.0f} min")
    waiting = ", ".join(
        f"{name} {_between(curve)[0]:,.0f} to {_between(curve)[-1]:,.0f} min" for name, curve in _curves(e, "nasa", "")
    )
    return Finding("; ".join(ours), judged(all_of(counts), *numbers), f'when="waiting": {waiting}')


@CLAIMS.add("K21", "Fig. 6b", "order", "70 %, 77 %", settings="A; c = 0.7-1.4")
def _k21(e: Evidence) -> Finding:
    """SDSC: an elongated bell that falls from about 70 % (Migration) and 77 % (B+M).

    The most attempts lie inside the range of c and at least 10 % fewer remain at c = 1.4; the peak is within 4 points
    of 70 and 77 %, and within 8: six parts.
    """
    ours, counts = [], []
    for (name, curve), target in zip(_curves(e, "sdsc"), (70, 77), strict=True):
        attempted, u = curve["attempted"], curve["utilization"]
        top = int(np.argmax(attempted))
        falls = float(attempted[-1] / max(attempted[top], 1.0))
        peak = 100 * float(u[top])
        counts += [combine(0 < top < len(u) - 1 and falls <= 0.9), nearness(peak, target, 4)]
        ours.append(f"{name}: most attempts at {peak:.0f} %, {100 * falls:.0f} % of them left at c = 1.4")
    return Finding("; ".join(ours), all_of(counts))


@CLAIMS.add("K22", "Fig. 6", "order", "more; longer", settings=ALWAYS)
def _k22(e: Evidence) -> Finding:
    """SDSC has more successful migrations than NASA, yet longer times between them.

    At equal c, each at 90 % of the points, for Migration and B+M.
    """
    ours, good = [], []
    for (name, nasa), (_, sdsc) in zip(_curves(e, "nasa"), _curves(e, "sdsc"), strict=True):
        more = portion(nasa["successful"], sdsc["successful"])
        longer = float(np.mean(_between(sdsc, "successful") > _between(nasa, "successful")))
        good += [known(more >= 0.9, more), known(longer >= 0.9, more)]
        ours.append(f"{name}: more on SDSC at {100 * more:.0f} % of c, longer between at {100 * longer:.0f} %")
    return Finding("; ".join(ours), combine(*good))


_LEVELS = np.arange(0.40, 0.96, 0.01)


def _at_equal(e: Evidence, log: str, series: str, column: str) -> Floats:
    """A column at utilizations of 40, 41, ... 95 %; NaN where the curve does not reach."""
    return e.curve(log, series).upto(1.4).at_utilization(column, _LEVELS)


@CLAIMS.add("K23", "Fig. 6, 7", "order", "up to 2x; very small", settings="A, M, N; c = 0.7-1.4")
def _k23(e: Evidence) -> Finding:
    """The full policy has up to twice the successful migrations and hardly less wait; the standard one has most of the
    benefit.

    At equal utilizations (40-95 % in steps of 1), as the figures' axis is: the largest ratio of successes over logs and
    schedulers between 1.5 and 2.5; the median saving of mean wait at most 10 % for each log and scheduler; on SDSC the
    standard policy saves at least two thirds of what the full one saves against no migration (median), for each
    scheduler: seven parts.
    """
    ratios, gains, shares = {}, {}, {}
    for log in BOTH:
        for name, without in zip(PAIR, ("FCFS", "Backfill"), strict=True):
            of = (log, name)
            full, usual = (_at_equal(e, log, name + which, "successful") for which in (", full", ", always"))
            ratios[of] = over(full, usual)
            waits = [_at_equal(e, log, series, "mean_wait") for series in (without, f"{name}, always", f"{name}, full")]
            gains[of] = middle(relative_reduction(waits[1], waits[2]))
            shares[of] = middle(over(waits[0] - waits[1], waits[0] - waits[2]))
    top = largest(np.array([largest(value) for value in ratios.values()]))
    most = [shares["sdsc", name] for name in PAIR]
    each = ", ".join(f"{_label(of)} {-largest(-value):.1f}-{largest(value):.1f}" for of, value in ratios.items())
    return Finding(
        f"at equal utilizations, full over standard successes: {each}; wait saved (medians): {_percents(gains)}; "
        f"share of the full policy's benefit: {_percents({of: shares[of] for of in shares if of[0] == 'sdsc'})}",
        judged(
            combine(1.5 <= top <= 2.5, *(gain <= 0.10 for gain in gains.values()), *(s >= 2 / 3 for s in most)),
            top,
            *gains.values(),
            *most,
        ),
        f"at equal c the wait saved is {_percents(_saved_at_equal_load(e))}",
    )


def _saved_at_equal_load(e: Evidence) -> dict[tuple[str, str], float]:
    """What the full policy saves of the mean wait at the same c: a curve that has moved to the right waits longer."""
    return {
        (log, name): middle(relative_reduction(standard["mean_wait"], full["mean_wait"]))
        for log in BOTH
        for (name, full), (_, standard) in zip(_curves(e, log, ", full"), _curves(e, log), strict=True)
    }


def _label(of: tuple[str, str]) -> str:
    return f"{of[0].upper()} {of[1]}"


def _percents(values: dict[tuple[str, str], float]) -> str:
    return ", ".join(f"{_label(of)} {100 * value:.0f} %" for of, value in values.items())


K24_PAPER = {"Backfill": (15, -44), "Migration": (13, -32), "B+M": (15, -54)}


def _changes(e: Evidence, log: str, suffix: str = "") -> dict[str, tuple[float, float]]:
    """Relative changes of utilized and lost capacity against FCFS at c = 1.0, in percent."""
    base = e.curve(log, "FCFS" + suffix).at(1.0)
    points = {name: e.curve(log, name + suffix).at(1.0) for name in K24_PAPER}
    return {
        name: (change(point["utilization"], base["utilization"]), change(point["lost"], base["lost"]))
        for name, point in points.items()
    }


def _shown(found: dict[str, tuple[float, float]]) -> str:
    return ", ".join(f"{name} {util:+.0f} / {lost:+.0f} %" for name, (util, lost) in found.items())


@CLAIMS.add(
    "K24",
    "Fig. 8",
    "number",
    "Backfill +15 / -44, Migration +13 / -32, B+M +15 / -54 %",
    settings=AT_ONE,
)
def _k24(e: Evidence) -> Finding:
    """SDSC, c = 1, against FCFS: utilized / lost B+M +15 / -54, Backfill +15 / -44, Migration +13 / -32 %.

    Relative changes; utilized within 3, lost within 8 percentage points: six parts.
    """
    found = _changes(e, "sdsc")
    good = [
        known(abs(ours - printed) <= off, ours)
        for name, paper in K24_PAPER.items()
        for ours, printed, off in zip(found[name], paper, (3, 8), strict=True)
    ]
    orders = [
        f"{order}: {_shown(_changes(e, 'sdsc', ', ' + order))}"
        for order in BOX_ORDERS
        if ("sdsc", f"FCFS, {order}") in e.curves
    ]
    return Finding(f"{_shown(found)}; {good.count(True)} of 6 numbers", combine(*good), "; ".join(orders))


@CLAIMS.add("K25", "Fig. 8", "order", "barely noticeable", settings="T, N; c = 1.0")
def _k25(e: Evidence) -> Finding:
    """NASA, c = 1: improvements of utilization are barely noticeable.

    Relative change of utilized capacity against FCFS at most 2 % for all three.
    """
    found = _changes(e, "nasa")
    changes = [util for util, _ in found.values()]
    return Finding(_shown(found), combine(known(max(map(abs, changes)) <= 2.0, *changes)))


@CLAIMS.add("K26", "Fig. 8, section 5", "order", "lost 56 -> 46 % of FCFS's", settings=AT_ONE)
def _k26(e: Evidence) -> Finding:
    """On SDSC B+M turns significantly more lost into unused capacity than backfilling alone.

    c = 1, on SDSC, of which the passage speaks: lost at least 10 % below Backfill's, and unused at least 0.5 points of
    capacity above: two parts.
    """
    found = {}
    for log in BOTH:
        backfill, both = e.curve(log, "Backfill").at(1.0), e.curve(log, "B+M").at(1.0)
        found[log] = change(both["lost"], backfill["lost"]), 100 * (both["unused"] - backfill["unused"])
    shown = {
        log: f"lost {lost:+.0f} % against Backfill, unused {more:+.1f} points" for log, (lost, more) in found.items()
    }
    lost, unused = found["sdsc"]
    good = known(lost <= -10, lost), known(unused >= 0.5, unused)
    return Finding(shown["sdsc"], combine(*good), f"{e.sources['nasa'].label}: {shown['nasa']}")
