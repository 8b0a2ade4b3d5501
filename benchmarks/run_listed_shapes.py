"""Measure decisions of SlurmTorus and write that section of benchmarks/RESULTS.md.

python benchmarks/run_listed_shapes.py [--only PART ...] [--dry]
"""

import time

import numpy as np
from results import run_parts, table

from faultsim._core.torus.listed_face import ListedRule
from faultsim.policies.shapes import rows_of, shapes_of

HEAD = """
CPU time of one decision by the compiled rule, the least of five, with nothing remembered from decision to decision: 20
shapes of 11 sizes, boxes of powers of two busy at random.  "Mean" is over the sizes, "longest" the slowest size.
"""
SHAPES = (
    "1x1x1+1x1x2+1x2x1+1x2x2+2x1x2+2x2x2+2x2x4+2x4x2+2x4x4+4x2x4+4x4x4+4x4x8+4x8x4+4x8x8+8x4x8+8x8x4+8x8x8+8x4x16"
    "+4x8x16+{largest}"
)
MACHINES = {(8, 8, 16): ("8x8x16", 2000), (32, 32, 64): ("16x16x16", 60)}


def occupancy(rng, dims, share):
    """Which nodes are free: boxes at multiples of their extents are busy, up to a share."""
    free = np.ones(dims, np.uint8)
    while 1 - free.mean() < share:
        extents = [2 ** int(rng.integers(0, 3)) for _ in dims]
        base = [int(rng.integers(0, n // a)) * a for n, a in zip(dims, extents, strict=True)]
        free[tuple(slice(first, first + a) for first, a in zip(base, extents, strict=True))] = 0
    return np.ascontiguousarray(free.ravel())


def seconds(rule, free, sizes, times):
    """CPU seconds of one decision."""
    best = float("inf")
    for _ in range(5):
        began = time.process_time()
        rule.repeat(free, sizes, times)
        best = min(best, time.process_time() - began)
    return best / times / len(sizes)


def decisions():
    rows = []
    for dims, (largest, times) in MACHINES.items():
        for spacing in ("", "1x1x1"):
            shapes = shapes_of(SHAPES.format(largest=largest), spacing, "", dims)
            rule = ListedRule([(*dims, None, np.array(rows_of(shapes), np.int32))], int(np.prod(dims)))
            sizes = np.array(sorted({shape.size for shape in shapes}), np.int32)
            for share in (0.3, 0.7):
                free = occupancy(np.random.default_rng(1), dims, share)
                each = [seconds(rule, free, np.array([size], np.int32), times) for size in sizes]
                rows.append(
                    {
                        "machine": "x".join(map(str, dims)),
                        "anchors": "every node" if spacing else "by extent",
                        "busy": share,
                        "mean, us": 1e6 * float(np.mean(each)),
                        "longest, us": 1e6 * max(each),
                    }
                )
    return "One decision", table(rows)


def main():
    run_parts("listed_shapes", "Listed shapes", HEAD, {"decisions": decisions}, __doc__)


if __name__ == "__main__":
    main()
