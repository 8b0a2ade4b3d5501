"""Coins, and the priorities that hang on them."""

import struct

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from faultsim.data.failure_table import default_coins, priorities

coins = st.lists(st.floats(0, 1, exclude_max=True), max_size=30)


@given(coins, st.lists(st.integers(0, 29), unique=True), st.integers(0, 2**70))
def test_priorities_hang_on_the_coin_alone(values, some, key):
    values = np.array(sorted(set(values)))
    rows = np.array(sorted(row for row in some if row < len(values)), dtype=int)
    assert np.array_equal(priorities(values[rows], key), priorities(values, key)[rows])


@given(coins)
def test_no_two_failures_share_a_priority(values):
    values = np.array([*values, *values, 0.5, 0.5])
    assert len(set(priorities(values, 0).tolist())) == len(values)


def test_priorities_look_uniform_and_keys_differ():
    coin = default_coins(20_000)
    one, two = (priorities(coin, key) / 2.0**64 for key in (0, 1))
    for values in (one, two):
        assert np.abs(np.sort(values) - (np.arange(20_000) + 0.5) / 20_000).max() < 1.95 / np.sqrt(20_000)
    for a, b in ((one, two), (one, coin), (two, coin)):
        assert abs(np.corrcoef(a, b)[0, 1]) < 4 / np.sqrt(20_000)


def splitmix(x):
    """One step of SplitMix64, in whole numbers of Python."""
    x = (x + 0x9E3779B97F4A7C15) % 2**64
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    x = (x ^ x >> 27) * 0x94D049BB133111EB % 2**64
    return x ^ x >> 31


@given(st.lists(st.sampled_from([0.0, 0.25, 0.5, 0.75]), min_size=1, max_size=9), st.integers(0, 2**70))
def test_priorities_in_plain_python(coins, key):
    expected = []
    for at, coin in enumerate(coins):
        (bits,) = struct.unpack("<Q", struct.pack("<d", coin))
        expected.append(splitmix((splitmix(splitmix(bits) ^ key % 2**64) + coins[:at].count(coin)) % 2**64))
    assert priorities(np.array(coins), key).tolist() == expected
