"""The word loops: every variant for a kind of processor gives the same answers."""

import platform
from pathlib import Path

import numpy as np
import pytest

from faultsim._core.torus.chooser import Chooser
from faultsim._core.torus.finders import Finder
from faultsim._core.torus.occupancy import Torus
from faultsim._core.torus.row_maps import use_kernels


def answers(torus, scenes, sizes):
    finder, chooser = Finder(torus, 0, scenes), Chooser(torus)
    found = np.empty((len(scenes), 6), np.int32)
    finder.largest(found)
    yield found.tobytes()
    for i, busy in enumerate(scenes):
        for size in sizes:
            yield finder.boxes(size, 0, i)
            yield chooser.has_free(busy, size)
            for rule in ("first_fit", "max_free_partition"):
                yield chooser.choose(rule, busy, size, later=scenes[i - 1], need=size)
                yield chooser.choose(rule, busy, size)


def variants():
    """How many this processor has: none may be left out unseen."""
    info = Path("/proc/cpuinfo")
    flags = set(info.read_text().split()) if info.exists() else set()
    if platform.machine() != "x86_64" or "avx2" not in flags:
        return 1
    return 2 + ({"avx512f", "avx512vl", "avx512bw", "avx512dq"} <= flags)


@pytest.mark.parametrize(
    "shape", [(8, 8, 16), (4, 16, 8), (16, 2, 5), (8, 8, 29), (4, 4, 64), (4, 4, 63), (8, 8, 8), (7, 3, 13), (3, 5, 70)]
)
@pytest.mark.parametrize("wrap", [True, False])
def test_variants_agree(shape, wrap):
    rng = np.random.default_rng(shape[2])
    torus, nodes = Torus(*shape, wrap), int(np.prod(shape))
    scenes = np.stack([rng.random(shape) < share for share in (0, 0.02, 0.1, 0.4, 0.7)])
    scenes = np.concatenate([scenes, np.maximum.accumulate(scenes)]).view(np.uint8)
    sizes = [torus.next_feasible(size) for size in (1, 2, 6, 16, 30, nodes // 8, nodes // 3, nodes)]
    try:
        tables = []
        while use_kernels(len(tables)):
            tables.append(list(answers(torus, scenes, sizes)))
    finally:
        use_kernels(-1)
    assert len(tables) == variants()
    for number, table in enumerate(tables):
        assert table == tables[0], number
