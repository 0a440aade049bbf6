"""Partitions give every client a distribution of its own that nothing else moves; draws follow it."""

import numpy as np
import pytest

from empirics.data.catalogue import digits
from empirics.errors import EmpiricsError
from empirics.federation.partitions import DirichletReplaced, Iid, Shards
from empirics.problems.tasks import task
from empirics.streams import stream

digit_labels = digits().labels


@pytest.mark.parametrize("partition", [Iid(), DirichletReplaced(0.3)], ids=str)
def test_rows_are_distributions_and_do_not_depend_on_the_number_of_clients(partition):
    shares = partition.shares(digit_labels, 9, seed=4)
    assert shares.shape == (9, len(digit_labels))
    assert (shares >= 0).all()
    np.testing.assert_allclose(shares.sum(1), 1)
    np.testing.assert_array_equal(partition.shares(digit_labels, 3, seed=4), shares[:3])


def test_dirichlet_shares_are_a_class_prior_spread_evenly_over_the_class():
    shares = DirichletReplaced(0.3).shares(digit_labels, 6, seed=4)
    for k, row in enumerate(shares):
        prior = [row[digit_labels == c].sum() for c in range(10)]
        np.testing.assert_allclose(prior, stream(4, "class prior", client=k).dirichlet(np.full(10, 0.3)), rtol=1e-10)
        for c in range(10):
            assert np.ptp(row[digit_labels == c]) == 0
    assert np.abs(shares[0] - shares[1]).sum() > 0.1
    assert np.abs(DirichletReplaced(0.3).shares(digit_labels, 6, seed=5) - shares).sum() > 0.1


def test_a_large_parameter_makes_clients_alike():
    spread = [DirichletReplaced(a).shares(digit_labels, 8, seed=1).std(0).sum() for a in (0.1, 3.0, 1e4)]
    assert spread[0] > 2 * spread[1] > 20 * spread[2]


def test_a_class_nobody_has_gets_nothing():
    shares = DirichletReplaced(0.7).shares(np.array([0, 2, 2, 3]), 5, seed=0)
    np.testing.assert_allclose(shares.sum(1), 1)


def test_draws_follow_the_shares():
    problem = task("ridge(digits)").pool("dirichlet_replaced(0.3)", clients=3, samples=20_000)
    drawn = problem.draw(11)
    for k in range(3):
        counts = np.bincount(digit_labels[drawn[k]], minlength=10) / 20_000
        prior = np.bincount(digit_labels, weights=problem.shares[k], minlength=10)
        assert (np.abs(counts - prior) <= 5 * np.sqrt(prior * (1 - prior) / 20_000) + 1e-12).all()


def test_draws_are_keyed_by_seed_purpose_and_client():
    few, many = (task("ridge(digits)").pool("iid", clients=k, samples=8) for k in (2, 5))
    np.testing.assert_array_equal(few.draw(3), many.draw(3)[:2])
    different = [many.draw(3)[0], many.draw(3)[1], many.draw(4)[0], many.draw(3, "pilot")[0]]
    assert len({tuple(row) for row in different}) == 4


def test_a_split_that_hands_out_samples_gives_no_distribution():
    with pytest.raises(EmpiricsError, match=r"shards\(per_client=3\) gives clients no distribution"):
        Shards(3).shares(digit_labels, 4, seed=1)
