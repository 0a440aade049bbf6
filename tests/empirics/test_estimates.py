"""Jackknife errors and fits against cases with an analytic answer."""

import numpy as np
import pytest

from empirics.errors import EmpiricsError
from empirics.measuring.estimates import jackknife, power_law, two_powers
from empirics.training.seeds import over_seeds


def test_jackknife_of_a_mean_is_the_textbook_standard_error():
    x = np.random.default_rng(3).gamma(2.3, size=(17, 4))
    found = jackknife(lambda mean: mean, x)
    np.testing.assert_allclose(found.value, x.mean(0))
    np.testing.assert_allclose(found.error, x.std(0, ddof=1) / np.sqrt(17))


def test_jackknife_of_a_product_equals_plain_loops():
    rng = np.random.default_rng(5)
    x, y = rng.gamma(2.3, size=13), rng.gamma(1.7, size=13)
    found = jackknife(lambda a, b: np.sqrt(a * b), x, y)
    without = [np.sqrt(np.delete(x, s).mean() * np.delete(y, s).mean()) for s in range(13)]
    assert found.error == pytest.approx(np.sqrt(12 / 13 * sum((w - np.mean(without)) ** 2 for w in without)))


def test_an_error_needs_three_seeds():
    with pytest.raises(EmpiricsError, match="at least 3 seeds; got 2"):
        jackknife(lambda mean: mean, np.array([0.3, 0.7]))


def test_power_law_finds_the_exponent_and_weighs():
    x = np.array([1.0, 2.0, 5.0, 30.0])
    assert power_law(x, 3.7 * x**-1.3, np.array([2.0, 0.4, 1.1, 5.0])) == pytest.approx(-1.3)
    bent = 3.7 * x**-1.3
    bent[0] *= 1.9
    assert power_law(x, bent, np.array([1e-9, 1, 1, 1])) == pytest.approx(-1.3, abs=1e-6)
    plain = np.polyfit(np.log(x), np.log(bent), 1, w=np.sqrt([0.3, 1.0, 2.0, 0.7]))[0]
    assert power_law(x, bent, np.array([0.3, 1.0, 2.0, 0.7])) == pytest.approx(plain)
    assert np.isnan(power_law(x, -bent, np.ones(4)))


def test_two_powers_finds_both_coefficients():
    x = np.array([1.0, 2.0, 5.0, 30.0])
    y = np.stack([0.31 / x - 0.12 / x**2, 2.2 / x + 0.7 / x**2])
    found = two_powers(x, y, np.array([0.4, 0.1, 0.2, 0.05]))
    np.testing.assert_allclose(found, [[0.31, -0.12], [2.2, 0.7]])


def test_sweeps_keep_the_order_and_count_every_seed():
    done = []
    assert over_seeds(lambda s: s**2, range(3, 30), 3, lambda: done.append(1)) == [s**2 for s in range(3, 30)]
    assert len(done) == 27


def test_a_failing_seed_ends_the_sweep():
    ran = []

    def measure(seed):
        ran.append(seed)
        if seed == 2:
            raise ValueError("seed 2")

    with pytest.raises(ValueError, match="seed 2"):
        over_seeds(measure, range(10_000), 1)
    assert len(ran) < 10_000
