"""Step sizes that fall and averages of iterates, by every engine; bounds of a user on them, held and searched."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import own_classics
import pytest
from falsifier_tables import averaging, CURVE
from measuring_toys import logistic, mean_loss, PARTS, rows_of, series, SETTING, slope

from bounds.catalog import get
from bounds.vocabulary import rounds, step_size_scale
from empirics.algorithms import algorithm
from empirics.errors import EmpiricsError
from empirics.exact import ENGINES, ExactRun
from empirics.problems.quadratics import random_quadratics
from empirics.training.setting import Setting
from paper_checks.falsifier import falsify
from paper_checks.falsifier.curves.plain import PlainCurve
from paper_checks.falsifier.curves.run import CurveRun
from paper_checks.runs import schedules
from paper_checks.runs.can import can
from paper_checks.runs.words import EXACT, QUADRATICS, RUNS, WORST
from paper_checks.validation import Options, validate, Verdict
from paper_checks.worst_cases.places import Place, question, values
from paper_checks.worst_cases.worst import answer

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


def test_a_huge_offset_leaves_the_step_size_as_it_is_and_a_small_one_does_not():
    fixed = Setting(3, 2, local_steps=4, step_size=0.3)
    np.testing.assert_allclose(replace(fixed, step_offset=1e15).sizes(2, 0.3, 4), fixed.sizes(2, 0.3, 4), rtol=1e-13)
    falls = replace(fixed, step_offset=2.5).sizes(2, 0.3, 4)
    assert falls == pytest.approx([0.75 / 10.5, 0.75 / 11.5, 0.75 / 12.5, 0.75 / 13.5], rel=1e-13)


# ---- exact moments ----


def test_the_gap_of_the_average_is_that_of_the_joint_law_of_all_iterates():
    """Mean and covariance of all models and of their sum, step by step, in one large matrix."""
    problem, setting = (
        random_quadratics(3, 3, 2, noise=0.4),
        Setting(4, 3, local_steps=3, step_size=0.3, step_offset=2.5),
    )
    clients, dim, steps = 3, 2, 12
    size = clients * dim
    average = np.kron(problem.weights[None], np.eye(dim))
    mean, spread = np.append(np.tile(problem.start, clients), np.zeros(dim)), np.zeros((size + dim, size + dim))
    for t in range(steps):
        eta = 0.3 * 2.5 / (2.5 + t)
        step, push, noise = np.eye(size + dim), np.zeros(size + dim), np.zeros((size + dim, size + dim))
        step[size:, :size] = average / steps
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
    run = ExactRun(problem, algorithm("fedavg()"), setting).run()
    assert run.average_gap() == pytest.approx(gap, rel=1e-12)
    by_groups = ENGINES["groups"](problem, algorithm("fedavg()"), setting)
    np.testing.assert_allclose(by_groups.iterations("optimality_gap"), run.iterations("optimality_gap"), rtol=1e-10)


def test_an_average_of_some_clients_is_refused():
    run = ExactRun(random_quadratics(3, 3, 2), algorithm("fedavg()"), Setting(2, 2, local_steps=2, step_size=0.1)).run()
    with pytest.raises(EmpiricsError, match="all 3 clients must take part"):
        _ = run.average_gap()


# ---- the falsifier's engines ----


@pytest.mark.parametrize("falls", [True, False])
def test_quadratics_in_closed_form_and_in_fractions_are_the_exact_moments(falls):
    exact, closed, fractions = averaging(falls)
    assert isinstance(fractions.average_gap(), Fraction)
    assert closed.average_gap() == pytest.approx(exact.average_gap(), rel=1e-10)
    assert float(fractions.average_gap()) == pytest.approx(exact.average_gap(), rel=1e-10)
    for word in ("optimality_gap", "grad_norm_sq", "distance_sq"):
        np.testing.assert_allclose(closed.iterations(word), exact.iterations(word), rtol=1e-10)
        np.testing.assert_allclose(fractions.iterations(word).astype(float), exact.iterations(word), rtol=1e-10)
    for word in ("local_drift", "global_step"):
        np.testing.assert_allclose(closed.rounds[word], exact.rounds[word], rtol=1e-10)


def test_curves_with_falling_steps_are_the_plain_loop_in_both_arithmetics():
    floats, digits = CurveRun(CURVE, 0.0, "intended"), PlainCurve(CURVE, 0, "intended")
    at = np.array([2.1, 2.1])
    shares, averages = np.array([0.4, 0.6]), []
    tilts = np.array([0.7, -0.2]) - shares @ np.array([0.7, -0.2])
    for t in range(6):
        averages.append(at @ shares)
        at = at - 0.4 * 2.7 / (2.7 + t) * (1.3 * np.tanh(at / 1.3) + 0.2 * at + tilts)
        at = np.full(2, at @ shares) if t % 3 == 2 else at
    middle = np.mean(averages)
    gap = 1.3**2 * np.log(np.cosh(middle / 1.3)) + 0.1 * middle**2
    for run in (floats, digits):
        assert float(run.average_gap()) == pytest.approx(gap, rel=1e-12)
        assert float(run.server["distance_sq"][-1]) == pytest.approx(float(at[0] ** 2), rel=1e-12)
        assert float(run.iterations("optimality_gap")[3]) == pytest.approx(
            1.3**2 * np.log(np.cosh(averages[3] / 1.3)) + 0.1 * averages[3] ** 2, rel=1e-12
        )


# ---- bounds of one's own, all the way ----

NAMES = ("sgd", "falling", "averaged")


@pytest.mark.parametrize("name", NAMES)
def test_a_bound_of_ones_own_is_held_against_every_kind_of_evidence(name):
    bound = getattr(own_classics, name)
    assert [can(bound, evidence) for evidence in (RUNS, EXACT, QUADRATICS, WORST)] == [""] * 4
    found = validate(bound, EXACT, Options.of(EXACT, instances=1, rounds=3, clients=3, local_steps=2))
    assert {line.verdict for line in found.lines} == {Verdict.HOLDS_HERE}
    assert not any(line.startswith("NOT met") for line in found.standing)


@pytest.mark.parametrize("name", NAMES)
def test_a_constant_that_is_too_small_is_refuted_exactly_and_the_worst_case_shows_it(name):
    assert falsify(getattr(own_classics, name), evaluations=40).witness is None
    witness = falsify(getattr(own_classics, f"{name}_planted"), evaluations=400).witness
    assert witness is not None
    assert witness.ratio > 1


@pytest.mark.parametrize(("name", "share"), [("sgd", 0.8), ("falling", 0.002), ("averaged", 0.0525)])
def test_its_worst_case_is_attained_by_a_run(name, share):
    bound, place = getattr(own_classics, name), Place(clients=2, rounds=2, local_steps=2)
    worst = answer(question(bound, place))
    assert worst.replay().agrees
    known = values(bound, place)
    assert worst.value / float(bound(**{q.name: known[q.name] for q in bound.quantities})) == pytest.approx(
        share, abs=0.05 * share
    )


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


def test_what_stops_a_bound_on_falling_steps_is_said():
    bound = own_classics.falling
    nothing = replace(bound, terms={"start": 1 / rounds}, conditions=bound.conditions[:-2])
    assert "names no step_offset" in can(nothing, EXACT)
    loose = replace(
        own_classics.sgd, terms={"noise": step_size_scale * own_classics.FLOOR}, off_by={"noise": None}, signed=()
    )
    assert "speaks of step_size_scale and does not assume" in can(loose, EXACT)


# ---- sums over one round ----


def test_sums_over_a_round_are_of_the_models_before_its_steps_and_the_mean_of_those_after():
    problem, setting = random_quadratics(4, 3, 2, noise=0.0), Setting(2, 3, local_steps=3, step_size=0.2)
    run = ExactRun(problem, algorithm("fedavg()"), setting).run()
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


@pytest.mark.parametrize(
    ("name", "share"),
    [("local_gd_lemma_2", 1 / 500), ("field_guide_lemma_1", 1 / 5), ("local_gd_lemma_1", 1 / 50),
     ("local_sgd_recursion", 1 / 3), ("local_sgd_lemma_1", 1 / 20)],
)  # fmt: skip
def test_lemmas_on_one_round_or_step_are_held_exactly_and_what_is_left_of_them_is_violated(name, share):
    bound, few = get(f"classics.{name}"), Options.of(EXACT, instances=1, rounds=2)
    assert {line.verdict for line in validate(bound, EXACT, few).lines} == {Verdict.HOLDS_HERE}
    low = replace(bound, name="own.low", terms={n: share * x for n, x in bound.terms.items()})
    assert Verdict.VIOLATED in {line.verdict for line in validate(low, EXACT, few).lines}
