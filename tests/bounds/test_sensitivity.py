"""Elasticities against exponents read off by hand and central differences."""

from typing import Any

import numpy as np
import pytest
import sympy as sp
from toys import a, b, c, k, part, toy, x, y, z

from bounds import Bound, ClientMax, ClientMean, ClientSum
from bounds.errors import MissingQuantityError

STEP = 1e-5


def by_differences(bound: Bound, values: dict[str, Any], name: str) -> Any:
    up, down = (bound.formula(**{**values, name: np.asarray(values[name]) * s}) for s in (1 + STEP, 1 - STEP))
    return (np.asarray(up) - np.asarray(down)) / (2 * STEP) / np.asarray(bound.formula(**values))


@pytest.mark.parametrize(
    "expression",
    [
        a / x + sp.exp(b * x) + sp.log(1 + x) * c**2,
        sp.sqrt(a + x**2) * (1 + b) ** (x / 3),
        sp.Max(a * x, b) + sp.Min(x, 2 * a) ** 3,
        ClientSum(part**2 * x) / (1 + ClientMax(part * a)) + b,
        ClientMean(sp.sqrt(part + x)) * b + a / b,
        sp.Abs(c - x) * a + b,
    ],
)
def test_against_central_differences(expression: sp.Expr) -> None:
    bound = toy(expression)
    numbers = {"alpha": 1.7, "gamma": 0.43, "width": 0.91, "offset": -1.3}
    numbers |= {"part": [0.4, 1.9, 0.7], "client_weight": [0.2, 0.5, 0.3]}
    values = {q.name: numbers[q.name] for q in bound.quantities}
    found = bound.sensitivity(**values)
    assert set(found) == set(values) - {"client_weight"}
    for name, elasticity in found.items():
        assert elasticity == pytest.approx(by_differences(bound, values, name), rel=1e-7, abs=1e-9), name


def test_sweeps_have_the_shape_of_the_bound() -> None:
    bound = toy(a / x + ClientSum(part) * x)
    values = {"alpha": np.array([[1.3], [2.9]]), "width": np.array([0.6, 1.7, 5.1]), "part": [0.4, 1.9]}
    found = bound.sensitivity(**values)
    for name in ("alpha", "width"):
        assert found[name].shape == (2, 3)
        assert found[name] == pytest.approx(by_differences(bound, values, name), rel=1e-7)
    assert found["part"] == pytest.approx(1 - found["alpha"], rel=1e-12)


def test_nan_where_there_is_no_value_no_slope_or_nothing_to_divide_by() -> None:
    found = toy(a / x, where=(x <= 2,)).sensitivity(alpha=1.3, width=[0.7, 3.1])
    assert found["alpha"] == pytest.approx([1.0, np.nan], nan_ok=True)
    found = toy(sp.ceiling(a / x) * b).sensitivity(alpha=7.3, width=1.1, gamma=0.9)
    assert np.isnan([found["alpha"], found["width"]]).all()
    assert found["gamma"] == pytest.approx(1.0)
    kink = toy(sp.Max(a, b) * x).sensitivity(alpha=1.7, gamma=1.7, width=3.1)
    assert np.isnan(kink["alpha"])
    assert kink["width"] == pytest.approx(1.0)
    assert toy(ClientMax(part) + a).sensitivity(part=[1.7, 1.7], alpha=1.7)["part"] == pytest.approx(0.5)
    assert np.isnan(toy(a * z).sensitivity(alpha=1.7, load=0.0)["alpha"])


def test_a_quantity_that_is_zero_or_only_in_a_condition_has_none() -> None:
    found = toy(a + sp.sqrt(z) * b, where=(k >= 2,)).sensitivity(alpha=1.7, load=0.0, gamma=2.1, steps=3)
    assert found == pytest.approx({"alpha": 1.0, "load": 0.0, "gamma": 0.0, "steps": 0.0})


def test_cancelling_terms_keep_their_digits() -> None:
    bound = toy(y**2, -2 * y * c, c**2, signed=True)
    found = bound.sensitivity(place=1.301, offset=1.3)
    assert found["place"] == pytest.approx(2 * 1.301 / 0.001, rel=1e-6)


def test_fixed_numbers_count_and_missing_ones_are_named() -> None:
    fixed = toy(a * x + b).fix(alpha=1.7)
    assert fixed.sensitivity(width=2.0, gamma=0.6)["width"] == pytest.approx(3.4 / 4.0)
    with pytest.raises(MissingQuantityError, match="needs gamma, width"):
        fixed.sensitivity()
