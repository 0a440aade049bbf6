"""Counter-hash shuffles: permutations, keyed by (seed, round, client) alone, and as random as they should be."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.stats import chi2

from empirics.federation.shuffles import orders, words


@given(
    seed=st.integers(0, 2**63),
    round_=st.integers(0, 10**6),
    sizes=st.lists(st.integers(1, 40), min_size=1, max_size=6),
    passes=st.integers(1, 3),
)
def test_a_row_begins_with_a_permutation_of_the_clients_own_places(seed, round_, sizes, passes):
    found = orders(seed, round_, np.arange(len(sizes)), np.array(sizes), passes)
    assert found.shape == (len(sizes), passes, max(sizes))
    for row, size in zip(found, sizes, strict=True):
        for one in row:
            assert sorted(one[:size]) == list(range(size))


@given(seed=st.integers(0, 2**40), others=st.lists(st.integers(0, 500), min_size=1, max_size=5, unique=True))
def test_a_clients_order_does_not_depend_on_who_else_is_asked_for(seed, others):
    clients = np.array([*others, 777])
    sizes = np.array([*(37 + k % 11 for k in others), 23])
    together = orders(seed, 3, clients, sizes, 2)[-1]
    alone = orders(seed, 3, np.array([777]), np.array([23]), 4)[0]
    assert np.array_equal(together[:, :23], alone[:2])


def test_longer_rows_begin_with_shorter_ones():
    clients = np.array([4, 9])
    assert np.array_equal(words(5, 2, clients, 3, 40)[:, :2, :11], words(5, 2, clients, 2, 11))


@pytest.mark.parametrize("changed", ["seed", "round", "client", "pass"])
def test_every_part_of_the_key_counts(changed):
    base = orders(8, 2, np.array([5]), np.array([50]), 2)[0]
    other = {
        "seed": lambda: orders(9, 2, np.array([5]), np.array([50]), 2)[0, 0],
        "round": lambda: orders(8, 3, np.array([5]), np.array([50]), 2)[0, 0],
        "client": lambda: orders(8, 2, np.array([6]), np.array([50]), 2)[0, 0],
        "pass": lambda: base[1],
    }[changed]()
    assert (base[0] != other).mean() > 0.8


def test_swapping_parts_of_the_key_gives_other_orders():
    """Seed, round, client and pass enter by places of their own: no sum of them is hashed."""
    one = orders(3, 7, np.array([5]), np.array([60]), 1)[0, 0]
    for seed, round_, client in ((7, 3, 5), (5, 7, 3), (3, 5, 7), (4, 6, 5), (3, 8, 4)):
        assert (orders(seed, round_, np.array([client]), np.array([60]), 1)[0, 0] != one).mean() > 0.8


def test_every_place_is_equally_likely_everywhere():
    """Chi-square of how often each place comes first, second, ...: 6,000 shuffles of 6, at the 1e-4 level each."""
    clients, rounds = np.arange(200), range(30)
    shuffled = np.concatenate([orders(1, r, clients, np.full(200, 6), 1)[:, 0] for r in rounds])
    counts = np.stack([np.bincount(column, minlength=6) for column in shuffled.T])
    statistic = ((counts - 1000) ** 2 / 1000).sum(axis=1)
    assert (statistic < chi2.ppf(1 - 1e-4, 5)).all()


def test_all_orders_are_equally_likely():
    """24 orders of 4 places from 12,000 shuffles of consecutive rounds and clients, at the 1e-4 level."""
    shuffled = np.concatenate([orders(2, r, np.arange(120), np.full(120, 4), 1)[:, 0] for r in range(100)])
    codes = shuffled @ np.array([64, 16, 4, 1])
    counts = np.unique(codes, return_counts=True)[1]
    assert len(counts) == 24
    assert ((counts - 500) ** 2 / 500).sum() < chi2.ppf(1 - 1e-4, 23)


def test_consecutive_rounds_are_not_correlated():
    """Correlation of a place's rank in a round and in the next: standard error 1/sqrt(20,000)."""
    clients = np.arange(100)
    one, two = (orders(6, r, clients, np.full(100, 200), 1)[:, 0].ravel() for r in (10, 11))
    assert abs(np.corrcoef(one, two)[0, 1]) < 4 / np.sqrt(one.size)
