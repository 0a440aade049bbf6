"""Findings of the audit of Decaying-K, by arithmetic of their own: plain loops and numbers typed from the paper."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import product
from math import sqrt
from typing import Any

import numpy as np
import pytest
from loops import cases

from bounds.catalog import BOUNDS
from paper_checks.audit.running import CLAIMS
from paper_checks.claims.claim import Book
from paper_checks.claims.parabolas import Parabolas


def test_scalar_federations_run_as_by_hand():
    problem = Parabolas.of((2, -1), (1, 3))
    assert problem.local(1, Fraction(1), 2, Fraction(1, 4)) == [1, Fraction(-1, 2), Fraction(-7, 8)]
    assert problem.minimiser == Fraction(-1, 4)
    assert problem.loss(Fraction(1)) == Fraction(1, 4) + 3
    assert problem.round_ends(Fraction(1), 1, 1, Fraction(1, 4)) == [
        (Fraction(1, 2), Fraction(5, 4)),
        (Fraction(1, 2), Fraction(-1, 2)),
    ]


def test_the_printed_step_size_is_above_the_limit_for_a_gradient_cap_that_strong_convexity_allows():
    """(x^2 + y^2/48)/2 at (1, 0): kappa = 48, F = 1/2, G^2 = 1 >= 2 mu F = 1/48, N = K = 1, four rounds: 1 > 1/4."""
    assert 2 * 48 * Fraction(1, 2) / 12 / 4 == 1 > Fraction(1, 4)
    witness = CLAIMS["decaying_k.corollary_2_1_cap"].check(Book()).witness
    cap, mu, loss, least = (
        Fraction(witness[n]) for n in ("grad_cap_sq", "strong_convexity", "current_loss", "optimal_loss")
    )
    assert cap >= 2 * mu * (loss - least)


def test_the_ratio_to_the_worst_case_is_rounded_down():
    """450.75 / 0.97149783 = 463.974... in the table."""
    said = CLAIMS["decaying_k.theorem_1.worst_case"].check(Book()).evidence
    assert said.startswith("bound / exact worst case >= 463.9 at ")


# ---- schedules of local steps that change over the rounds, which no search generates ----

# The runs have a closed form of their own: clients (x - m_i)^2/2 of equal curvature, N of C drawn without replacement
# and averaged, noise of variance sigma^2 a step, K_r steps in round r. With q = (1 - eta)^K and v the variance that K
# steps add, a round makes
#
#     E x' = q E x,   E x'^2 = q^2 E x^2 + v/C + (C - N)/(N(C - 1)) ((1 - q)^2 S + v(1 - 1/C)),   S = mean m_i^2
#
# and the average of all clients after k of its steps has the mean square (1 - eta)^(2k) E x^2 + v_k/C. Here L = mu = 1,
# x^* = 0, F = x^2/2 + S/2, Gamma = S/2; half the clients have m_i = sqrt(S), half -sqrt(S). G^2 is the largest
# expected square of a client's stochastic gradient in the run.


@dataclass(frozen=True)
class Plan:
    """C (even), N, the local steps of every round; eta as a share of its cap, S, sigma^2 and the start."""

    clients: int
    cohort: int
    schedule: tuple[int, ...]
    speed: float = 1.0
    apart: float = 1.0
    noise: float = 1.0
    start: float = 3.0


FALLING = tuple(int(np.ceil(50 / r ** (1 / 3))) for r in range(1, 200))
PLANS = {
    "a schedule that falls by cube roots, as in Table 3": Plan(500, 25, FALLING, 0.04),
    "a schedule that grows, which Theorem 1 excludes and its proof does not": Plan(40, 4, tuple(range(1, 60)), 0.05),
    "rounds of 1 and of 300 steps in turn": Plan(40, 4, (1, 300) * 10, 0.1),
    "the stationary start of two opposed clients": Plan(2, 1, (20,) * 2500, 4 * 65e-6, noise=0.0, start=0.02550),
}  # fmt: skip
SCHEDULED = ("lemma_1", "lemma_1_sharp", "lemma_2_repaired", "theorem_1", "theorem_1_repaired", "theorem_1_sharp")


@cache
def run(plan: Plan, step: float) -> dict[str, np.ndarray]:
    """At every iteration: the mean square of the average before and after it, K of its round, and the largest G^2."""
    c, n = plan.clients, plan.cohort
    draw = (c - n) / (n * (c - 1))
    mean, square, before, after, local = plan.start, plan.start**2, [], [], []
    cap = 0.0
    for steps in plan.schedule:
        decay = (1 - step) ** np.arange(steps + 1.0)
        added = step**2 * plan.noise * np.concatenate([[0], np.cumsum(decay[:-1] ** 2)])
        along = decay**2 * square + added / c
        away = square + plan.apart + 2 * sqrt(plan.apart) * abs(mean)  # of the client on the far side
        cap = max(cap, float(np.max(decay[:-1] ** 2 * away + added[:-1])) + plan.noise)
        q, v = decay[-1], added[-1]
        square = q**2 * square + v / c + draw * ((1 - q) ** 2 * plan.apart + v * (1 - 1 / c))
        mean *= q
        before.append(along[:-1])
        after.append(np.append(along[1:-1], square))
        local.append(np.full(steps, steps))
    series = {"before": before, "after": after, "local": local}
    return {name: np.concatenate(parts) for name, parts in series.items()} | {"cap": np.array(cap)}


def sides(name: str, plan: Plan) -> tuple[Any, Any]:
    """The exact value of what the statement is on, and the bound; NaN where its conditions are not met."""
    step = plan.speed * (1.0 if name == "theorem_1_sharp" else 0.25)
    seen, schedule = run(plan, step), np.array(plan.schedule, dtype=float)
    total, grad = schedule.sum(), seen["before"]
    exact = {
        "lemma_1": seen["after"], "lemma_1_sharp": seen["after"], "lemma_2_repaired": step * grad.sum(),
        "theorem_1": grad.min(), "theorem_1_repaired": grad.min(),
    }.get(name, grad.mean())  # fmt: skip
    known = {
        "clients": plan.clients, "cohort": plan.cohort, "iterations": total, "step_size": step, "smoothness": 1.0,
        "strong_convexity": 1.0, "heterogeneity": plan.apart / 2, "grad_cap_sq": seen["cap"],
        "optimal_loss": plan.apart / 2, "initial_loss": (plan.start**2 + plan.apart) / 2,
        "steps_cubed_ratio": (schedule**3).sum() / total, "squared_step_sizes": step**2 * total,
        "distance_sq": seen["before"], "local_steps": seen["local"] if name.startswith("lemma_1") else schedule.max(),
        "client_gradient_variance": plan.noise,
    }  # fmt: skip
    bound = BOUNDS[f"decaying_k.{name}"].equal_clients()
    return exact, bound(**{q.name: known[q.name] for q in bound.quantities})


@pytest.mark.slow
@cases("name attempt", product(SCHEDULED, PLANS))
def test_with_g_a_bound_on_the_clients_gradients_decaying_k_survives_every_schedule(name, attempt):
    exact, bound = sides(name, PLANS[attempt])
    assert not np.isnan(bound).any()
    assert (exact <= bound * (1 + 1e-9) + 1e-300).all()
