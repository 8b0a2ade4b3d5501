"""What the page says to a site's administrator, beside the claims."""

import math

import numpy as np

from faultsim.reproduce.torus3d.claims import ratio
from faultsim.reproduce.torus3d.runs import FORESEEING, KREVAT, TWO_TORI, USUAL, Evidence, Key


def _spread(e: Evidence, one: str, other: str, only: str = "", column: str = "slowdown", **rest: str) -> str:
    """By which factors the slowdown of `other` (and `rest`) differs from that of `one` under EASY, over the cases that
    have both.
    """
    found = []
    for log, machine in e.cases:
        first, second = Key(log, machine, USUAL, "easy", one), Key(log, machine, USUAL, "easy", other, **rest)
        if first in e.runs and second in e.runs and log.startswith(only):
            found.append(ratio(e, first, second, column).value)
    known = [math.exp(value) for value in found if math.isfinite(value)]
    return f"{min(known):.2f} to {max(known):.2f} times" if known else "not run"


def _points(e: Evidence, one: Key, other: Key, only: str = "") -> str:
    """By how many points the saturation of `other` is above that of `one`, over all cases."""
    found = []
    for log, machine in e.cases:
        first, second = (key._replace(log=log, machine=machine) for key in (one, other))
        if first in e.runs and second in e.runs and log.startswith(only):
            found.append(100 * float((e.values("saturation", second) - e.values("saturation", first)).mean()))
    return f"{min(found):+.1f} to {max(found):+.1f} points" if found else "not run"


def _parted(e: Evidence, log: str, shapes: str, column: str = "slowdown") -> str:
    """By which factors the slowdown of segments of powers of two differs from that of a list, rounded up."""
    return _spread(e, shapes, "powers", log, column, unlisted="segments")


def _failed(e: Evidence, shapes: str) -> str:
    """By which factor single failures with repairs of 24 h raise the slowdown of SDSC's large jobs."""
    calm = Key("sdsc", e.failing, USUAL, "easy", shapes)
    raised = e.values("large", calm._replace(failures="single 24 h")) / e.values("large", calm)
    return f"{np.exp(np.nanmean(np.log(raised))):.1f} times"


def _saved(e: Evidence, score: str) -> str:
    """Jobs that failures stop with a predictor, as a share of those without, over logs and lists."""
    found = []
    for log in e.what.logs:
        for name in e.what.lists(e.failing):
            base = Key(log, e.failing, USUAL, "easy", name, score=FORESEEING[score], failures=e.what.failures[-1])
            without, foreseen = (
                float(e.values("kills", key).sum()) for key in (base, base._replace(score=score, extra="predictor"))
            )
            if without:
                found.append(100 * foreseen / without)
    return f"{min(found):.0f} to {max(found):.0f} %" if found else "not run"


def _refused_on_two(e: Evidence) -> str:
    """The share of jobs that two tori refuse, over logs."""
    keys = [Key(log, e.what.parted, USUAL, "easy", "powers", extra=TWO_TORI) for log in e.what.logs]
    found = [100 * float(e.values("refused", key).mean()) for key in keys]
    return f"{min(found):.1f} to {max(found):.1f} %"


def _advice(e: Evidence) -> tuple[str, ...]:
    """What to do, and where not; of the full run, as a quick one shows too little."""
    if e.quick or not all(jobs.real for jobs in e.logs.values()):
        return ()
    one = Key("", "", 0.0, "fcfs", "one per size")
    return (
        "**Recommendation.** With backfilling and jobs of many sizes, list a compact box for every size that jobs ask "
        "for instead of rounding to powers of two: on SDSC powers of two cost "
        f"{_spread(e, 'one per size', 'powers', 'sdsc')} the slowdown, and every box in every orientation gives "
        f"{_spread(e, 'one per size', 'every box', 'sdsc')}. Longer lists need no other anchors: anchors at every node "
        "add little. Look for no other score: first anchor, MFP and a cost over all shapes of the next size are not "
        "clearly different from Slurm's in most cases; only random boxes are worse, at "
        f"{_points(e, one, one._replace(score='random'))} of saturation. If jobs can be moved, migration adds "
        f"{_points(e, one, one._replace(extra='migration'))} to one shape per size.",
        "**Where it does not hold.** Where sizes already are powers of two (Mira) or most jobs are one node (Curie, "
        f"scaled), the list hardly matters: powers of two cost {_spread(e, 'one per size', 'powers', 'mira')} and "
        f"{_spread(e, 'one per size', 'powers', 'curie')}. Short lists favour large jobs: on SDSC jobs above a quarter "
        f"of the machine have {_spread(e, 'one per size', 'powers', 'sdsc', 'large')} the slowdown with powers of two. "
        "Without backfilling powers of two even fill SDSC's machine better than one shape per size, by "
        f"{_points(e, one, one._replace(shapes='powers'), 'sdsc')}, probably as their boxes fit one "
        "another. Failures with repairs of 24 h lower the mean slowdown of some logs, as large jobs wait long and "
        f"small ones pass them: on SDSC jobs above a quarter of {e.failing} have, with single failures, "
        f"{_failed(e, 'powers')} the slowdown of a machine without failures under powers of two, and "
        f"{_failed(e, e.what.lists(e.failing)[-1])} under the longest list. Windows differ much, so a site should run "
        "its own log: `fs.advise_shapes` does.",
    )


def remarks(e: Evidence) -> tuple[str, ...]:
    """Paragraphs for the page."""
    one, powers = (Key("", "", 0.0, "fcfs", name) for name in ("one per size", "powers"))
    return (
        f"**What is compared.** A site that uses topology/torus3d decides three things: which shapes it lists and at "
        f"which anchors, by which score Slurm chooses among free boxes (that is Slurm's code), and what becomes of "
        f"sizes that no shape has. Each is varied alone. Numbers are means over {e.what.replicates} windows of "
        f"{e.what.jobs:,} jobs of a log, slowdowns geometric means, intervals 95 % of paired differences; hypotheses "
        f"and rules were written before the first full run.",
        f"**What the choices are worth under EASY** at load {USUAL:g}, as the slowdown compared with one shape per "
        f"size, from the best to the worst case: powers of two {_spread(e, 'one per size', 'powers')}; all rotations "
        f"{_spread(e, 'one per size', 'rotations')}; every box {_spread(e, 'one per size', 'every box')}; Krevat's "
        f"rule {_spread(e, 'one per size', KREVAT)}.",
        f"**Sizes without a shape**: with powers of two, segments give {_parted(e, '', 'powers')} the slowdown of "
        f"sizes rounded up ({_parted(e, 'sdsc', 'powers')} on SDSC), and {_parted(e, '', 'one per size')} that of one "
        f"shape per size. They fill the machine better, by "
        f"{_points(e, powers, powers._replace(unlisted='segments'))} of saturation, and help large jobs most: on SDSC "
        f"those above a quarter of the machine have {_parted(e, 'sdsc', 'powers', 'large')} the slowdown of rounded "
        f"ones, so that small ones pass fewer of them. A job in several boxes runs as fast here as in one: what "
        f"traffic between them costs is not modelled.",
        *_advice(e),
        "**Lists**: *powers*: boxes whose extents are powers of two that tile the torus; *one per size*: the most "
        "compact box of each size that has one; *rotations*: these in all orientations; *every box*: all boxes, the "
        "most compact first; all these at the default spacing, the extent of the shape. *Every node*: every box at "
        "every node. *Krevat*: MaxFreePartition, every box at every node, and a larger one if none of the size is "
        "free.",
        f"**Larger boxes.** Slurm never gives a job a box that is larger than it asks for; `larger=True` does for the "
        f"head of the queue. That is worth {_points(e, one, one._replace(extra='larger'))} of saturation with one "
        f"shape per size ({_points(e, one, one._replace(extra='larger'), 'sdsc')} on SDSC), and "
        f"{_spread(e, 'one per size', 'one per size', extra='larger')} the slowdown under EASY.",
        '**A predictor.** `score="tie-breaking"` is Slurm\'s choice that prefers, of boxes of equal cost, one without '
        'a node that is predicted to fail; `score="balancing"` weighs the largest box that is left against the nodes '
        "that a failure would stop. Where failures come in bursts and repairs take 24 h, and each is foreseen with "
        f"probability 1/2, {_saved(e, 'tie-breaking')} of the jobs that failures stop without it are stopped with the "
        f"first, and {_saved(e, 'balancing')} with the second, over all logs and lists.",
        "**Several tori** are filled as Slurm fills them: the fullest first that has a box. The same "
        f"{e.what.parted} nodes as two tori of half the extent cannot hold jobs above half of the machine in one box: "
        f"rounding up refuses {_refused_on_two(e)} of the jobs. In segments of powers of two none need be refused.",
        "**Not run**: unequal tori, holes and regions, as the simulated machine is complete; lists of every box on "
        "16x16x16 (4,096 shapes); refusing on Curie, as windows of its scaled sizes may have none with a shape; the "
        "order of jobs by Slurm's priorities. Failures, predictors and loads are run on one machine, two tori on "
        "another.",
    )
