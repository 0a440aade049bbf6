"""Powers (1+x)^y with a small x: as many digits as anywhere else, in every form the formula is evaluated in."""

import warnings

import mpmath
import numpy as np
import pytest
import sympy as sp

from bounds import Bound, BOUNDS, quantity, Source
from bounds.domains import RELAXATION, WHOLE
from bounds.numerics.functions import LogRatio, stable

WEIGHT = BOUNDS["fedinit.divergence_weight"]
SMALL = (1e-300, 3e-17, 1.7e-9, 1e-6, 2.3e-3, 0.0931)


def factor(relaxation: float, product: float) -> mpmath.mpf:
    """(1+beta)^(1/(beta c L)) to sixty digits: far more than what 1 + beta needs to tell beta from 0."""
    with mpmath.workdps(400):
        beta = mpmath.mpf(relaxation)
        return (1 + beta) ** (1 / (beta * mpmath.mpf(product)))


def test_the_weight_of_the_relaxation_keeps_its_digits() -> None:
    for relaxation in SMALL:
        values = {"relaxation": relaxation, "step_size_scale": 0.37, "smoothness": 0.51}
        exact = float(factor(relaxation, 0.37 * 0.51) / mpmath.sqrt(1 - 96 * mpmath.mpf(relaxation) ** 2))
        assert WEIGHT(**values) == pytest.approx(exact, rel=1e-13)
        assert WEIGHT.compile()(**values) == pytest.approx(exact, rel=1e-13)
        assert WEIGHT.formula(**values) == WEIGHT(**values)
        assert float(WEIGHT.compile("torch")(**values)) == pytest.approx(exact, rel=1e-13)
    value = WEIGHT.formula(relaxation=[0.0, 1e-9], step_size_scale=0.37, smoothness=0.51)  # without it: the limit
    np.testing.assert_allclose(value, np.exp(1 / (0.37 * 0.51)), rtol=1e-8)


s = quantity("s", "s", "a share", domain=RELAXATION)
y = quantity("y", "y", "an exponent")


def test_any_growing_power_is_written_with_the_logarithm_of_one_plus() -> None:
    assert stable((1 + s) ** y) == sp.exp(s * y * LogRatio(s))
    assert stable((1 + s * y) ** (2 * y)) == sp.exp(2 * s * y**2 * LogRatio(s * y))
    assert stable((1 + s) ** 3 * sp.sqrt(1 + s) * (2 + s) ** y) == (1 + s) ** 3 * sp.sqrt(1 + s) * (2 + s) ** y
    own = Bound(name="own.growth", target=WEIGHT.target, terms={"all": (1 + s) ** y}, source=Source("own", "line 1"))
    with mpmath.workdps(60):
        exact = (1 + mpmath.mpf(1.3e-13)) ** mpmath.mpf(2.7e12)
    assert own(s=1.3e-13, y=2.7e12) == pytest.approx(float(exact), rel=1e-14)
    assert own(s=-0.37, y=2.9) == pytest.approx(0.63**2.9, rel=1e-14)


def test_a_whole_power_of_a_negative_base_is_a_number_and_no_other_power_is() -> None:
    x, n = quantity("x", "x", "a length"), quantity("n", "n", "a count", domain=WHOLE)
    whole = Bound(name="own.whole", target=WEIGHT.target, terms={"all": (1 - x) ** n}, source=Source("own", "line 2"))
    real = Bound(name="own.real", target=WEIGHT.target, terms={"all": (1 - x) ** y}, source=Source("own", "line 3"))
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert whole.formula(x=2.7, n=[3, 4, 8000, 8001]).tolist() == pytest.approx(
            [(-1.7) ** 3, 1.7**4, np.inf, -np.inf], rel=1e-14
        )
        with mpmath.workdps(60):
            near = float((1 - mpmath.mpf(2 - 1e-13)) ** 7_000_000_000_001)
        assert -0.6 < near < -0.4
        assert whole.formula(x=[2 - 1e-13, 1.25], n=[7_000_000_000_001, 40]).tolist() == pytest.approx(
            [near, 0.25**40], rel=1e-14
        )
        assert np.isnan(real.formula(x=2.7, y=3.0))
