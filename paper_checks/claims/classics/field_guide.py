"""Wang et al. 2021: Theorem 1, the lemmas that it is made of, and the step size that it is tuned with."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product

import sympy as sp

from bounds import vocabulary as q
from bounds.classics.field_guide import CAPS, GUIDE
from bounds.units import LOSS, PARAMETER

from ..checkers import At, Dominates, EdgeIs, ImpliedBy, Informative, MeasuredIn, resolve, Same, States, term, Total
from ..claim import Book, Claim, Finding, Kind
from ..parabolas import Scalars
from .runs import bent, bent_loss, Case, coin_means, compared, consensus, mean, MIXED, paths, pushed_means

D2, L, M, T = q.initial_distance_sq, q.smoothness, q.clients, q.rounds
eta, sigma2, tau, zeta2 = q.step_size, q.gradient_variance, q.local_steps, q.uniform_dissimilarity

LEMMA_1, LEMMA_2 = "classics.field_guide_lemma_1", "classics.field_guide_lemma_2"
THEOREM, TUNED, STEP = (f"classics.field_guide_{x}" for x in ("theorem_1", "theorem_1_tuned", "step_size"))
SHORT = eta <= 1 / (4 * L)
FEDERATION = (
    "convex", "smooth", "bounded_variance", "independent_noise", "local_sgd", "full_participation", "fixed_step_size",
    "fixed_local_steps",
)  # fmt: skip
ZETA = "uniform_dissimilarity"
SHIFTED, ONE = Scalars.of((6, -3, 0), (2, 2, 2)), Scalars.of((1, 1, 1), (2, 2, 2))
"""Clients of one curvature: between parabolas of different ones no finite zeta stands."""
VARIANCE = Fraction(5, 3)
PUSHED = 8
"""Local steps, each of 1/4, of clients whose curvature is 1 below the minimum and 1/2 above it."""


def _disagreement(problem: Scalars) -> Fraction:
    gradients = [
        problem.gradient(c, Fraction(0)) - problem.global_gradient(Fraction(0)) for c in range(problem.clients)
    ]
    return max(g**2 for g in gradients)


def _drifting(book: Book) -> Finding:
    """Mean and variance of a client's distance to the average of three, on parabolas of curvature 2, step by step."""

    def cases() -> Iterator[Case]:
        rounds = ((2, Fraction(1, 8)), (7, Fraction(1, 8)), (7, Fraction(1, 100)), (30, Fraction(1, 9)))
        noisy = ((SHIFTED, VARIANCE), (SHIFTED, Fraction(0)), (ONE, VARIANCE))
        for (steps, step), (problem, variance) in product(rounds, noisy):
            spread = Fraction(0)
            for models in paths(problem, Fraction(4), 1, steps, step)[:steps]:
                yield max((x - mean(models)) ** 2 for x in models) + spread, {
                    "local_steps": steps, "step_size": step, "uniform_dissimilarity": _disagreement(problem),
                    "gradient_variance": variance, "smoothness": 2,
                }  # fmt: skip
                spread = (1 - 2 * step) ** 2 * spread + step**2 * variance * Fraction(2, 3)

    return compared(book, LEMMA_2, cases())


def _one_round(book: Book) -> Finding:
    """Lemma 1 on rounds of different parabolas without noise, and on a step from the minimum with nothing but noise."""

    def cases() -> Iterator[Case]:
        problem = MIXED
        rounds = ((3, 12, Fraction(4)), (9, 20, Fraction(-7, 2)), (9, 12, problem.minimiser))
        for steps, step, start in ((steps, Fraction(1, part), start) for steps, part, start in rounds):
            seen = paths(problem, start, 1, steps, step)
            after = [mean(models) for models in seen[1:]]
            yield mean([problem.loss(x) - problem.optimal_loss for x in after]), {
                "clients": 3, "gradient_variance": 0, "smoothness": 3, "step_size": step, "local_steps": steps,
                "distance_sq": (start - problem.minimiser) ** 2,
                "round_end_distance_sq": (after[-1] - problem.minimiser) ** 2,
                "summed_consensus": sum(map(consensus, seen[:steps]), Fraction(0)),
            }  # fmt: skip
        step = Fraction(1, 8)
        moved = step**2 * VARIANCE / 3
        yield moved, {  # curvature 2: the gap is the squared distance
            "clients": 3, "gradient_variance": VARIANCE, "smoothness": 2, "step_size": step, "local_steps": 1,
            "distance_sq": 0, "round_end_distance_sq": moved, "summed_consensus": 0,
        }  # fmt: skip

    return compared(book, LEMMA_1, cases())


def _whole_run(book: Book) -> Finding:
    """Theorem 1 on parabolas of one curvature with noise, and on a bent loss, where local steps move the average."""

    def cases() -> Iterator[Case]:
        runs = ((4, 5, 8, SHIFTED), (1, 9, 30, SHIFTED), (8, 2, 10, SHIFTED), (1, 300, 300, ONE))
        for steps, rounds, part, problem in runs:
            step, start = Fraction(1, part), Fraction(4 if problem is SHIFTED else 1)
            second, gaps = (start - problem.minimiser) ** 2, []
            for _ in range(steps * rounds):  # the average takes a step of gradient descent with a third of the noise
                second = (1 - 2 * step) ** 2 * second + step**2 * VARIANCE / 3
                gaps.append(second)  # curvature 2: the gap is the squared distance
            yield mean(gaps), {
                "clients": 3, "gradient_variance": VARIANCE, "smoothness": 2, "step_size": step, "local_steps": steps,
                "initial_distance_sq": (start - problem.minimiser) ** 2, "rounds": rounds,
                "uniform_dissimilarity": _disagreement(problem),
            }  # fmt: skip
        for many, variance, moved in ((10**6, 1, coin_means), (2, 0, pushed_means)):
            after = moved(bent(Fraction(1)), Fraction(1, 4), PUSHED + 1)[1:]
            yield mean([bent_loss(Fraction(1), x) for x in after]), {  # with noise at least that, by Jensen
                "clients": many, "gradient_variance": variance, "smoothness": 1, "step_size": Fraction(1, 4),
                "local_steps": PUSHED, "initial_distance_sq": 0, "rounds": 1, "uniform_dissimilarity": 1 - variance,
            }  # fmt: skip

    return compared(book, THEOREM, cases())


LEMMA_ONE = Claim(
    "classics.field_guide_lemma_1",
    "In a round the mean gap is bounded by the progress towards the minimiser, the noise and the summed disagreement.",
    Kind.THEOREM.at("Section 6.1.2, Lemma 1", GUIDE),
    {
        "formula": Same(
            LEMMA_1,
            (q.distance_sq - q.round_end_distance_sq) / (2 * eta * tau)
            + eta * sigma2 / M
            + L * q.summed_consensus / tau,
        ),
        "unit": MeasuredIn(LEMMA_1, LOSS),
        "conditions": States(LEMMA_1, (SHORT,), FEDERATION, words=1),
        "exact round": _one_round,
    },
)

LEMMA_TWO = Claim(
    "classics.field_guide_lemma_2",
    "No client is further from the average, in the mean square, than 18 (tau eta zeta)^2 + 4 tau (eta sigma)^2.",
    Kind.THEOREM.at("Section 6.1.2, Lemma 2", GUIDE),
    {
        "formula": Same(LEMMA_2, 18 * tau**2 * eta**2 * zeta2 + 4 * tau * eta**2 * sigma2),
        "unit": MeasuredIn(LEMMA_2, PARAMETER**2),
        "conditions": States(LEMMA_2, (SHORT,), (*FEDERATION, ZETA), words=1),
        "exact rounds": _drifting,
    },
)

THEOREM_1 = Claim(
    "classics.field_guide_theorem_1",
    "(15) bounds the mean gap over all rounds and local steps for every fixed step size up to 1/(4L).",
    Kind.THEOREM.at("Theorem 1, eq. (15)", GUIDE),
    {
        "from the lemmas": Same(
            THEOREM,
            At(
                LEMMA_1,
                {q.distance_sq: D2 / T, q.round_end_distance_sq: 0, q.summed_consensus: Total(((tau, LEMMA_2),))},
            ),
        ),
        "unit": MeasuredIn(THEOREM, LOSS),
        "conditions": States(THEOREM, (SHORT,), (*FEDERATION, ZETA), words=1),
        "largest step": EdgeIs(THEOREM, eta, 1 / (4 * L)),
        "exact runs": _whole_run,
        "search": Dominates(THEOREM, family="quadratics"),
    },
    note="The sum of Lemma 1 over the rounds telescopes; what is left of it is the start, shared by the rounds.",
)

SAYS = Claim(
    "classics.field_guide_theorem_1.informative",
    "(15) can be smaller than what smoothness says of the start, L/2 times its squared distance.",
    Kind.REMARK.at("Theorem 1", GUIDE),
    Informative(THEOREM, L / 2 * D2, under=(THEOREM,)),
    ours=True,
)


def _tuned_terms(book: Book) -> sp.Expr:
    """(15) with the start at the sum of what the four caps ask for, and every other term at the cap that is its own."""
    start = sum((D2 / (2 * cap * tau * T) for cap in CAPS), sp.S.Zero)
    names = ("noise", "noise drift", "heterogeneity drift")
    own = (resolve(At(term(THEOREM, name), {eta: cap}), book) for name, cap in zip(names, CAPS[1:], strict=True))
    return sp.powsimp(sp.expand(start + sum(own, sp.S.Zero)), force=True)


TUNED_STEP = Claim(
    "classics.field_guide_theorem_1_tuned",
    "With the least of four step sizes (15) is at most (17), with the constants 2, 2, 5 and 19.",
    Kind.THEOREM.at("Theorem 1, eqs. (16), (17)", GUIDE),
    {
        "term by term": ImpliedBy(_tuned_terms, TUNED, within=dict.fromkeys((D2, sigma2, zeta2, L), (0.01, 100.0))),
        "unit": MeasuredIn(TUNED, LOSS),
        "unit of the step": MeasuredIn(STEP, PARAMETER**2 / LOSS),
        "conditions": States(TUNED, (sp.Gt(D2, 0), sp.Gt(sigma2, 0), sp.Gt(zeta2, 0)), (*FEDERATION, ZETA), words=2),
    },
    note="One over the least step is at most the sum of one over each; what is needed is 2, 3/2, 9/2 and 37/2.",
)
