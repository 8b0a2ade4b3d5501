"""The word loops: every variant for a kind of processor gives the same words."""

import numpy as np
import pytest

from faultsim._core.torus.occupancy import Torus
from faultsim._core.torus.row_maps import kernels_agree


@pytest.mark.parametrize(
    "shape", [(8, 8, 16), (4, 16, 8), (16, 2, 5), (8, 8, 29), (4, 4, 64), (4, 4, 63), (8, 8, 8), (7, 3, 13)]
)
@pytest.mark.parametrize("wrap", [True, False])
def test_variants_agree(shape, wrap):
    rng = np.random.default_rng(shape[2])
    for share in (0.5, 0.9, 1.0):
        for words in (2, 9, 70, 200):
            a, b = (np.packbits(rng.random((words, 64)) < share, axis=1).view(np.uint64).ravel() for _ in range(2))
            assert kernels_agree(Torus(*shape, wrap), a, b) >= 1
