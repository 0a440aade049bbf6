"""Training by the real loop, over many seeds, agrees with the exact moments within its standard errors.

Every case compares its readings at once: the probability that the worst of them leaves the interval although the exact
numbers are right is at most one in a thousand (normal approximation, Bonferroni). Seeds are fixed, so each test always
passes or always fails.
"""

import numpy as np
import pytest
import torch
from scipy import stats

from empirics.algorithms import algorithm
from empirics.exact import ExactRun
from empirics.exact.maps import Tracing
from empirics.problems.quadratics import QuadraticFederation, QuadraticModel, random_quadratics
from empirics.training.rounds import draw_cohort, rounds
from empirics.training.setting import Setting

SEEDS, ERROR_RATE = 200, 1e-3
LAYERS = {"extractor": slice(0, 1), "head": slice(1, 2)}
WEIGHTS = np.array([0.45, 0.2, 0.35])


def problem(**options):
    return random_quadratics(61, 3, 2, noise=0.8, layers=LAYERS, **options)


def one_seed(quadratics, method, setting, seed):
    """Readings of one sampled run, by their plain definitions."""
    model, federation, engine = QuadraticModel(quadratics), QuadraticFederation(quadratics), Tracing()
    found = {name: [] for name in ("grad_norm_sq", "optimality_gap", "distance_sq", "divergence")}
    found |= {name: [] for name in ("global_step", "active_divergence", "local_drift")}
    last, before = np.tile(quadratics.start, (3, 1)), None
    for state in rounds(model, federation, method, setting, seed, engine):
        w = state.model.numpy()
        if before is not None:
            drawn, counts = draw_cohort(setting, federation, seed, state.round - 1)
            paths = engine.models
            last[np.arange(3) if method.everyone else drawn] = paths[:, -1]
            found["global_step"].append(((w - before) ** 2).sum())
            found["active_divergence"].append(counts @ ((last[drawn] - w) ** 2).sum(1) / counts.sum())
            if len(paths) == 3:
                found["local_drift"].append(((paths[:, :-1] - before) ** 2).sum((1, 2)).mean())
            engine.forget()
        found["grad_norm_sq"].append((quadratics.gradient(w) ** 2).sum())
        found["optimality_gap"].append(quadratics.loss(w) - quadratics.optimal_loss)
        found["distance_sq"].append(((w - quadratics.minimiser) ** 2).sum())
        found["divergence"].append(((last - w) ** 2).sum(1).mean())
        before = w.copy()
    return {name: np.array(values) for name, values in found.items()}


def sample(quadratics, written, setting):
    """Readings of all seeds: name -> (seeds, entries); the drift only where all clients train in every round."""
    runs = [one_seed(quadratics, algorithm(written), setting, seed) for seed in range(SEEDS)]
    kept = [name for name in runs[0] if len({len(run[name]) for run in runs}) == 1 and len(runs[0][name])]
    return {name: np.stack([run[name] for run in runs]) for name in kept}


def worst(sampled, trajectory):
    """The largest distance in standard errors, and the limit it should keep to."""
    away = []
    for name, values in sampled.items():
        exact = trajectory.server.get(name, trajectory.rounds.get(name))
        assert exact.shape == values.shape[1:], name
        error = values.std(0, ddof=1) / np.sqrt(len(values))
        certain = error <= 1e-12 * (1 + np.abs(exact))
        assert values.mean(0)[certain] == pytest.approx(exact[certain], rel=1e-10, abs=1e-14), name
        away += list(np.abs(values.mean(0) - exact)[~certain] / error[~certain])
    return max(away), stats.norm.isf(ERROR_RATE / 2 / len(away))


CASES = {
    "fedavg, Case I, weighted": (
        "fedavg",
        {"cohort": 2, "sampling": "with_replacement", "client_weight": "samples"},
        {"weights": WEIGHTS},
    ),
    "fedavg, Bernoulli, weighted": (
        "fedavg",
        {"cohort": 2, "sampling": "bernoulli", "client_weight": "samples"},
        {"weights": WEIGHTS},
    ),
    "falling step size, momentum": ("fedprox(mu=0.7)", {"cohort": 2, "step_size_decay": 0.8, "momentum": 0.4}, {}),
    "falling local steps": ("scheduled(fedavg(), schedule='k_rounds')", {"cohort": 2, "local_steps": 4}, {}),
    "scaffold": ("scaffold", {"cohort": 2}, {}),
    "fedinit, stale models": ("fedinit(beta=0.3)", {"cohort": 2}, {}),
    "fedinit, proof": ("fedinit(beta=0.3, reading='proof')", {"cohort": 2}, {}),
    "fedals": ("fedals(alpha=2)", {"cohort": 2, "rounds": 3}, {}),
    "server momentum": ("fedavgm(momentum=0.5)", {"cohort": 2}, {}),
}


@pytest.mark.parametrize("case", CASES)
def test_sampled_training_agrees_with_the_exact_moments(case):
    written, options, fields = CASES[case]
    setting = Setting(**{"rounds": 2, "cohort": 3, "local_steps": 2, "step_size": 0.25, **options})
    quadratics = problem(**fields)
    trajectory = ExactRun(quadratics, algorithm(written), setting).run()
    away, limit = worst(sample(quadratics, written, setting), trajectory)
    assert away < limit


def test_tracing_engine_trains_like_the_engine_of_the_models():
    quadratics, setting = problem(), Setting(rounds=3, cohort=1, local_steps=3, step_size=0.25)
    model, federation = QuadraticModel(quadratics), QuadraticFederation(quadratics)
    for written in ("scaffold", "fedals(alpha=2)", "fedinit(beta=0.3, reading='proof')"):
        plain = rounds(model, federation, algorithm(written), setting, 5)
        traced = rounds(model, federation, algorithm(written), setting, 5, Tracing())
        assert all(torch.equal(one.model, other.model) for one, other in zip(plain, traced, strict=True))


def test_the_comparison_notices_a_wrong_number():
    """Exact moments of a step size 15 % smaller, and of a client more in the cohort, are told apart."""
    setting = Setting(rounds=3, cohort=2, local_steps=2, step_size=0.25)
    sampled = sample(problem(), "fedavg", setting)
    for wrong in (
        Setting(rounds=3, cohort=2, local_steps=2, step_size=0.2125),
        Setting(rounds=3, cohort=3, local_steps=2, step_size=0.25),
    ):
        away, limit = worst(sampled, ExactRun(problem(), algorithm("fedavg"), wrong).run())
        assert away > limit
