"""What the claims of [zhang2004] measure; fixed before the runs were looked at.

The paper's figures have no readable numbers and its x axis no values in the text, so:

Factors
    Run times are multiplied by .3, .4, ... 1.1 (an offered load of about .26 to .95): low load is up to .5, medium .6
    to .8, high from .9 on.
Change
    Of a mean over replicates against another at the same factor: their ratio less 1.  "Over the factors" is the plain
    mean of the changes at all factors (low, medium, high: at those).
Gap closed
    The share of what failures add to the mean slowdown, summed over the factors, that a strategy takes away.
Work loss, checkpoint overhead
    Means over the replicates and the factors.

Intervals are at 95 %, by leaving out one replicate at a time, and all arms of a comparison share their replicates.
"Clearly" is by the whole interval (see `parts`), "at least" and "at most" are by the value of a difference that is
clearly not 0.
"""

import numpy as np

from faultsim.arrays import Flags, Floats
from faultsim.reproduce.zhang2004.runs import View
from faultsim.sweep.jackknife import Estimate, jackknife

#: Load -> lowest and highest run-time factor.
BANDS = {"low": (0.0, 0.55), "medium": (0.55, 0.85), "high": (0.85, 9.0), "all": (0.0, 9.0)}
#: A kind of failures and a policy; ("", "none") is the run without failures.
Arm = tuple[str, str]


def band(view: View, name: str) -> Flags:
    """Which factors are of a load: "low", "medium", "high" or "all"."""
    low, high = BANDS[name]
    found: Flags = (view.factors > low) & (view.factors < high)
    return found


def changes(ours: Floats, base: Floats) -> Floats:
    """Relative changes of means over replicates, one a factor.

    Examples
    --------
    >>> changes(np.array([[2.0, 4.0], [1.0, 1.0]]), np.array([[1.0, 1.0], [2.0, 2.0]])).tolist()
    [2.0, -0.5]
    """
    lower = base.mean(axis=-1)
    ratio = np.divide(ours.mean(axis=-1), lower, out=np.full(len(lower), np.nan), where=lower != 0)
    rise: Floats = ratio - 1.0
    return rise


def over_band(values: Floats, keep: Flags) -> float:
    """The mean of what is not NaN among `keep`; NaN if all is."""
    chosen = values[keep & ~np.isnan(values)]
    return float(chosen.mean()) if len(chosen) else float("nan")


def change(view: View, column: str, ours: Arm, base: Arm, where: str = "all") -> Estimate:
    """Change of a column over the factors of a load."""
    keep = band(view, where)
    return jackknife(lambda a, b: over_band(changes(a, b), keep), view(column, *ours), view(column, *base))


def larger(
    view: View, column: str, ours: tuple[Arm, Arm], rival: tuple[Arm, Arm], wheres: tuple[str, str] = ("all", "all")
) -> Estimate:
    """How much larger a change is, up or down, than another one; each is of an arm against its base, at a load."""
    keeps = [band(view, name) for name in wheres]

    def more(a: Floats, b: Floats, c: Floats, d: Floats) -> float:
        return abs(over_band(changes(a, b), keeps[0])) - abs(over_band(changes(c, d), keeps[1]))

    return jackknife(more, *(view(column, *arm) for arm in (*ours, *rival)))


def largest_change(view: View, column: str, ours: Arm, base: Arm, sign: int = 1) -> tuple[Estimate, float]:
    """The largest rise (sign 1) or fall (-1) over the factors, as a positive number when it is one, and its factor."""
    a, b = view(column, *ours), view(column, *base)
    at = int(np.nanargmax(sign * changes(a, b)))
    return jackknife(lambda x, y: float(sign * changes(x, y)[0]), a[[at]], b[[at]]), float(view.factors[at])


def level(view: View, column: str, arm: Arm, where: str = "all") -> Estimate:
    """A column, averaged over replicates and the factors of a load."""
    keep = band(view, where)
    return jackknife(lambda a: float(a[keep].mean()) if keep.any() else float("nan"), view(column, *arm))


def gap_closed(view: View, ours: Arm, worse: Arm) -> Estimate:
    """The share of the slowdown that failures add (summed over the factors) that `ours` takes away from `worse`."""

    def share(a: Floats, w: Floats, clean: Floats) -> float:
        gap = float((w - clean).mean(axis=-1).sum())
        return float((w - a).mean(axis=-1).sum()) / gap if gap else float("nan")

    return jackknife(share, *(view("slowdown", *arm) for arm in (ours, worse, ("", "none"))))


def shown(estimates: dict[str, Estimate], digits: int | None = None, sign: str = "+") -> str:
    """Estimates by label, in percent.

    Examples
    --------
    >>> shown({"a": Estimate(0.1, 0.02), "b": Estimate(-0.1, float("nan"))})
    'a +10 +- 2 %, b -10 %'
    """
    return ", ".join(f"{label} {estimate.percent(digits, sign)}" for label, estimate in estimates.items())
