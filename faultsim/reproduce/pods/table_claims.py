"""The claims about the table of promises, and about spare cubes: theory held against simulation.

Rules and tolerances were written and committed before the first full run.  A number is held against a 99.9 % interval
of Student over the replicates, so that of some fifty of them all are inside with 95 % if all are right.
"""

import math

from faultsim.reproduce.claims import Claims, Finding, Part, combine
from faultsim.reproduce.parts import every, higher, lower
from faultsim.reproduce.pods import laws, queues
from faultsim.reproduce.pods.measures import PROBABILITY
from faultsim.reproduce.pods.runs import WANTED, Evidence
from faultsim.sweep.jackknife import Estimate

#: Of a number of the table; and half of its last digit.
CONFIDENCE, ROUNDED = 0.999, 0.0005
#: A mean counts as measured only if its interval is this narrow.
NARROW = 0.01
SETTINGS = {
    "Q": "Pod of 4x4x4 cubes of 16 hosts, each 64 chips; hosts up and down independently of each other, exponential "
    "times, 4 hours to repair, begun 20 repair times before the run; Fcfs(); jobs of one size and 4 hours always "
    "wait, a killed one begins again. Then a slice runs whenever one is up, and the number of running slices has the "
    "law of the healthy cubes exactly, however long jobs are. Static: aligned blocks, and no slice larger than the "
    "wanted one, as the head of the queue would else take a larger block where none of its size is left",
    "C": "closed form: a cube of 16 hosts is up with A = a^16, the number of healthy cubes is Binomial(64, A), static "
    "blocks are up each by itself",
}
CLAIMS = Claims[Evidence]()
SIZES = {cubes: f"{cubes * laws.CHIPS:,}" for cubes in laws.TABLE}


def cells() -> list[tuple[int, float, str]]:
    """Cubes, availability and wiring of the 36 promised shares."""
    return [(cubes, a, wiring) for cubes in laws.TABLE for a in laws.LEVELS for wiring in laws.WIRINGS]


def named(cubes: int, a: float, wiring: str) -> str:
    """A cell in words."""
    return f"{SIZES[cubes]} chips, {100 * a:g} %, {wiring}"


def of_table(e: Evidence, column: str, cubes: int, a: float, wiring: str, how: str = "exponential") -> Estimate:
    """A column of a run of the table."""
    return e.of(column, "table", wiring, cubes, a, how, confidence=CONFIDENCE)


def pinned(e: Evidence, cubes: int, a: float, wiring: str) -> Part:
    """Whether the simulation promises exactly as many slices as the closed form."""
    enough = of_table(e, "kept", cubes, a, wiring)
    more = of_table(e, "exceeded", cubes, a, wiring)
    promises = True if laws.promised_slices(cubes, a, wiring) == 0 else higher(enough, PROBABILITY)
    return every(promises, lower(more, PROBABILITY))


def inside(found: Estimate, exact: float, slack: float = ROUNDED, narrow: float = NARROW) -> Part:
    """Whether a number is in an interval, rounded as the table is; open if the interval is wide."""
    if math.isnan(found.half):
        return None
    if abs(found.value - exact) > found.half + slack:
        return False
    return True if found.half <= narrow else None


@CLAIMS.add("P1", "closed form", "unit", "48 numbers", settings="C")
def _p1(e: Evidence) -> Finding:
    """The closed form gives the table of shares that can be promised, which another program made before this study.

    Each of the 48 numbers within half of the last of its three digits.
    """
    good: list[Part] = []
    for cubes, row in laws.TABLE.items():
        exact = [laws.promised_share(cubes, a, wiring) for a in laws.LEVELS for wiring in laws.WIRINGS]
        exact += [laws.mean_share(cubes, 0.999, wiring) for wiring in laws.WIRINGS]
        good += [abs(found - printed) <= ROUNDED + 1e-12 for found, printed in zip(exact, row, strict=True)]
    return Finding(f"{good.count(True)} of {len(good)} numbers", combine(*good))


@CLAIMS.add("P2", "closed form", "number", "36 numbers", settings="Q, C")
def _p2(e: Evidence) -> Finding:
    """With time, a queue and repairs, the share that is promised with 97 % is that of the closed form.

    Each of the 36 cells: at least as many slices as the closed form promises run for more than 97 % of the time, and
    one more for less, both clearly (99.9 % intervals).
    """
    good: list[Part] = []
    off: list[str] = []
    for cell in cells():
        part = pinned(e, *cell)
        good.append(part)
        if part is False or (part is None and len(off) < 6):
            kept, more = of_table(e, "kept", *cell), of_table(e, "exceeded", *cell)
            off.append(
                f"{named(*cell)}: {laws.promised_slices(*cell)} slices for {kept.percent(2, '')} of the time, "
                f"one more for {more.percent(2, '')}"
            )
    words = f"{good.count(True)} of {len(good)} cells"
    return Finding(f"{words}; not {'; not '.join(off)}" if off else words, combine(*good))


@CLAIMS.add("P3", "closed form", "number", "12 numbers", settings="Q, C")
def _p3(e: Evidence) -> Finding:
    """With hosts that are up 99.9 % of the time, the mean share is that of the closed form.

    Each of the 12 cells: the number in the 99.9 % interval, rounded outward to three digits, which is at most a point
    to either side.
    """
    good: list[Part] = []
    ours = []
    for cubes in laws.TABLE:
        for wiring in laws.WIRINGS:
            found = _share(of_table(e, "slices", cubes, 0.999, wiring), cubes)
            exact = laws.mean_share(cubes, 0.999, wiring)
            good.append(inside(found, exact))
            ours.append(f"{SIZES[cubes]} {wiring} {found.value:.3f} +- {found.half:.3f} for {exact:.3f}")
    return Finding(f"{good.count(True)} of {len(good)} inside; {', '.join(ours)}", combine(*good))


@CLAIMS.add("P4", "closed form", "number", "the same", settings="Q, C, with other distributions")
def _p4(e: Evidence) -> Finding:
    """The distributions of times up and down do not matter, only the availability.

    256 chips, 99 %, both wirings, bathtub up times and constant repairs: the mean in its 99.9 % interval, and as many
    slices promised; four parts. Hosts have run for 50 mean up times before, as they begin as new.
    """
    good: list[Part] = []
    ours = []
    how = list(queues.OTHERS)[1]
    for wiring in laws.WIRINGS:
        found = _share(of_table(e, "slices", 4, 0.99, wiring, how), 4)
        exact = laws.mean_share(4, 0.99, wiring)
        kept, more = (of_table(e, column, 4, 0.99, wiring, how) for column in ("kept", "exceeded"))
        good += [inside(found, exact), every(higher(kept, PROBABILITY), lower(more, PROBABILITY))]
        ours.append(
            f"{wiring} {found.value:.3f} +- {found.half:.3f} for {exact:.3f}; "
            f"{laws.promised_slices(4, 0.99, wiring)} slices for {kept.percent(2, '')} of the time, one more for "
            f"{more.percent(2, '')}"
        )
    return Finding("; ".join(ours), combine(*good))


@CLAIMS.add("P5", "closed form", "number", "spare cubes", settings="Q, C, with as many cubes as are named")
def _p5(e: Evidence) -> Finding:
    """So many spare cubes as `plan` asks for are enough, and one less is not.

    16 and 48 wanted cubes with switches, at each availability: with the spares they are up for more than 97 % of the
    time, with one spare less for less, both clearly; twelve parts.
    """
    good: list[Part] = []
    ours = []
    for wanted in WANTED:
        for a in laws.LEVELS:
            enough, less = (
                e.of("kept", "spares", "switched", wanted, a, how, confidence=CONFIDENCE)
                for how in ("enough", "one less")
            )
            good += [higher(enough, PROBABILITY), lower(less, PROBABILITY)]
            ours.append(
                f"{wanted} cubes, {100 * a:g} %: {laws.spares(wanted, a)} spare {enough.percent(2, '')}, "
                f"one less {less.percent(2, '')}"
            )
    return Finding("; ".join(ours), combine(*good))


def _share(slices: Estimate, cubes: int) -> Estimate:
    scale = cubes / laws.CUBES
    return Estimate(slices.value * scale, slices.half * scale)
