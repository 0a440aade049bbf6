"""The federations that a page starts from: values by quantity, as ``fedbounds compare`` takes them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TYPE_CHECKING

import numpy as np
import sympy as sp

from bounds import vocabulary as q
from bounds.identities import evaluated

if TYPE_CHECKING:
    from empirics.problems.quadratics import Quadratics

Record = dict[str, Any]
PLAN = {"local_steps": 8, "step_size": 0.01, "cohort": 10, "rounds": 1000}
"""The initial plan."""
SHOWN = "decaying_k.theorem_1_repaired"
"""The federation of worst cases starts at the largest step size in this bound's table."""
COSTS = {"communication_time": 0.23, "minibatch_time": 0.01}
"""Seconds of a round and of a step, for budgets in seconds."""


def quadratics() -> Quadratics:
    """Return ten clients with quadratic losses of equal curvature, so that every constant is exact and finite."""
    from empirics.problems.quadratics import random_quadratics  # imports torch, which --help does not need

    return random_quadratics(0, 10, 4, noise=0.3, spread=0.3, same_curvature=True)


def _cap() -> sp.Expr:
    """Return a G^2 with ``E ||g||^2 <= G^2`` along every run of FedAvg with step sizes up to 1/L.

    All losses must have equal curvature. Let M bound the root mean squared distance of all models to w*, and let z be
    the largest client gradient there. A step gives ``E |x' - w*|^2 <= ((1 - eta mu) M + eta z)^2 + eta^2 sigma^2``.
    With ``d = mu M - z >= 0`` this is at most M^2 if ``2 M d/eta >= d^2 + sigma^2``, which is hardest at ``eta = 1/L``:
    there it is a parabola in M, which increases beyond its root. Means over clients stay within M, and
    ``E |g|^2 <= (L M + z)^2 + sigma^2``. For losses of equal curvature, z^2 is the uniform dissimilarity.
    """
    slope, bend, noise, pull = q.smoothness, q.strong_convexity, q.gradient_variance, sp.sqrt(q.uniform_dissimilarity)
    a, b = 2 * slope * bend - bend**2, 2 * pull * (slope - bend)
    root = (b + sp.sqrt(b**2 + 4 * a * (pull**2 + noise))) / (2 * a)
    far = sp.Max(root, pull / bend, sp.sqrt(q.initial_distance_sq))
    return (slope * far + pull) ** 2 + noise


FOLLOWS: dict[str, tuple[sp.Expr, dict[str, sp.Expr]]] = {
    "grad_cap_sq": (_cap(), {"step_size": 1 / q.smoothness, "relaxation": sp.S.Zero, "distillation_weight": sp.S.Zero})
}
"""For quadratics of equal curvature: constants that follow from others, and the plans up to which they are valid."""


def constants(problem: Quadratics, words: Iterable[str]) -> dict[str, Any]:
    """Return these constants of a federation of quadratics, and those of its start."""
    away = problem.start - problem.minimiser
    return {
        **{word: np.asarray(getattr(problem, word), dtype=float).tolist() for word in words},
        "client_weight": problem.weights.tolist(),
        "initial_loss": float(problem.loss(problem.start)),
        "initial_distance_sq": float(away @ away),
        "initial_grad_norm_sq": float(np.sum(problem.gradient(problem.start) ** 2)),
        "parameters": float(problem.dim),
    }


def of_quadratics() -> Record:
    """Return the federation of ``quadratics``; all constants are exact but G^2, which is a proved bound."""
    problem = quadratics()
    words = (
        "clients", "smoothness", "sample_smoothness", "strong_convexity", "pl_constant", "optimum_dissimilarity",
        "heterogeneity", "uniform_dissimilarity", "gradient_variance", "client_gradient_variance", "optimal_loss",
    )  # fmt: skip
    numbers = constants(problem, words) | COSTS
    up_to = {}
    for word, (expression, limits) in FOLLOWS.items():
        numbers[word] = float(evaluated(expression, numbers))
        up_to[word] = {other: float(evaluated(limit, numbers)) for other, limit in limits.items()}
    return {
        "name": "10 quadratics",
        "words": f"10 clients, quadratic losses of {problem.dim} parameters; every constant is exact, G² is proved.",
        "given": numbers,
        "up_to": up_to,
        "follows": list(FOLLOWS),
        "plan": PLAN,
    }


def of_worst_cases() -> Record:
    """Return all federations of two clients with the constants of the committed tables of exact worst cases."""
    from paper_checks.worst_case.grid_point import GridPoint
    from paper_checks.worst_case.tightness_table import committed

    at = GridPoint(rounds=2, local_steps=4)
    rows = (row for row in committed(SHOWN) if (row["rounds"], row["local_steps"]) == (at.rounds, at.local_steps))
    step = max(row["step_size"] for row in rows)
    gap, mu = 1.0, 1 / at.condition_number
    return {
        "name": "two clients, worst cases",
        "words": "Every federation of two clients with these constants, L = 1 and a gap of 1 at the start, without "
        "noise. Of some plans the exact worst case is known: diamonds on the map.",
        "given": {
            "clients": at.clients, "client_weight": [1 / at.clients] * at.clients, "smoothness": 1.0,
            "sample_smoothness": 1.0, "strong_convexity": mu, "pl_constant": mu, "initial_loss": gap,
            "optimal_loss": 0.0, "initial_distance_sq": 1.0, "gradient_variance": 0.0,
            "client_gradient_variance": [0.0] * at.clients, "heterogeneity": at.heterogeneity,
            "dissimilarity_offset": at.heterogeneity, "dissimilarity_factor": at.dissimilarity_factor,
            "grad_cap_sq": at.grad_cap_sq,
        },
        "up_to": {},
        "target": "grad_norm_sq",
        "plan": {"local_steps": at.local_steps, "step_size": step, "cohort": at.clients, "rounds": at.rounds},
    }  # fmt: skip


def of_new_samples() -> Record:
    """Return all federations of ten clients with these constants that draw new samples in every round."""
    clients, mu, noise, gap = 10, 0.1, 1.0, 1.0
    return {
        "name": "10 clients, new samples",
        "words": "Every federation of ten clients with these constants that draws new samples in every round: what "
        "is learned of them, against what they come from. σ² is that of the gradient of one sample.",
        "given": {
            "clients": clients, "client_weight": [1 / clients] * clients, "samples_per_round": 256,
            "smoothness": 1.0, "sample_smoothness": 1.0, "strong_convexity": mu, "pl_constant": mu,
            "initial_loss": gap, "optimal_loss": 0.0, "gradient_variance": noise,
            "client_gradient_variance": [noise] * clients,
        },
        "up_to": {},
        "target": "generalization_gap",
        "plan": {"local_steps": 8, "step_size": 0.05, "cohort": clients, "rounds": 100},
    }  # fmt: skip


def of_one_client() -> Record:
    """Return logistic regression without penalty on inputs of length up to 2 (gradients up to 2, curvature up to 1)."""
    longest, far, start, samples, steps = 2.0, 2.0, float(np.log(2)), 1000, 1000
    step_size = far * (samples / (steps * (samples + 2 * steps))) ** 0.5 / longest  # the step size of Hardt et al., 5.4
    return {
        "name": "one client, 1000 samples",
        "words": "Every logistic regression of one client on 1000 inputs of length up to 2, without a penalty, from 0, "
        "with a best model at distance up to 2: how stable training is, and what that says of new samples.",
        "given": {
            "clients": 1, "client_weight": [1.0], "samples": samples, "lipschitz": longest,
            "smoothness": longest**2 / 4, "sample_smoothness": longest**2 / 4,
            "initial_loss": start, "optimal_loss": 0.0, "initial_distance_sq": far**2,
        },
        "up_to": {},
        "target": "excess_risk",
        "plan": {"local_steps": 10, "step_size": step_size, "cohort": 1, "rounds": steps // 10},
    }  # fmt: skip


def typed() -> list[Record]:
    """Return the federations that were not run."""
    return [of_quadratics(), of_worst_cases(), of_new_samples(), of_one_client()]
