"""FedInit's orders: one test per statement or remark."""

from math import log2
from typing import Any

import numpy as np
import pytest
import sympy as sp

from bounds.fedinit import BOUNDS
from bounds.points.fedinit import POINTS
from bounds.vocabulary import (
    cohort as N,
    contraction as lam,
    local_steps as K,
    pl_constant as mu,
    rounds as T,
    step_size as eta,
)

BY_NAME = {b.name.removeprefix("fedinit."): b for b in BOUNDS}


def point(name: str, **other: Any) -> dict[str, Any]:
    return {**POINTS[f"fedinit.{name}"], **other}


# ---- orders ----


@pytest.mark.parametrize("name", ["theorem_1", "theorem_4"])
def test_the_order_follows_from_the_explicit_form_at_the_stated_step_size(name: str) -> None:
    explicit, order = BY_NAME[name].spelled_terms, BY_NAME[f"{name}_order"].terms
    step = sp.Rational(1, 7) * BY_NAME["step_size_theorem_1_order"].expr
    for term, claimed in order.items():
        ratio = sp.simplify(explicit[term].subs(eta, step) / claimed)
        assert not {N, K, T} & ratio.free_symbols, (term, ratio)


def test_theorem_2s_order_follows_up_to_the_logarithm() -> None:
    step = BY_NAME["step_size_theorem_2_order"].expr
    logarithm = sp.log(lam * mu * N * K * T)
    for term, claimed in BY_NAME["theorem_2_order"].terms.items():
        ratio = sp.simplify(BY_NAME["theorem_2"].spelled_terms[term].subs(eta, step) / claimed)
        hidden = ratio if term == "initial loss" else sp.simplify(ratio / logarithm)
        assert not {N, K, T} & hidden.free_symbols, term


def _slope(term: sp.Expr, v: dict[str, Any], rounds: float) -> float:
    """Exponent of the rounds between ``rounds`` and twice as many."""
    at = [float(term.subs({q: v[q.name] for q in term.free_symbols - {T}}).subs(T, r)) for r in (rounds, 2 * rounds)]
    return log2(at[1] / at[0])


def test_theorem_5_puts_the_initial_loss_at_one_over_the_rounds_not_their_square() -> None:
    v = point("theorem_5")
    step = BY_NAME["step_size_theorem_2_order"].expr
    explicit = BY_NAME["theorem_5"].spelled_terms["loss: initial loss"].subs(eta, step)
    assert _slope(explicit, v, 1e9) == pytest.approx(-1, abs=0.08)
    assert _slope(BY_NAME["theorem_5_order"].terms["initial loss"], v, 1e9) == pytest.approx(-2, abs=1e-9)
    other = BY_NAME["theorem_5"].spelled_terms["dissimilarity"].subs(eta, step)
    assert _slope(other, v, 1e9) == pytest.approx(-2, abs=0.15)


def test_the_best_number_of_local_steps_is_noise_over_dissimilarity_without_the_initial_loss() -> None:
    v = point("theorem_1_order", initial_gap=0)
    best = BY_NAME["local_steps_order"](
        gradient_variance=v["gradient_variance"], dissimilarity_offset=v["dissimilarity_offset"]
    )
    order = BY_NAME["theorem_1_order"].expr.subs(
        {q: v[q.name] for q in BY_NAME["theorem_1_order"].quantities if q != K}
    )
    assert sp.nsolve(sp.diff(order, K), K, 0.5) == pytest.approx(best, rel=1e-9)
    more = BY_NAME["local_steps_order"](gradient_variance=v["gradient_variance"], dissimilarity_offset=0.9)
    assert more < best


def test_the_mean_divergence_is_in_the_end_linear_in_participants_and_local_steps() -> None:
    v = point("theorem_4_order", gradient_variance=0, rounds=10**12)
    value = BY_NAME["theorem_4_order"](**v)
    assert BY_NAME["theorem_4_order"](**v | {"cohort": 6}) / value == pytest.approx(2, rel=1e-4)
    assert BY_NAME["theorem_4_order"](**v | {"local_steps": 10}) / value == pytest.approx(2, rel=1e-4)
    assert BY_NAME["theorem_4_order"](**v | {"initial_gap": 9.2}) / value == pytest.approx(1, rel=1e-4)


def test_the_last_divergence_falls_with_local_steps() -> None:
    v = point("theorem_5_order")
    values = BY_NAME["theorem_5_order"](**v | {"local_steps": [2, 5, 11, 40]})
    assert (np.diff(values) < 0).all()


# ---- Table 8 ----
