"""Step sizes that fall, averages of iterates, weighted means: by every engine, of bounds of one's own and SCAFFOLD."""

from dataclasses import replace
from fractions import Fraction

import mpmath
import numpy as np
import own_classics
import pytest
import torch
from falsifier_tables import CURVE
from loops import cases
from measuring_toys import INPUTS, logistic, mean_loss, NUMBERS, PARTS, rows_of, series, SETTING, slope

from bounds.assumptions import CONVEX, FIXED_STEP_SIZE, LOCAL_SGD, ONE_CLIENT, SMOOTH, STRONGLY_CONVEX
from bounds.catalog import get
from bounds.classes import AFTER, ClassOf, never, ways
from bounds.core import About, Bound, Condition, Statistic
from bounds.errors import BoundsError
from bounds.papers import Source
from bounds.scenario import Scenario
from bounds.vocabulary import (
    average_gap,
    gradient_variance,
    initial_distance_sq,
    iterations,
    mean_gap,
    optimality_gap,
    rounds,
    smoothness,
    step_size,
    strong_convexity,
)
from bounds.weights import Weights
from empirics.algorithms import algorithm
from empirics.exact import exact_run
from empirics.exact.sampled import sampled
from empirics.federation.federation import Federation
from empirics.measuring import measurement, Run
from empirics.measuring.kept import Keeper
from empirics.measuring.record import RunningMean
from empirics.models.linear import LeastSquares
from empirics.problems.problem import FederatedProblem
from empirics.problems.quadratics import Quadratics, random_quadratics
from empirics.training.setting import Setting
from paper_checks.falsifier import falsify
from paper_checks.falsifier.curves.run import CurveRun
from paper_checks.runs import schedules
from paper_checks.runs.can import can
from paper_checks.runs.readings import target
from paper_checks.runs.words import CURVES, EXACT, QUADRATICS, RUNS, WORST
from paper_checks.validation import Options, validate, Verdict
from paper_checks.worst_case.grid_point import GridPoint, question, values
from paper_checks.worst_case.program import WorstCaseError
from paper_checks.worst_case.replay import attained, replay
from paper_checks.worst_case.solve import answer
from paper_checks.worst_case.worst_case_proof import certify

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


def test_a_plan_without_the_weights_is_refused():
    with pytest.raises(BoundsError, match="server_step_size, step_size"):
        schedules.weights(get("classics.scaffold_strongly_convex").statistic, {"local_steps": 2, "strong_convexity": 1})
    at = Statistic("mean", "rounds", "server model", Weights(growth=1 / (1 - step_size * smoothness)))
    for far in (1.0, 1.5):  # where the weights are none
        with pytest.raises(BoundsError, match="smoothness 4, step_size "):
            schedules.weights(at, {"step_size": far / 4, "smoothness": 4.0})


def test_a_weighted_mean_is_a_class_of_its_own_that_bounds_the_least_and_not_the_last():
    at = ClassOf.of(get("classics.scaffold_strongly_convex"))
    assert at.weights
    assert at.statistic == "weighted mean"
    assert at != ClassOf.of(replace(get("classics.scaffold_strongly_convex"),
                                    statistic=Statistic("mean", "rounds", "server model", BOTH)))  # fmt: skip
    assert never(at, statistic="last")


# ---- engines ----


@cases("weights offset", [(None, 2.5), (BOTH, None)])
def test_the_gap_of_an_average_is_that_of_the_joint_law_of_all_iterates(weights, offset):
    """Mean and covariance of all models and of their sum, step by step, in one large matrix."""
    problem = random_quadratics(5 if weights else 3, 3, 2, noise=0.4)
    setting = Setting(4, 3, local_steps=3, step_size=0.3, step_offset=offset)
    clients, dim, shares = 3, 2, [w / sum(RAW) for w in RAW] if weights else [1 / 12] * 12
    size = clients * dim
    average = np.kron(problem.weights[None], np.eye(dim))
    mean, spread = np.append(np.tile(problem.start, clients), np.zeros(dim)), np.zeros((size + dim, size + dim))
    for t in range(12):
        eta = 0.3 * offset / (offset + t) if offset else 0.3
        step, push, noise = np.eye(size + dim), np.zeros(size + dim), np.zeros((size + dim, size + dim))
        step[size:, :size] = average * shares[t]
        for k in range(clients):
            own = slice(k * dim, k * dim + dim)
            step[own, own] -= eta * problem.curvatures[k]
            push[own] = eta * problem.curvatures[k] @ problem.minima[k]
            noise[own, own] = eta**2 * problem.noise[k]
        if t % 3 == 2:
            merge = np.eye(size + dim)
            merge[:size, :size] = np.kron(np.ones((clients, 1)), average)
            step, push, noise = merge @ step, merge @ push, merge @ noise @ merge.T
        mean, spread = step @ mean + push, step @ spread @ step.T + noise
    away = mean[size:] - problem.minimiser
    gap = (away @ problem.curvature @ away + np.trace(problem.curvature @ spread[size:, size:])) / 2
    run = exact_run(problem, algorithm("fedavg()"), setting)
    assert run.average_gap(weights) == pytest.approx(gap, rel=1e-12)
    assert run.average_gap(None if weights else BOTH) != pytest.approx(gap, rel=1e-2)
    by_groups = exact_run(problem, algorithm("fedavg()"), setting)
    np.testing.assert_allclose(by_groups.iterations("optimality_gap"), run.iterations("optimality_gap"), rtol=1e-10)


def test_curves_with_falling_steps_are_the_plain_loop_in_both_arithmetics():
    at, shares, averages = np.array([2.1, 2.1]), np.array([0.4, 0.6]), []
    tilts = np.array([0.7, -0.2]) - shares @ np.array([0.7, -0.2])
    for t in range(6):
        averages.append(at @ shares)
        at = at - 0.4 * 2.7 / (2.7 + t) * (1.3 * np.tanh(at / 1.3) + 0.2 * at + tilts)
        at = np.full(2, at @ shares) if t % 3 == 2 else at

    def gap(x):
        return 1.3**2 * np.log(np.cosh(x / 1.3)) + 0.1 * x**2

    weighted = averages @ np.array(RAW[:6]) / sum(RAW[:6])

    for run in (CurveRun(CURVE, 0.0, "intended"), CurveRun(CURVE, 0, "intended", mpmath.mpf)):
        assert float(run.average_gap()) == pytest.approx(gap(np.mean(averages)), rel=1e-12)
        assert float(run.average_gap(BOTH)) == pytest.approx(gap(weighted), rel=1e-12)
        assert float(run.server["distance_sq"][-1]) == pytest.approx(float(at[0] ** 2), rel=1e-12)
        assert float(run.iterations("optimality_gap")[3]) == pytest.approx(gap(averages[3]), rel=1e-12)


# ---- SCAFFOLD's theorem ----


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


@cases("name", ["scaffold_convex", "scaffold_strongly_convex"])
def test_scaffolds_theorems_are_held_and_have_worst_cases(name):
    bound = get(f"classics.{name}")
    assert [can(bound, evidence) for evidence in (RUNS, EXACT, QUADRATICS, WORST)] == [""] * 4
    assert can(get("classics.scaffold_nonconvex"), EXACT)  # where controls start warm
    place = GridPoint(rounds=2, local_steps=2)
    worst = answer(question(bound, place))
    assert replay(attained(worst)).agrees
    known = values(bound, place)
    assert 0 < worst.value < float(bound(**{q.name: known[q.name] for q in bound.quantities}))


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


def a_fifth(bound):
    return replace(bound, name=f"{bound.name}_planted", terms={n: 0.2 * x for n, x in bound.terms.items()})


OF_ONES_OWN = [  # a bound, one that is too small, and which share of it the worst case attains
    (own_classics.sgd, own_classics.sgd_planted, 0.8),
    (own_classics.falling, own_classics.falling_planted, 0.002),
    (own_classics.averaged, own_classics.averaged_planted, 0.0525),
    (weighted, a_fifth(weighted), None),
    (of_average, a_fifth(of_average), None),
]


@cases("bound planted share", OF_ONES_OWN)
def test_a_bound_of_ones_own_is_held_against_every_kind_of_evidence(bound, planted, share):
    kinds = {RUNS, EXACT, QUADRATICS, CURVES, WORST} - ({CURVES} if bound is own_classics.falling else set())
    assert {kind: can(bound, kind) for kind in kinds} == dict.fromkeys(kinds, "")
    found = validate(bound, EXACT, Options.of(EXACT, instances=1, rounds=3, clients=3, local_steps=2))
    assert {line.verdict for line in found.rows} == {Verdict.HOLDS_HERE}
    assert not any(line.startswith("NOT met") for line in found.standing)
    assert falsify(bound, evaluations=40).witness is None
    assert falsify(planted, evaluations=400).witness.ratio > 1
    place = GridPoint(clients=2, rounds=2, local_steps=2)
    worst = answer(question(bound, place))
    assert replay(attained(worst)).agrees
    known = values(bound, place)
    part = worst.value / float(bound(**{q.name: known[q.name] for q in bound.quantities}))
    assert part == pytest.approx(share, rel=0.05) if share else 0 < part < 1
    if share is None:
        with pytest.raises(WorstCaseError, match="weighted"):
            certify(worst.question, worst.value)


def test_what_a_bound_says_of_its_step_sizes_is_put_in_exactly():
    known = {
        "smoothness": Fraction(7, 3),
        "strong_convexity": Fraction(2, 5),
        "local_steps": 3,
        "step_size": Fraction(1, 9),
    }
    told = schedules.chosen(own_classics.falling, known)
    assert told == {"step_offset": Fraction(140, 3), "step_size": 5 / Fraction(140, 3)}
    floats = schedules.chosen(own_classics.falling, {n: float(v) for n, v in known.items()})
    assert floats == pytest.approx({n: float(v) for n, v in told.items()}, rel=1e-13)


# ---- sums over one round ----


def test_sums_over_a_round_are_of_the_models_before_its_steps_and_the_mean_of_those_after():
    problem, setting = random_quadratics(4, 3, 2, noise=0.0), Setting(2, 3, local_steps=3, step_size=0.2)
    run = exact_run(problem, algorithm("fedavg()"), setting)
    at, along = np.tile(problem.start, (3, 1)), []
    for r in range(2):
        apart, before, after = 0.0, 0.0, 0.0
        for _ in range(3):
            along.append(((at - at.mean(0)) ** 2).sum() / 3)
            apart += along[-1]
            before += problem.loss(at.mean(0)) - problem.optimal_loss
            at = np.stack(
                [w - 0.2 * a @ (w - b) for w, a, b in zip(at, problem.curvatures, problem.minima, strict=True)]
            )
            after += (problem.loss(at.mean(0)) - problem.optimal_loss) / 3
        end = ((at.mean(0) - problem.minimiser) ** 2).sum()
        found = [
            run.rounds[word][r] for word in ("summed_consensus", "summed_gap", "round_gap", "round_end_distance_sq")
        ]
        assert found == pytest.approx([apart, before, after, end], rel=1e-11)
        at = np.tile(at.mean(0), (3, 1))
    np.testing.assert_allclose(run.iterations("consensus_distance"), [*along, 0.0], rtol=1e-11, atol=1e-15)


@cases("name share", [("local_gd_lemma_2", 1 / 500), ("field_guide_lemma_1", 1 / 5), ("local_gd_lemma_1", 1 / 50),
     ("local_sgd_recursion", 1 / 3), ("local_sgd_lemma_1", 1 / 20)])  # fmt: skip
def test_lemmas_on_one_round_or_step_are_held_exactly_and_what_is_left_of_them_is_violated(name, share):
    bound, few = get(f"classics.{name}"), Options.of(EXACT, instances=1, rounds=2)
    assert {line.verdict for line in validate(bound, EXACT, few).rows} == {Verdict.HOLDS_HERE}
    low = replace(bound, name="own.low", terms={n: share * x for n, x in bound.terms.items()})
    assert Verdict.VIOLATED in {line.verdict for line in validate(low, EXACT, few).rows}


# ---- training ----


def test_training_with_falling_steps_is_the_plain_loop_and_so_are_the_gaps_of_its_averages():
    problem = logistic()
    names = ["mean_gap", "average_gap", "distance_sq"]
    rows = rows_of(problem, names, replace(SETTING, step_offset=3.7))
    server, before, gaps = np.zeros(2), [], []
    for r in range(3):
        index = problem.federation.draw(3, r, np.arange(2), np.full(2, 2), 1).index
        here = [server, server]
        for k in range(2):
            before.append(sum(here) / 2)
            size = 0.11 * 3.7 / (3.7 + 2 * r + k)
            here = [w - size * slope(problem, w, index[c, k].tolist()) for c, w in enumerate(here)]
            gaps.append(loss_of(problem, sum(here) / 2) - problem.optimal_loss)
        server = sum(here) / 2
    assert series(rows, "mean_gap") == pytest.approx([np.mean(gaps[:2]), np.mean(gaps[:4]), np.mean(gaps)], rel=1e-7)
    assert series(rows, "average_gap")[-1] == pytest.approx(
        loss_of(problem, np.mean(before, axis=0)) - problem.optimal_loss, rel=1e-7
    )
    away = server - problem.minimiser.numpy()
    assert series(rows, "distance_sq")[-1] == pytest.approx(float(away @ away), rel=1e-7)


def loss_of(problem, w):
    return sum(mean_loss(problem, w, part) for part in PARTS) / 2


def least_squares(inputs, targets, parts):
    """A federation of ridge regressions, and the same losses as quadratics whose noise is that of a single sample."""
    problem = FederatedProblem(LeastSquares(2, 1, 0.35), Federation.of(inputs, targets, parts), name="tiny")
    drawn = [(inputs[part].numpy(), targets[part].numpy()) for part in parts]
    curvatures = np.stack([x.T @ x / len(x) + 0.35 * np.eye(2) for x, _ in drawn])
    pulls = np.stack([x.T @ y / len(x) for x, y in drawn])
    noise = np.stack([x.T @ x / len(x) * y.var() for x, y in drawn])
    minima = np.linalg.solve(curvatures, pulls[..., None])[..., 0]
    return problem, Quadratics(curvatures, minima, noise, start=np.zeros(2))


def trained_gaps(problem, setting, measured, seed):
    run = Run(problem, algorithm("fedavg()"), setting, seed, [measured], every=1)
    return [row.value for row in run.rows()]


def test_without_noise_training_reads_the_exact_gap_of_a_weighted_average_after_every_round():
    parts = [np.array([0, 1, 2]), np.array([3, 4, 5])]
    problem, same = least_squares(INPUTS, NUMBERS, parts)
    setting = Setting(4, 2, batch=3, local_steps=3, step_size=0.21)
    found = trained_gaps(problem, setting, measurement("average_gap(growth=1.3, offset=2.5, power=2)"), 3)
    quiet = replace(same, noise=np.zeros((2, 2, 2)))
    for r, value in enumerate(found, 1):
        run = exact_run(quiet, algorithm("fedavg()"), replace(setting, rounds=r))
        assert value == pytest.approx(run.average_gap(BOTH), rel=1e-12)
        assert value != pytest.approx(run.average_gap(), rel=1e-3)


@cases("weights", [BOTH, Weights(growth=0.2), Weights(growth=31.0), Weights(power=-1.5)])
def test_a_mean_that_runs_on_is_the_mean_of_all_at_any_length_and_in_any_parts(weights):
    entries = torch.arange(3000, dtype=torch.float64).sin().reshape(1500, 2)
    whole = RunningMean(torch.zeros(2, dtype=torch.float64))
    for part in entries.split([7, 1, 1492]):
        whole = whole.add(part, weights)
    np.testing.assert_allclose(whole.mean, np.array(weights.shares(1500)) @ entries.numpy(), rtol=1e-12, atol=1e-12)


def test_a_run_that_goes_on_keeps_its_weighted_average(tmp_path):
    problem, _ = least_squares(INPUTS, NUMBERS, [np.array([0, 1, 2]), np.array([3, 4, 5])])
    setting = Setting(3, 2, batch=1, local_steps=2, step_size=0.21)
    runs = [Run(problem, algorithm("fedavg()"), replace(setting, rounds=r), 3,
                [measurement("average_gap(growth=1.3)"), measurement("average_gap")], 1) for r in (2, 3)]  # fmt: skip
    keeper = Keeper(tmp_path / "kept.pt", {}, {})
    first, _ = keeper.resumed(runs[0])
    keeper.add(first, first.rows())
    keeper.write()
    second, earlier = Keeper(tmp_path / "kept.pt", {}, {}).resumed(runs[1])
    values = [row.value for row in runs[1].rows()]
    assert [row.value for row in (*earlier, *second.rows())] == values
    assert values[-1] != values[-2]


@cases("bound", [of_average, weighted, replace(weighted, target=mean_gap)])
def test_weighted_statements_are_held_against_training(bound):
    problem, same = least_squares(INPUTS, NUMBERS, [np.arange(6)])
    told = Options.of(RUNS, problem=problem, rounds=3, local_steps=2, seeds=2, batch=6, step_size=0.3)
    ways = [np.zeros(2)]
    for _ in range(6):
        ways.append(ways[-1] - 0.3 * same.curvature @ (ways[-1] - same.minimiser))
    left = 1 - 0.3 * 0.35  # the penalty is what training knows of the strong convexity
    shares = np.array([left ** (5 - t) for t in range(6)]) / sum(left**t for t in range(6))
    gaps = [(w - same.minimiser) @ same.curvature @ (w - same.minimiser) / 2 for w in [*ways, shares @ ways[:6]]]
    expected = gaps[-1] if bound is of_average else shares @ (gaps[:6] if bound is weighted else gaps[1:7])
    (line,) = validate(bound, RUNS, told).rows
    assert float(line.measured.value) == pytest.approx(expected, rel=1e-9)
    assert line.why == ""  # a batch is all six samples, so that the gradient variance is 0, and proved


def test_weights_that_change_with_the_length_of_a_run_are_no_reading_while_it_goes_on():
    late = replace(of_average, statistic=replace(of_average.statistic, weights=Weights(power=rounds)))
    assert "its weights depend on rounds" in can(late, RUNS)
    assert not can(replace(weighted, statistic=replace(weighted.statistic, weights=Weights(power=rounds))), RUNS)


# ---- from the mean of the gaps to the gap of the average ----


@cases("target", ["optimality_gap", "distance_sq"])
def test_the_average_by_some_weights_is_at_most_the_mean_by_the_same_and_by_no_others(target):
    """C9 on exact runs; what would be wrong (the other way round, other weights) is seen to be wrong."""
    start = ClassOf(target, "weighted mean", "iterations", "virtual average of all clients", "fedavg", "intended", "w")
    known = Scenario.of(clients=3, cohort=3, local_steps=2, rounds=3, strong_convexity=0.1, smoothness=3)
    reached = {way.to: way for way in ways(start, known)[0]}
    at = replace(start, statistic="expectation", at="average of the iterates")
    assert (reached[at].names, reached[at].factor) == (("C9",), 1)
    assert not {replace(at, weights=""), replace(at, weights="v")} & reached.keys()
    assert start not in {way.to for way in ways(at, known)[0]}
    assert at not in {way.to for way in ways(replace(start, over=AFTER), known)[0]}
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


def test_of_losses_that_may_not_be_convex_no_average_follows():
    start = ClassOf("optimality_gap", "weighted mean", "iterations", "virtual average of all clients", "fedavg",
                    "intended", "w")  # fmt: skip
    reached, refused = ways(start, Scenario.of(clients=3, cohort=3, local_steps=2, rounds=3, smoothness=3))
    assert "average of the iterates" not in {way.to.at for way in reached}
    assert "C9 needs that the loss is convex" in refused
    shares = np.array(BOTH.shares(2))
    assert np.cos(shares @ [-1.2, 1.3]) > 2 * shares @ np.cos([-1.2, 1.3])
