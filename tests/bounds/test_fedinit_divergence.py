"""FedInit's divergence: Theorems 4 and 5 and the weight in the relaxation, one test per statement or remark."""

from math import exp, sqrt
from typing import Any

import numpy as np
import pytest

from bounds.fedinit import BOUNDS
from bounds.fedinit.common import STEP_GRADIENT_SUM
from bounds.points.fedinit import POINTS

BY_NAME = {b.name.removeprefix("fedinit."): b for b in BOUNDS}


def point(name: str, **other: Any) -> dict[str, Any]:
    return {**POINTS[f"fedinit.{name}"], **other}


# ---- Theorems 4 and 5 ----


def test_theorem_4s_own_cap_on_the_step_size_is_never_the_smallest() -> None:
    v = {"local_steps": 5, "smoothness": 1.3}
    for clients in range(1, 25):
        for cohort in range(1, clients + 1):
            caps = [BY_NAME[f"step_size_cap_theorem_{i}"](clients=clients, cohort=cohort, **v) for i in (1, 4)]
            assert caps[0] == caps[1]


def test_the_recursion_of_theorem_4_is_silent_above_the_root_of_the_participation() -> None:
    v = point("theorem_4_recursion")
    cap = sqrt(v["cohort"] / v["clients"]) / (v["local_steps"] * v["smoothness"])
    assert BY_NAME["theorem_4_recursion"].holds(**v | {"step_size": 0.999 * cap})
    assert BY_NAME["theorem_4_recursion"].failed(**v | {"step_size": 1.001 * cap}) == (STEP_GRADIENT_SUM,)


def test_theorem_4_before_is_exact_for_its_recursion() -> None:
    v = point("theorem_4_recursion")
    gradients = [0.9, 0.4, 0.7, 0.2, 0.35]
    spread = [v["divergence"]]
    for g in gradients:
        spread.append(BY_NAME["theorem_4_recursion"](**v | {"grad_norm_sq": g, "divergence": spread[-1]}))
    common = {w: x for w, x in v.items() if w not in ("divergence", "grad_norm_sq")}
    ends = {"initial_divergence": spread[0], "final_divergence": spread[-1]}
    claimed = BY_NAME["theorem_4_before"](**common, **ends, rounds=5, mean_grad_norm_sq=sum(gradients) / 5)
    assert claimed == pytest.approx(sum(spread[:-1]) / 5, rel=1e-12)


def test_267_covers_the_term_the_recursion_does_not_show_only_once_sampling_weights_are_kept() -> None:
    v = point("theorem_4_recursion")
    walk = v["step_size"] ** 2 * v["local_steps"] ** 2 * v["grad_norm_sq"]
    for B2 in (1.0, 1.7, 6.3):
        printed = BY_NAME["theorem_4_recursion"].parts(**v | {"dissimilarity_factor": B2})["global gradient"] / walk
        for clients in range(2, 40):
            for cohort in range(1, clients + 1):
                one, many = (clients - cohort) / (clients - 1), (cohort - 1) / (clients - 1)
                at_cap = cohort / clients  # (eta K L)^2 at the cap sqrt(N)/(sqrt(C) K L)
                kept = 78 * B2 + one * 117 * B2 / cohort + many * (6 + 72 * B2 * at_cap) / at_cap
                plain = 195 * B2 + (6 + 72 * B2 * at_cap) / at_cap
                assert kept <= printed < plain


def test_theorem_5_bounds_the_unrolled_recursion() -> None:
    v = point("theorem_5")
    floor = BY_NAME["theorem_2"].parts(**v)
    lasting = BY_NAME["theorem_1"].parts(**{w: x for w, x in v.items() if w != "pl_constant"})
    shared = {q.name: v.get(q.name) for q in BY_NAME["theorem_4_recursion"].quantities}
    walk = v["contraction"] * v["step_size"] * v["local_steps"]
    spread = 0.0
    for t in range(v["rounds"]):
        initial = exp(-walk * v["pl_constant"] * t) * v["initial_gap"]
        loss_gap = initial + floor["gradient noise"] + floor["dissimilarity"]
        gradient = 2 / walk * loss_gap + lasting["gradient noise"] + lasting["dissimilarity"]
        spread = BY_NAME["theorem_4_recursion"](**shared | {"divergence": spread, "grad_norm_sq": gradient})
    assert spread <= BY_NAME["theorem_5"](**v)


def test_theorem_5s_initial_loss_is_exact_where_96_beta_squared_equals_the_decay() -> None:
    v = point("theorem_5")
    decay = exp(-v["contraction"] * v["pl_constant"] * v["step_size"] * v["local_steps"])
    per_loss = 534 * v["step_size"] * v["local_steps"] * v["dissimilarity_factor"] / v["contraction"]
    unrolled = sum(decay ** (v["rounds"] - 1 - t) * decay**t for t in range(v["rounds"]))
    part = BY_NAME["theorem_5"].parts(**v)["loss: initial loss"]
    assert part == pytest.approx(per_loss * v["initial_gap"] * unrolled, rel=1e-12)


# ---- the weight in the relaxation ----


def test_the_weight_falls_first_and_then_rises_so_its_minimum_lies_inside() -> None:
    v = point("divergence_weight", step_size_scale=0.6)
    cap = BY_NAME["relaxation_cap_theorem_4"]()
    weights = BY_NAME["divergence_weight"](**v | {"relaxation": np.linspace(0, cap, 402)[1:-1]})
    turns = np.flatnonzero(np.diff(np.sign(np.diff(weights))))
    assert len(turns) == 1
    assert weights.argmin() not in (0, len(weights) - 1)


def test_the_weight_tends_to_an_exponential_as_the_relaxation_vanishes() -> None:
    v = point("divergence_weight", relaxation=1e-7)
    c_L = v["step_size_scale"] * v["smoothness"]
    assert BY_NAME["divergence_weight"](**v) == pytest.approx(exp(1 / c_L), rel=1e-5)
