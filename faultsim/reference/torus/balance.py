"""Oliner's two placement rules, the slow and obvious way: the reference for ``faultsim._core.torus.balance``.

Every candidate is looked at by itself, in contract order, with the largest free box that it leaves.
"""

import numpy as np

from faultsim.reference.torus.partition import Box, Busy, is_free, masks, max_free, nodes, permitted


def failure_probability(k: int, p: float, rule: str = "prod") -> float:
    """P of a box with k nodes that are predicted to fail, each with probability p (model.md#balancing)."""
    if rule == "max":
        return p if k > 0 else 0.0
    survives = 1.0
    for _ in range(k):
        survives *= 1.0 - p
    return 1.0 - survives


def failing_nodes(failing: Busy | None, box: Box) -> int:
    return 0 if failing is None else int(np.count_nonzero(failing[nodes(failing.shape, box)]))


def balancing(
    busy: Busy, size: int, failing: Busy | None = None, p: float = 0.0, rule: str = "prod", **options: object
) -> Box | None:
    """The box of least (MFP before - MFP after) + P q; a later one replaces it only if better by more than 1e-9."""
    wrap = bool(options.get("wrap", True))
    before = max_free(busy, wrap)
    best, best_value = None, 0.0
    for box in permitted(busy, size, **options):  # type: ignore[arg-type]
        after = max_free(busy, wrap, masks(*busy.shape, wrap)[box])
        value = (before - after) + failure_probability(failing_nodes(failing, box), p, rule) * size
        if best is None or value < best_value - 1e-9:
            best, best_value = box, value
    return best


def tie_breaking(busy: Busy, size: int, failing: Busy | None = None, **options: object) -> Box | None:
    """Among the boxes that leave the largest free box of all, the first without a failing node; else the first."""
    wrap = bool(options.get("wrap", True))
    boxes = permitted(busy, size, **options)  # type: ignore[arg-type]
    after = [max_free(busy, wrap, masks(*busy.shape, wrap)[box]) for box in boxes]
    leaves_most = [box for box, left in zip(boxes, after, strict=True) if left == max(after)]
    clean = [box for box in leaves_most if failing is None or is_free(failing, box)]
    return next(iter(clean or leaves_most), None)
