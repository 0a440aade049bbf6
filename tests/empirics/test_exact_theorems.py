"""Catalogue bounds against exact expectations on random quadratics inside their conditions, and where they break.

Every instance keeps to the numeric conditions of the bound (a NaN would say otherwise) and to its assumptions, whose
constants the problem knows exactly. Findings are tests of their own: instances on which a printed statement is false.
"""

import numpy as np
import pytest

from bounds.catalog import get
from empirics.algorithms import algorithm
from empirics.exact import ExactRun
from empirics.problems.quadratics import Quadratics, random_quadratics
from empirics.training.setting import Setting

FEDINIT = {
    "fedinit.lemma_2": "local_drift",
    "fedinit.lemma_3": "global_step",
    "fedinit.lemma_4_recursion": "next_divergence",
    "fedinit.theorem_4_recursion": "next_divergence",
}
SAFE = 1 - 1e-9  # of a step size's largest value, against rounding in the comparison


def of(bound, values):
    """A bound's value from a table that holds more than it needs."""
    value = bound(**{q.name: values[q.name] for q in bound.quantities})
    assert not np.isnan(value).any(), f"{bound.name} is silent: {bound.failed}"
    return np.asarray(value)


def instance(seed):
    """A random problem with very different sizes of curvature, heterogeneity and noise, and a random cohort."""
    draws = np.random.default_rng(seed)
    clients, dim = int(draws.integers(2, 6)), int(draws.integers(1, 4))
    problem = random_quadratics(
        seed,
        clients,
        dim,
        curvature=(1.7 * 10 ** draws.uniform(-2, 0), 1.7),
        spread=10 ** draws.uniform(-2, 1),
        noise=float(draws.choice([0.0, 0.1, 1.0, 5.0])),
        same_curvature=bool(draws.integers(2)),
    )
    cohort, steps = int(draws.integers(1, clients + 1)), int(draws.integers(2, 6))
    return problem, cohort, steps, draws


def constants(problem):
    return {
        "clients": problem.clients,
        "smoothness": problem.smoothness,
        "strong_convexity": problem.strong_convexity,
        "pl_constant": problem.pl_constant,
        "gradient_variance": problem.gradient_variance,
        "client_gradient_variance": problem.client_gradient_variance,
        "dissimilarity_offset": problem.dissimilarity_offset,
        "dissimilarity_factor": problem.dissimilarity_factor,
        "heterogeneity": problem.heterogeneity,
        "client_weight": problem.weights,
        "optimal_loss": problem.optimal_loss,
        "initial_loss": float(problem.loss(problem.start)),
        "initial_gap": float(problem.loss(problem.start)) - problem.optimal_loss,
    }


@pytest.mark.parametrize("seed", range(8))
def test_fedinits_lemmas_and_recursions_hold_in_every_round(seed):
    problem, cohort, steps, draws = instance(seed)
    cap = min(1 / (2 * 2**0.5), (cohort / problem.clients) ** 0.5) / (steps * problem.smoothness)
    run = {"local_steps": steps, "cohort": cohort, "step_size": SAFE * cap * float(draws.choice([1, 0.3]))}
    beta = draws.uniform(0, 0.1)
    exact = ExactRun(problem, algorithm(f"fedinit(beta={beta}, reading='proof')"), Setting(rounds=4, **run)).run()
    values = {**constants(problem), **run, "relaxation": beta, **exact.rounds}
    values |= {name: readings[:-1] for name, readings in exact.server.items()}
    values |= {"next_divergence": exact.server["divergence"][1:], **run}
    for name, target in FEDINIT.items():
        ratio = of(get(name), values) / values[target]
        assert (ratio >= 1).all(), (name, ratio)
        assert (ratio > 5).all(), f"{name}: measured ratios were above 11 in 150 instances; now {ratio}"


@pytest.mark.parametrize("reading", ["intended", "proof", "code"])
@pytest.mark.parametrize("seed", range(4))
def test_fedinits_theorems_hold_in_every_reading(seed, reading):
    problem, cohort, steps, draws = instance(100 + seed)
    known, beta, rounds_ = constants(problem), draws.uniform(0, 0.1), 10
    values = {**known, "cohort": cohort, "local_steps": steps, "rounds": rounds_, "relaxation": beta}
    values["step_size"] = SAFE * float(
        get("fedinit.step_size_cap_theorem_4")(**pick("fedinit.step_size_cap_theorem_4", values))
    )
    while (left := of(get("fedinit.contraction_cap"), values)) <= 0.1:
        values["step_size"] /= 2
    values["contraction"] = 0.999 * float(left)
    setting = Setting(rounds=rounds_, cohort=cohort, local_steps=steps, step_size=values["step_size"])
    exact = ExactRun(problem, algorithm(f"fedinit(beta={beta}, reading='{reading}')"), setting).run()
    divergence = exact.server["divergence"]
    values |= {"initial_divergence": divergence[0], "final_divergence": divergence[-1]}
    for name, value in {
        "fedinit.theorem_1": exact.server["grad_norm_sq"][:-1].mean(),
        "fedinit.theorem_2": exact.server["optimality_gap"][-1],
        "fedinit.theorem_4": divergence[:-1].mean(),
    }.items():
        assert of(get(name), values) >= value, name


def pick(name, values):
    return {q.name: values[q.name] for q in get(name).quantities}


@pytest.mark.parametrize("seed", range(6))
def test_fedcogs_theorem_holds_for_local_sgd_without_generated_data(seed):
    """Without distillation Phi is F; clients weigh differently."""
    problem, _, steps, draws = instance(200 + seed)
    weights = draws.dirichlet(np.full(problem.clients, 3.0))
    problem = Quadratics(problem.curvatures, problem.minima, problem.noise, weights=weights, start=problem.start)
    drift = (2 * steps * (steps - 1) * (2 * problem.dissimilarity_factor + 1)) ** -0.5
    step_size = SAFE * min(1 / (2 * steps), drift) / problem.smoothness
    setting = Setting(8, problem.clients, local_steps=steps, step_size=step_size, client_weight="samples")
    gradients = ExactRun(problem, algorithm("fedavg"), setting).run().server["grad_norm_sq"][:-1]
    values = {**constants(problem), "local_steps": steps, "rounds": 8, "step_size": step_size}
    assert of(get("fedcog.theorem"), values) >= gradients.mean() >= gradients.min()


def decaying_k(problem, setting, exact, cap):
    """The values of Decaying-K's bounds for a run, with ``cap`` for G^2."""
    steps = exact.rounds["local_steps"]
    return {
        **constants(problem),
        "cohort": setting.cohort,
        "step_size": setting.step_size,
        "local_steps": int(steps.max()),
        "iterations": int(steps.sum()),
        "steps_cubed_ratio": (steps**3.0).sum() / steps.sum(),
        "grad_cap_sq": cap,
    }


@pytest.mark.parametrize("written", ["fedavg", "scheduled(fedavg(), schedule='k_rounds')"])
@pytest.mark.parametrize("seed", range(4))
def test_decaying_ks_theorem_holds_when_g_bounds_the_clients_gradients(seed, written):
    problem, cohort, _, draws = instance(300 + seed)
    step_size = SAFE / (4 * problem.smoothness) * float(draws.choice([1, 0.1]))
    setting = Setting(rounds=6, cohort=cohort, local_steps=5, step_size=step_size)
    exact = ExactRun(problem, algorithm(written), setting).run()
    values = decaying_k(problem, setting, exact, float(exact.rounds["grad_cap_sq"].max()))
    assert of(get("decaying_k.theorem_1"), values) >= exact.iterations("grad_norm_sq")[1:].min()
    if written == "fedavg":
        distances = exact.iterations("distance_sq")
        assert (of(get("decaying_k.lemma_1"), {**values, "distance_sq": distances[:-1]}) >= distances[1:]).all()


# ---- findings ----


def opposed(start, **fields):
    """Two clients in one dimension with minima 1 and -1 and unit curvature: kappa = 1, w* = 0, Gamma = 1/2."""
    return Quadratics(np.ones((2, 1, 1)), np.array([[1.0], [-1.0]]), start=[start], **fields)


def defined_cap(problem):
    """G^2 as Decaying-K defines it, L^2 ||x_1 - x*||^2."""
    distance = float(((problem.start - problem.minimiser) ** 2).sum())
    return float(get("decaying_k.gradient_cap")(smoothness=problem.smoothness, initial_distance_sq=distance))


def test_finding_decaying_ks_g_is_no_bound_on_gradients_and_its_lemma_1_fails_with_it():
    """Started near w*, one of two clients drawn: the round's jump is that of the clients, of which G knows nothing."""
    problem, setting = opposed(0.01), Setting(rounds=1, cohort=1, local_steps=4, step_size=0.05)
    exact = ExactRun(problem, algorithm("fedavg"), setting).run()
    assert exact.rounds["grad_cap_sq"][0] > 10_000 * defined_cap(problem)
    assert exact.server["grad_norm_sq"][1] > 300 * defined_cap(problem)
    distances = exact.iterations("distance_sq")
    # by hand: w_4 = q w +- (1 - q) with q = 0.95^4
    shrink = 0.95**4
    assert distances[4] == pytest.approx((shrink * 0.01) ** 2 + (1 - shrink) ** 2, rel=1e-12)
    values = decaying_k(problem, setting, exact, defined_cap(problem)) | {"distance_sq": distances[:-1]}
    assert of(get("decaying_k.lemma_1"), values)[-1] < 0.25 * distances[-1]
    values["grad_cap_sq"] = float(exact.rounds["grad_cap_sq"].max())
    assert (of(get("decaying_k.lemma_1"), values) >= distances[1:]).all()


@pytest.mark.slow
def test_finding_decaying_ks_theorem_1_fails_with_its_own_g():
    """The second moment stays at its stationary value S from the start, and S exceeds the bound.

    With q = (1 - eta)^K and one of two clients drawn, E w^2 <- q^2 E w^2 + (1 - q)^2 stays at S = (1 - q)/(1 + q).
    The bound at G^2 = S is S/(eta T) + eta (3 + 12 S K^2); for small eta, S is about eta K / 2, so a large K wins.
    """
    steps, step_size, rounds_ = 20, 6.5e-5, 2_500
    shrink = (1 - step_size) ** steps
    stationary = (1 - shrink) / (1 + shrink)
    problem = opposed(stationary**0.5)
    setting = Setting(rounds=rounds_, cohort=1, local_steps=steps, step_size=step_size)
    exact = ExactRun(problem, algorithm("fedavg"), setting).run()
    assert exact.server["grad_norm_sq"] == pytest.approx(np.full(rounds_ + 1, stationary), rel=1e-9)
    smallest = exact.iterations("grad_norm_sq").min()
    assert smallest == pytest.approx(stationary * (1 - step_size) ** (2 * steps - 2), rel=1e-9)
    values = decaying_k(problem, setting, exact, defined_cap(problem))
    bound = float(of(get("decaying_k.theorem_1"), values))
    by_hand = stationary / (step_size * steps * rounds_) + step_size * (3 + 12 * stationary * steps**2)
    assert bound == pytest.approx(by_hand, rel=1e-9)
    assert smallest > 1.05 * bound
    values["grad_cap_sq"] = float(exact.rounds["grad_cap_sq"].max())
    assert of(get("decaying_k.theorem_1"), values) > smallest


def test_finding_decaying_ks_theorem_1_is_negative_for_negative_losses():
    """Its first term holds kappa F_0 - F*, which a shift of all losses changes: with F* < 0 it can fall below zero."""
    problem = random_quadratics(71, 3, 2, curvature=(0.3, 1.9), noise=0.2, floors=np.full(3, -400.0))
    setting = Setting(rounds=5, cohort=2, local_steps=3, step_size=0.1)
    exact = ExactRun(problem, algorithm("fedavg"), setting).run()
    values = decaying_k(problem, setting, exact, float(exact.rounds["grad_cap_sq"].max()))
    assert problem.optimal_loss < 0
    assert of(get("decaying_k.theorem_1"), values) < 0 < exact.iterations("grad_norm_sq").min()
