"""Formulas over boxes: results hold exact values and slopes."""

import numpy as np
import pytest
import sympy as sp
from flint import arb
from toys import a, b, part, toy, x, y

from bounds import ClientMax, ClientMean, ClientSum
from bounds.numerics.balls import Enclosure, Jet, ONE, product
from bounds.numerics.objective import objective_of
from bounds.numerics.tape import Tape

FORMS = [
    a / x + b * x**2,
    sp.exp(-((x - b) ** 2)) * a + sp.sqrt(x),
    (1 + x) ** (a / x) + x / b,
    sp.log(a + x) / (x + b) ** 3,
    sp.Max(a * x, b / x) - sp.Min(x, a) + sp.Abs(x - b),
    (a**x / x) ** (1 / (1 + b * x)),
    x ** sp.Rational(2, 3) * a ** sp.Rational(-1, 7),
    (x - 2) ** 3 + (x - 2) ** 4 - 1 / (x + a) ** 3,
    ClientMean(part / (x + part)) + ClientMax(part * x - 2 * a) + 3 * a,
    ClientSum(sp.sqrt(part) * x**2),
    sp.Piecewise((a * x, x < 2), (b + x**2, True)),
]
NUMBERS = {"alpha": 1.37, "gamma": 2.41, "part": [0.3, 1.9, 4.4], "client_weight": [0.2, 0.3, 0.5]}


@pytest.mark.parametrize("form", FORMS)
def test_boxes_contain_values_and_slopes_of_many_points(form: sp.Expr) -> None:
    bound = toy(form, signed=True)
    values = {q.name: NUMBERS[q.name] for q in bound.quantities if q != x}
    objective = objective_of(bound, x, values)
    evaluate, rng = bound.compile(), np.random.default_rng(3)
    for low in rng.uniform(0.05, 6.0, 60):
        high = low * (1 + 10.0 ** rng.uniform(-9, 1))
        box = objective.box(low, high)
        assert box.inside
        inside = np.array([low, *(low + np.array([0.21, 0.5, 0.87]) * (high - low)), high])
        found = np.array([evaluate(**values, width=one) for one in inside])
        slack = 1e-13 * (1 + np.abs(found))
        assert (float(box.low.lower()) <= found + slack).all()
        assert (found - slack <= float(box.high.upper())).all()
        secants = np.diff(found) / np.diff(inside)
        if high > low * (1 + 1e-5):
            assert (box.least_slope <= float(secants.min()) + 1e-7 * (1 + abs(secants).max())) is True
            assert (box.largest_slope >= float(secants.max()) - 1e-7 * (1 + abs(secants).max())) is True
    at = objective.point(1.91)  # a box shrinks to its value
    assert objective.value(1.91) == pytest.approx(evaluate(**values, width=1.91), rel=1e-13)
    assert at.high - at.low < 1e-15


def test_products_of_intervals_hold_all_products_and_zero_times_the_endless_is_zero() -> None:
    ends = np.random.default_rng(5).normal(size=(200, 2, 2)) * [[1, 3]]
    for (p, q), (r, s) in np.sort(ends, axis=2).tolist():
        low, high = product((arb(p), arb(q)), (arb(r), arb(s)))
        corners = [p * r, p * s, q * r, q * s]
        assert (float(low), float(high)) == (pytest.approx(min(corners)), pytest.approx(max(corners)))
    assert product((arb(0), arb(0)), (arb.neg_inf(), arb.pos_inf())) == (0, 0)
    low, high = product((arb(0), arb(2)), (arb(3), arb.pos_inf()))
    assert low == 0
    assert high == arb.pos_inf()


def test_where_an_expression_is_not_real_is_told_apart() -> None:
    enclosure = Enclosure(Tape((sp.sqrt(y - 2) + 1 / (y - 5),)), {}, 1)
    boxes = [(0.0, 1.5), (1.0, 3.0), (3.0, 4.0), (4.0, 6.0)]
    found = [enclosure.run({"place": [Jet((arb(low), arb(high)), (ONE, ONE))]}, 64) for low, high in boxes]
    assert [jets.empty for _, jets in found] == [True, False, False, False]
    assert [jets.partial for _, jets in found] == [True, True, False, True]


def test_a_condition_holds_all_over_a_box_nowhere_in_it_or_in_parts_of_it() -> None:
    bound = toy(a * x, where=(sp.Or(x <= 2, sp.Not(x < 5)), x < 20))
    objective = objective_of(bound, x, {"alpha": 1.3})
    boxes = [objective.box(low, high) for low, high in ((0.5, 2), (1, 3), (3, 4), (6, 7), (21, 22))]
    assert [(box.inside, box.outside) for box in boxes] == [
        (True, False),
        (False, False),
        (False, True),
        (True, False),
        (False, True),
    ]
