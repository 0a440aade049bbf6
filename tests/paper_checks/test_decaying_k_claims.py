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
from empirics.algorithms.algorithm import fedavg, renamed
from empirics.exact import expected, FLOATS, Group
from empirics.training.setting import Setting
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

# Clients (x - m_i)^2/2, half with m_i = sqrt(S), half -sqrt(S), are followed exactly: L = mu = 1, x^* = 0,
# F = x^2/2 + S/2, Gamma = S/2. G^2 is the largest expected square of a client's stochastic gradient in the run.


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
    needs_loss = False

    def __call__(self, state: Any, steps: int, size: float) -> tuple[int, float]:
        """The hook of an algorithm that says how many steps a round has."""
        return self.schedule[state.round], size


FALLING = tuple(int(np.ceil(50 / r ** (1 / 3))) for r in range(1, 200))
PLANS = {
    "a schedule that falls by cube roots, as in Table 3": Plan(500, 25, FALLING, 0.04),
    "a schedule that grows, which Theorem 1 excludes and its proof does not": Plan(40, 4, tuple(range(1, 60)), 0.05),
    "rounds of 1 and of 300 steps in turn": Plan(40, 4, (1, 300) * 10, 0.1),
    "the stationary start of two opposed clients": Plan(2, 1, (20,) * 2500, 4 * 65e-6, noise=0.0, start=0.02550),
}  # fmt: skip
SCHEDULED = ("lemma_1", "lemma_1_sharp", "lemma_2_repaired", "theorem_1", "theorem_1_repaired", "theorem_1_sharp")


@cache
def run(plan: Plan, step: float) -> Any:
    """The exact moments of the run."""
    opposed = [Group(1.0, side * sqrt(plan.apart), plan.noise, count=plan.clients // 2) for side in (1, -1)]
    method = renamed(fedavg, "own()", steps=plan)
    setting = Setting(len(plan.schedule), plan.cohort, local_steps=max(plan.schedule), step_size=step)
    return expected(method, opposed, plan.start, setting, FLOATS)


def sides(name: str, plan: Plan) -> tuple[Any, Any]:
    """The exact value of what the statement is on, and the bound; NaN where its conditions are not met."""
    step = plan.speed * (1.0 if name == "theorem_1_sharp" else 0.25)
    made, schedule = run(plan, step), np.array(plan.schedule)
    square = made.iterations("distance_sq")
    total, grad, cap = schedule.sum(), square[:-1], made.rounds["grad_cap_sq"].max()
    exact = {
        "lemma_1": square[1:], "lemma_1_sharp": square[1:], "lemma_2_repaired": step * grad.sum(),
        "theorem_1": grad.min(), "theorem_1_repaired": grad.min(),
    }.get(name, grad.mean())  # fmt: skip
    known = {
        "clients": plan.clients, "cohort": plan.cohort, "iterations": total, "step_size": step, "smoothness": 1.0,
        "strong_convexity": 1.0, "heterogeneity": plan.apart / 2, "grad_cap_sq": cap,
        "optimal_loss": plan.apart / 2, "initial_loss": (plan.start**2 + plan.apart) / 2,
        "steps_cubed_ratio": (schedule**3).sum() / total, "squared_step_sizes": step**2 * total,
        "distance_sq": grad, "local_steps": np.repeat(schedule, schedule) if "lemma_1" in name else schedule.max(),
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
