"""FedInit's optimisation: one test per statement or remark (others: divergence, stability, orders)."""

from itertools import pairwise
from math import exp
from typing import Any

import numpy as np
import pytest
import sympy as sp

from bounds.fedinit import BOUNDS
from bounds.fedinit.common import BETA_DECAY, CONTRACTION, STEP_DESCENT, STEP_GRADIENT_SUM, STEP_PL, STEP_SAMPLING
from bounds.fedinit.optimization import lemma_2, lemma_3, lemma_4
from bounds.points.fedinit import POINTS
from bounds.vocabulary import (
    clients as C,
    cohort as N,
    dissimilarity_offset as G2,
    divergence as Delta,
    grad_norm_sq,
    gradient_variance as sigma2,
    local_steps as K,
    relaxation as beta,
    smoothness as L,
    step_size as eta,
    summed_grad_norm_sq,
)

BY_NAME = {b.name.removeprefix("fedinit."): b for b in BOUNDS}


def point(name: str, **other: Any) -> dict[str, Any]:
    return {**POINTS[f"fedinit.{name}"], **other}


# ---- constants and caps ----


def test_without_relaxation_the_constants_are_17_and_13() -> None:
    assert BY_NAME["kappa_1"](relaxation=0) == 17
    assert BY_NAME["kappa_2"](relaxation=0) == 13


def test_the_constants_grow_without_limit_towards_the_relaxation_cap() -> None:
    cap = BY_NAME["relaxation_cap_theorem_1"]()
    near = [BY_NAME["kappa_1"](relaxation=cap * (1 - gap)) for gap in (1e-2, 1e-4, 1e-6)]
    assert near[1] > 90 * near[0]
    assert near[2] > 90 * near[1]


def test_the_relaxation_caps_are_where_72_and_96_times_its_square_reach_1() -> None:
    assert 72 * BY_NAME["relaxation_cap_theorem_1"]() ** 2 == pytest.approx(1, rel=1e-14)
    assert 96 * BY_NAME["relaxation_cap_theorem_4"]() ** 2 == pytest.approx(1, rel=1e-14)
    v = point("relaxation_cap_theorem_5")
    decay = exp(-v["contraction"] * v["pl_constant"] * v["step_size"] * v["local_steps"])
    assert 96 * BY_NAME["relaxation_cap_theorem_5"](**v) ** 2 == pytest.approx(decay, rel=1e-14)


@pytest.mark.parametrize("name", ["theorem_1", "theorem_2", "theorem_4", "theorem_5"])
def test_a_theorem_speaks_just_below_its_step_size_cap_and_is_silent_just_above(name: str) -> None:
    caps = {STEP_DESCENT, STEP_SAMPLING, STEP_GRADIENT_SUM, STEP_PL}
    for clients, cohort, pl_constant in ((11, 3, 0.37), (5, 4, 0.37), (3, 2, 1.29)):
        v = point(name, clients=clients, cohort=cohort, contraction=0.99)
        v |= {"pl_constant": pl_constant} if "pl_constant" in v else {}
        card = BY_NAME[f"step_size_cap_{name}"]
        cap = card(**{q.name: v[q.name] for q in card.quantities})
        assert not caps & set(BY_NAME[name].failed(**v | {"step_size": 0.9999 * cap}))
        assert caps & set(BY_NAME[name].failed(**v | {"step_size": 1.0001 * cap}))


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("kappa_1", {"relaxation": 0.12}),
        ("kappa_2", {"relaxation": -0.01}),
        ("theorem_1", {"relaxation": -0.06}),
        ("theorem_1", {"local_steps": 1}),
        ("theorem_1", {"contraction": 0.86}),
        ("theorem_2", {"step_size": 0.03}),
        ("contraction_cap", {"step_size": 0.0514}),
        ("contraction_cap", {"local_steps": 1}),
        ("theorem_4_recursion", {"relaxation": 0.11}),
        ("theorem_5", {"relaxation": 0.103}),
        ("lemma_2", {"step_size": 0.06}),
        ("lemma_3", {"step_size": 0.16}),
        ("divergence_weight", {"relaxation": 0}),
        ("local_steps_order", {"dissimilarity_offset": 0}),
        ("step_size_theorem_2_order", {"pl_constant": 0.002}),
    ],
)
def test_a_failed_condition_gives_nan(name: str, other: dict[str, float]) -> None:
    v = point(name, **other)
    with pytest.warns(match="silent"):
        assert np.isnan(BY_NAME[name](**v))
    assert BY_NAME[name].failed(**v)


def test_a_relaxation_between_the_two_caps_of_theorem_5_fails_only_by_decay() -> None:
    v = point("theorem_5", relaxation=0.10205)
    assert set(BY_NAME["theorem_5"].failed(**v)) == {BETA_DECAY, CONTRACTION}


# ---- Lemmas 2 to 4 ----


@pytest.mark.parametrize("steps", [2, 3, 5, 17])
def test_lemma_2_holds_for_the_recursion_of_its_proof(steps: int) -> None:
    v = point("lemma_2", local_steps=steps)
    client = v["dissimilarity_offset"] + v["dissimilarity_factor"] * v["grad_norm_sq"]
    added = v["step_size"] ** 2 * (v["gradient_variance"] + 4 * steps * client)
    distance, drift = v["relaxation"] ** 2 * v["divergence"], 0.0
    for _ in range(steps):
        drift += distance
        distance = (1 + 1 / (steps - 1)) * distance + added
    assert 0.15 * lemma_2(**v) < drift <= lemma_2(**v)


def test_lemma_2_needs_its_own_cap_from_3_local_steps_on() -> None:
    def growth_fits(steps: int, step_times_smoothness: float) -> bool:
        return 1 / (2 * steps - 1) + 4 * steps * step_times_smoothness**2 <= 1 / (steps - 1)

    cap = BY_NAME["step_size_cap_lemma_2"]
    assert all(growth_fits(k, 1.7 * cap(local_steps=k, smoothness=1.7)) for k in range(2, 60))
    assert [k for k in range(2, 60) if growth_fits(k, 1 / (2 * k))] == [2]


def test_theorem_1_leaves_lemma_2s_cap_only_with_one_or_two_clients_that_all_take_part() -> None:
    theorem, lemma = BY_NAME["step_size_cap_theorem_1"], BY_NAME["step_size_cap_lemma_2"]
    outside = [
        (c, n)
        for c in range(1, 30)
        for n in range(1, c + 1)
        if theorem(clients=c, cohort=n, local_steps=3, smoothness=0.7) > lemma(local_steps=3, smoothness=0.7)
    ]
    assert outside == [(1, 1), (2, 2)]


def test_lemma_4_returns_the_divergence_when_its_recursion_is_tight() -> None:
    v = point("lemma_4_recursion")
    following = BY_NAME["lemma_4_recursion"](**v)
    assert lemma_4(**v, next_divergence=following) == pytest.approx(v["divergence"], rel=1e-12)


# ---- the descent inequality ----


def _proofs_right_hand_side() -> sp.Expr:
    """Lemmas 2, 3 and 4 in the expansion of smoothness, 10 beta^2 L/N times the divergence going to Lemma 4."""
    kept = 10 * beta**2 * L / N
    return sp.expand(eta * L**2 / 2 * lemma_2.expr + L / 2 * lemma_3.expr + kept * (lemma_4.expr - Delta))


def test_kappa_1_and_kappa_2_follow_from_lemmas_2_to_4_at_the_sampling_cap() -> None:
    at_cap = _proofs_right_hand_side().subs(L, 1 / (N * K * eta))
    lasting = {q: at_cap.coeff(q) for q in (G2, sigma2)}
    smooth = 1 / (N * K * eta)
    for relaxation in (sp.Rational(3, 50), sp.Rational(1, 10)):
        kappa_1, kappa_2 = (BY_NAME[f"kappa_{i}"].expr.subs(beta, relaxation) for i in (1, 2))
        assert sp.simplify(lasting[G2].subs(beta, relaxation) - 3 * kappa_1 * eta**2 * K**2 * smooth / (2 * N)) == 0
        assert sp.simplify(lasting[sigma2].subs(beta, relaxation) - kappa_2 * eta**2 * K * smooth / (2 * N)) == 0


def test_the_descent_that_is_left_is_the_cap_on_lambda() -> None:
    lost = _proofs_right_hand_side().coeff(grad_norm_sq) / (eta * K / 2)
    assert sp.simplify(1 - lost - BY_NAME["contraction_cap"].expr) == 0


def test_the_10_in_front_of_the_divergence_covers_9_and_a_half() -> None:
    own = sp.expand(eta * L**2 / 2 * lemma_2.expr + L / 2 * lemma_3.expr).coeff(Delta)
    assert sp.simplify(own.subs(eta, 1 / (N * K * L)) / (beta**2 * L / N)) == sp.Rational(19, 2)


def test_the_summed_gradients_vanish_only_under_the_derived_cap() -> None:
    bracket = sp.expand(_proofs_right_hand_side().coeff(summed_grad_norm_sq) - eta / (2 * C**2 * K))
    cap = BY_NAME["step_size_cap_descent"]
    assert sp.simplify(bracket.subs(eta, cap.expr)) == 0
    v = point("theorem_1", clients=4000, cohort=1, relaxation=0.11)
    v["step_size"] = 0.99 * BY_NAME["step_size_cap_theorem_1"](clients=4000, cohort=1, local_steps=5, smoothness=1.3)
    assert BY_NAME["theorem_1"].holds(**v)
    assert v["step_size"] > cap(**{q.name: v[q.name] for q in cap.quantities})
    assert bracket.subs({q: v[q.name] for q in (C, N, K, L, eta, beta)}) > 0


# ---- Theorems 1 and 2 ----


def test_theorem_1_is_the_sum_of_the_descents_and_drops_last_loss_and_last_divergence() -> None:
    v = point("theorem_1", rounds=6)
    loss = [2.3, 1.9, 2.0, 1.2, 0.7, 0.8, 0.55]  # above its smallest value, which counts as 0
    spread = [0.0, 0.3, 0.21, 0.4, 0.17, 0.26, 0.09]
    common = {w: x for w, x in v.items() if w not in ("rounds", "initial_gap")}
    summed = sum(
        BY_NAME["descent"](**common, loss_decrease=f - g, divergence=a, next_divergence=b)
        for (f, g), (a, b) in zip(pairwise(loss), pairwise(spread), strict=True)
    )
    dropped = {"loss_decrease": loss[-1] / 6, "divergence": spread[-1] / 6, "next_divergence": 0}
    parts = BY_NAME["descent"].parts(**common, **dropped)
    left_out = parts["loss decrease"] + parts["divergence decrease"]
    assert left_out > 0
    assert BY_NAME["theorem_1"](**v) == pytest.approx(summed / 6 + left_out, rel=1e-12)


def _contracting(v: dict[str, Any], spread: list[float], weight: float) -> float:
    """The loss gap after the rounds of ``spread`` by the recursion in the proof of Theorem 2."""
    rate = v["contraction"] * v["pl_constant"] * v["step_size"] * v["local_steps"]
    kappa_1, kappa_2 = (BY_NAME[f"kappa_{i}"](relaxation=v["relaxation"]) for i in (1, 2))
    step = v["step_size"] ** 2 * v["local_steps"] * v["smoothness"] / (2 * v["cohort"])
    noise = kappa_2 * v["gradient_variance"] + 3 * kappa_1 * v["local_steps"] * v["dissimilarity_offset"]
    gap = v["initial_gap"]
    for before, after in pairwise(spread):
        gap = (1 - rate) * gap + weight * (before - after) + step * noise
    return gap


def test_theorem_2_bounds_its_recursion_and_meets_it_in_the_long_run() -> None:
    v = point("theorem_2", step_size=0.0031, contraction=0.21)
    for rounds in (3, 40, 900):
        assert _contracting(v, [0.0] * (rounds + 1), 0) <= BY_NAME["theorem_2"](**v | {"rounds": rounds})
    floor = BY_NAME["theorem_2"](**v | {"rounds": 40000})
    assert _contracting(v, [0.0] * 40001, 0) == pytest.approx(floor, rel=1e-9)


def test_theorem_2s_recursion_alone_allows_more_when_the_divergence_rises_and_falls() -> None:
    v = point("theorem_2", gradient_variance=0, dissimilarity_offset=0, initial_gap=1e-9, cohort=10, clients=10)
    v |= {"step_size": 0.01, "contraction": 0.02, "relaxation": 0.09, "smoothness": 0.9, "local_steps": 2}
    v |= {"dissimilarity_factor": 1.1, "rounds": 5}
    b2 = v["relaxation"] ** 2
    weight = 10 * b2 * v["smoothness"] / ((1 - 72 * b2) * v["cohort"])
    assert _contracting(v, [0.0, 0.3, 0.8, 0.4, 0.1, 0.0], weight) > BY_NAME["theorem_2"](**v)
    assert _contracting(v, [0.0, 0.1, 0.3, 0.4, 0.8, 0.9], weight) < BY_NAME["theorem_2"](**v)


def test_the_divergence_is_no_argument_of_theorems_1_and_2() -> None:
    for name in ("theorem_1", "theorem_2"):
        assert not {"divergence", "mean_divergence"} & {q.name for q in BY_NAME[name].quantities}


def test_theorem_1_falls_with_participants_and_rounds_and_rises_with_dissimilarity_and_relaxation() -> None:
    v = point("theorem_1")
    value = BY_NAME["theorem_1"](**v)
    for lower in ({"cohort": 4}, {"rounds": 41}, {"dissimilarity_offset": 0.5}, {"relaxation": 0.05}):
        assert BY_NAME["theorem_1"](**v | lower) < value
