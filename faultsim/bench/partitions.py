"""The speed of the partition finders and the placement rules, by machine and occupancy.

Every question is answered from scratch, without anything cached from earlier ones.
"""

from collections.abc import Callable
from functools import partial

import numpy as np

from faultsim._core.torus.chooser import Chooser
from faultsim._core.torus.finders import Finder
from faultsim._core.torus.occupancy import Torus
from faultsim.arrays import Flags
from faultsim.bench.clock import least
from faultsim.kernels.partition import ALGORITHMS, find_partitions

# Shape of the machine -> how many occupancies a case has, and the size of box that is looked for.
MACHINES: dict[tuple[int, int, int], tuple[int, int]] = {
    (4, 4, 8): (32, 8),
    (8, 8, 8): (16, 32),
    (8, 8, 16): (16, 64),
    (16, 16, 16): (8, 256),
    (32, 32, 64): (4, 4096),
}
OCCUPANCIES = ("empty", "1 %", "10 %", "50 %", "jobs")

# Nodes up to which a finder is measured: beyond, one answer can take minutes.
_LIMIT = {"largest": {"naive": 512, "divisor": 1024}, "all": {"naive": 512}}


def _with_jobs(shape: tuple[int, int, int], rng: np.random.Generator, share: float) -> Flags:
    """Boxes at random free places, of sizes that are powers of two, until a share of the nodes is busy."""
    busy = np.zeros(shape, np.bool_)
    top = int(np.log2(busy.size)) - 2
    for _ in range(1000):
        if busy.mean() >= share:
            break
        boxes = find_partitions(busy, 2 ** int(rng.integers(max(0, top - 6), top)))
        if len(boxes):
            x, y, z, a, b, c = boxes[rng.integers(len(boxes))]
            axes = ((x, a, shape[0]), (y, b, shape[1]), (z, c, shape[2]))
            busy[np.ix_(*((base + np.arange(extent)) % length for base, extent, length in axes))] = True
    return busy


def occupancies(shape: tuple[int, int, int], kind: str, n: int, seed: int = 1, share: float = 0.7) -> Flags:
    """`n` occupancies of one of the kinds of `OCCUPANCIES`: random nodes, or boxes that hold `share` ("jobs").

    Returns
    -------
    bool array of shape (n, X, Y, Z)

    Examples
    --------
    >>> occupancies((4, 4, 8), "10 %", 3).shape
    (3, 4, 4, 8)
    """
    rng = np.random.default_rng(seed)
    if kind == "jobs":
        return np.array([_with_jobs(shape, rng, share) for _ in range(n)])
    return rng.random((n, *shape)) < (0.0 if kind == "empty" else float(kind.split()[0]) / 100)


def _seconds(ask: Callable[[int], object], quick: bool) -> float:
    """Seconds for one round of `ask`, which repeats its question without returning to Python."""
    ask(1)
    once = least(partial(ask, 1), repeat=1)
    times = max(1, int((0.002 if quick else 0.02) / once))
    return least(partial(ask, times), repeat=1 if once > 0.2 else 3) / times


def measure(*, quick: bool = False) -> list[dict[str, object]]:
    """Ask every finder both questions.

    Returns
    -------
    list of dict
        One row per question, machine and occupancy: microseconds of each finder (None: it would take too long), and
        how many times as long as bitmap pop takes.

    Examples
    --------
    >>> rows = measure(quick=True)
    >>> rows[0]["question"], rows[0]["machine"], rows[0]["busy"]
    ('largest', '4x4x8', 'empty')
    """
    rows = []
    for question in ("largest", "all"):
        for shape, (n, size) in MACHINES.items():
            if quick and np.prod(shape) > 1024:
                continue
            for kind in OCCUPANCIES:
                busy = occupancies(shape, kind, 2 if quick else n).view(np.uint8)
                row: dict[str, object] = {
                    "question": question if question == "largest" else f"all of {size}",
                    "machine": "x".join(map(str, shape)),
                    "busy": kind,
                }
                took: dict[str, float] = {}
                for name, algorithm in ALGORITHMS.items():
                    row[f"{name}_us"] = None
                    if np.prod(shape) > _LIMIT[question].get(name, 2**31):
                        continue
                    finder = Finder(Torus(*shape), algorithm.number, busy)
                    if question == "largest":
                        out = np.empty((len(busy), 6), np.int32)
                        ask: Callable[[int], object] = partial(finder.largest, out)
                    else:
                        ask = partial(finder.count, size, 0)
                    row[f"{name}_us"] = took[name] = 1e6 * _seconds(ask, quick) / len(busy)
                row["pop_per_bitmap"] = took["pop"] / took["bitmap"]
                rows.append(row)
    return rows


def measure_placement(*, quick: bool = False) -> list[dict[str, object]]:
    """Place one job on occupancies left by jobs.

    Returns
    -------
    list of dict
        One row per machine and size: microseconds of a placement by either rule, and the share of occupancies that
        had room.

    Examples
    --------
    >>> measure_placement(quick=True)[0]["machine"]
    '4x4x8'
    """
    rows = []
    for shape, (n, _) in MACHINES.items():
        nodes = int(np.prod(shape))
        if quick and nodes > 1024:
            continue
        busy = occupancies(shape, "jobs", 2 if quick else max(8, n)).view(np.uint8)
        chooser = Chooser(Torus(*shape))
        for size in (nodes // 128, nodes // 32, nodes // 8):
            row: dict[str, object] = {"machine": "x".join(map(str, shape)), "size": size}
            row["fits"] = chooser.repeat("first_fit", busy, size) / len(busy)
            for rule in ("first_fit", "max_free_partition"):
                ask = partial(chooser.repeat, rule, busy, size)
                row[f"{rule}_us"] = 1e6 * least(partial(ask, 20), repeat=1 if quick else 3) / len(busy) / 20
            rows.append(row)
    return rows
