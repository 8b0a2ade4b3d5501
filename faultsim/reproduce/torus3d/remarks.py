"""What the page says to a site's administrator, beside the claims."""

import math

from faultsim.reproduce.torus3d.claims import ratio
from faultsim.reproduce.torus3d.runs import KREVAT, USUAL, Evidence, Key


def _spread(e: Evidence, one: str, other: str) -> str:
    """By which factors the slowdown of `other` differs from that of `one` under EASY, over all cases that have both."""
    found = []
    for log, machine in e.cases:
        keys = [Key(log, machine, USUAL, "easy", name) for name in (one, other)]
        if all(key in e.runs for key in keys):
            found.append(math.exp(ratio(e, *keys).value))
    return f"{min(found):.2f} to {max(found):.2f} times"


def remarks(e: Evidence) -> tuple[str, ...]:
    """Paragraphs for the page."""
    return (
        f"**What is compared.** A site that uses topology/torus3d decides three things: which shapes it lists and at "
        f"which anchors, by which score Slurm chooses among free boxes (that is Slurm's code), and what becomes of sizes "
        f"that no shape has. Each is varied alone. Numbers are means over {e.what.windows} windows of {e.what.jobs:,} "
        f"jobs of a log, slowdowns geometric means, intervals 95 % of paired differences; hypotheses and rules were "
        f"written before the first full run. Windows of one log share no jobs, but their jobs are not independent.",
        f"**What the choices are worth under EASY** at load {USUAL:g}, as the slowdown compared with one shape per size, "
        f"from the best to the worst case: powers of two {_spread(e, 'one per size', 'powers')}; all rotations "
        f"{_spread(e, 'one per size', 'rotations')}; every box {_spread(e, 'one per size', 'every box')}; Krevat's rule "
        f"{_spread(e, 'one per size', KREVAT)}.",
        "**Lists**: *powers*: boxes whose extents are powers of two that tile the torus; *one per size*: the most compact "
        "box of each size that has one; *rotations*: these in all orientations, in the order of the letters; *every box*: "
        "all boxes, the most compact first; all these at the default spacing, the extent of the shape. *every node*: "
        "every box at every node. *krevat*: MaxFreePartition, every box at every node, and a larger one if none of the "
        "size is free.",
        "**Not run**: segments (`--segment`), several tori, holes and regions, as the simulated machine is one complete "
        "torus; lists of every box on 16x16x16 (4,096 shapes); the order of jobs by Slurm's priorities; a larger box for "
        "the head with listed shapes, which Slurm does not have; a predictor with listed shapes (Balancing places by "
        "Krevat's boxes only, so it is compared there). Failures and loads are run on one machine.",
    )
