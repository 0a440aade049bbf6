"""Units of expressions, which show planted errors; a group with rational powers, printed as one says them."""

from fractions import Fraction

import pytest
import sympy as sp

from bounds import ClientMax, ClientMean, ClientSum, vocabulary
from bounds.dimensions import unit_of
from bounds.units import LOSS, MEGABIT, ONE, PARAMETER, SECOND

w, G2, D = vocabulary.client_weight, vocabulary.dissimilarity_offset, vocabulary.download_rate
sigma2, gap, T = vocabulary.gradient_variance, vocabulary.initial_gap, vocabulary.iterations
Delta, K, beta, size = vocabulary.local_gap, vocabulary.local_steps, vocabulary.minibatch_time, vocabulary.model_size
delta, L, eta, mu = vocabulary.non_iidness, vocabulary.smoothness, vocabulary.step_size, vocabulary.strong_convexity

GRADIENT = LOSS / PARAMETER


@pytest.mark.parametrize(
    ("expression", "unit"),
    [
        (L / mu, ONE),
        (sp.sqrt(L / mu) * ClientMean(w * sp.sqrt(delta * Delta)), LOSS),
        (ClientSum(w**2 * Delta) + ClientMax(delta), LOSS),
        (2 * gap / (eta * T) + 12 * L**2 * eta**2 * G2 * (K - 1) ** 2 + eta * L * sigma2, GRADIENT**2),
        (size / D + beta * K, SECOND),
        ((gap / (eta**3 * G2 * L**2)) ** sp.Rational(1, 3), ONE),
        (sp.log(L / mu) * G2 ** sp.Rational(3, 2), (GRADIENT**2) ** Fraction(3, 2)),
        (L * Delta / ClientMean(delta), LOSS / PARAMETER**2),
        # planted errors: sqrt(L)/mu for sqrt(L/mu), a lost G^2, a lost factor under a root
        (sp.sqrt(L) / mu * ClientMean(w * sp.sqrt(delta * Delta)), LOSS / (LOSS / PARAMETER**2) ** Fraction(1, 2)),
        ((gap / (eta**3 * L**2)) ** sp.Rational(1, 3), (GRADIENT**2) ** Fraction(1, 3)),
    ],
)
def test_an_expression_carries_its_unit(expression, unit):
    assert unit_of(expression) == unit


def test_a_sum_of_different_units_carries_none():
    for mixed in (L + 1 / eta**2, sp.log(gap), sp.exp(-mu), L * gap + sigma2 + gap, ClientMean(delta + w),
                  sp.Max(L, 1) + mu, sp.floor(gap / 3) + 1, L - L):  # fmt: skip
        assert unit_of(mixed) is None, mixed


def test_a_unit_prints_as_it_is_said():
    printed = {
        "1": ONE, "loss": LOSS, "loss/parameter^2": LOSS / PARAMETER**2, "parameter^2/loss": PARAMETER**2 / LOSS,
        "megabit/second": MEGABIT / SECOND, "1/second": ONE / SECOND,
        "loss^3/2/(parameter second)": LOSS ** Fraction(3, 2) / (PARAMETER * SECOND),
    }  # fmt: skip
    assert {str(unit): unit for unit in printed.values()} == printed
