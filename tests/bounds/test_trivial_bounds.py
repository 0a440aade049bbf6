"""What is known without a theorem: by which premises, and that it holds on quadratics."""

import numpy as np
import pytest

from bounds import BOUNDS
from bounds.bounded_quantity import BoundedQuantity
from bounds.scenario import Scenario
from bounds.trivial_bounds import TRIVIAL, trivial

L, MU, D, DIST, CAP = 2.3, 0.4, 1.7, 5.1, 8.9
GIVEN = {"smoothness": L, "strong_convexity": MU, "initial_gap": D, "initial_distance_sq": DIST, "grad_cap_sq": CAP}
ONE = {"gap": 2 * L * D, "distance": L**2 * DIST, "cap": CAP}
BY_PREMISE = {
    "fedinit.theorem_1": {"gap"},  # smooth, bounded below
    "fedinit.theorem_1_sharp": {"gap"},
    "fedcog.theorem": {"gap"},
    "fedcog.corollary_scaled": {"gap"},
    "fedinit.theorem_2": {"gap"},
    "decaying_k.theorem_1_sharp": {"gap", "cap"},  # speaks of D, not of convexity
    "decaying_k.theorem_1_repaired": {"gap", "distance", "cap"},
    "decaying_k.lemma_2": {"gap", "distance", "cap"},
}


@pytest.mark.parametrize("name", BY_PREMISE)
@pytest.mark.parametrize("least", ONE)
def test_a_gradient_is_bounded_by_what_the_theorem_supposes_alone(name, least):
    """Each of the three in turn is made the smallest one."""
    factor = {"gap": {"initial_gap": 0.3}, "distance": {"initial_distance_sq": 0.2}, "cap": {"grad_cap_sq": 1.1}}[least]
    s = Scenario.of(**{**GIVEN, **factor})
    values = {"gap": 2 * L * s["initial_gap"].value, "distance": L**2 * s["initial_distance_sq"].value,
              "cap": s["grad_cap_sq"].value}  # fmt: skip
    of_class, here = trivial("grad_norm_sq", s.at(initial_grad_norm_sq=0.07), [BOUNDS[name]])
    assert of_class == pytest.approx(min(values[kind] for kind in BY_PREMISE[name]))
    assert here == 0.07


def test_every_bound_that_can_be_ranked_supposes_what_its_trivial_value_needs():
    s = Scenario.of(**GIVEN, clients=7, cohort=3, local_steps=2, step_size=0.1, loss_cap=3.3)
    seen = set()
    for bound in BOUNDS.values():
        target = BoundedQuantity.of(bound).target
        made = {c.assumption.name for c in bound.conditions if c.assumption} | {q.name for q in bound.quantities}
        if bound.relation != "<=" or target not in TRIVIAL:
            continue
        of_class, _ = trivial(target, s, [bound])
        if target in ("divergence", "consensus_distance"):
            assert np.isfinite(of_class) == ("bounded_gradient" in made), bound.name
        elif target in ("stability", "generalization_gap"):
            assert np.isfinite(of_class) == ("bounded_loss" in made), bound.name
        elif target == "grad_norm_sq" and np.isfinite(of_class):
            assert made & {"smooth", "bounded_gradient"}, bound.name
        seen.add((target, bool(np.isfinite(of_class))))
    assert {("divergence", False), ("stability", True), ("grad_norm_sq", True)} <= seen
    assert {("stability", False), ("generalization_gap", False)} & seen


def test_at_the_start_of_quadratics_they_hold_and_the_other_direction_does_not():
    draws = np.random.default_rng(5)
    caught = {"gap": 0, "distance": 0, "strong": 0}
    for _ in range(200):
        basis = np.linalg.qr(draws.standard_normal((3, 3)))[0]
        curves, away = draws.uniform(MU, L, 3), draws.standard_normal(3)
        A = basis * curves @ basis.T
        gap, distance, gradient = away @ A @ away / 2, away @ away, float(((A @ away) ** 2).sum())
        s = Scenario.of(smoothness=L, strong_convexity=MU, initial_gap=gap, initial_distance_sq=distance)
        assert gradient <= trivial("grad_norm_sq", s)[0] * (1 + 1e-12)
        assert distance <= trivial("distance_sq", s.at(initial_distance_sq=1e9))[0] * (1 + 1e-12)
        caught["gap"] += gradient > 2 * MU * gap
        caught["distance"] += gradient > MU**2 * distance
        caught["strong"] += distance > 2 * gap / L
    assert min(caught.values()) > 190
