"""What is expected of real failure records on pods; no paper has these runs.

Expectations and rules were written and committed before the first full run.
"""

from faultsim.arrays import Floats
from faultsim.reproduce.claims import Claims, Finding, Part, combine, number
from faultsim.reproduce.parts import higher, within
from faultsim.reproduce.pods import laws, titan
from faultsim.reproduce.pods.inputs import EXTENTS
from faultsim.reproduce.pods.runs import REPLAYED, Evidence, replayed
from faultsim.reproduce.replicates import difference, reduction
from faultsim.sweep.jackknife import Estimate

SETTINGS = {
    "S": "StepFun's faults and repairs of 400 servers on a Pod of 5x5x1 cubes of 16, an assumption: the record does "
    "not say where servers stand, and each replicate spreads them at random; one size of slices always wanted as in "
    "Q, counted from day 30 on",
    "B": "Titan's GPU failures from day 500 of the record on, as failures of cages without down time on a "
    "Torus(25, 8, 3) of cages, an assumption: x is the column of the cabinet, y its row, z the cage, cables unfolded; "
    'EasyBackfill(), Defragment(), Requeue(), estimates="actual"; placement Balancing() with Confidence(a), '
    "TieBreaking() with Accuracy(a), without prediction MaxFreePartition(); 90 days of the SDSC log, four cages for "
    "each of its nodes, run times scaled to an offered load of 0.65; replicate r of R has both records from r/R on",
}
CHOSEN = {"S": "where servers stand", "B": "jobs, map of the cages, down time 0"}
CLAIMS = Claims[Evidence](CHOSEN)


def share(e: Evidence, column: str, wiring: str, cubes: int) -> Estimate:
    """Slices of a replayed record as a share of the pod."""
    return e.of(column, "record", wiring, cubes, scale=cubes * laws.HOSTS / 400)


@CLAIMS.add("P18", "ours", "order", "more", settings="S")
def _p18(e: Evidence) -> Finding:
    """On a real record, too, switches keep more slices running than static wiring.

    Slices of 2, 4 and 5 cubes: the mean number of slices, and the number that runs 97 % of the time, are clearly
    larger; six parts.
    """
    good: list[Part] = []
    ours = []
    for cubes in REPLAYED[1:]:
        for column, words in (("slices", "on average"), ("promised", "97 % of the time")):
            static, switched = (e.values(column, "record", wiring, cubes) for wiring in laws.WIRINGS)
            good.append(higher(difference(static, switched)))
            ours.append(f"{cubes} cubes, {words}: {switched.mean():.1f} for {static.mean():.1f} slices")
    return Finding("; ".join(ours), combine(*good))


@CLAIMS.add("P19", "ours", "order", "within 2 points", settings="S, C")
def _p19(e: Evidence) -> Finding:
    """The mean share is what the closed form says of independent servers with the record's availability.

    Each size and wiring: clearly within 2 points; seven parts.
    """
    good: list[Part] = []
    ours = []
    promised = []
    for wiring, cubes in replayed():
        found = share(e, "slices", wiring, cubes)
        exact = laws.mean_share(cubes, e.server_availability, wiring, EXTENTS)
        good.append(within(Estimate(found.value - exact, found.half), -0.02, 0.02))
        ours.append(f"{cubes} cubes {wiring} {found.value:.3f} +- {found.half:.3f} for {exact:.3f}")
        words = f"{share(e, 'promised', wiring, cubes).value:.2f}"
        promised.append(
            f"{cubes} {wiring} {words} for {laws.promised_share(cubes, e.server_availability, wiring, EXTENTS):.2f}"
        )
    return Finding("; ".join(ours), combine(*good), f"97 % of the time, not judged: {', '.join(promised)}")


def _improves(e: Evidence, column: str, a: str) -> Finding:
    good: list[Part] = []
    ours = []
    for name in titan.BOTH:
        found = reduction(*(of_titan(e, column, policy) for policy in (titan.NONE, f"{name} {a}")))
        good.append(higher(found))
        ours.append(f"{name} {found.percent()}")
    return Finding(", ".join(ours), combine(*good))


def of_titan(e: Evidence, column: str, policy: str) -> Floats:
    """A column of the runs on Titan's record, over the replicates."""
    return e.values(column, "titan", "torus", 0, 0.0, policy)


@CLAIMS.add("P20", "as Oliner 2004, section 1", "order", "higher", settings="B")
def _p20(e: Evidence) -> Finding:
    """On Titan's record, failures raise the average bounded slowdown.

    Without prediction it is clearly higher than without failures.
    """
    clean, none = (of_titan(e, "slowdown", policy) for policy in (titan.CLEAN, titan.NONE))
    rise = difference(clean, none)
    return Finding(
        f"{number(clean.mean())} without failures, {rise.value:+.0f} +- {rise.half:.0f}", combine(higher(rise))
    )


@CLAIMS.add("P21", "as Oliner 2004, abstract", "order", "significantly", settings="B")
def _p21(e: Evidence) -> Finding:
    """A confidence or accuracy of 10 % already improves the slowdown.

    At a = 0.1 it is clearly lower than without prediction, with both schedulers.
    """
    return _improves(e, "slowdown", "0.1")


@CLAIMS.add("P22", "as Oliner 2004, Fig. 7, 8, 10", "order", "less", settings="B")
def _p22(e: Evidence) -> Finding:
    """Knowing all failures cuts the work lost.

    At a = 1 the work lost is clearly less than without prediction, with both schedulers.
    """
    return _improves(e, "lost_work", "1")


@CLAIMS.add("P23", "as Oliner 2004, section 7.3", "order", "more", settings="B")
def _p23(e: Evidence) -> Finding:
    """Balancing saves more work than tie-breaking when all failures are known.

    At a = 1 the work lost is clearly less with balancing.
    """
    lost = {name: of_titan(e, "lost_work", f"{name} 1") for name in titan.BOTH}
    none = of_titan(e, "lost_work", titan.NONE)
    cut = ", ".join(f"{name} {reduction(none, values).percent()}" for name, values in lost.items())
    return Finding(f"work lost is less by: {cut}", combine(higher(difference(lost["balancing"], lost["tie-breaking"]))))
