"""Hyper-Erlang fits of the CTC SP2 log, the workload model of [zhang2004], built in so that it runs without data.

The paper draws its jobs from fits of a log of LLNL's ASCI Blue-Pacific, which is not public, and neither are the
parameters of [jann1997], who fitted the CTC SP2.  So the CTC SP2 is fitted again here: the first 17,745
jobs with a run time above 0 of CTC-SP2-1996-3.1-cln (26 June to 12 September 1996, the span of Jann's fit), by the
sample moments of each size class, with the smallest order that can do it.  A test repeats the fit where the log is
there.
"""

from faultsim.synthetic.hyper_erlang import HyperErlang, HyperErlangModel, SizeClass

#: Jobs of the log (with a run time above 0) that the fit is made of.
FITTED_JOBS = 17_745
NODES = 320  # section 3.1
LARGEST = 322  # of the fitted jobs; those above `NODES` count as `NODES`

# Lowest and highest size, gaps between arrivals, run times (stages, rate1, rate2, p1 each), and jobs by size.
_CLASSES: tuple[
    tuple[int, int, tuple[int, float, float, float], tuple[int, float, float, float], dict[int, int]], ...
] = (
    (1, 1, (1, 1.483e-4, 2.310e-3, 0.0691), (4, 1.186e-4, 6.810e-3, 0.3893), {1: 7389}),
    (2, 2, (1, 3.618e-5, 8.754e-4, 0.0959), (8, 1.758e-4, 4.016e-2, 0.3103), {2: 1716}),
    (3, 4, (1, 6.229e-5, 1.329e-3, 0.1301), (5, 1.428e-4, 3.193e-2, 0.2089), {3: 374, 4: 1966}),
    (5, 8, (1, 7.181e-5, 1.636e-3, 0.2169), (2, 9.561e-5, 3.031e-3, 0.2221), {5: 466, 6: 229, 7: 20, 8: 1109}),
    (
        9, 16, (1, 6.717e-5, 7.151e-4, 0.1070), (3, 1.127e-4, 2.391e-2, 0.3178),
        {9: 134, 10: 401, 11: 37, 12: 193, 14: 10, 15: 65, 16: 1424},
    ),
    (
        17, 32, (1, 3.379e-5, 3.789e-4, 0.1252), (3, 1.045e-4, 2.143e-2, 0.3187),
        {17: 63, 18: 105, 19: 3, 20: 112, 21: 32, 22: 1, 24: 66, 25: 37, 26: 48, 27: 3, 30: 6, 31: 1, 32: 617},
    ),
    (
        33, 64, (1, 5.550e-5, 1.576e-3, 0.4446), (3, 1.010e-4, 9.737e-3, 0.4172),
        {33: 146, 34: 56, 36: 5, 37: 14, 40: 15, 41: 18, 42: 1, 48: 19, 49: 1, 50: 23, 51: 2, 54: 3, 60: 5, 63: 1,
         64: 461},
    ),
    (
        65, 128, (2, 3.341e-5, 4.786e-4, 0.5034), (6, 1.387e-4, 1.538e-2, 0.3018),
        {65: 15, 66: 4, 67: 3, 69: 1, 70: 2, 71: 3, 78: 2, 81: 3, 94: 1, 96: 13, 97: 2, 100: 4, 101: 2, 114: 6, 120: 5,
         127: 6, 128: 127},
    ),
    (
        129, 256, (2, 5.785e-6, 2.787e-4, 0.1691), (1, 2.931e-4, 7.639e-3, 0.3499),
        {129: 52, 130: 2, 150: 3, 161: 1, 175: 1, 180: 1, 184: 2, 192: 7, 200: 9, 250: 1, 256: 20},
    ),
    (
        257, NODES, (1, 1.671e-6, 1.764e-5, 0.1479), (6, 1.439e-4, 3.157e-2, 0.2061),
        {257: 1, 258: 1, 264: 1, 290: 1, 300: 8, 306: 27, 308: 1, 320: 10},
    ),
)  # fmt: skip


def _size_class(
    low: int,
    high: int,
    gaps: tuple[int, float, float, float],
    runtimes: tuple[int, float, float, float],
    jobs: dict[int, int],
) -> SizeClass:
    total = sum(jobs.values())
    weights = tuple(count / total for count in jobs.values())
    return SizeClass(low, high, tuple(jobs), weights, HyperErlang(*gaps), HyperErlang(*runtimes))


#: The fit, sizes capped at 320 nodes.
CTC = HyperErlangModel(tuple(_size_class(*row) for row in _CLASSES))
