"""The laws of capacities, which schedulers rely on."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faultsim.errors import OptionError
from faultsim.reference.capacity import Amounts, Count, Mask, VectorAsk, Vectors

NODES = 4
AMOUNTS = st.builds(Amounts, st.integers(0, 3), st.integers(0, 3), st.integers(0, 2))
PLACES = {size: tuple(((1 << size) - 1) << base for base in range(0, 8 - size + 1, size)) for size in (1, 2, 3, 4, 8)}
#: Capacity -> its values, its asks.
KINDS = {
    "count": (st.builds(Count, st.integers(0, 9)), st.integers(0, 9)),
    "mask": (st.builds(Mask, st.integers(0, 255), st.just(PLACES)), st.sampled_from(sorted(PLACES))),
    "vectors": (
        st.builds(Vectors, st.tuples(*[AMOUNTS] * NODES)),
        st.builds(VectorAsk, st.integers(1, NODES), AMOUNTS, st.frozensets(st.integers(0, NODES - 1))),
    ),
}


def grants(value, ask):
    """All grants of an ask, by brute force."""
    if isinstance(value, Count):
        return [ask] if ask <= value.free else []
    if isinstance(value, Mask):
        return [place for place in value.places[ask] if not place & value.taken]
    nodes = [node for node in sorted(ask.eligible) if ask.each.within(value.free[node])][: ask.nodes]
    return [dict.fromkeys(nodes, ask.each)] if len(nodes) == ask.nodes else []


@pytest.mark.parametrize("kind", KINDS)
@given(st.data())
def test_what_fits_can_be_taken_and_given_back(kind, data):
    values, asks = KINDS[kind]
    value, ask = data.draw(values), data.draw(asks)
    found = grants(value, ask)
    assert value.fits(ask) == bool(found)
    for grant in found:
        assert value.take(grant).give(grant) == value


@pytest.mark.parametrize("kind", KINDS)
@given(st.data())
def test_what_is_free_in_both_is_free_in_each(kind, data):
    values, asks = KINDS[kind]
    a, b, c, ask = data.draw(values), data.draw(values), data.draw(values), data.draw(asks)
    assert not a.meet(b).fits(ask) or (a.fits(ask) and b.fits(ask))
    assert a.meet(b) == b.meet(a)
    assert a.meet(b).meet(c) == a.meet(b.meet(c))
    assert a.meet(a) == a


@pytest.mark.parametrize("kind", KINDS)
@given(st.data())
def test_an_ask_that_covers_fits_wherever_the_other_one_does(kind, data):
    values, asks = KINDS[kind]
    value, x, y, z = data.draw(values), data.draw(asks), data.draw(asks), data.draw(asks)
    covers = type(value).covers
    assert not (covers(x, y) and value.fits(y)) or value.fits(x)
    assert covers(x, x)
    assert not (covers(x, y) and covers(y, z)) or covers(x, z)
    assert not (covers(x, y) and covers(y, x)) or x == y


def test_asks_of_vectors_may_be_larger_and_smaller_at_once():
    cores, gpus = (VectorAsk(1, each, frozenset({0})) for each in (Amounts(8), Amounts(1, 0, 1)))
    assert not Vectors.covers(cores, gpus)
    assert not Vectors.covers(gpus, cores)


@pytest.mark.parametrize(
    ("value", "grant", "said"),
    [
        (Count(2), 3, "3 nodes are not free"),
        (Mask(1, PLACES), 1, "place 1 is not free"),
        (Vectors((Amounts(1),)), {0: Amounts(2)}, "node 0 has"),
    ],
)
def test_what_is_not_free_cannot_be_taken(value, grant, said):
    with pytest.raises(OptionError, match=said):
        value.take(grant)
