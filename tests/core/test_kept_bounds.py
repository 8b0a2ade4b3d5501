"""A finder that keeps bounds through releases on a larger torus gives the answers of a new finder."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from faultsim._core.torus.chooser import Chooser
from faultsim._core.torus.occupancy import Torus
from helpers.thresholds import at

#: Lines of 8, 16, 32 and 64 bits, rows of one word and of several, more than 8 rows or several words a row.
SHAPES = [(9, 3, 6), (10, 4, 5), (9, 8, 8), (12, 1, 16), (3, 12, 15), (2, 7, 20), (5, 3, 32), (2, 2, 40), (4, 5, 64)]


def nodes_of(box, shape):
    x, y, z, a, b, c = box
    return np.ix_((x + np.arange(a)) % shape[0], (y + np.arange(b)) % shape[1], (z + np.arange(c)) % shape[2])


@settings(max_examples=60)
@given(
    st.sampled_from(SHAPES),
    st.booleans(),
    st.integers(0, 2),
    st.sampled_from([4, 12, 40]),
    st.sampled_from([{}, {"slice_part": 0}, {"slice_part": 0, "gain_part": 0}, {"places_left": 1, "gain_part": 64}]),
    st.integers(0, 2**32 - 1),
)
def test_bounds_kept_through_releases_change_no_answer(shape, wrap, order, parts, limits, seed):
    """Jobs come and go on a full machine, several at once too, and nodes fail: each answer is that of a new finder."""
    rng = np.random.default_rng(seed)
    with at(octet_rows=0, **limits):
        torus = Torus(*shape, wrap)
    kept = Chooser(torus, follows=True)
    busy, later = np.zeros(shape, bool), np.zeros(shape, bool)
    sizes = [int(s) for s in rng.integers(1, max(2, busy.size // parts), 6)]
    need, jobs = int(rng.choice(sizes)), []

    for _ in range(40):
        new = Chooser(torus)
        options = {}
        if rng.random() < 0.5:
            options = {"later": later, "need": need}
        if rng.random() < 0.1:
            options["forbidden"] = rng.random(shape) < 0.02
        size = int(rng.choice(sizes))
        for rule in ("first_fit", "max_free_partition"):
            box = new.choose(rule, busy, size, order, **options)
            assert kept.choose(rule, busy, size, order, **options) == box
        if rng.random() < 0.3:
            assert kept.largest(busy) == new.largest(busy)
            at_least = int(rng.integers(1, busy.size + 1))
            assert (kept.has_free(later, at_least) is None) == (new.has_free(later, at_least) is None)
        if rng.random() < 0.1:
            assert kept.choose("list", busy, size, order, **options) == new.choose("list", busy, size, order, **options)

        if box and rng.random() < 0.8:
            busy[nodes_of(box, shape)] = True
            jobs.append((box, rng.random() < 0.5))
            if jobs[-1][1]:
                later[nodes_of(box, shape)] = True
        for _i in range(rng.integers(0, 3) if not box or rng.random() < 0.3 else 0):
            if jobs:
                gone, stays = jobs.pop(rng.integers(len(jobs)))
                kept.give(gone)
                busy[nodes_of(gone, shape)] = False
                if stays:
                    later[nodes_of(gone, shape)] = False
        if rng.random() < 0.1:
            node = tuple(rng.integers(0, shape))
            if not busy[node]:
                busy[node] = later[node] = True
                jobs.append(((*node, 1, 1, 1), True))
        if rng.random() < 0.1:
            need = int(rng.choice(sizes))
