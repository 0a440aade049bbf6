"""FedInit: where its statements speak and where they are silent (values: the slow twins)."""

from itertools import pairwise, product
from math import sqrt
from typing import Any

import numpy as np
import pytest

from bounds.fedinit.catalog import BOUNDS
from bounds.fedinit.common import BETA_DECAY, CONTRACTION, STEP_DESCENT, STEP_GRADIENT_SUM, STEP_PL, STEP_SAMPLING
from bounds.fedinit.stability import EXPONENT, T_0_IN_RANGE
from bounds.points.fedinit import POINTS

BY_NAME = {b.name.removeprefix("fedinit."): b for b in BOUNDS}


def point(name: str, **other: Any) -> dict[str, Any]:
    return {**POINTS[f"fedinit.{name}"], **other}


# ---- constants and caps ----


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
        *product(
            ("theorem_3", "theorem_3_printed", "stability_separation"),
            ({"relaxation": 0}, {"relaxation": 0.118}, {"samples": 1}),
        ),
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


def test_the_recursion_of_theorem_4_is_silent_above_the_root_of_the_participation() -> None:
    v = point("theorem_4_recursion")
    cap = sqrt(v["cohort"] / v["clients"]) / (v["local_steps"] * v["smoothness"])
    assert BY_NAME["theorem_4_recursion"].holds(**v | {"step_size": 0.999 * cap})
    assert BY_NAME["theorem_4_recursion"].failed(**v | {"step_size": 1.001 * cap}) == (STEP_GRADIENT_SUM,)


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


# ---- Theorem 3 ----


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
