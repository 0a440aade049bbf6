"""Where a bound is smallest: closed forms against calculus by hand, their use with numbers, ends and conditions."""

from dataclasses import replace
from math import cbrt
from typing import Any

import numpy as np
import pytest
import sympy as sp
from refusals import all_refused
from toys import a, b, below, c, capped, k, part, share, SOURCE, toy, x, y, z

from bounds import ClientSum, Condition
from bounds.errors import NoMinimumError, UnknownNameError
from bounds.numerics.closed import Optimum

BOUND = toy(
    (a * b - c) / (x * k) * (below + share * k), x * ClientSum(part**2), x * z * k**2, where=(x <= 1 / (4 * a),)
)
BOUND = replace(BOUND, conditions=(*BOUND.conditions, Condition("words alone")))
CAP = "needs width <= 1/(4*alpha)"
NUMBERS: dict[str, Any] = {
    "alpha": 12.3, "gamma": 2.7, "offset": 0.3, "width": 0.013, "below": 3.7, "share": 0.31, "load": 3.3,
    "part": [0.3, 0.5, 0.9],
}  # fmt: skip
BEST = cbrt((12.3 * 2.7 - 0.3) * 3.7 / (2 * 0.013**2 * 3.3))


def without(*names: str, **changes: Any) -> dict[str, Any]:
    return {n: v for n, v in {**NUMBERS, **changes}.items() if n not in names}


def test_a_closed_form_is_the_cube_root_one_derives_by_hand() -> None:
    found = BOUND.minimize(k)
    assert isinstance(found, Optimum)
    by_hand = sp.cbrt((a * b - c) * below / (2 * x**2 * z))
    assert sp.simplify(found.at / by_hand) == 1
    assert BOUND.minimize("steps").over == found.over == k
    assert set(found.requires) == {a * b - c > 0, z > 0}
    assert sp.simplify(BOUND.expr.subs(k, by_hand) - found.value) == 0


@pytest.mark.parametrize(
    ("expression", "by_hand"),
    [
        (a / x + b * x**2, sp.cbrt(a / (2 * b))),
        (a / sp.sqrt(x) + b * sp.sqrt(x) + c, a / b),
        ((a + b * x) ** 2 / x, a / b),
        (a * (x + 3 / x), sp.sqrt(3)),
        (sp.sqrt(a * x**3) + sp.sqrt(7 * b / x), sp.sqrt(sp.sqrt(7 * b) / (3 * sp.sqrt(a)))),
        (sp.sqrt(a * x + b * x) + 1 / x, sp.cbrt(4 / (a + b))),
        (ClientSum(part * x) * x + b / x**3, (3 * b / (2 * ClientSum(part))) ** sp.Rational(1, 5)),
    ],
)
def test_closed_forms_against_calculus_by_hand(expression: sp.Expr, by_hand: sp.Expr) -> None:
    found = toy(expression).minimize(x)
    assert sp.simplify(found.at / by_hand) == 1
    assert found.requires == ()
    assert sp.simplify(expression.subs(x, by_hand) - found.value) == 0


def test_what_has_no_closed_form_says_why():
    all_refused(
        [
            (a * x + b * x**2, "rising"),
            (a / x, "falling"),
            (a / x + b * x + x**3, "-1, 1, 3"),
            (sp.exp(x) + a / x, "'term 0'"),
            (a / x - b * x, "positive"),
            (a + b, "unknown"),
        ],
        lambda expression: toy(expression, signed=True).minimize(x),
        kind=(NoMinimumError, UnknownNameError),
    )


def test_an_optimum_becomes_a_bound_with_the_conditions_that_still_speak() -> None:
    statement = BOUND.minimize(k).as_bound(name="toy.k_star", source=SOURCE, note="derived")
    assert statement.target == k
    assert statement.relation == "="
    assert [co.words for co in statement.conditions[:2]] == [CAP, "words alone"]
    point = {q.name: NUMBERS[q.name] for q in statement.quantities}
    assert statement(**point) == pytest.approx(BEST, rel=1e-13)
    with pytest.warns(UserWarning, match="does not apply"):
        assert np.isnan(statement(**{**point, "offset": 40.0}))


def test_fixed_numbers_enter_the_closed_form_and_a_condition_on_its_quantity_is_left_out() -> None:
    fixed = toy(a / x + b * x).fix(alpha=12.0)
    assert fixed.minimize(x).at == sp.sqrt(12 / b)
    assert fixed.minimize(x).as_bound(name="toy.best", source=SOURCE)(gamma=3.0) == pytest.approx(2.0)
    statement = BOUND.minimize(x).as_bound(name="toy.width", source=SOURCE)
    assert CAP not in [co.words for co in statement.conditions]


def test_a_minimum_is_that_of_calculus_and_its_whole_number_neighbour_is_best() -> None:
    found = BOUND.minimize(k, **without())
    assert found.at == pytest.approx(BEST, rel=1e-13)
    steps = np.arange(1, 200)
    heights = BOUND(**NUMBERS, steps=steps)
    assert found.integer_at == steps[np.argmin(heights)]
    assert found.integer_value == pytest.approx(heights.min(), rel=1e-14)
    assert 0 <= found.value - found.lower <= 1e-10 * found.value
    assert found.binding == ""


def test_a_search_and_calculus_agree_over_a_sweep() -> None:
    # A third power, whose coefficient happens to be zero here.
    hidden = toy(b * x**2, a / x, c * x, signed=True)
    for alpha in np.geomspace(3.0, 4e6, 7):
        found = hidden.minimize(x, gamma=2.3, alpha=alpha, offset=0.0)
        assert found.at == pytest.approx(np.cbrt(alpha / 4.6), rel=1e-9)


def test_a_minimum_at_the_limit_of_a_condition_or_the_end_of_the_domain_names_it() -> None:
    found = BOUND.minimize(x, **without("width", steps=5))
    assert found.at == pytest.approx(1 / (4 * 12.3), rel=1e-15)
    assert found.binding == CAP
    assert found.value == BOUND(**without(steps=5, width=found.at))
    assert found.value - 1e-10 * found.value <= found.lower <= found.value
    found = toy(a * k).minimize(k, alpha=2.7)
    assert (found.at, found.integer_at, found.value) == (1.0, 1, 2.7)
    assert found.binding == "steps must be a whole number >= 1"
    found = toy(a / capped + below).minimize(capped, alpha=2.7, below=3.3)
    assert (found.at, found.binding) == (3.3, "capped must be <= below")
    found = toy(capped + a * below).minimize(below, alpha=2.7, capped=0.37)
    assert (found.at, found.binding) == (0.37, "below must be >= capped")


def test_a_power_that_rounding_would_drop_near_zero_is_no_minimum() -> None:
    """(1+s)^(1/s) tends to e as s falls, where a power of the rounded 1+s would be 1."""
    bound = toy((1 + share) ** (1 / share) + 5 * share)
    assert bound(share=1e-20) == pytest.approx(np.e, rel=1e-15)
    with pytest.raises(NoMinimumError, match="keeps falling as share falls"):
        bound.minimize(share, **{})


def test_mistakes_are_named():
    all_refused(
        [
            (lambda: BOUND.minimize("stepps"), "'stepps' 'steps'"),
            (lambda: BOUND.minimize(k, **without("share", "width")), "share, width"),
            (lambda: BOUND.minimize(k, **NUMBERS, steps=3), "steps"),
            (lambda: BOUND.fix(steps=3).minimize(k, **NUMBERS), "steps"),
            (lambda: BOUND.minimize(part, steps=3), "clients"),
            (lambda: BOUND.minimize(k, **without(alpha=-1.0)), "alpha > 0 -1"),
            (lambda: toy(a / y**2 + y**2).minimize(y), "negative"),
        ]
    )
