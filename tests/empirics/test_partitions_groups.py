"""Splits by user, writer, speaker or hospital: a client is a group."""

import numpy as np
import pytest
from partition_toys import POOL

from empirics.data.dataset import Dataset
from empirics.errors import EmpiricsError
from empirics.federation.partitions import ByGroup


def test_a_client_is_a_group():
    split = ByGroup()
    parts = split(POOL, 23, seed=9)
    for g, part in enumerate(parts):
        np.testing.assert_array_equal(part, np.flatnonzero(POOL.groups == g))


def test_few_clients_are_drawn_groups_with_enough_samples():
    counts = np.bincount(POOL.groups)
    least = int(np.sort(counts)[10])
    split = ByGroup(least)
    assert len(split.everyone(POOL)) == (counts >= least).sum()
    parts, chosen = split(POOL, 5, seed=9), split.chosen(POOL, 5, seed=9)
    assert len(set(chosen.tolist())) == 5
    for g, part in zip(chosen, parts, strict=True):
        np.testing.assert_array_equal(part, np.flatnonzero(POOL.groups == g))
        assert len(part) >= least
    drawn = {tuple(split.chosen(POOL, 5, seed=s)) for s in range(5)}
    assert len(drawn) > 1
    many = (counts >= least).sum() + 1
    with pytest.raises(EmpiricsError, match=f"clients must be at most the {many - 1} groups of pool with {least}"):
        split(POOL, int(many), seed=0)


def test_data_without_groups_have_no_natural_clients():
    with pytest.raises(EmpiricsError, match="nobody does not say whose its samples are"):
        ByGroup()(Dataset("nobody", POOL.inputs, POOL.targets, 10), 2, seed=0)
