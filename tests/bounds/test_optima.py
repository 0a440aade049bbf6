"""Where a bound is smallest: closed forms against calculus by hand, their use with numbers, ends and conditions."""

from math import cbrt
from typing import Any

import numpy as np
import pytest
import sympy as sp
from refusals import all_refused
from toys import a, b, below, c, capped, k, part, share, SOURCE, toy, x, y

from bounds import Bound, ClientSum, Condition, vocabulary
from bounds.errors import NoMinimumError, UnknownNameError
from bounds.numerics.closed import Optimum
from bounds.numerics.minimize import Minimum

client_gradient_variance, client_weight = vocabulary.client_gradient_variance, vocabulary.client_weight
cohort, tau, kappa = vocabulary.cohort, vocabulary.communication_time, vocabulary.condition_number
G2, grad_norm_sq, Gamma = vocabulary.grad_cap_sq, vocabulary.grad_norm_sq, vocabulary.heterogeneity
F0, K, beta, Fs = vocabulary.initial_loss, vocabulary.local_steps, vocabulary.minibatch_time, vocabulary.optimal_loss
W, L, eta = vocabulary.runtime, vocabulary.smoothness, vocabulary.step_size

PER_SECOND = Bound(
    name="toy.per_second",
    target=grad_norm_sq,
    terms={
        "start": 2 * kappa * (kappa * F0 - Fs) / (eta * W * K) * (tau + beta * K),
        "spread": eta * kappa * L * (ClientSum(client_weight**2 * client_gradient_variance) + 6 * L * Gamma),
        "drift": eta * kappa * L * (8 + 4 / cohort) * G2 * K**2,
    },
    source=SOURCE,
    conditions=(Condition("eta is at most 1/(4L)", eta <= 1 / (4 * L)), Condition("words alone")),
)
NUMBERS: dict[str, Any] = {
    "condition_number": 12.3,
    "initial_loss": 2.7,
    "optimal_loss": 0.3,
    "step_size": 0.013,
    "runtime": 734.0,
    "communication_time": 3.7,
    "minibatch_time": 0.31,
    "smoothness": 1.7,
    "cohort": 2,
    "grad_cap_sq": 3.3,
    "heterogeneity": 0.4,
    "client_gradient_variance": [0.3, 0.5, 0.9],
    "client_weight": [0.2, 0.3, 0.5],
}


def without(*names: str, **changes: Any) -> dict[str, Any]:
    return {n: v for n, v in {**NUMBERS, **changes}.items() if n not in names}


def optimum(bound: Bound, over: Any) -> Optimum:
    found = bound.minimize(over)
    assert isinstance(found, Optimum)
    return found


def minimum(bound: Bound, over: Any, **values: Any) -> Minimum:
    found = bound.minimize(over, **values)
    assert isinstance(found, Minimum)
    return found


# ---- closed forms ----


def test_closed_form_of_the_time_bound_is_the_cube_root_one_derives_by_hand() -> None:
    found = optimum(PER_SECOND, K)
    by_hand = sp.cbrt((kappa * F0 - Fs) * tau / (eta**2 * L * (8 + 4 / cohort) * G2 * W))
    assert sp.simplify(found.at / by_hand) == 1
    assert optimum(PER_SECOND, "local_steps").over == found.over == K
    assert set(found.requires) == {kappa * F0 - Fs > 0, G2 > 0}
    assert sp.simplify(PER_SECOND.expr.subs(K, by_hand) - found.value) == 0


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
    found = optimum(toy(expression), x)
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
    statement = optimum(PER_SECOND, K).as_bound(name="toy.k_star", source=SOURCE, note="derived")
    assert statement.target == K
    assert statement.relation == "="
    assert [co.words for co in statement.conditions[:2]] == ["eta is at most 1/(4L)", "words alone"]
    point = {q.name: NUMBERS[q.name] for q in statement.quantities}
    by_hand = cbrt((12.3 * 2.7 - 0.3) * 3.7 / (0.013**2 * 1.7 * (8 + 4 / 2) * 3.3 * 734.0))
    assert statement(**point) == pytest.approx(by_hand, rel=1e-13)
    with pytest.warns(UserWarning, match="does not apply"):
        assert np.isnan(statement(**{**point, "optimal_loss": 40.0}))


def test_fixed_numbers_enter_the_closed_form_and_a_condition_on_its_quantity_is_left_out() -> None:
    fixed = toy(a / x + b * x).fix(alpha=12.0)
    assert optimum(fixed, x).at == sp.sqrt(12 / b)
    assert optimum(fixed, x).as_bound(name="toy.best", source=SOURCE)(gamma=3.0) == pytest.approx(2.0)
    statement = optimum(PER_SECOND, eta).as_bound(name="toy.eta_star", source=SOURCE)
    assert "eta is at most 1/(4L)" not in [co.words for co in statement.conditions]


# ---- numbers ----


def test_a_feasible_closed_form_is_used_and_its_whole_number_neighbour_is_best() -> None:
    found = minimum(PER_SECOND, K, **without())
    assert found.method == "closed form"
    assert found.at == pytest.approx(
        cbrt((12.3 * 2.7 - 0.3) * 3.7 / (0.013**2 * 1.7 * (8 + 4 / 2) * 3.3 * 734.0)), rel=1e-13
    )
    steps = np.arange(1, 200)
    heights = PER_SECOND(**NUMBERS, local_steps=steps)
    assert found.integer_at == steps[np.argmin(heights)]
    assert found.integer_value == pytest.approx(heights.min(), rel=1e-14)
    assert 0 <= found.value - found.lower <= 1e-12 * found.value
    assert found.binding == ""


def test_search_and_closed_form_agree_over_a_sweep() -> None:
    sweep = np.geomspace(3.0, 4e4, 23)
    closed = minimum(PER_SECOND, K, **without(runtime=sweep))
    # A third power, whose coefficient happens to be zero here, leaves no closed form.
    hidden = toy(b * x**2, a / x, c * x, signed=True)
    searched = minimum(hidden, x, gamma=2.3, alpha=sweep, offset=0.0)
    assert searched.at == pytest.approx(np.cbrt(sweep / 4.6), rel=1e-9)
    assert set(searched.method) == {"interval branch and bound"}
    for i in (0, 11, 22):
        one = minimum(PER_SECOND, K, **without(runtime=float(sweep[i])))
        assert (closed.at[i], closed.integer_at[i]) == (pytest.approx(one.at, rel=1e-12), one.integer_at)
        assert closed.method[i] == one.method
    assert {"closed form", "interval branch and bound"} == set(closed.method)


def test_a_minimum_at_the_limit_of_a_condition_or_the_end_of_the_domain_names_it() -> None:
    found = minimum(PER_SECOND, eta, **without("step_size", runtime=1.3, local_steps=5))
    assert found.at == pytest.approx(1 / (4 * 1.7), rel=1e-15)
    assert found.binding == "eta is at most 1/(4L)"
    assert found.method == "interval branch and bound"
    assert found.value == PER_SECOND(**without(runtime=1.3, local_steps=5, step_size=found.at))
    assert found.value - 1e-10 * found.value <= found.lower <= found.value
    found = minimum(toy(a * k), k, alpha=2.7)
    assert (found.at, found.integer_at, found.value) == (1.0, 1, 2.7)
    assert found.binding == "steps must be a whole number >= 1"
    found = minimum(toy(a / capped + below), capped, alpha=2.7, below=3.3)
    assert (found.at, found.binding) == (3.3, "capped must be <= below")
    found = minimum(toy(capped + a * below), below, alpha=2.7, capped=0.37)
    assert (found.at, found.binding) == (0.37, "below must be >= capped")


def test_a_power_that_rounding_would_drop_near_zero_is_no_minimum() -> None:
    """(1+s)^(1/s) tends to e as s falls, where a power of the rounded 1+s would be 1."""
    bound = toy((1 + share) ** (1 / share) + 5 * share)
    assert bound(share=1e-20) == pytest.approx(np.e, rel=1e-15)
    with pytest.raises(NoMinimumError, match="keeps falling as share falls"):
        bound.minimize(share, **{})


# ---- the caller's mistakes ----


def test_mistakes_are_named():
    all_refused(
        [
            (lambda: PER_SECOND.minimize("local_step"), "'local_step' 'local_steps'"),
            (lambda: PER_SECOND.minimize(K, **without("smoothness", "step_size")), "smoothness, step_size"),
            (lambda: PER_SECOND.minimize(K, **NUMBERS, local_steps=3), "local_steps"),
            (lambda: PER_SECOND.minimize(client_gradient_variance, local_steps=3), "clients"),
            (lambda: PER_SECOND.minimize(K, **without(smoothness=-1.0)), "smoothness > 0 -1"),
            (lambda: toy(a / y**2 + y**2).minimize(y), "negative"),
        ]
    )
