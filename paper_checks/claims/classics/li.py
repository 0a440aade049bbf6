"""Li et al. 2020: Theorems 1 to 3, from the recursion of their distances, in both readings of the first step."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise, product

import sympy as sp

from bounds.classics.li import LI
from bounds.operators import ClientMax, ClientSum
from bounds.units import LOSS
from bounds.vocabulary import (
    client_gradient_variance as sigma_k,
    client_weight as p_k,
    clients as N,
    cohort as K,
    grad_cap_sq as G2,
    heterogeneity as Gamma,
    initial_distance_sq as D2,
    iterations as T,
    local_steps as E,
    noise_level as B,
    smoothness as L,
    step_offset as gamma,
    strong_convexity as mu,
)

from ..checkers import agreed, All, At, Computed, ImpliedBy, Informative, MeasuredIn, Readings, Same, States, TendsTo
from ..claim import Book, Claim, Defect, Finding, judged, Kind, Repair, Status
from ..decaying_k.by_hand.scalar import Scalars
from ..decaying_k.common import number, short
from .by_hand.runs import mean

ONE, TWO, THREE = (f"classics.li_theorem_{i}" for i in (1, 2, 3))
SETTING = (
    "smooth", "strongly_convex", "bounded_variance", "independent_noise", "bounded_gradient", "local_sgd",
    "fixed_local_steps", "harmonic_step_size",
)  # fmt: skip
GAMMA = sp.Max(8 * L / mu, E)
NOISE = ClientSum(p_k**2 * sigma_k) + 6 * L * Gamma + 8 * (E - 1) ** 2 * G2
SCHEME = 4 / K * E**2 * G2


def _stated(noise: sp.Expr) -> sp.Expr:
    return L / mu / (GAMMA + T - 1) * (2 * noise / mu + mu * GAMMA / 2 * D2)


def _sizes(first: int, problem: Scalars, steps: int, iterations: int) -> list[Fraction]:
    curved = problem.strong_convexity
    offset = max(8 * problem.smoothness / curved, Fraction(steps))
    return [2 / (curved * (offset + t)) for t in range(first, first + iterations)]


def _run(problem: Scalars, cohort: int, steps: int, rounds: int, first: int, again: bool) -> tuple[Fraction, Fraction]:
    """The expected gap after all rounds, over every cohort of every round, and the largest squared client gradient."""
    sizes = _sizes(first, problem, steps, steps * rounds)
    drawn = list(product(range(problem.clients), repeat=cohort)) if again else [c for _, c in problem.cohorts(cohort)]
    servers, largest = [Fraction(4)], Fraction(0)
    for r in range(rounds):
        ends = []
        for server in servers:
            models = [server] * problem.clients
            for size in sizes[r * steps : (r + 1) * steps]:
                gradients = [problem.gradient(c, x) for c, x in enumerate(models)]
                largest = max(largest, *(g**2 for g in gradients))
                models = [x - size * g for x, g in zip(models, gradients, strict=True)]
            ends += [mean([models[c] for c in chosen]) for chosen in drawn]
        servers = ends
    return mean([problem.loss(x) - problem.optimal_loss for x in servers]), largest


def _exact_runs(name: str, cohort: int, again: bool = False) -> Computed:
    """Runs from the start 4, in both readings of the first step, against the bound with the G met on the way."""

    def run(book: Book) -> Finding:
        problem, worst = Scalars.of((5, -2, 1), (2, 1, 3)), Fraction(0)
        for steps, rounds, first in ((3, 2, 0), (3, 2, 1), (1, 3, 0), (9, 2, 1)):
            gap, largest = _run(problem, cohort, steps, rounds, first, again)
            bound = number(
                book, name, **problem.values(), cohort=cohort, local_steps=steps, iterations=steps * rounds,
                grad_cap_sq=largest, initial_distance_sq=(4 - problem.minimiser) ** 2,
            )  # fmt: skip
            worst = max(worst, gap / Fraction(bound.p, bound.q))
        return judged(worst <= 1, f"at most {short(worst)} of the bound in four runs over all cohorts")

    return Computed("unlike parabolas without noise, all draws enumerated", run)


def _first_steps(first: int) -> Computed:
    """The recursion with equality, from 1 and from 0, against the start and the noise of the stated bound."""

    def run(book: Book) -> Finding:
        worst = Fraction(0)
        for offset, iterations in ((Fraction(8), 1), (Fraction(9), 7), (Fraction(80), 60), (Fraction(17, 2), 200)):
            start, noise = Fraction(1), Fraction(0)
            for t in range(first, first + iterations - 1):  # from w_1 to w_T, mu = 1
                size = 2 / (offset + t)
                start, noise = (1 - size) * start, (1 - size) * noise + size**2
            falling = 1 / (offset + iterations - 1)
            worst = max(worst, start / (falling * offset), noise / (4 * falling))
        return judged(worst <= 1, f"start and noise are at most {short(worst)} of their terms in four runs")

    return Computed("the recursion run with equality", run)


RATE = ImpliedBy(
    (gamma + T - 1) / (gamma + T) ** 2, 1 / (gamma + T + 1), squares=(1 / ((gamma + T) ** 2 * (gamma + T + 1)),)
)
"""What the induction asks of every step: from v/(gamma + t) to v/(gamma + t + 1), where v is at least 4 B/mu^2."""

FIRST_STEP = Claim(
    "classics.li_first_step",
    "The bounds follow from the recursion of the distances, whichever step size the first local step has.",
    Kind.PROOF.at("Section 3.1, eqs. (4), (5)", LI),
    All(
        {
            "induction": RATE,
            "readings": Readings(
                {"eta_0 = 2/(mu gamma)": _first_steps(0), "eta_1 = 2/(mu (gamma + 1))": _first_steps(1)}
            ),
            "products": Computed("the start's factors in closed form", lambda book: _products()),
        }
    ),
    note="With eta_1 first the induction alone gives (gamma + 1)/(gamma + T) for gamma/(gamma + T - 1), which is less "
    "than needed; but the start falls like 1/T^2, gamma (gamma - 1)/((gamma + T - 1)(gamma + T - 2)).",
)


def _products() -> Finding:
    pairs = {}
    for offset, steps in ((Fraction(9), 6), (Fraction(41, 2), 33)):
        found = Fraction(1)
        for t in range(1, steps):
            found *= 1 - 2 / (offset + t)
        wanted = offset * (offset - 1) / ((offset + steps - 1) * (offset + steps - 2))
        pairs[f"T = {steps}"] = (found, wanted)
    return agreed(pairs)


def _of_recursion(book: Book) -> sp.Expr:
    """L/2 times the larger of noise and start over gamma + T - 1, with the noise of the recursion of another paper."""
    return L / 2 * (4 / mu**2 * B + GAMMA * D2) / (GAMMA + T - 1)


THEOREM_1 = Claim(
    "classics.li_theorem_1",
    "With all clients (4) bounds the last model's gap, whatever the clients' weights.",
    Kind.THEOREM.at("Theorem 1, eqs. (4), (5)", LI),
    {
        "formula": Same(ONE, _stated(NOISE)),
        "from the recursion": Same(At(_of_recursion, {B: NOISE}), ONE),
        "unit": MeasuredIn(ONE, LOSS),
        "conditions": States(ONE, (), (*SETTING, "full_participation"), words=1),
        "exact runs": _exact_runs(ONE, 3),
    },
)

THEOREM_2 = Claim(
    "classics.li_theorem_2",
    "Where K clients are drawn with replacement, 4 E^2 G^2/K is added to the noise.",
    Kind.THEOREM.at("Theorem 2, eq. (6)", LI),
    {
        "formula": Same(TWO, _stated(NOISE + SCHEME)),
        "unit": MeasuredIn(TWO, LOSS),
        "conditions": States(TWO, (), (*SETTING, "sampled_with_replacement"), words=1),
        "exact runs": _exact_runs(TWO, 2, again=True),
    },
)

THEOREM_3 = Claim(
    "classics.li_theorem_3",
    "Where K of N equal clients are drawn without replacement, the addition is (N - K)/(N - 1) of that.",
    Kind.THEOREM.at("Theorem 3", LI),
    {
        "formula": Same(THREE, _stated(NOISE + SCHEME * (N - K) / (N - 1))),
        "all take part": Same(At(THREE, {K: N}), ONE),
        "unit": MeasuredIn(THREE, LOSS),
        "conditions": States(THREE, (sp.Gt(N, 1),), (*SETTING, "sampled_without_replacement"), words=2),
        "exact runs": _exact_runs(THREE, 2),
    },
)

SAYS = Claim(
    "classics.li_theorem_1.informative",
    "(4) can be smaller than what smoothness says of the start, and tends to 0 with the iterations.",
    Kind.REMARK.at("Theorem 1", LI),
    {
        "smaller": Informative(ONE, L / 2 * D2, under=(ONE,)),
        "limit": TendsTo(ONE, T, sp.oo, sp.S.Zero),
    },
    ours=True,
)


def _worth_of_steps(book: Book) -> Finding:
    """In a fixed number of iterations, does more than one local step ever lower the bound?"""
    bounds = [
        number(
            book, ONE, client_weight=(Fraction(1, 4),) * 4, client_gradient_variance=(3, 1, 2, 5), smoothness=2,
            strong_convexity=1, heterogeneity=Fraction(1, 3), grad_cap_sq=7, initial_distance_sq=5, iterations=120,
            local_steps=steps,
        )
        for steps in (1, 2, 5, 12, 40)
    ]  # fmt: skip
    return judged(all(a < b for a, b in pairwise(bounds)), ", ".join(map(short, bounds)))


DRIFT = Claim(
    "classics.li_theorem_1.local_steps",
    "For a fixed number of iterations the bound grows with the local steps: what they save is communication alone.",
    Kind.REMARK.at("Section 3.3", LI),
    Computed("bounds of 1 to 40 local steps", _worth_of_steps),
    ours=True,
)

# ---- unbalanced clients ----


def _stretched(book: Book) -> Finding:
    """Two clients with weights 3/4 and 1/4: the first one's scaled gradient against the stated cap."""
    weight, clients = Fraction(3, 4), 2
    largest = weight * clients
    found, stated = (weight * clients) ** 2, largest
    witness = {"p": "3/4, 1/4", "||grad F_1||^2": "1", "nu": str(largest)}
    said = f"the squared gradient of p_1 N F_1 is {found}, the stated cap {stated}"
    return judged(found <= stated, said, witness, found == Fraction(9, 4) and stated == Fraction(3, 2))


UNBALANCED = Claim(
    "classics.li_unbalanced",
    "The scaled losses p_k N F_k have gradients of norm at most sqrt(nu) G and noise of at most sqrt(nu) sigma, nu "
    "being "
    "N times the largest weight.",
    Kind.REMARK.at("after Theorem 3", LI),
    Computed("two clients of weights 3/4 and 1/4", _stretched),
    known=Status.FAILS,
    note="A gradient is scaled by p_k N, its square by the square of that. The smoothness, which is scaled once, is "
    "right.",
    damaged="the text was read by a machine; a root over nu^2 would be the repair",
    repair=Repair(
        "nu in place of its root", {"squares": ImpliedBy((N * p_k) ** 2 * G2, (N * ClientMax(p_k)) ** 2 * G2)}
    ),
    defect=Defect.REFUTED,
)

START = Claim(
    "classics.li_start",
    "The start is no further from the minimiser than 2 G/mu.",
    Kind.REMARK.at("Section 3.1, after eq. (7)", LI),
    Computed("a parabola, started at 4: G is the gradient there", lambda book: _start()),
    note="A quarter of it would do: strong convexity gives mu ||w - w*|| <= ||grad F(w)|| <= G.",
)


def _start() -> Finding:
    problem = Scalars.of((5, -2, 1), (2, 1, 3))
    largest = max(problem.gradient(c, Fraction(4)) ** 2 for c in range(3))
    share = (4 - problem.minimiser) ** 2 / (4 * largest / problem.strong_convexity**2)
    return judged(share <= Fraction(1, 4), f"the squared distance is {short(share)} of the bound")
