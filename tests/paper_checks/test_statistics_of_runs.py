"""Step sizes that fall, averages of iterates, weighted means: by every engine, of bounds of one's own and SCAFFOLD."""

from dataclasses import replace
from fractions import Fraction

import mpmath
import numpy as np
import pytest
import sympy as sp
from loops import cases
from measuring_toys import INPUTS, NUMBERS

import bounds.vocabulary as q
from bounds import assumptions as a
from bounds.bounded_quantity import AFTER, BoundedQuantity, never, routes
from bounds.catalog import get
from bounds.core import About, Bound, Condition, Statistic
from bounds.papers import Source
from bounds.scenario import Scenario
from bounds.weights import Weights
from empirics.algorithms import algorithm
from empirics.exact import exact_run
from empirics.exact.sampled import sampled
from empirics.federation.federation import Federation
from empirics.models.linear import LeastSquares
from empirics.problems.problem import FederatedProblem
from empirics.problems.quadratics import random_quadratics
from empirics.training.setting import Setting
from paper_checks.falsifier import falsify
from paper_checks.runs import schedules
from paper_checks.runs.obstacles import obstacle
from paper_checks.runs.origins import CURVES, EXACT, QUADRATICS, RUNS, WORST
from paper_checks.runs.readings import target
from paper_checks.validation import Options, validate, Verdict
from paper_checks.worst_case.certificate import certify
from paper_checks.worst_case.grid_point import GridPoint, problem_at, values
from paper_checks.worst_case.program import WorstCaseError
from paper_checks.worst_case.replay import attaining_instance, replay
from paper_checks.worst_case.solve import solve

BOTH = Weights(growth=1.3, offset=2.5, power=2)
RAW = [1.3**t * (2.5 + t) ** 2 for t in range(12)]
"""The same, one after another."""


def test_shares_are_the_weights_over_their_sum_in_the_kind_of_number_that_they_are():
    assert BOTH.shares(12) == pytest.approx([w / sum(RAW) for w in RAW], rel=1e-13)
    exact = Weights(growth=Fraction(3, 2), offset=2, power=1).shares(3)  # 2, 9/2 and 9 over 31/2
    assert exact == [Fraction(4, 31), Fraction(9, 31), Fraction(18, 31)]
    assert Weights(growth=7.3).shares(2000)[-1] == pytest.approx(1 - 1 / 7.3, rel=1e-12)  # which overflows by itself
    assert Weights(growth=mpmath.mpf("0.7")).shares(2)[0] == pytest.approx(1 / 1.7, rel=1e-13)


def test_a_weighted_mean_is_a_class_of_its_own_that_bounds_the_least_and_not_the_last():
    at = BoundedQuantity.of(get("classics.scaffold_strongly_convex"))
    assert at.weights
    assert at.statistic == "weighted mean"
    assert at != BoundedQuantity.of(replace(get("classics.scaffold_strongly_convex"),
                                    statistic=Statistic("mean", "rounds", "server model", BOTH)))  # fmt: skip
    assert never(at, statistic="last")


def test_scaffolds_weighted_mean_is_that_of_the_gaps_before_its_rounds():
    bound, problem = get("classics.scaffold_strongly_convex"), random_quadratics(2, 4, 2, noise=0.3)
    known = {"strong_convexity": 0.9, "local_steps": 2, "step_size": 0.21, "server_step_size": 1}
    run = exact_run(problem, algorithm("scaffold()"), Setting(3, 2, local_steps=2, step_size=0.21))
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


LEFT = 1 - q.step_size * q.strong_convexity
ASSUMED = (a.ONE_CLIENT, a.LOCAL_SGD, a.SMOOTH, a.CONVEX, a.STRONGLY_CONVEX, a.FIXED_STEP_SIZE)
weighted = Bound(
    name="own.weighted",
    target=q.optimality_gap,
    terms={
        "start": q.strong_convexity * q.initial_distance_sq * LEFT**q.iterations / (1 - LEFT**q.iterations),
        "noise": q.step_size * q.gradient_variance,
    },
    conditions=(
        *map(Condition.assume, ASSUMED),
        Condition("the step size is at most 1/(2L)", q.step_size <= 1 / (2 * q.smoothness)),
    ),
    source=Source("own notes", "the distance to the minimiser, summed over the steps"),
    about=About("fedavg"),
    statistic=Statistic("mean", "iterations", "virtual average of all clients", Weights(growth=1 / LEFT)),
)
of_average = replace(
    weighted,
    name="own.of_average",
    target=q.average_gap,
    statistic=Statistic("expectation", "iterations", "average of the iterates", Weights(growth=1 / LEFT)),
)


HELD = [  # a bound, a share of it that is too small, and which share the worst case attains
    (get("classics.bottou_4_6"), 0.9, 0.8),
    (get("classics.li_theorem_1"), 0.01, 0.002),
    (get("classics.local_gd_theorem_1"), 0.05, 0.0525),
    (weighted, 0.2, None),
    (of_average, 0.2, None),
]


@cases("bound small share", HELD)
def test_a_bound_is_held_against_every_kind_of_evidence(bound, small, share):
    kinds = {RUNS, EXACT, QUADRATICS, CURVES, WORST} - ({CURVES} if "li_" in bound.name else set())
    assert {kind: obstacle(bound, kind) for kind in kinds} == dict.fromkeys(kinds, "")
    found = validate(bound, EXACT, Options.of(EXACT, instances=1, rounds=3, clients=3, local_steps=2))
    assert {line.verdict for line in found.rows} == {Verdict.HOLDS_HERE}
    assert not any(line.startswith("NOT met") for line in found.conditions)
    assert falsify(bound, evaluations=40).witness is None
    planted = replace(bound, name="own.planted", terms={n: small * x for n, x in bound.terms.items()})
    assert falsify(planted, evaluations=400).witness.ratio > 1
    place = GridPoint(clients=2, rounds=2, local_steps=2)
    worst = solve(problem_at(bound, place))
    assert replay(attaining_instance(worst)).agrees
    known = values(bound, place)
    part = worst.value / float(bound(**{q.name: known[q.name] for q in bound.quantities}))
    assert part == pytest.approx(share, rel=0.05) if share else 0 < part < 1
    if share is None:
        with pytest.raises(WorstCaseError, match="weighted"):
            certify(worst.problem, worst.value)


def test_what_a_bound_says_of_its_step_sizes_is_put_in_exactly():
    """A scale of 2/mu and an offset of max(8 L/mu, E): in abbreviations of the theorem, or in conditions."""
    kappa, falling = q.smoothness / q.strong_convexity, Condition.assume(a.HARMONIC_STEP_SIZE)
    scale = Condition("the scale is 2/mu", sp.Eq(q.step_size_scale, 2 / q.strong_convexity))
    offset = Condition("the offset is max(8 L/mu, E)", sp.Eq(q.step_offset, sp.Max(8 * kappa, q.local_steps)))
    known = {"smoothness": Fraction(7, 3), "strong_convexity": Fraction(2, 5), "local_steps": 3,
             "condition_number": Fraction(35, 6), "step_size": Fraction(1, 9)}  # fmt: skip
    for bound in (get("classics.li_theorem_1"), replace(weighted, conditions=(falling, scale, offset))):
        told = schedules.step_plan(bound, known)
        assert told == {"step_offset": Fraction(140, 3), "step_size": 5 / Fraction(140, 3)}
        floats = schedules.step_plan(bound, {n: float(v) for n, v in known.items()})
        assert floats == pytest.approx({n: float(v) for n, v in told.items()}, rel=1e-13)


@cases("name share", [("local_gd_lemma_2", 1 / 500), ("field_guide_lemma_1", 1 / 5), ("local_gd_lemma_1", 1 / 50),
     ("local_sgd_recursion", 1 / 3), ("local_sgd_lemma_1", 1 / 20)])  # fmt: skip
def test_lemmas_on_one_round_or_step_are_held_exactly_and_what_is_left_of_them_is_violated(name, share):
    bound, few = get(f"classics.{name}"), Options.of(EXACT, instances=1, rounds=2)
    assert {line.verdict for line in validate(bound, EXACT, few).rows} == {Verdict.HOLDS_HERE}
    low = replace(bound, name="own.low", terms={n: share * x for n, x in bound.terms.items()})
    assert Verdict.VIOLATED in {line.verdict for line in validate(low, EXACT, few).rows}


@cases("bound", [of_average, weighted, replace(weighted, target=q.mean_gap)])
def test_weighted_statements_are_held_against_training(bound):
    federation = Federation.of(INPUTS, NUMBERS, [np.arange(6)])
    problem = FederatedProblem(LeastSquares(2, 1, 0.35), federation, name="tiny")
    curvature, best = INPUTS.numpy().T @ INPUTS.numpy() / 6 + 0.35 * np.eye(2), problem.minimiser.numpy()
    told = Options.of(RUNS, problem=problem, rounds=3, local_steps=2, seeds=2, batch=6, step_size=0.3)
    ways = [np.zeros(2)]
    for _ in range(6):
        ways.append(ways[-1] - 0.3 * curvature @ (ways[-1] - best))
    left = 1 - 0.3 * 0.35  # the penalty is what training knows of the strong convexity
    shares = np.array([left ** (5 - t) for t in range(6)]) / sum(left**t for t in range(6))
    gaps = [(w - best) @ curvature @ (w - best) / 2 for w in [*ways, shares @ ways[:6]]]
    expected = gaps[-1] if bound is of_average else shares @ (gaps[:6] if bound is weighted else gaps[1:7])
    (line,) = validate(bound, RUNS, told).rows
    assert float(line.measured.value) == pytest.approx(expected, rel=1e-9)
    assert line.why == ""  # a batch is all six samples, so that the gradient variance is 0, and proved


@cases("target", ["optimality_gap", "distance_sq"])
def test_the_average_by_some_weights_is_at_most_the_mean_by_the_same_and_by_no_others(target):
    """C9 on exact runs; what would be wrong (the other way round, other weights) is seen to be wrong."""
    start = BoundedQuantity(
        target, "weighted mean", "iterations", "virtual average of all clients", "fedavg", "intended", "w"
    )
    known = Scenario.of(clients=3, cohort=3, local_steps=2, rounds=3, strong_convexity=0.1, smoothness=3)
    reached = {way.to: way for way in routes(start, known)[0]}
    at = replace(start, statistic="expectation", at="average of the iterates")
    assert (reached[at].names, reached[at].factor) == (("C9",), 1)
    assert not {replace(at, weights=""), replace(at, weights="v")} & reached.keys()
    assert start not in {way.to for way in routes(at, known)[0]}
    assert at not in {way.to for way in routes(replace(start, over=AFTER), known)[0]}
    shares, above = np.array(BOTH.shares(6)), []
    for seed in range(12):
        problem = random_quadratics(seed, 3, 2, noise=0.4)
        start_at = problem.minimiser + (0.02 if seed % 2 else 1.0) * (problem.start - problem.minimiser)
        problem, plan = replace(problem, start=start_at), Setting(3, 3, local_steps=2, step_size=0.2)
        models = np.concatenate(sampled(problem, replace(algorithm("fedavg()"), everyone=True), plan, seed).averages)
        gap, mean = (read(problem, target, w) for w in (shares @ models, models))
        assert gap < 0.999 * shares @ mean  # and so never the other way round
        above.append(gap > 1.01 * mean.mean())
        run = exact_run(problem, algorithm("fedavg()"), plan)
        assert run.average_gap(BOTH) < 0.999 * shares @ run.iterations("optimality_gap")[:-1]
    assert any(above)  # the mean by other weights bounds nothing


def read(problem, target, w):
    return ((w - problem.minimiser) ** 2).sum(-1) if target == "distance_sq" else problem.loss(w) - problem.optimal_loss
