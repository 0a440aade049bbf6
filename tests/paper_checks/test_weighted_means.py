"""Means over a run in which not all models count alike: by every engine, of bounds of one's own and of SCAFFOLD's."""

from dataclasses import replace
from fractions import Fraction

import mpmath
import numpy as np
import own_classics
import pytest
from falsifier_tables import averaging, CURVE

from bounds.assumptions import CONVEX, FIXED_STEP_SIZE, LOCAL_SGD, ONE_CLIENT, SMOOTH, STRONGLY_CONVEX
from bounds.catalog import get
from bounds.classes import ClassOf, never
from bounds.core import About, Bound, Condition, Source, Statistic
from bounds.errors import BoundsError, DeclarationError
from bounds.vocabulary import (
    average_gap,
    gradient_variance,
    initial_distance_sq,
    iterations,
    optimality_gap,
    smoothness,
    step_size,
    strong_convexity,
)
from bounds.weights import Weights
from empirics.algorithms import algorithm
from empirics.exact import ExactRun
from empirics.problems.quadratics import random_quadratics
from empirics.training.setting import Setting
from paper_checks.falsifier import falsify
from paper_checks.falsifier.curves.plain import PlainCurve
from paper_checks.falsifier.curves.run import CurveRun
from paper_checks.runs import schedules
from paper_checks.runs.can import can
from paper_checks.runs.readings import target
from paper_checks.runs.words import CURVES, EXACT, QUADRATICS, RUNS, WORST
from paper_checks.validation import Options, validate, Verdict
from paper_checks.worst_cases.certificates.certify import certify
from paper_checks.worst_cases.instances import question_of_json, question_to_json
from paper_checks.worst_cases.places import Place, question, values
from paper_checks.worst_cases.program import WorstCaseError
from paper_checks.worst_cases.worst import answer

BOTH = Weights(growth=1.3, offset=2.5, power=2)
RAW = [1.3**t * (2.5 + t) ** 2 for t in range(12)]
"""The same, one after another."""


# ---- the weights ----


def test_shares_are_the_weights_over_their_sum_in_the_kind_of_number_that_they_are():
    assert BOTH.shares(12) == pytest.approx([w / sum(RAW) for w in RAW], rel=1e-13)
    exact = Weights(growth=Fraction(3, 2), offset=2, power=1).shares(3)  # 2, 9/2 and 9 over 31/2
    assert exact == [Fraction(4, 31), Fraction(9, 31), Fraction(18, 31)]
    assert Weights(growth=7.3).shares(2000)[-1] == pytest.approx(1 - 1 / 7.3, rel=1e-12)  # which overflows by itself
    assert Weights(growth=mpmath.mpf("0.7")).shares(2)[0] == pytest.approx(1 / 1.7, rel=1e-13)


def test_weights_that_are_none_are_refused():
    with pytest.raises(DeclarationError, match="the growth of weights must be positive; got -2"):
        Weights(growth=-2)
    with pytest.raises(DeclarationError, match="weights are those of a mean"):
        Statistic("min", "rounds", weights=BOTH)
    with pytest.raises(BoundsError, match="the weights of the mean need server_step_size, step_size"):
        schedules.weights(get("classics.scaffold_strongly_convex").statistic, {"local_steps": 2, "strong_convexity": 1})


def test_a_weighted_mean_is_a_class_of_its_own_that_bounds_the_least_and_not_the_last():
    at = ClassOf.of(get("classics.scaffold_strongly_convex"))
    assert at.weights
    assert at.statistic == "weighted mean"
    assert at != ClassOf.of(replace(get("classics.scaffold_strongly_convex"),
                                    statistic=Statistic("mean", "rounds", "server model", BOTH)))  # fmt: skip
    assert never(at, statistic="last")


# ---- engines ----


def test_the_gap_of_a_weighted_average_is_that_of_the_joint_law_of_all_iterates():
    """Mean and covariance of all models and of their weighted sum, step by step, in one large matrix."""
    problem, setting = random_quadratics(5, 3, 2, noise=0.4), Setting(4, 3, local_steps=3, step_size=0.3)
    clients, dim = 3, 2
    size = clients * dim
    average = np.kron(problem.weights[None], np.eye(dim))
    mean, spread = np.append(np.tile(problem.start, clients), np.zeros(dim)), np.zeros((size + dim, size + dim))
    for t in range(12):
        step, push, noise = np.eye(size + dim), np.zeros(size + dim), np.zeros((size + dim, size + dim))
        step[size:, :size] = average * RAW[t] / sum(RAW)
        for k in range(clients):
            own = slice(k * dim, k * dim + dim)
            step[own, own] -= 0.3 * problem.curvatures[k]
            push[own] = 0.3 * problem.curvatures[k] @ problem.minima[k]
            noise[own, own] = 0.09 * problem.noise[k]
        if t % 3 == 2:
            merge = np.eye(size + dim)
            merge[:size, :size] = np.kron(np.ones((clients, 1)), average)
            step, push, noise = merge @ step, merge @ push, merge @ noise @ merge.T
        mean, spread = step @ mean + push, step @ spread @ step.T + noise
    away = mean[size:] - problem.minimiser
    gap = (away @ problem.curvature @ away + np.trace(problem.curvature @ spread[size:, size:])) / 2
    run = ExactRun(problem, algorithm("fedavg()"), setting).run()
    assert run.average_gap(BOTH) == pytest.approx(gap, rel=1e-12)
    assert run.average_gap() != pytest.approx(gap, rel=1e-2)


@pytest.mark.parametrize("falls", [True, False])
def test_the_falsifiers_weighted_averages_are_the_exact_moments(falls):
    exact, closed, fractions = averaging(falls)
    found = fractions.average_gap(Weights(Fraction(13, 10), Fraction(5, 2), 2))
    assert isinstance(found, Fraction)
    assert float(found) == pytest.approx(exact.average_gap(BOTH), rel=1e-10)
    assert closed.average_gap(BOTH) == pytest.approx(exact.average_gap(BOTH), rel=1e-10)


def test_weighted_averages_on_curves_are_the_plain_loop_in_both_arithmetics():
    at, middle = np.array([2.1, 2.1]), 0.0
    shares = np.array([0.4, 0.6])
    tilts = np.array([0.7, -0.2]) - shares @ np.array([0.7, -0.2])
    for t in range(6):
        middle += RAW[t] / sum(RAW[:6]) * (at @ shares)
        at = at - 0.4 * 2.7 / (2.7 + t) * (1.3 * np.tanh(at / 1.3) + 0.2 * at + tilts)
        at = np.full(2, at @ shares) if t % 3 == 2 else at
    gap = 1.3**2 * np.log(np.cosh(middle / 1.3)) + 0.1 * middle**2
    assert float(CurveRun(CURVE, 0.0, "intended").average_gap(BOTH)) == pytest.approx(gap, rel=1e-12)
    assert float(PlainCurve(CURVE, 0, "intended").average_gap(BOTH)) == pytest.approx(gap, rel=1e-12)


# ---- SCAFFOLD's theorem ----


def test_scaffolds_weighted_mean_is_that_of_the_gaps_before_its_rounds():
    bound, problem = get("classics.scaffold_strongly_convex"), random_quadratics(2, 4, 2, noise=0.3)
    known = {"strong_convexity": 0.9, "local_steps": 2, "step_size": 0.21, "server_step_size": 1}
    run = ExactRun(problem, algorithm("scaffold()"), Setting(3, 2, local_steps=2, step_size=0.21)).run()
    left = 1 - 0.9 * 2 * 0.21 / 2
    weights = [left ** -(r + 1) for r in range(3)]
    gaps = run.server["optimality_gap"]
    expected = sum(w * gaps[r] for r, w in enumerate(weights)) / sum(weights)
    assert target(bound, run, 0.21, known) == pytest.approx(expected, rel=1e-12)
    assert expected != pytest.approx(float(np.mean(gaps[:3])), rel=1e-2)
    exactly = schedules.weights(
        bound.statistic, {**known, "strong_convexity": Fraction(9, 10), "step_size": Fraction(21, 100)}
    )
    assert exactly.growth == 1 / (1 - Fraction(9, 10) * 2 * Fraction(21, 100) / 2)


@pytest.mark.parametrize("name", ["scaffold_convex", "scaffold_strongly_convex"])
def test_scaffolds_theorems_are_held_and_have_worst_cases(name):
    bound = get(f"classics.{name}")
    assert [can(bound, evidence) for evidence in (RUNS, EXACT, WORST)] == [""] * 3
    assert can(bound, QUADRATICS)
    assert "controls start at zero" in can(get("classics.scaffold_nonconvex"), EXACT)  # they start warm there
    place = Place(rounds=2, local_steps=2)
    worst = answer(question(bound, place))
    assert worst.replay().agrees
    known = values(bound, place)
    assert 0 < worst.value < float(bound(**{q.name: known[q.name] for q in bound.quantities}))
    assert question_of_json(question_to_json(worst.question)).statistic == worst.question.statistic


@pytest.mark.parametrize(
    "parts", [{"growth": "a"}, {"offset": None}, {"power": "x"}, {"growth": np.inf}, {"offset": -2}]
)
def test_weights_that_are_no_numbers_are_refused_as_they_are_declared(parts):
    with pytest.raises(DeclarationError, match=f"^the {next(iter(parts))} of weights must be"):
        Weights(**parts)


@pytest.mark.parametrize("far", [1.0, 1.5])
def test_a_plan_at_which_the_weights_are_none_is_refused_in_one_line(far):
    at = Statistic("mean", "rounds", "server model", Weights(growth=1 / (1 - step_size * smoothness)))
    with pytest.raises(BoundsError, match=r"^the mean has no weights at smoothness 4, step_size "):
        schedules.weights(at, {"step_size": far / 4, "smoothness": 4.0})


# ---- bounds of one's own, all the way ----

LEFT = 1 - step_size * strong_convexity
weighted = Bound(
    name="own.weighted",
    target=optimality_gap,
    terms={
        "start": strong_convexity * initial_distance_sq * LEFT**iterations / (1 - LEFT**iterations),
        "noise": step_size * gradient_variance,
    },
    conditions=(
        *own_classics.assumed(ONE_CLIENT, LOCAL_SGD, SMOOTH, CONVEX, STRONGLY_CONVEX, FIXED_STEP_SIZE),
        Condition("the step size is at most 1/(2L)", step_size <= 1 / (2 * smoothness)),
    ),
    source=Source("own notes", "the distance to the minimiser, summed over the steps"),
    about=About("fedavg"),
    statistic=Statistic("mean", "iterations", "virtual average of all clients", Weights(growth=1 / LEFT)),
)
of_average = replace(
    weighted,
    name="own.of_average",
    target=average_gap,
    statistic=Statistic("expectation", "iterations", "average of the iterates", Weights(growth=1 / LEFT)),
)


@pytest.mark.parametrize("bound", [weighted, of_average], ids=lambda bound: bound.name)
def test_a_weighted_statement_of_ones_own_is_held_searched_and_has_a_worst_case(bound):
    assert [can(bound, evidence) for evidence in (EXACT, QUADRATICS, CURVES, WORST)] == [""] * 4
    found = validate(bound, EXACT, Options.of(EXACT, instances=1, rounds=3, clients=3, local_steps=2))
    assert {line.verdict for line in found.lines} == {Verdict.HOLDS_HERE}
    assert falsify(bound, evaluations=40).witness is None
    low = replace(bound, name=f"{bound.name}_planted", terms={n: 0.2 * x for n, x in bound.terms.items()})
    witness = falsify(low, evaluations=400).witness
    assert witness is not None
    assert witness.ratio > 1
    place = Place(clients=2, rounds=2, local_steps=2)
    worst = answer(question(bound, place))
    assert worst.replay().agrees
    known = values(bound, place)
    assert 0 < worst.value < float(bound(**{q.name: known[q.name] for q in bound.quantities}))
    with pytest.raises(WorstCaseError, match="not of weighted ones"):
        certify(worst.question, worst.value)


def test_training_reads_weighted_means_and_says_that_it_reads_no_weighted_average():
    assert "all iterations alike" in can(of_average, RUNS)
