"""The checks of [oliner2004] that need no log: the choices of Figure 2 (O1), how fast the finders are (O15)."""

from functools import partial

import numpy as np

from faultsim.arrays import Flags
from faultsim.data.failures import FailureTrace
from faultsim.data.workload import Workload
from faultsim.kernels.partition import feasible_sizes, find_partitions, max_free_partition
from faultsim.machines import Torus
from faultsim.policies import Balancing, Confidence, Fcfs, Perfect, Placement, Predictor, Requeue, TieBreaking
from faultsim.reproduce.krevat2002.checks import seconds
from faultsim.simulation.simulate import simulate

# Figure 2 is not readable, its numbers are: for a job of 4, box (a) costs an L_MFP of 3 and is predicted to fail at one
# node, (b) costs 5 and is safe.  On this mesh ("#" busy, x downward) the left column is (a), with the failing node at
# its upper end, and the first 2x2 of the 3x3 without the left column is (b).
_AB = (".###", "...#", "...#", "...#")
# (c) and (d) leave equal MFPs: the two free columns; (c), the first, is predicted to fail.
_CD = (".#.#", ".#.#", ".#.#", ".#.#")
_BOXES: dict[tuple[int, ...], str] = {(0, 0, 0, 4, 1, 1): "a", (1, 1, 0, 2, 2, 1): "b"}
_COLUMNS: dict[tuple[int, ...], str] = {(0, 0, 0, 4, 1, 1): "c", (0, 2, 0, 4, 1, 1): "d"}
_FAILING = 0  # the node at (0, 0)


def _busy(picture: tuple[str, ...]) -> Flags:
    return np.array([[mark == "#" for mark in row] for row in picture])[:, :, None]


def _choice(
    picture: tuple[str, ...], names: dict[tuple[int, ...], str], placement: Placement, predictor: Predictor | None
) -> str:
    """Which box a job of 4 nodes gets: nodes marked busy are down, and node 0 fails while the job runs."""
    busy = np.flatnonzero(_busy(picture))
    failures = FailureTrace(
        [*[0.0] * len(busy), 50.0], [*busy, _FAILING], [*[10_000.0] * len(busy), 0.0], span=20_000.0
    )
    result = simulate(
        Workload(submit=[10.0], runtime=[100.0], size=[4]),
        Torus(4, 4, 1, wrap=False),
        scheduler=Fcfs(),
        placement=placement,
        failures=failures,
        recovery=Requeue(),
        predictor=predictor,
        record=True,
    )
    held = result.allocations
    box = tuple(int(held[name][0]) for name in "xyzabc")
    return names.get(box, str(box))


def _loss(picture: tuple[str, ...], box: tuple[int, ...]) -> int:
    """L_MFP of a box: by how much the largest free box shrinks."""
    busy = _busy(picture)
    before = max_free_partition(busy, wrap=False)
    x, y, _, a, b, _ = box
    busy[x : x + a, y : y + b] = True
    after = max_free_partition(busy, wrap=False)
    return (before.size if before else 0) - (after.size if after else 0)


def figure_2() -> dict[str, object]:
    """What the engine chooses in the situations of Figure 2."""
    return {
        "losses": tuple(_loss(_AB, box) for box in _BOXES),
        "balancing": {p: _choice(_AB, _BOXES, Balancing(), Confidence(p)) for p in (0.1, 0.49, 0.5, 0.51, 0.9)},
        "tie-breaking": _choice(_CD, _COLUMNS, TieBreaking(), Perfect()),
        "tie-breaking blind": _choice(_CD, _COLUMNS, TieBreaking(), Confidence(0.0)),
    }


def _ratio(busy: list[Flags], sizes: list[int], budget: float) -> float:
    """CPU time of pop over that of divisor, for all free boxes of a size: geometric mean over occupancies and sizes."""
    logs = []
    for grid in busy:
        for size in sizes:
            took = [
                seconds(partial(find_partitions, grid, size, algorithm=name), budget) for name in ("pop", "divisor")
            ]
            logs.append(np.log(took[0] / took[1]))
    return float(np.exp(np.mean(logs)))


def finder_ratios(quick: bool) -> dict[str, object]:
    """Appendix 9: how much longer than the divisor finder POP takes.

    Sizes are a spread of those that the torus has; half-busy occupancies are drawn from a fixed stream.
    """
    budget = 0.002 if quick else 0.02
    empty = {}
    for m in (4, 6, 8) if quick else (4, 6, 8, 10, 12):
        feasible = feasible_sizes(m, m, m)
        sizes = [feasible[round(share * (len(feasible) - 1))] for share in (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)]
        empty[m] = _ratio([np.zeros((m, m, m), dtype=bool)], sizes, budget)
    rng = np.random.default_rng(15)
    occupancies = [rng.permutation(np.arange(128) < 64).reshape(4, 4, 8) for _ in range(2 if quick else 8)]
    return {"empty": empty, "busy": _ratio(occupancies, [1, 2, 4, 8, 16], budget)}


def run_checks(quick: bool) -> dict[str, object]:
    """Both, by claim."""
    return {"O1": figure_2(), "O15": finder_ratios(quick)}
