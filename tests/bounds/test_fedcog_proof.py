"""The steps of FedCOG's proof on small quadratics, exactly: every expectation is a sum over all coin tosses."""

import math
from itertools import product

import numpy as np
import pytest
import sympy as sp

import bounds
from bounds.points.fedcog import POINTS

LEMMA, DISSIMILARITY = bounds.get("fedcog.lemma_5_5"), bounds.get("fedcog.dissimilarity")
STEP, STEP_PRINTED = bounds.get("fedcog.smoothness_step"), bounds.get("fedcog.smoothness_step_printed")
UPDATE, DESCENT = bounds.get("fedcog.mean_update"), bounds.get("fedcog.descent")
DRIFT, MEAN_DRIFT = bounds.get("fedcog.gradient_drift"), bounds.get("fedcog.mean_gradient_drift")
WITH_DRIFT, ONE_ROUND = bounds.get("fedcog.descent_with_drift"), bounds.get("fedcog.descent_one_round")
THEOREM = bounds.get("fedcog.theorem")

CURVATURES, MINIMA, WEIGHTS = (0.7, 1.3, 1.9), (-0.8, 0.35, 1.6), (0.2, 0.35, 0.45)
TAU, ETA, NOISE, START = 3, 0.06, 0.55, -0.62


def gradient(client, x):
    return CURVATURES[client] * (x - MINIMA[client])


def loss(x):
    return sum(p * a / 2 * (x - b) ** 2 for p, a, b in zip(WEIGHTS, CURVATURES, MINIMA, strict=True))


def run(client, tosses):
    """Mean stochastic and mean true gradient along one local path; a toss of +-1 times NOISE is the gradient noise."""
    x, stochastic, true = START, 0.0, 0.0
    for toss in tosses:
        g = gradient(client, x)
        stochastic, true = stochastic + (g + NOISE * toss) / TAU, true + g / TAU
        x -= ETA * (g + NOISE * toss)
    return stochastic, true


@pytest.fixture(scope="module")
def measured():
    """The exact expectations of one round, under the words of the proof's quantities."""
    at_start = [gradient(k, START) for k in range(3)]
    mean = sum(p * g for p, g in zip(WEIGHTS, at_start, strict=True))
    sums = {"update": 0.0, "path": 0.0, "alignment": 0.0, "step": 0.0, "change": 0.0, "mean_drift": 0.0}
    drift = [0.0] * 3
    every = list(product((-1, 1), repeat=3 * TAU))
    for tosses in every:
        ends = [run(k, tosses[k * TAU : (k + 1) * TAU]) for k in range(3)]
        update = sum(p * e[0] for p, e in zip(WEIGHTS, ends, strict=True))
        path = sum(p * e[1] for p, e in zip(WEIGHTS, ends, strict=True))
        step = -TAU * ETA * update
        numbers = (update**2, path**2, mean * step, step**2, loss(START + step) - loss(START), (mean - path) ** 2)
        for name, number in zip(sums, numbers, strict=True):
            sums[name] += number / len(every)
        for k in range(3):
            drift[k] += (at_start[k] - ends[k][1]) ** 2 / len(every)
    squares = [g**2 for g in at_start]
    return {**sums, "drift": drift, "gradient": mean**2, "client_gradients": squares}


@pytest.fixture(scope="module")
def constants(measured):
    """Exact constants of these quadratics; the dissimilarity is met with equality at the start of the round."""
    factor = 1.37
    mean_of_squares = sum(p * g for p, g in zip(WEIGHTS, measured["client_gradients"], strict=True))
    return {
        "local_steps": TAU,
        "step_size": ETA,
        "smoothness": max(CURVATURES),
        "gradient_variance": NOISE**2,
        "client_weight": list(WEIGHTS),
        "dissimilarity_factor": factor,
        "dissimilarity_offset": mean_of_squares - factor * measured["gradient"],
        "grad_norm_sq": measured["gradient"],
    }


def ask(bound, constants, **more):
    used = {q.name for q in bound.quantities}
    return bound(**{name: value for name, value in {**constants, **more}.items() if name in used})


def test_the_new_data_never_raise_an_objective_whose_teacher_moves_along():
    task, old_outputs, new_outputs = 1.27, [0.6, 0.3, 0.1], [0.45, 0.2, 0.35]
    distillation = sum(a * math.log(a / b) for a, b in zip(old_outputs, new_outputs, strict=True))
    next_objective = task + sum(a * math.log(a / a) for a in new_outputs)
    assert LEMMA(next_task_loss=task, next_distillation=distillation) > next_objective


def test_the_lemma_fails_for_a_teacher_that_stays():
    task, old_data, new_data = 1.27, 0.04, 0.31  # the same teacher's divergence on the old and on the new data
    assert task + new_data > LEMMA(next_task_loss=task, next_distillation=old_data)


def test_dissimilarity_with_factor_1_is_the_variance_of_the_client_gradients(measured):
    mean = math.sqrt(measured["gradient"])
    variance = sum(p * gradient(k, START) ** 2 for k, p in enumerate(WEIGHTS)) - mean**2
    value = DISSIMILARITY(dissimilarity_factor=1, dissimilarity_offset=variance, grad_norm_sq=mean**2)
    by_hand = sum(p * g for p, g in zip(WEIGHTS, measured["client_gradients"], strict=True))
    assert value == pytest.approx(by_hand, rel=1e-12)


def test_the_smoothness_step_needs_a_plus_where_19_prints_a_minus(measured, constants):
    facts = {"step_alignment": measured["alignment"], "global_step": measured["step"]}
    assert ask(STEP_PRINTED, constants, **facts) < measured["change"] < ask(STEP, constants, **facts)


def test_the_smoothness_step_is_an_equality_at_the_mean_curvature(measured):
    curvature = sum(p * a for p, a in zip(WEIGHTS, CURVATURES, strict=True))
    facts = {"step_alignment": measured["alignment"], "global_step": measured["step"]}
    assert STEP(smoothness=curvature, **facts) == pytest.approx(measured["change"], rel=1e-12)


def test_the_mean_update_is_bounded_by_noise_and_local_paths(measured, constants):
    assert measured["update"] <= ask(UPDATE, constants, mean_path_gradient_sq=measured["path"])
    noise_alone = measured["update"] - measured["path"]  # exceeds the sampled noise: the path remembers it
    assert noise_alone != pytest.approx(NOISE**2 / TAU * sum(p * p for p in WEIGHTS), rel=1e-3)


def test_30_bounds_the_change_of_the_loss(measured, constants):
    facts = {"mean_path_gradient_sq": measured["path"], "mean_gradient_drift": measured["mean_drift"]}
    assert measured["change"] <= ask(DESCENT, constants, **facts) < 0


def test_51_bounds_the_drift_of_every_client(measured, constants):
    assert (ask(DRIFT, constants, client_grad_norm_sq=measured["client_gradients"]) >= measured["drift"]).all()


def test_53_is_the_mean_of_51_over_the_clients(measured, constants):
    mean_of_51 = np.dot(WEIGHTS, ask(DRIFT, constants, client_grad_norm_sq=measured["client_gradients"]))
    assert ask(MEAN_DRIFT, constants) == pytest.approx(mean_of_51, rel=1e-12)
    assert measured["mean_drift"] <= np.dot(WEIGHTS, measured["drift"]) <= mean_of_51


def test_55_and_57_bound_the_change_of_the_loss_one_after_the_other(measured, constants):
    assert measured["change"] <= ask(WITH_DRIFT, constants) <= ask(ONE_ROUND, constants)


def test_55_is_30_without_the_local_paths_and_with_53_as_the_drift(constants):
    given = {"mean_path_gradient_sq": 0.0, "mean_gradient_drift": ask(MEAN_DRIFT, constants)}
    assert ask(WITH_DRIFT, constants) == pytest.approx(ask(DESCENT, constants, **given), rel=1e-12)


def test_the_factor_three_quarters_is_reached_at_the_edge_of_the_condition():
    edge = {"local_steps": 4, "dissimilarity_factor": 1, "smoothness": 1.7}
    edge["step_size"] = math.sqrt((1 - 1e-12) / 3 / (2 * 4 * 3)) / 1.7  # A = 1/(2 beta^2 + 1) = 1/3
    point = POINTS["fedcog.descent_one_round"] | edge
    exact, rounded = WITH_DRIFT.parts(outside=True, **point), ONE_ROUND.parts(outside=True, **point)
    for label in ("drift by noise", "drift by heterogeneity", "global gradient"):
        assert exact[label] == pytest.approx(rounded[label], rel=1e-9)


def test_below_1_condition_63_asks_what_the_theorem_and_the_proof_ask():
    draws = np.random.default_rng(5)
    tau, beta_sq = draws.integers(2, 9, 4000), 1 + draws.exponential(2, 4000)
    load = draws.uniform(0.02, 0.999, 4000)  # A
    point = POINTS["fedcog.theorem"] | {"local_steps": tau, "dissimilarity_factor": beta_sq}
    point["step_size"] = np.sqrt(load / (2 * tau * (tau - 1))) / point["smoothness"]
    (second,) = (r for c, r in zip(THEOREM.numeric_conditions, THEOREM.relations, strict=True) if "sqrt" in c.words)
    (c63,) = (r for c, r in zip(ONE_ROUND.numeric_conditions, ONE_ROUND.relations, strict=True) if "(63)" in c.words)
    by_proof = load * beta_sq / (1 - load) <= 0.5
    assert 100 < by_proof.sum() < 3900
    for relation in (second, c63):
        assert (truth(relation, point) == by_proof).all()


def test_above_1_condition_63_holds_for_the_wrong_reason():
    point = POINTS["fedcog.descent_one_round"] | {"local_steps": 40, "smoothness": 2.1, "step_size": 0.0122}
    assert 2 * 40 * 39 * (2.1 * 0.0122) ** 2 > 1
    failed = {c.words for c in ONE_ROUND.failed(**point)}
    assert "drift does not feed itself: A < 1" in failed
    assert not any("(63)" in words for words in failed)


def truth(relation, point):
    """A relation of quantities at many points at once."""
    names = sorted(relation.free_symbols, key=str)
    return sp.lambdify(names, relation)(*(point[str(n)] for n in names))
