"""What the statements of the papers say of one another, against arithmetic that is independent of them."""

import math

import numpy as np
import pytest

from bounds import BOUNDS, get
from bounds.assumptions import ASSUMPTIONS
from bounds.bounded_quantity import sides_of
from bounds.classics.common import ENDS_WITH_A_ROUND
from bounds.errors import DomainError
from bounds.fedcog import labels
from bounds.points import POINTS
from bounds.scenario import Scenario


def point_of(name, **changed):
    return {**POINTS[name], **changed}


@pytest.mark.parametrize(("runtime", "cap", "limited"), [(311.0, 1.7, False), (2.9, 0.0013, True)])
def test_the_capped_eta_star_is_the_best_of_all_allowed_step_sizes(runtime, cap, limited):
    capped, star, by_second = (get(f"decaying_k.{name}") for name in ("eta_star_capped", "eta_star", "per_second"))
    point = point_of(capped.name, runtime=runtime, grad_cap_sq=cap)
    best = capped(**point)
    others = {n: v for n, v in point_of(by_second.name, **point).items() if n != "step_size"}
    assert best == pytest.approx(float(by_second.minimize("step_size", **others).at), rel=1e-9)
    assert (best == 1 / (4 * 1.3)) is limited
    assert star.holds(**point) is not limited
    assert not limited or star.formula(**point) > best


WORKED_EXAMPLE = [500, 0, 400, 200, 400]
ALLOCATION = get("fedcog.complementary_allocation")


def test_the_worked_example_of_the_paper():
    assert get("fedcog.complementary_count")(class_count=WORKED_EXAMPLE).tolist() == [0, 500, 100, 300, 100]
    assert labels.complement(WORKED_EXAMPLE) == [0, 500, 100, 300, 100]
    assert sum(labels.complement(WORKED_EXAMPLE)) == 1000
    assert ALLOCATION(class_count=WORKED_EXAMPLE, generated_samples=256)[1] == pytest.approx(256 * 500 / 1000)


def test_largest_remainders_lose_no_sample_and_rounding_down_fewer_than_there_are_classes():
    for counts in (WORKED_EXAMPLE, [13, 4, 0, 29], [3, 3, 1, 2, 2, 2, 1]):
        rounded = labels.largest_remainder(labels.complement(counts), 256)
        assert sum(rounded) == 256
        assert np.abs(rounded - ALLOCATION(class_count=counts, generated_samples=256)).max() < 1
    assert labels.largest_remainder([3, 3, 3, 0], 10) == [4, 3, 3, 0]  # of equal remainders the lower class
    down = labels.floors(labels.complement([13, 4, 0, 29]), 256)
    assert down == [math.floor(256 * lack / 70) for lack in (16, 25, 29, 0)]
    assert 0 < 256 - sum(down) < 4
    assert all(a - b in (0, 1) for a, b in zip(labels.largest_remainder([16, 25, 29, 0], 256), down, strict=True))
    with pytest.raises(DomainError, match="class_count"):
        labels.complement([2, 2.5])


def test_uniform_labels_need_a_copy_of_every_class():
    assert labels.uniform(10, 26) == [26] * 10
    with pytest.raises(DomainError, match="classes"):
        labels.uniform(0, 26)


def test_the_offset_of_li_is_the_larger_of_eight_condition_numbers_and_the_local_steps():
    few, many = (BOUNDS["classics.li_theorem_1"].fix(local_steps=steps) for steps in (7, 60))
    held = {k: v for k, v in POINTS["classics.li_theorem_1"].items() if k != "local_steps"}
    kappa, start = 1.3 / 0.4, 0.4 / 2 * 2.6
    assert few.parts(**held)["start"] == pytest.approx(kappa * start * 26 / (26 + 246))
    assert many.parts(**held)["start"] == pytest.approx(kappa * start * 60 / (60 + 246))


def test_the_tuned_step_takes_the_cap_that_is_least():
    point = POINTS["classics.field_guide_step_size"]
    many = {**point, "rounds": 10**9}
    zeta = math.cbrt(2.6 / (1e9 * 1.3 * 0.62)) / 6
    assert BOUNDS["classics.field_guide_step_size"](**{**many, "gradient_variance": 1e-9}) == pytest.approx(zeta)
    assert BOUNDS["classics.field_guide_step_size"](**{**point, "initial_distance_sq": 1e9}) == pytest.approx(1 / 5.2)


def test_a_plan_decides_which_classics_speak_of_it():
    plan = Scenario.of(
        clients=7, smoothness=1.3, strong_convexity=0.2, gradient_variance=0.9, uniform_dissimilarity=0.4,
        heterogeneity=0.3, initial_distance_sq=2.1, local_steps=3, rounds=50, step_size=0.02,
    )  # fmt: skip
    problem, _, setting = plan.facts
    assert problem.identical_clients is False
    assert ASSUMPTIONS["harmonic_step_size"].holds(problem, None, setting) is False
    *_, step = BOUNDS["classics.field_guide_theorem_1_tuned"].conditions
    left, right = sides_of(step, plan)
    held = {q.name: plan[q.name].value for q in BOUNDS["classics.field_guide_step_size"].quantities}
    assert (left, right) == (0.02, pytest.approx(float(BOUNDS["classics.field_guide_step_size"](**held))))
    assert sides_of(ENDS_WITH_A_ROUND, plan) == (150, 150)
    assert plan["summed_step_sizes"].value == pytest.approx(3.0)
