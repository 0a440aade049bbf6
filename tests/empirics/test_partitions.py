"""Partitions give every client a distribution of its own that nothing else moves; draws follow it."""

import numpy as np
import pytest

from empirics.data.catalogue import digits
from empirics.errors import EmpiricsError
from empirics.federation.partitions import Iid, LabelSkew
from empirics.problems import PoolProblem, Ridge
from empirics.streams import stream

digit_labels = digits().labels


@pytest.mark.parametrize("partition", [Iid(), LabelSkew(0.3)], ids=str)
def test_rows_are_distributions_and_do_not_depend_on_the_number_of_clients(partition):
    shares = partition(digit_labels, 9, seed=4)
    assert shares.shape == (9, len(digit_labels))
    assert (shares >= 0).all()
    np.testing.assert_allclose(shares.sum(1), 1)
    np.testing.assert_array_equal(partition(digit_labels, 3, seed=4), shares[:3])


def test_label_skew_is_a_class_prior_spread_evenly_over_the_class():
    shares = LabelSkew(0.3)(digit_labels, 6, seed=4)
    for k, row in enumerate(shares):
        prior = [row[digit_labels == c].sum() for c in range(10)]
        np.testing.assert_allclose(prior, stream(4, "class prior", client=k).dirichlet(np.full(10, 0.3)), rtol=1e-10)
        for c in range(10):
            assert np.ptp(row[digit_labels == c]) == 0
    assert np.abs(shares[0] - shares[1]).sum() > 0.1
    assert np.abs(LabelSkew(0.3)(digit_labels, 6, seed=5) - shares).sum() > 0.1


def test_large_concentration_makes_clients_alike():
    spread = [LabelSkew(a)(digit_labels, 8, seed=1).std(0).sum() for a in (0.1, 3.0, 1e4)]
    assert spread[0] > 2 * spread[1] > 20 * spread[2]


def test_a_class_nobody_has_gets_nothing():
    shares = LabelSkew(0.7)(np.array([0, 2, 2, 3]), 5, seed=0)
    np.testing.assert_allclose(shares.sum(1), 1)


def test_draws_follow_the_shares():
    problem = PoolProblem(Ridge(0.5), digits(), LabelSkew(0.3), clients=3, samples=20_000)
    drawn = problem.draw(11)
    for k in range(3):
        counts = np.bincount(digit_labels[drawn[k]], minlength=10) / 20_000
        prior = np.bincount(digit_labels, weights=problem.shares[k], minlength=10)
        assert (np.abs(counts - prior) <= 5 * np.sqrt(prior * (1 - prior) / 20_000) + 1e-12).all()


def test_draws_are_keyed_by_seed_purpose_and_client():
    few, many = (PoolProblem(Ridge(0.5), digits(), Iid(), clients=k, samples=8) for k in (2, 5))
    np.testing.assert_array_equal(few.draw(3), many.draw(3)[:2])
    different = [many.draw(3)[0], many.draw(3)[1], many.draw(4)[0], many.draw(3, "pilot")[0]]
    assert len({tuple(row) for row in different}) == 4


@pytest.mark.parametrize("wrong", [0.0, -1.0, float("nan"), float("inf")])
def test_concentration_must_be_positive(wrong):
    with pytest.raises(EmpiricsError, match="concentration of a label skew must be positive"):
        LabelSkew(wrong)
