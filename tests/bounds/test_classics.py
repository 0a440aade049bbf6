"""The classic theorems: where their conditions end, what one of them becomes of another, and their schedules."""

import math

import numpy as np
import pytest

from bounds import BOUNDS
from bounds.assumptions import ASSUMPTIONS
from bounds.classes import ClassOf, said
from bounds.errors import OutsideConditionsWarning
from bounds.points import POINTS
from bounds.scenario import Scenario


def at(name, **changed):
    bound = BOUNDS[f"classics.{name}"]
    return bound(**{**POINTS[bound.name], **changed})


@pytest.mark.parametrize(
    ("name", "word", "largest"),
    [
        ("field_guide_theorem_1", "step_size", 1 / (4 * 1.3)),
        ("local_gd_lemma_1_short_step", "step_size", 1 / (4 * 1.3)),
        ("local_gd_theorem_1", "step_size", 1 / (4 * 1.3 * 6)),
        ("local_sgd_lemma_1", "step_size", 1 / (2 * 1.3)),
        ("local_sgd_theorem_1", "step_size", 1 / (4 * 1.3)),
        ("bottou_4_6", "step_size", 0.83 / (1.3 * (0.29 + 1.21**2))),
        ("needell_2_1", "step_size", 0.999999 / 1.3),
        ("local_gd_corollary_1", "local_steps", 9),
        ("hardt_5_4", "smoothness", 2 * 1.9 * (247 * (59 + 2 * 247) / (2.6 * 59)) ** 0.5),
    ],
)
def test_it_speaks_up_to_its_largest_step_and_is_silent_beyond(name, word, largest):
    beyond = largest + 1 if word == "local_steps" else 1.00001 * largest
    assert np.isfinite(at(name, **{word: largest}))
    with pytest.warns(OutsideConditionsWarning):
        assert np.isnan(at(name, **{word: beyond}))


def test_a_falling_step_needs_a_large_scale_and_a_small_first_step():
    for changed in ({"step_size_scale": 3.0}, {"step_offset": 14.0}, {"step_offset": 0.9, "step_size_scale": 3.1}):
        with pytest.warns(OutsideConditionsWarning):
            assert np.isnan(at("bottou_4_7", **changed))


def test_the_offset_of_li_is_the_larger_of_eight_condition_numbers_and_the_local_steps():
    few, many = (BOUNDS["classics.li_theorem_1"].fix(local_steps=steps) for steps in (7, 60))
    held = {k: v for k, v in POINTS["classics.li_theorem_1"].items() if k != "local_steps"}
    kappa, start = 1.3 / 0.4, 0.4 / 2 * 2.6
    assert few.parts(**held)["start"] == pytest.approx(kappa * start * 26 / (26 + 246))
    assert many.parts(**held)["start"] == pytest.approx(kappa * start * 60 / (60 + 246))


def test_sampling_everyone_adds_nothing_and_without_replacement_adds_less():
    everyone = at("li_theorem_3", cohort=3)
    assert everyone == pytest.approx(at("li_theorem_1"), rel=1e-14)
    assert everyone < at("li_theorem_3", cohort=2) < at("li_theorem_2", cohort=2)


def test_printed_and_repaired_local_sgd_differ_by_the_smoothness_alone():
    printed, repaired = (BOUNDS[f"classics.local_sgd_theorem_2{x}"] for x in ("_printed", ""))
    point = POINTS[printed.name]
    apart = printed.parts(**point)["drift"] / repaired.parts(**point)["drift"]
    assert apart == pytest.approx(point["smoothness"])


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
    left, right = said("the step size is the least of the four of the Field Guide, (16)", plan)
    held = {q.name: plan[q.name].value for q in BOUNDS["classics.field_guide_step_size"].quantities}
    assert (left, right) == (0.02, pytest.approx(float(BOUNDS["classics.field_guide_step_size"](**held))))
    assert said("the run ends with a round: its iterations are a multiple of the local steps", plan) == (150, 150)
    assert plan["summed_step_sizes"].value == pytest.approx(3.0)


def test_a_gap_at_an_average_is_a_gap_of_its_own_place():
    gap, average = (ClassOf.of(BOUNDS[f"classics.{x}"]) for x in ("field_guide_theorem_1", "local_gd_theorem_1"))
    assert gap.target == average.target == "optimality_gap"
    assert gap.place != average.place
    assert ClassOf.of(BOUNDS["classics.scaffold_convex"]).place != gap.place
