"""What may be compared: which class a bound converts to by which factor, and what is refused in words."""

import numpy as np
import pytest

from bounds import BOUNDS
from bounds.bounded_quantity import (
    AFTER,
    AVERAGE,
    BoundedQuantity,
    CONVERSIONS,
    LOCAL,
    mismatch,
    NEVER,
    never,
    ONE_AVERAGING,
    routes,
    SERVER,
    sides_of,
    VIRTUAL,
    WEIGHTED_DRAW,
    WEIGHTED_MEAN,
    WITH_LAST,
)
from bounds.fedinit.stability import DECAYING_STEP
from bounds.scenario import Scenario

PLAN = {"clients": 5, "cohort": 3, "local_steps": 2, "rounds": 7, "step_size": 0.1}


def kind(target="grad_norm_sq", statistic="mean", over="rounds", at=SERVER, algorithm="fedavg", reading="intended"):
    return BoundedQuantity(target, statistic, over, at, algorithm, reading)


def reached(start, scenario):
    return {way.to for way in routes(start, scenario)[0]}


def test_the_least_over_iterations_counts_the_last_model_and_stays_apart_from_that_over_rounds():
    """Two alike parabolas, one round of one step of 1/2 from a gap of 1: the least is that of the last model, 1/4."""
    everyone = Scenario.of(clients=2, cohort=2, local_steps=1, rounds=1, step_size=0.5)
    for at in (VIRTUAL, SERVER):
        found = reached(kind("optimality_gap", "min", "iterations", at), everyone)
        assert kind("optimality_gap", "min", WITH_LAST) in found
        assert kind("optimality_gap", "min", "rounds") not in found
        assert kind("optimality_gap", "mean", "rounds") in reached(
            kind("optimality_gap", "mean", "iterations", at), everyone
        )


def test_a_model_drawn_by_weights_says_nothing_of_a_plain_mean_or_of_any_one():
    """Gaps (x, 0, 0) weighted 1, 2, 4 have the mean x/7: three times that is below x."""
    start = BoundedQuantity("optimality_gap", WEIGHTED_DRAW, "rounds", SERVER, "fedavg", "intended", "(2)^t")
    found = reached(start, Scenario.of(**PLAN))
    assert BoundedQuantity("optimality_gap", WEIGHTED_MEAN, "rounds", SERVER, "fedavg", "intended", "(2)^t") in found
    assert kind("optimality_gap", "min") in found
    assert {way.statistic for way in found if way.over == "rounds"} == {WEIGHTED_DRAW, WEIGHTED_MEAN, "min"}


def test_of_a_convex_loss_the_average_is_no_worse_than_the_mean_and_of_another_it_may_be():
    s = Scenario.of(**PLAN, smoothness=2.5, strong_convexity=0.4)
    for target in ("optimality_gap", "distance_sq"):
        there = kind(target, "expectation", at=AVERAGE)
        assert there in reached(kind(target), s)
        assert there not in reached(kind(target, "last"), s)
    gradient = next(w for w in routes(kind(), s)[0] if w.to == kind(statistic="expectation", at=AVERAGE))
    assert gradient.factor == pytest.approx(2.5 / 0.4)  # a gradient's square is not convex: by way of the loss alone
    unknown = Scenario.of(**PLAN, smoothness=2.5)
    assert kind("optimality_gap", "expectation", at=AVERAGE) not in reached(kind("optimality_gap"), unknown)


def test_the_mean_is_the_best_centre():
    s = Scenario.of(**PLAN)
    to = kind("consensus_distance", "last", at=LOCAL)
    assert to in reached(kind("divergence", "last", at=LOCAL), s)
    assert to not in reached(kind("divergence", "last", at=SERVER), s)


def test_stability_bounds_the_generalization_gap_of_independent_samples():
    s = Scenario.of(**PLAN)
    way = next(w for w in routes(kind("stability", "last"), s)[0] if w.to.target == "generalization_gap")
    assert way.names == ("C10",)
    assert way.trusted == ("every client draws its samples independently from a distribution of its own",)


def test_the_last_model_and_the_least_over_a_run_meet_where_both_are_counted():
    s = Scenario.of(**PLAN)
    both = kind(statistic="min", over=WITH_LAST)
    for start in (kind(statistic="last"), kind(statistic="min"), kind()):
        assert both in reached(start, s)
    assert kind(statistic="min") not in reached(kind(statistic="last"), s)


def test_a_premise_that_fails_refuses_the_conversion():
    for move in (c for c in CONVERSIONS if c.premises):
        s = Scenario.of(**PLAN)
        problem, start = s.facts[0], kind(**dict(move.source), statistic="last")
        assert not move.refusal(start, s), move.name
        problem.independent_samples = False
        assert move.premises[0].words in move.refusal(start, s), move.name
        problem.independent_samples = True
        assert not move.assumed_premises(s), move.name


def test_what_never_follows_is_said_and_no_conversion_does_it():
    s = Scenario.of(**{**PLAN, "cohort": 5}, smoothness=2.5, strong_convexity=0.4, initial_gap=1.3)
    for source, result, why in NEVER:
        start = kind(**{**{"algorithm": "fedavg"}, **source})
        assert never(start, **result) == why
        for to in reached(start, s) - {start}:
            kept = all(getattr(to, name) == word for name, word in source.items() if name not in result)
            assert not (kept and all(getattr(to, name) == word for name, word in result.items())), to


def test_a_class_that_is_not_about_the_run_says_why():
    s = Scenario.of(**PLAN)
    assert not mismatch(kind(), s)
    for other, names in [
        (kind(algorithm="fedinit"), "fedinit"),
        (kind(reading="proof"), "fedavg (reading: proof)"),
        (kind(statistic="every"), "one step"),
        (kind("generalization_gap", "expectation", ONE_AVERAGING, "averaged model"), "one averaging round"),
    ]:
        assert names in mismatch(other, s)
    assert not mismatch(kind("generalization_gap", "expectation", ONE_AVERAGING, "averaged model"), s.at(rounds=1))
    assert DECAYING_STEP in BOUNDS["fedinit.theorem_3"].conditions  # step sizes that fall are no fixed ones
    assert np.isnan(sides_of(DECAYING_STEP, s)).all()
    falling = {word: value for word, value in PLAN.items() if word != "step_size"}
    assert sides_of(DECAYING_STEP, Scenario.of(**falling, step_size_scale=0.3)) is None


UNSTATED = ("of order", "of the order", "a scale over the number", "the same in all steps", "the caps of")
"""Step sizes up to a constant, those that fall (``DECAYING_STEP``), and all that stay the same or are small."""


def test_every_step_size_that_is_stated_in_words_is_held_against_the_plan():
    stated = {c for b in BOUNDS.values() for c in b.conditions if c.kind == "words" and "the step size" in c.words}
    assert all(c.sides or any(words in c.words for words in UNSTATED) for c in stated)


def test_the_risk_of_several_passes_is_stated_at_one_step_size():
    """Hardt et al., Proposition 5.4: D sqrt(n)/(L sqrt(T (n + 2 T))), with n = 50, T = 14, D^2 = 3.7 and L = 1.3."""
    step = next(c for c in BOUNDS["classics.hardt_5_4"].conditions if c.words.startswith("the step size is D"))
    size = 3.7**0.5 * 50**0.5 / (1.3 * (14 * (50 + 28)) ** 0.5)
    told = {"samples": 50, "lipschitz": 1.3, "initial_distance_sq": 3.7}
    assert sides_of(step, Scenario.of(**PLAN, **told)) == pytest.approx((0.1, size))
    of_plan = [c for c in BOUNDS["classics.local_sgd_corollary_1"].conditions if c.kind == "words"][-2:]
    two = [sides_of(c, Scenario.of(**PLAN, strong_convexity=0.4, inverse_step=11.0)) for c in of_plan]
    assert np.allclose(two, [(0.1, 1 / 4.4), (14, 22 * np.log(11.0))])


def test_a_word_in_a_bound_is_read_where_it_says():
    last = kind("generalization_gap", "last")
    assert last.place_of("stability") == ("stability", "last", "rounds", SERVER)
    assert kind(statistic="mean").place_of("optimality_gap") is None
    assert kind(at=LOCAL).place_of("mean_grad_norm_sq") == ("grad_norm_sq", "mean", "rounds", SERVER)
    assert last.place_of("mean_divergence") == ("divergence", "mean", "rounds", LOCAL)
    assert last.place_of("mean_gap") == ("optimality_gap", "mean", AFTER, VIRTUAL)
    assert last.place_of("average_gap") == ("optimality_gap", "expectation", "iterations", AVERAGE)
    assert kind(over="local iterations").place_of("mean_gap") is None  # it is that of one round
    epoch = BOUNDS["classics.local_gd_lemma_2"]  # its gaps are those before the steps: no class of a whole run
    assert "mean_gap" not in {q.name for q in epoch.quantities}
    assert BoundedQuantity.of(epoch).place_of("summed_gap") is None
