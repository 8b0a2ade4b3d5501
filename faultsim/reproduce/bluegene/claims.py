"""What is expected of Oliner's schedulers on a real failure record, and when it holds.

No paper has these runs.  The expectations are what [oliner2004] claims in general, and what the layout of the machine
suggests; they were written and committed before the first full run.  An interval is a 95 % confidence interval over the
replicates, which are other alignments of jobs and failures; as the alignments share jobs, it is rather too narrow.
"""

from faultsim.reproduce.bluegene.inputs import MAPS
from faultsim.reproduce.bluegene.runs import CLEAN, Evidence
from faultsim.reproduce.claims import Claims, Finding, Part, combine
from faultsim.reproduce.parts import higher
from faultsim.reproduce.replicates import difference, reduction
from faultsim.sweep.jackknife import Estimate

NONE = "no prediction"
BOTH = ("balancing", "tie-breaking")
SETTINGS = {
    "G": "Torus(4, 4, 8), a midplane a supernode; EasyBackfill(), Defragment(), Requeue(); no start delay; "
    'estimates="actual"; down time 0 (the record has no repairs); placement Balancing() with Confidence(a), '
    "TieBreaking() with Accuracy(a), without prediction Krevat's MaxFreePartition()",
    "J": "jobs: as many days of a log as the record has, their arrivals unchanged, from r/R of the log on in replicate "
    "r of R, beginning again where the log ends; run times scaled to an offered load",
    "M": "map of midplanes to the torus, an assumption: natural, by row of racks, column, midplane, so that a row is a "
    "box of 1x2x8; permuted, at random, another one in each replicate",
}
#: Of the settings -> what we chose with it: the record tells none of these.
CHOSEN = {"G": "down time 0, messages merged over 600 s", "natural map": "map of midplanes"}
CLAIMS = Claims[Evidence](CHOSEN)


def _cases(e: Evidence) -> list[tuple[str, float]]:
    return [(log, load) for log in e.logs for load in e.what.loads]


def _at(e: Evidence, log: str, load: float) -> str:
    return f"{e.logs[log].label} {load:g}"


def _better(e: Evidence, column: str, log: str, load: float, policy: str, on: str = MAPS[0]) -> Estimate:
    return reduction(*(e.values(column, log, load, name, on=on) for name in (NONE, policy)))


def _count(good: list[Part]) -> str:
    return f"{good.count(True)} of {len(good)}"


@CLAIMS.add("R1", "as Oliner 2004, section 1", "order", "higher", settings="G, J, natural map, failures of hardware")
def _bg1(e: Evidence) -> Finding:
    """Failures of midplanes raise the average bounded slowdown.

    Without prediction it is higher than without failures by more than its 95 % confidence interval, in every case.
    """
    ours: list[str] = []
    good: list[Part] = []
    for log, load in _cases(e):
        rise = difference(*(e.values("slowdown", log, load, name) for name in (CLEAN, NONE)))
        share = float(rise.value / e.values("slowdown", log, load, CLEAN).mean())
        good.append(higher(rise))
        ours.append(f"{_at(e, log, load)} {100 * share:+.0f} %")
    return Finding(f"{_count(good)} significant: {', '.join(ours)}", combine(*good))


@CLAIMS.add(
    "R2", "as Oliner 2004, abstract", "order", "significantly", settings="G, J, natural map, failures of hardware"
)
def _bg2(e: Evidence) -> Finding:
    """A confidence or accuracy of 10 % already improves the slowdown significantly.

    The improvement at a = 0.1 is above 0 by more than its 95 % confidence interval, with both schedulers in every case.
    """
    return _improves(e, "slowdown", "0.1")


@CLAIMS.add("R3", "as Oliner 2004, Fig. 7, 8, 10", "order", "less", settings="G, J, natural map, failures of hardware")
def _bg3(e: Evidence) -> Finding:
    """Knowing all failures cuts the work lost.

    At a = 1 the work lost is less than without prediction by more than its 95 % confidence interval, with both
    schedulers in every case.
    """
    return _improves(e, "lost_work", "1")


def _improves(e: Evidence, column: str, a: str) -> Finding:
    ours: list[str] = []
    good: list[Part] = []
    for scheduler in BOTH:
        found = [_better(e, column, log, load, f"{scheduler} {a}") for log, load in _cases(e)]
        good += [higher(value) for value in found]
        shown = [f"{_at(e, *case)} {value.percent()}" for case, value in zip(_cases(e), found, strict=True)]
        ours.append(f"{scheduler}: {', '.join(shown)}")
    return Finding(f"{_count(good)} significant; {'; '.join(ours)}", combine(*good))


@CLAIMS.add("R4", "ours", "order", "fewer", settings="G, J, both maps, failures of hardware")
def _bg4(e: Evidence) -> Finding:
    """Where midplanes lie on the torus matters: rows of racks fail together; rows that are boxes kill fewer jobs.

    Without prediction fewer jobs are killed under the natural map than under permuted ones by more than its 95 %
    confidence interval, in every case.
    """
    ours: list[str] = []
    good: list[Part] = []
    for log, load in _cases(e):
        fewer = difference(*(e.values("kills", log, load, NONE, on=m) for m in MAPS))
        good.append(higher(fewer))
        natural = float(e.values("kills", log, load, NONE).mean())
        ours.append(f"{_at(e, log, load)} {natural:.0f} against {natural + fewer.value:.0f} +- {fewer.half:.0f}")
    return Finding(f"{_count(good)} significant; kills: {', '.join(ours)}", combine(*good))


@CLAIMS.add("R5", "as Oliner 2004, section 7.3", "order", "more", settings="G, J, natural map, failures of hardware")
def _bg5(e: Evidence) -> Finding:
    """Balancing saves more work than tie-breaking when all failures are known.

    At a = 1 the work lost is less with balancing than with tie-breaking by more than its 95 % confidence interval, in
    every case.
    """
    ours: list[str] = []
    good: list[Part] = []
    for log, load in _cases(e):
        cut = [_better(e, "lost_work", log, load, f"{name} 1") for name in BOTH]
        more = difference(*(e.values("lost_work", log, load, f"{name} 1") for name in BOTH))
        good.append(higher(more))
        ours.append(f"{_at(e, log, load)} {cut[0].percent()} and {cut[1].percent()}")
    return Finding(
        f"{_count(good)} significant; work lost is less by, balancing and tie-breaking: {'; '.join(ours)}",
        combine(*good),
    )
