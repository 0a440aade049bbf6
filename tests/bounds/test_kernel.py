"""Blocks: every point once, the same numbers whatever the block size and the order of memory."""

import numpy as np
import pytest
import sympy as sp

from bounds import ClientMax, ClientSum
from bounds.numerics import recheck
from bounds.numerics.recheck import Formulas
from bounds.vocabulary import client_value as x, client_weight as w, smoothness as L, strong_convexity as mu

TOTAL = L / mu * ClientSum(w**2 * x) + ClientMax(x * sp.sqrt(L))


def arguments(rng, shape, clients):
    return {
        "client_value": rng.uniform(0.3, 2.9, (*shape, clients)),
        "client_weight": rng.uniform(0.1, 0.9, (clients,)),
        "smoothness": rng.uniform(1.1, 3.7, (*shape, 1)),
        "strong_convexity": rng.uniform(0.1, 0.9, (shape[-1], 1)) if shape else np.array([0.37]),
    }


def by_hand(a):
    ratio = a["smoothness"] / a["strong_convexity"]
    largest = np.max(a["client_value"] * np.sqrt(a["smoothness"]), axis=-1, keepdims=True)
    return ratio * np.sum(a["client_weight"] ** 2 * a["client_value"], axis=-1, keepdims=True) + largest


@pytest.mark.parametrize("size", [1, 7, 64, 10_000])
def test_values_depend_neither_on_the_blocks_nor_on_the_order_of_memory(monkeypatch, size):
    monkeypatch.setattr(recheck, "BLOCK", size)
    values = Formulas((TOTAL,), (), axis=True, keeps_axis=False).plain
    for shape, clients in [((), 3), ((11,), 2), ((5, 13), 4), ((3,), 50), ((2, 3, 4), 1)]:
        a = arguments(np.random.default_rng(7), shape, clients)
        (out,) = values(a, (*shape, clients))
        assert out.shape == (*shape, 1)
        np.testing.assert_allclose(out, by_hand(a), rtol=1e-13)
        turned = {n: np.asfortranarray(v) for n, v in a.items()}
        np.testing.assert_allclose(values(turned, (*shape, clients))[0], out, rtol=1e-15 if clients < 5 else 1e-14)


def test_a_relation_over_the_axis_must_hold_for_every_member():
    a = arguments(np.random.default_rng(9), (40,), 3)
    relations = (sp.Le(x, 2), sp.Le(mu, sp.Rational(7, 10)))
    masked = Formulas((TOTAL,), relations, axis=True, keeps_axis=False)
    (out,) = masked.plain(a, (40, 3))
    each, shared = masked.checked(a, (40, 3)).met
    np.testing.assert_array_equal(each[:, 0], (a["client_value"] <= 2).all(axis=-1))
    np.testing.assert_array_equal(shared, a["strong_convexity"] <= 0.7)
    assert 0 < each.sum() < 40
    assert 0 < shared.sum() < 40
    np.testing.assert_array_equal(np.isnan(out), ~(each & shared))


def test_a_sum_over_clients_that_leaves_the_range_of_floats_is_computed_again():
    values = {"client_value": np.array([[1.1e308, 0.7e308, 0.9e308]]), "smoothness": np.array([[1e-300]])}
    found = Formulas((L * ClientSum(x),), (), axis=True, keeps_axis=False).checked(values, (1, 3))
    np.testing.assert_allclose(found.values[0], 2.7e8, rtol=1e-14)
