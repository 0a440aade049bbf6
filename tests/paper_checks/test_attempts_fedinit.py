"""Attempts to break the statements of FedInit that are called HOLDS, by a closed form written apart from the engines.

Clients (w - m_i)^2/2 of equal curvature, all of which train in every round while N of C are drawn and averaged, noise
of variance sigma^2 a step. With q = (1 - eta)^K, v the variance that K steps add, M the mean of the C last models, c
what is left of the minima m_i in each of them, r the noise about M and s = w - M the error of the draw:

    M' = q(M + (1 + beta)s) + noise/C,  c' = 1 - q - q beta c,  r' = (q beta)^2 r + v(1 - 1/C),
    E s^2 = (C - N)/(N(C - 1)) (c^2 S + r),  S = mean m_i^2,  mean m_i = 0

Every other moment follows. Here B = 1, G^2 = S, L = mu = 1. Runs of unequal curvature, of two dimensions, of losses
that are not convex and of the released code's averages are played by the exact engines below.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import exp, sqrt

import numpy as np
import pytest

from bounds.catalog import BOUNDS


@dataclass(frozen=True)
class Plan:
    """C, N, K, T; eta K L and beta as shares of the largest that the printed conditions allow, lambda as it is."""

    clients: int
    cohort: int
    steps: int
    rounds: int
    speed: float = 1 - 1e-9
    relaxation: float = 0.8
    contraction: float = 0.5
    apart: float = 1.0
    noise: float = 1.0
    start: float = 1.0


ATTEMPTS = {
    "a single client": Plan(1, 1, 2, 300),
    "two clients, one of which is averaged": Plan(2, 1, 2, 3000, noise=0.3),
    "ten of a hundred, five steps, as in the experiments": Plan(100, 10, 5, 500, relaxation=0.85, contraction=0.3),
    "one of a million, until it settles": Plan(10**6, 1, 3, 3000, apart=2.0),
    "half of a million": Plan(10**6, 5 * 10**5, 4, 3000),
    "all but one of a thousand": Plan(1000, 999, 2, 2000),
    "a million clients, all of them": Plan(10**6, 10**6, 2, 500, start=3.0),
    "ten thousand local steps": Plan(50, 20, 10**4, 2000),
    "two local steps, one round": Plan(12, 5, 2, 1),
    "noise alone from the optimum, until it settles": Plan(40, 4, 7, 20_000, apart=0.0, start=0.0),
    "disagreement alone from the optimum, until it settles": Plan(40, 4, 7, 20_000, noise=0.0, start=0.0),
    "huge noise": Plan(9, 2, 3, 3000, noise=1e12),
    "huge disagreement": Plan(9, 2, 3, 3000, apart=1e12),
    "a start far away, neither noise nor disagreement, for long": Plan(25, 5, 4, 20_000, 0.9, apart=0, noise=0, start=1e3),
    "the relaxation at the end of its range": Plan(30, 3, 6, 1000, 0.999, relaxation=1 - 1e-6),
    "no relaxation, which is FedAvg": Plan(30, 3, 6, 1000, relaxation=0.0),
    "lambda next to 1, so that steps are tiny": Plan(20, 10, 3, 20_000, contraction=0.999, noise=0.1, apart=0.1),
    "lambda next to 0, steps as large as allowed": Plan(20, 20, 3, 1000, contraction=1e-6),
    "a step size far below every cap": Plan(20, 4, 5, 3000, speed=1e-6),
}  # fmt: skip

PATIENT = ("lemma_2", "lemma_3", "lemma_4_recursion", "theorem_4_recursion", "theorem_4_recursion_sharp")
"""Statements on a round; without lambda."""
FULL = ("theorem_1_sharp", "theorem_4_recursion_sharp")
NARROW = ("theorem_4", "theorem_4_recursion", "theorem_5", "theorem_5_geometric")
STATEMENTS = (
    *PATIENT, "descent", "theorem_1", "theorem_2", "theorem_2_potential", "theorem_4", "theorem_5",
    "theorem_5_geometric", "theorem_1_sharp",
)  # fmt: skip


def place(name: str, plan: Plan) -> tuple[float, float]:
    """The step size and the relaxation, from the caps as the paper prints them."""
    c, n, lam = plan.clients, plan.cohort, plan.contraction
    square = 1 / 96 if name in NARROW else 1 / 5 if name in FULL else 1 / 72
    if name in ("theorem_5", "theorem_5_geometric"):
        square *= exp(-1)  # which is enough for 96 beta^2 <= exp(-lambda mu eta K)
    if name == "theorem_2_potential":
        square *= 1 - min(n / (2 * c), 1 / n)  # which leaves room for lambda mu eta K
    beta = plan.relaxation * sqrt(square)
    if name in PATIENT:
        small = name in ("lemma_2", *FULL)
        most = 1 / sqrt(8) if small else sqrt(n / c) if name == "theorem_4_recursion" else 1.0
        return plan.speed * most / plan.steps, beta
    most = 1 / sqrt(8) if name in FULL else min(n / (2 * c), 1 / n)
    if name in FULL:
        return plan.speed * min(most, sqrt((1 - lam) * (1 - 5 * beta**2) / (8 * (1 + beta**2)))) / plan.steps, beta
    left = 1 - 72 * beta**2
    left -= lam * most if name == "theorem_2_potential" else 0
    linear = 39 / n + 3900 * beta**2 / (left * n)
    root = 2 * (1 - lam) / (linear + sqrt(linear**2 + 48 * (1 - lam)))
    return plan.speed * min(most, root) / plan.steps, beta


@dataclass(frozen=True)
class Run:
    """The moments before every round and after the last, as arrays."""

    mean: np.ndarray  # E M^2
    draw: np.ndarray  # E s^2
    left: np.ndarray  # c
    spread: np.ndarray  # c^2 S + r


def played(plan: Plan, step: float, beta: float) -> Run:
    c, n, k = plan.clients, plan.cohort, plan.steps
    q = (1 - step) ** k
    v = step**2 * plan.noise * float(np.sum((1 - step) ** (2.0 * np.arange(k))))
    draw = (c - n) / (n * (c - 1)) if c > 1 else 0.0
    mean, left, r = plan.start**2, 0.0, 0.0
    rows = []
    for _ in range(plan.rounds + 1):
        spread = left**2 * plan.apart + r
        rows.append((mean, draw * spread, left, spread))
        mean = q**2 * (mean + (1 + beta) ** 2 * draw * spread) + v / c
        left, r = 1 - q - q * beta * left, (q * beta) ** 2 * r + v * (1 - 1 / c)
    return Run(*np.array(rows).T)


def measured(plan: Plan, step: float, beta: float) -> dict[str, np.ndarray]:
    """Every word of the statements, before each round (T + 1 entries) or of each (T entries)."""
    run, k = played(plan, step, beta), plan.steps
    decay = (1 - step) ** np.arange(k + 1.0)
    added = step**2 * plan.noise * np.concatenate([[0], np.cumsum(decay[:-1] ** 2)])
    q, v = decay[-1], added[-1]
    mean, draw, left, spread = run.mean, run.draw, run.left, run.spread
    grad, divergence = mean + draw, spread + draw
    # w_{i,k} - w = (d_k - 1)(w - m_i) + d_k beta (w - last_i) + noise, averaged over the clients
    to_minima, crossed = grad + plan.apart, draw + left * plan.apart
    squares = [np.sum(x) for x in ((decay[:-1] - 1) ** 2, decay[:-1] ** 2, decay[:-1] * (decay[:-1] - 1))]
    drift = squares[0] * to_minima + squares[1] * beta**2 * divergence + 2 * beta * squares[2] * crossed
    drift = drift + np.sum(added[:-1])
    moved = (1 - q) ** 2 * mean + (q * (1 + beta) - 1) ** 2 * draw + v / plan.clients
    walked = ((1 - q) / step) ** 2 * (mean + (1 + beta) ** 2 * draw)
    walked = walked + plan.noise / plan.clients * np.sum((1 - decay[:-1][::-1]) ** 2)
    return {
        "grad_norm_sq": grad,
        "divergence": divergence,
        "local_drift": drift[:-1],
        "global_step": moved[:-1] + draw[1:],
        "summed_grad_norm_sq": plan.clients**2 * walked[:-1],
    }


def sides(name: str, plan: Plan) -> tuple[np.ndarray, np.ndarray]:
    """The exact value of what the statement is on, and the bound; NaN where its conditions are not met."""
    step, beta = place(name, plan)
    seen = measured(plan, step, beta)
    gap, grad, divergence = seen["grad_norm_sq"] / 2, seen["grad_norm_sq"], seen["divergence"]
    exact = {
        "lemma_2": seen["local_drift"], "lemma_3": seen["global_step"], "descent": grad[:-1], "theorem_1": grad[:-1].mean(),
        "theorem_1_sharp": grad[:-1].mean(), "theorem_2": gap[-1], "theorem_2_potential": gap[-1],
        "theorem_4": divergence[:-1].mean(), "theorem_5": divergence[-1], "theorem_5_geometric": divergence[-1],
    }.get(name, divergence[1:])  # fmt: skip
    known = {
        "clients": plan.clients, "cohort": plan.cohort, "local_steps": plan.steps, "rounds": plan.rounds,
        "step_size": step, "relaxation": beta, "contraction": plan.contraction, "smoothness": 1.0, "pl_constant": 1.0,
        "gradient_variance": plan.noise, "dissimilarity_factor": 1.0, "dissimilarity_offset": plan.apart,
        "initial_gap": plan.start**2 / 2, "initial_divergence": 0.0, "final_divergence": divergence[-1],
        "divergence": divergence[:-1], "next_divergence": divergence[1:], "grad_norm_sq": grad[:-1],
        "loss_decrease": gap[:-1] - gap[1:], "summed_grad_norm_sq": seen["summed_grad_norm_sq"],
    }  # fmt: skip
    bound, at = BOUNDS[f"fedinit.{name}"], looked_at(plan.rounds)
    held = {q.name: known[q.name] for q in bound.quantities}
    held = {word: value[at] if np.ndim(value) else value for word, value in held.items()}
    return np.asarray(exact[at] if np.ndim(exact) else exact), np.asarray(bound(**held))


def looked_at(rounds: int) -> np.ndarray:
    """The first rounds, the last, and some between them."""
    between = np.geomspace(1, rounds, 60).astype(int) - 1
    return np.unique(np.concatenate([np.arange(min(rounds, 12)), between]))


@pytest.mark.filterwarnings("ignore::bounds.errors.UnderflowWarning")
@pytest.mark.parametrize("attempt", ATTEMPTS)
@pytest.mark.parametrize("name", STATEMENTS)
def test_where_all_clients_train_it_survives(name, attempt):
    plan = ATTEMPTS[attempt]
    plan = replace(plan, cohort=plan.clients) if name in FULL else plan
    exact, bound = sides(name, plan)
    assert not np.isnan(bound).any()
    assert (exact <= bound * (1 + 1e-9) + 1e-300).all()
