"""The checks of [krevat2002] that need no log: job growth (K1), the POP example (K2), how the finders scale (K3)."""

import time
from collections.abc import Callable
from functools import partial

import numpy as np

from faultsim.arrays import Flags
from faultsim.data.workload import Workload
from faultsim.kernels.partition import find_partitions, max_free_partition
from faultsim.machines import Torus
from faultsim.policies import Fcfs, FirstFit
from faultsim.simulation.simulate import simulate


def growth() -> dict[str, object]:
    """Section 2: on a 4x4 torus with a single free 2x2, a job of 3 nodes becomes one of 4 and starts.

    Three jobs (8, 2 and 2 nodes) leave a 2x2; `FirstFit` puts them so.
    """
    log = Workload(submit=[0, 0, 0, 1], runtime=[100, 100, 100, 10], size=[8, 2, 2, 3])
    result = simulate(log, Torus(4, 4, 1), scheduler=Fcfs(), placement=FirstFit(), record=True)
    held = result.allocations
    busy = np.zeros((4, 4, 1), dtype=bool)
    for i in range(3):
        x, y, z, a, b, c = (int(held[name][i]) for name in "xyzabc")
        busy[np.ix_((x + np.arange(a)) % 4, (y + np.arange(b)) % 4, (z + np.arange(c)) % 1)] = True
    box = max_free_partition(busy)
    return {
        "free_box": None if box is None else tuple(int(v) for v in box[3:]),
        "free": int((~busy).sum()),
        "boxes_of_3": len(find_partitions(busy, 3)),
        "start": float(result.jobs["start"][3]),
        "allocated": int(result.jobs["allocated"][3]),
    }


def pop_example() -> list[int]:
    """Figure 9: the largest box from base (1, 2) as it widens along x: 3, 4, 6, then none.

    The figure's free columns along y are 3, 2, 2 and 0 nodes long; each width keeps the shortest.
    """
    busy = np.zeros((6, 6, 1), dtype=bool)
    for x, y in ((1, 5), (2, 4), (3, 4), (4, 2)):
        busy[x, y, 0] = True
    largest = []
    for width in range(1, 5):
        sizes = [0]
        for size in range(width, 6 * width + 1, width):
            boxes = find_partitions(busy, size, algorithm="pop", wrap=False)
            rooted = (boxes[:, 0] == 1) & (boxes[:, 1] == 2) & (boxes[:, 3] == width)
            sizes += [size] * bool(rooted.any())
        largest.append(max(sizes))
    return largest


def seconds(task: Callable[[], object], budget: float = 0.06) -> float:
    """CPU seconds of one `task`, the least of several."""
    best, spent, rounds = np.inf, 0.0, 0
    while rounds < 2 or not spent or (spent < budget and rounds < 200):  # a clock may tick coarsely
        begin = time.thread_time()
        task()
        took = time.thread_time() - begin
        best, spent, rounds = min(best, took), spent + took, rounds + 1
        if took > budget:
            break
    return float(best) or spent / rounds


def _exponent(sizes: list[int], seconds: list[float]) -> float:
    """Slope of log(time) over log(M)."""
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def _nearly_free(m: int) -> Flags:
    """One busy node: almost every box is free, so neither finder ends early."""
    busy = np.zeros((m, m, m), dtype=bool)
    busy[0, 0, 0] = True
    return busy


def scaling(quick: bool) -> dict[str, object]:
    """Appendix A: how the time to find the largest free box grows with M on an M x M x M torus with one busy node."""
    sizes = (
        {"naive": [4, 5, 6, 7, 8], "pop": [8, 12, 16, 20, 24]}
        if not quick
        else {"naive": [3, 4, 5, 6], "pop": [6, 8, 10, 12]}
    )
    found: dict[str, object] = {}
    for algorithm, extents in sizes.items():
        times = []
        for m in extents:
            busy = _nearly_free(m)
            times.append(seconds(partial(max_free_partition, busy, algorithm=algorithm)))
        found[algorithm] = {"M": extents, "seconds": times, "exponent": _exponent(extents, times)}
    return found


def run_checks(quick: bool) -> dict[str, object]:
    """All three, by claim."""
    return {"K1": growth(), "K2": pop_example(), "K3": scaling(quick)}
