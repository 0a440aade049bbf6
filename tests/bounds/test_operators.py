"""Sums and means over clients: factors are pulled out, and ``bind`` opens them into exact numbers."""

import pytest
import sympy as sp

from bounds import ClassMax, ClassSum, ClientMax, ClientMean, ClientSum, vocabulary
from bounds.errors import DeclarationError
from bounds.operators import bind, write_out_means

d_c, x, w, clients = vocabulary.class_count, vocabulary.client_value, vocabulary.client_weight, vocabulary.clients
Delta, L, mu = vocabulary.local_gap, vocabulary.smoothness, vocabulary.strong_convexity


def test_factors_no_client_changes_are_pulled_out():
    assert ClientMean(L / mu * w * Delta) == L / mu * ClientMean(w * Delta)
    assert ClientSum(x + L * x) == ClientSum(x) + L * ClientSum(x)
    assert ClientMean(L) == L
    assert ClientMean(x - x) == 0
    assert ClientMean(sp.sqrt(L * Delta)) == sp.sqrt(L) * ClientMean(sp.sqrt(Delta))


def test_sums_means_and_maxima_over_clients_and_classes():
    point = {w: [sp.Rational(1, 3), sp.Rational(2, 3)], x: [5, 7]}
    assert bind(ClientSum(x), point) == 12
    assert bind(ClientMean(x), point) == sp.Rational(19, 3)
    assert bind(ClientMax(x), point) == 7
    assert bind(ClientSum(L), {**point, L: 11}) == 22
    assert bind(ClassSum(d_c**2), {d_c: [2, 3, 5]}) == 38
    assert bind(ClassMax(d_c) - d_c, {d_c: [2, 3, 5]}) == 5 - d_c
    assert bind(L * ClientSum(x), {x: [2, 3]}) == 5 * L  # what it was not given stays
    with pytest.raises(DeclarationError, match=r"\[2, 3\]"):
        bind(ClientMean(x), {w: [0.3, 0.7], x: [1.2, 3.4, 5.6]})


def test_reductions_know_their_weights_their_sign_and_their_derivative():
    assert w in ClientMean(x).free_symbols
    assert write_out_means(ClientMean(x)) == ClientSum(w * x)
    assert ClientSum(w**2).is_nonnegative
    assert ClientMean(x).is_real
    assert ClientMean(x).is_nonnegative is None
    assert ClientSum(x * sp.exp(-mu * Delta)).diff(mu) == ClientSum(-x * Delta * sp.exp(-mu * Delta))
