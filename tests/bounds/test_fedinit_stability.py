"""FedInit's generalisation: one test per statement or remark on stability and excess risk."""

from math import log, sqrt
from typing import Any

import numpy as np
import pytest
import sympy as sp

from bounds.dimensions import unit_of
from bounds.fedinit import BOUNDS
from bounds.fedinit.stability import EXPONENT, T_0_IN_RANGE
from bounds.points.fedinit import POINTS
from bounds.units import LOSS, PARAMETER
from bounds.vocabulary import local_steps, step_size_budget, step_size_scale, untouched_steps as t_0

BY_NAME = {b.name.removeprefix("fedinit."): b for b in BOUNDS}


def point(name: str, **other: Any) -> dict[str, Any]:
    return {**POINTS[f"fedinit.{name}"], **other}


def _step(v: dict[str, Any], separation: float, tau: int) -> float:
    """The separation after local iteration ``tau`` with step size c/tau."""
    words = ("smoothness", "lipschitz", "gradient_variance", "samples")
    values = {word: v[word] for word in words}
    return float(BY_NAME["stability_step"](separation=separation, step_size=v["step_size_scale"] / tau, **values))


# ---- lemmas and recursion ----


@pytest.mark.parametrize("rounds", [4, 40, 400])
def test_the_steps_after_t_0_stay_below_the_closed_form_and_not_far(rounds: int) -> None:
    v = point("stability_separation", rounds=rounds)
    separation = 0.0
    for tau in range(v["untouched_steps"] + 1, rounds * v["local_steps"] + 1):
        separation = _step(v, separation, tau)
    closed = BY_NAME["stability_separation"].parts(**v)["stochastic gradients"]
    assert 0 < separation < closed
    # the sum of tau^(-1-cL) is (t_0^(-cL) - (TK)^(-cL))/(cL); the closed form leaves the second part out
    growth = (rounds * v["local_steps"] / v["untouched_steps"]) ** (v["step_size_scale"] * v["smoothness"])
    assert separation == pytest.approx(closed * (1 - 1 / growth), rel=0.05)


def _drift_by_recursion(v: dict[str, Any], shift: float) -> float:
    """The drift part of the separation: every round after the runs part starts with one shift more."""
    steps, separation = v["local_steps"], 0.0
    for tau in range(v["untouched_steps"] + 1, v["rounds"] * steps + 1):
        before = _step(v, separation, tau) - _step(v, 0.0, tau)  # growth alone
        separation = before + (shift if tau % steps == 0 else 0.0)
    return separation


def test_the_drifts_exponent_covers_one_shift_a_round_while_beta_c_L_is_at_most_1() -> None:
    divergence, v = 0.0036, point("stability_separation")
    rounds_apart = v["rounds"] - v["untouched_steps"] // v["local_steps"]
    v["summed_divergence_root"] = rounds_apart * sqrt(divergence)
    shift = BY_NAME["stability_round"](relaxation=v["relaxation"], divergence=divergence)
    claimed = BY_NAME["stability_separation"].parts(**v)["client drift"]
    assert _drift_by_recursion(v, shift) <= claimed

    steep = v | {"step_size_scale": 2.3, "smoothness": 8.1, "rounds": 4, "untouched_steps": 19}
    steep["summed_divergence_root"] = sqrt(divergence)
    claimed = BY_NAME["stability_separation"].parts(**steep)["client drift"]
    growth = (20 / 19) ** (2.3 * 8.1)
    assert steep["relaxation"] * 2.3 * 8.1 > 1
    assert claimed < shift * growth


# ---- Theorem 3 ----


def _without_drift() -> sp.Expr:
    v = point("stability_before_t_0")
    terms = BY_NAME["stability_before_t_0"].terms
    numbers = {q: v[q.name] for q in BY_NAME["stability_before_t_0"].quantities if q != t_0}
    return (terms["sample met early"] + terms["stochastic gradients"]).subs(numbers)


def test_theorem_3s_t_0_balances_its_first_two_terms_up_to_one_sample() -> None:
    v = point("theorem_3")
    parts = BY_NAME["theorem_3"].parts(**v)
    ratio = v["samples"] / (v["samples"] - 1)
    assert parts["stochastic gradients"] == pytest.approx(ratio * parts["sample met early"], rel=1e-12)


def test_theorem_3s_t_0_is_not_the_minimiser_even_without_the_drift() -> None:
    v = point("t_0")
    chosen, c_L = BY_NAME["t_0"](**v), v["step_size_scale"] * v["smoothness"]
    best = float(sp.nsolve(sp.diff(_without_drift(), t_0), t_0, (1, chosen), solver="bisect"))
    assert best == pytest.approx(chosen * (c_L * v["samples"] / (v["samples"] - 1)) ** (1 / (1 + c_L)), rel=1e-9)
    assert best < 0.5 * chosen
    assert _without_drift().subs(t_0, best) < 0.8 * _without_drift().subs(t_0, chosen)


def test_theorem_3_is_the_form_before_t_0_at_t_0() -> None:
    v = point("theorem_3")
    chosen = BY_NAME["t_0"](**point("t_0"))
    before = BY_NAME["stability_before_t_0"]
    numbers = {q: v[q.name] for q in before.quantities if q != t_0}
    assert BY_NAME["theorem_3"](**v) == pytest.approx(float(before.expr.subs(numbers).subs(t_0, chosen)), rel=1e-12)


def test_the_printed_theorem_3_counts_its_first_part_once_and_loses_a_lipschitz_constant() -> None:
    v = point("theorem_3")
    derived, printed = BY_NAME["theorem_3"].parts(**v), BY_NAME["theorem_3_printed"].parts(**v)
    central = derived["sample met early"] + derived["stochastic gradients"]
    assert central / printed["stochastic gradients"] == pytest.approx(2 - 1 / v["samples"], rel=1e-12)
    assert derived["client drift"] / printed["client drift"] == pytest.approx(v["lipschitz"], rel=1e-12)


def test_only_the_printed_drift_term_has_the_wrong_unit() -> None:
    for name in ("theorem_3", "theorem_3_printed"):
        bound = BY_NAME[name]
        values = {q: sp.Rational(str(POINTS[bound.name][q.name])) for q in bound.quantities}
        units = {term: unit_of(e, values) for term, e in bound.spelled_terms.items()}
        wrong = {term: unit / LOSS for term, unit in units.items() if unit is not None and unit != LOSS}
        assert None not in units.values()
        assert wrong == ({"client drift": PARAMETER / LOSS} if name == "theorem_3_printed" else {})


@pytest.mark.parametrize(("scale", "speaks"), [(12.7, True), (12.9, False)])
def test_theorem_3_speaks_while_the_drifts_factor_covers_one_plus_the_relaxation(scale: float, speaks: bool) -> None:
    v = point("theorem_3", step_size_scale=scale)
    drift = BY_NAME["theorem_3"].parts(outside=True, **v)["client drift"]
    iterations = v["rounds"] * v["local_steps"]
    growth = (iterations / BY_NAME["t_0"](**point("t_0", step_size_scale=scale))) ** (scale * v["smoothness"])
    one_shift = v["lipschitz"] * (1 + v["relaxation"]) * growth * v["summed_divergence_root"]
    assert (drift >= one_shift) is speaks
    assert (EXPONENT not in BY_NAME["theorem_3"].failed(**v)) is speaks


def test_theorem_3_is_silent_where_t_0_exceeds_the_samples_and_its_print_is_not() -> None:
    v = point("theorem_3", rounds=10**8)
    assert BY_NAME["t_0"](**point("t_0", rounds=10**8)) > v["samples"]
    assert BY_NAME["theorem_3"].failed(**v) == (T_0_IN_RANGE,)
    with pytest.warns(match="silent"):
        assert np.isnan(BY_NAME["theorem_3"](**v))
    assert np.isfinite(BY_NAME["theorem_3_printed"](**v))


@pytest.mark.parametrize("name", ["theorem_3", "theorem_3_printed", "stability_separation"])
@pytest.mark.parametrize("other", [{"relaxation": 0}, {"relaxation": 0.118}, {"samples": 1}])
def test_stability_is_silent_outside_its_conditions(name: str, other: dict[str, float]) -> None:
    with pytest.warns(match="silent"):
        assert np.isnan(BY_NAME[name](**point(name, **other)))


def _with_budget(name: str, term: str) -> sp.Expr:
    return BY_NAME[name].terms[term].subs(step_size_scale, step_size_budget / local_steps)


def _over_local_steps(name: str, term: str, steps: list[int], **other: Any) -> np.ndarray:
    v = point(name, step_size_budget=0.8, **other)
    expression = _with_budget(name, term)
    numbers = {q: v[q.name] for q in expression.free_symbols if q != local_steps}
    return np.array([float(expression.subs(numbers).subs(local_steps, k)) for k in steps])


def test_more_local_steps_lower_the_stability_order_only_beyond_a_length_of_the_run() -> None:
    steps = [2, 3, 5, 9, 30]
    long = _over_local_steps("theorem_3_order", "stochastic gradients", steps, smoothness=0.4)
    assert (np.diff(long) < 0).all()
    short = _over_local_steps("theorem_3_order", "stochastic gradients", [2, 3], smoothness=9.0, rounds=2)
    assert log(2 * 2) < 1 + 0.8 * 9.0 / 2 < log(1e9)
    assert short[1] > short[0]


def test_with_endless_local_steps_the_stability_order_forgets_the_rounds() -> None:
    far = _over_local_steps("theorem_3_order", "stochastic gradients", [10**9])
    assert far[0] == pytest.approx(1 / 470, rel=1e-6)


# ---- Theorem 6 and the excess risk ----


def test_the_divergence_term_is_what_is_left_of_theorem_6_with_many_samples_and_rounds() -> None:
    v = point("theorem_6", rounds=10**9, samples=10**12)
    parts = BY_NAME["theorem_6"].parts(**v)
    assert parts["divergence"] > 0.99 * sum(parts.values())


def test_theorem_6s_stability_term_asks_for_few_local_steps_only_at_a_fixed_step_size_scale() -> None:
    v = point("theorem_6")
    fixed = [BY_NAME["theorem_6"].parts(**v | {"local_steps": k})["stability"] for k in (2, 5, 11)]
    assert (np.diff(fixed) > 0).all()
    shared = _over_local_steps("theorem_6", "stability", [2, 5, 11])
    assert (np.diff(shared) < 0).all()


def test_the_other_terms_of_theorem_6_ask_for_many_local_steps() -> None:
    for term in ("divergence", "optimisation: initial loss", "optimisation: gradient noise"):
        assert (np.diff(_over_local_steps("theorem_6", term, [2, 5, 11], rounds=4000)) < 0).all()
