"""Every study on a plan so small that it takes a second or two; with a row here it is tested as all others are."""

from dataclasses import dataclass, field
from typing import Any

from faultsim.reproduce.bluegene import runs as bluegene
from faultsim.reproduce.krevat2002 import runs as krevat2002
from faultsim.reproduce.li2009 import runs as li2009
from faultsim.reproduce.oliner2004 import runs as oliner2004
from faultsim.reproduce.pods import runs as pods
from faultsim.reproduce.rlscheduler import runs as rlscheduler
from faultsim.reproduce.site import runs as site
from faultsim.reproduce.torus3d import runs as torus3d
from faultsim.reproduce.yu2010 import runs as yu2010
from faultsim.reproduce.zhang2004 import runs as zhang2004

__all__ = ["TINY", "Tiny"]


@dataclass(frozen=True)
class Tiny:
    """A row of `TINY`.

    Parameters
    ----------
    claims : str
        The letter of their ids, and how many there are.
    what : Plan
        The tiny plan.
    says : sequence of str
        What the page says besides the claims.
    options : mapping
        Of `Study.run`.
    figures : sequence of str
        Pictures with numbers of their own; `shared` are those whose numbers stand elsewhere.
    refused : mapping
        Arguments of the command line that only this study has -> a part of the error message.
    """

    claims: tuple[str, int]
    what: Any
    says: tuple[str, ...]
    options: dict[str, Any] = field(default_factory=dict)
    figures: tuple[str, ...] = ()
    shared: tuple[str, ...] = ()
    refused: dict[tuple[str, ...], str] = field(default_factory=dict)


def _figures(first: int, last: int) -> tuple[str, ...]:
    return tuple(f"fig{number}" for number in range(first, last + 1))


_quick = li2009.plan(True)
TINY = {
    "krevat2002": Tiny(
        ("K", 26),
        krevat2002.Plan(jobs=80, grid={"nasa": (0.7, 1.0, 1.4, 1.7), "sdsc": (0.7, 1.0, 1.4)}, box_order_grid=(1.0,)),
        ("stand-in", "(out/fig3.png)"),
        figures=_figures(2, 8),
    ),
    "oliner2004": Tiny(
        ("O", 15),
        oliner2004.Plan(jobs=60, replicates=2, grid=(0.0, 0.1, 0.2, 0.9, 1.0), counts=(0, 1000, 2000, 4000)),
        ("stand-in", "(out/fig3.png)"),
        figures=_figures(3, 10),
        refused={("--llnl", "no.swf"): "--llnl"},
    ),
    "zhang2004": Tiny(
        ("Z", 19),
        zhang2004.Plan(replicates=2, factors=(0.4, 0.7, 1.0), days=1.5),
        ("skipped", "(out/fig3.png)"),
        figures=_figures(1, 11),
    ),
    "li2009": Tiny(
        ("F", 19),
        li2009.Plan(2, _quick.loads, _quick.ratios, grid=(0.1, 0.2, 1.0), combined=(0.1, 1.0), days=1.0),
        ("stand-in", "mtbf 2.0", "(out/fig4.png)"),
        {"jobs": 150, "gap": 418.5, "mtbf": 2.0},
        (*_figures(4, 10), "combined"),
        refused={
            ("--precision", "0"): "precision",
            ("--interval", "-3"): "interval",
            ("--bathtub", "x"): "--bathtub",
        },
    ),
    "yu2010": Tiny(
        ("L", 11),
        yu2010.Plan(2, 2, (1, 3), (0.0, 0.5, 0.9, 1.0), 3, readings=yu2010.READINGS[:1], many=3, redraws=2),
        (
            "built-in synthetic record",
            "skipped",
            "(out/fig10.png)",
            "| claim | seed 0 | seed 1 | seed 2 |",
            *(f"| {variant} |" for variant in yu2010.VARIANTS),
        ),
        figures=("fig6", *_figures(9, 15)),
    ),
    "rlscheduler": Tiny(
        ("H", 10),
        rlscheduler.Plan(sequences=2, length=60),
        ("stand-in", "Lublin-1-like, without backfilling", "| UNICEF |", "(out/table.png)"),
        shared=("table",),
    ),
    "bluegene": Tiny(
        ("R", 5),
        bluegene.Plan(replicates=2, loads=(0.5, 0.8), days=3),
        ("0.5 natural", "0.8 permuted", "stand-in", "map of midplanes", *bluegene.POLICIES, bluegene.CLEAN),
        shared=("record", "slowdown", "lost_work"),
    ),
    "pods": Tiny(
        ("P", 23),
        pods.Plan(2, 2, 12.0, (0.99, 0.995, 0.999), 10, 300, 6.0, 3.0),
        ("stand-in", "as reported by others", "| 4 of 8x8x16 |", "(out/promised.png)", "not derivable"),
        figures=("promised", "mean", "training", "stepfun", "titan"),
    ),
    "torus3d": Tiny(
        ("V", 14),
        torus3d.Plan(3, 60, ("4x4x8",), ("sdsc", "mira"), (0.5, 0.8), ("none", "burst 24 h")),
        ("stand-in", "one per size", "Not run", "(out/lists.png)"),
        shared=("lists", "unlisted", "scores", "saturation", "loads", "failures", "predictor"),
    ),
    "site": Tiny(
        ("W", 15),
        site.Plan(2, 120, (16.0,)),
        ("stand-in", "One week is one week", "exact EASY", "(out/changes.png)"),
        shared=("changes", "failures", "rates"),
    ),
}
