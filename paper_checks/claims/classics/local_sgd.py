"""Khaled et al. 2019, local SGD on one loss: the recursion, its two theorems, and the printed power of L."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import sympy as sp

from bounds import vocabulary as q
from bounds.classics.local_sgd import LOCAL_SGD_2019 as LOCAL_SGD
from bounds.units import LOSS, PARAMETER

from ..checkers import All, At, Dominates, EdgeIs, ImpliedBy, Informative, MeasuredIn, number, Same, short, States, term
from ..checkers.formulas import Total
from ..claim import Book, Claim, Defect, Finding, judged, Kind, Repair
from .runs import bent, bent_loss, Case, coin_means, compared, consensus, distance_after, mean

D2, D_f, H, L = q.initial_distance_sq, q.optimality_gap, q.local_steps, q.smoothness
M, T, V, a = q.clients, q.iterations, q.consensus_distance, q.inverse_step
gamma, mu, sigma2 = q.step_size, q.strong_convexity, q.gradient_variance

LEMMA, RECURSION, ONE, COROLLARY_1 = (
    f"classics.local_sgd_{x}" for x in ("lemma_1", "recursion", "theorem_1", "corollary_1")
)
TWO_PRINTED, TWO, COROLLARY_2_PRINTED, COROLLARY_2 = (
    f"classics.local_sgd_{x}" for x in ("theorem_2_printed", "theorem_2", "corollary_2_printed", "corollary_2")
)
ALIKE = (
    "smooth", "bounded_variance", "identical_clients", "independent_noise", "local_sgd", "full_participation",
    "fixed_step_size",
)  # fmt: skip
QUARTER, HALF = gamma <= 1 / (4 * L), gamma <= 1 / (2 * L)
BEND, NOISE = 3, Fraction(7, 5)
"""One parabola for all: its curvature, and the variance of every client's gradient."""


def _spread(clients: int, steps: int, step: Fraction) -> list[Fraction]:
    """V before each local step of a round on the parabola: the noise that the clients do not share."""
    found = [Fraction(0)]
    for _ in range(steps - 1):
        found.append((1 - step * BEND) ** 2 * found[-1] + step**2 * NOISE * (1 - Fraction(1, clients)))
    return found


def _disagreement(book: Book) -> Finding:
    rounds = ((2, 5, Fraction(1, 6)), (40, 30, Fraction(1, 50)), (3, 2, Fraction(1, 7)))
    cases = (
        (
            max(_spread(clients, steps, step)),
            {"local_steps": steps, "step_size": step, "gradient_variance": NOISE, "smoothness": BEND},
        )
        for clients, steps, step in rounds
    )
    return compared(book, LEMMA, cases)


def _one_step(book: Book) -> Finding:
    """Steps on the parabola, and one of two clients on either side of the minimum of a bent loss."""

    def cases() -> Iterator[Case]:
        for clients, step, start in ((2, Fraction(1, 6), Fraction(5)), (7, Fraction(1, 50), Fraction(0))):
            for spread in _spread(clients, 6, step):
                yield distance_after((1 - step * BEND) ** 2, step**2 * NOISE / clients, start, 1), {
                    "distance_sq": start, "clients": clients, "gradient_variance": NOISE, "consensus_distance": spread,
                    "optimality_gap": start * BEND / 2, "smoothness": BEND, "strong_convexity": BEND, "step_size": step,
                }  # fmt: skip
        step, apart = Fraction(1, 6), (Fraction(-1), Fraction(1))
        yield mean([x - step * bent(Fraction(BEND))(x) for x in apart]) ** 2, {
            "distance_sq": 0, "clients": 2, "gradient_variance": 0, "consensus_distance": consensus(apart),
            "optimality_gap": 0, "smoothness": BEND, "strong_convexity": Fraction(BEND, 2), "step_size": step,
        }  # fmt: skip

    return compared(book, RECURSION, cases())


def _distances(book: Book) -> Finding:
    """Runs on the parabola, and on a bent loss with coins for noise, where local steps move the average."""

    def cases() -> Iterator[Case]:
        for clients, steps, rounds, step, start in (
            (2, 5, 4, Fraction(1, 12), 6), (9, 1, 30, Fraction(1, 60), 6), (2, 1, 30, Fraction(1, 60), 0)
        ):  # fmt: skip
            yield distance_after((1 - step * BEND) ** 2, step**2 * NOISE / clients, Fraction(start), steps * rounds), {
                "initial_distance_sq": start, "clients": clients, "gradient_variance": NOISE, "smoothness": BEND,
                "strong_convexity": BEND, "step_size": step, "local_steps": steps, "iterations": steps * rounds,
            }  # fmt: skip
        yield coin_means(bent(Fraction(1)), Fraction(1, 4), 9)[-1] ** 2, {  # at least that, by Jensen
            "initial_distance_sq": 0, "clients": 10**6, "gradient_variance": 1, "smoothness": 1,
            "strong_convexity": Fraction(1, 2), "step_size": Fraction(1, 4), "local_steps": 8, "iterations": 8,
        }  # fmt: skip

    return compared(book, ONE, cases())


def _gaps(book: Book) -> Finding:
    """Theorem 2 on the parabola, where the models' mean is Gaussian in its moments, and on the bent loss with coins."""

    def cases() -> Iterator[Case]:
        step, steps = Fraction(1, 600), 200
        left = [(1 - step * BEND) ** k for k in range(steps)]  # of the start, in the models before every step
        noises = [step * sum(left[: steps - 1 - k], Fraction(0)) / steps for k in range(steps - 1)]
        spread = NOISE / 2 * sum((factor**2 for factor in noises), Fraction(0))
        for start, variance in ((5, 0), (0, NOISE)):
            yield Fraction(BEND, 2) * (start * mean(left) ** 2 + (spread if variance else 0)), {
                "initial_distance_sq": start, "clients": 2, "gradient_variance": variance, "smoothness": BEND,
                "step_size": step, "local_steps": 1, "iterations": steps,
            }  # fmt: skip
        yield bent_loss(Fraction(1), mean(coin_means(bent(Fraction(1)), Fraction(1, 4), 8))), {
            "initial_distance_sq": 0, "clients": 10**6, "gradient_variance": 1, "smoothness": 1,
            "step_size": Fraction(1, 4), "local_steps": 8, "iterations": 8,
        }  # fmt: skip

    return compared(book, TWO, cases())


LEMMA_1 = Claim(
    "classics.local_sgd_lemma_1",
    "The clients' mean squared distance to their average is at most H gamma^2 sigma^2.",
    Kind.THEOREM.at("Lemma 1, eq. (5)", LOCAL_SGD),
    {
        "formula": Same(LEMMA, H * gamma**2 * sigma2),
        "unit": MeasuredIn(LEMMA, PARAMETER**2),
        "conditions": States(LEMMA, (HALF,), (*ALIKE, "convex"), words=1),
        "exact rounds": _disagreement,
    },
    note="The paper states it with strong convexity or without; convexity is what keeps a step from stretching "
    "distances.",
)

STEP = Claim(
    "classics.local_sgd_recursion",
    "(21) with Lemma 3: a step contracts the distance by 1 - gamma mu and half of gamma times the gap, up to noise "
    "and drift.",
    Kind.THEOREM.at("Appendix, Lemmas 2 and 3, eq. (21)", LOCAL_SGD),
    {
        "formula": Same(
            RECURSION, (1 - gamma * mu) * q.distance_sq + gamma**2 * sigma2 / M - gamma / 2 * D_f + 2 * gamma * L * V
        ),
        "unit": MeasuredIn(RECURSION, PARAMETER**2),
        "conditions": States(RECURSION, (HALF,), (*ALIKE, "strongly_convex"), words=1),
        "exact steps": _one_step,
    },
)


ADDED = At(RECURSION, {q.distance_sq: 0, D_f: 0, V: LEMMA})
"""What a step adds to the distance: the recursion without its gap, with Lemma 1 for the drift."""

THEOREM_1 = Claim(
    "classics.local_sgd_theorem_1",
    "(6) bounds the distance of the average to the minimiser after T iterations, averaged then or not.",
    Kind.THEOREM.at("Theorem 1, eq. (6)", LOCAL_SGD),
    {
        "from the lemmas": Same(Total(((1, (1 - gamma * mu) ** T * D2), (1 / (gamma * mu), ADDED))), ONE),
        "formula": Same(
            ONE, (1 - gamma * mu) ** T * D2 + gamma * sigma2 / (mu * M) + 2 * L * gamma**2 * H * sigma2 / mu
        ),
        "unit": MeasuredIn(At(ONE, {T: sp.Integer(3)}), PARAMETER**2),
        "conditions": States(ONE, (QUARTER,), (*ALIKE, "strongly_convex"), words=1),
        "largest step": EdgeIs(ONE, gamma, 1 / (4 * L), where=(mu <= L,)),
        "exact runs": _distances,
        "search": Dominates(ONE, family="quadratics"),
    },
)

SAYS = Claim(
    "classics.local_sgd_theorem_1.informative",
    "(6) can be smaller than the distance at the start.",
    Kind.REMARK.at("Theorem 1", LOCAL_SGD),
    Informative(ONE, D2, under=(ONE,)),
    ours=True,
)

TUNED = {gamma: 1 / (mu * a), T: 2 * a * sp.log(a)}

COROLLARY_ONE = Claim(
    "classics.local_sgd_corollary_1",
    "With the step size 1/(mu a) and 2 a log a iterations Theorem 1 becomes (7).",
    Kind.THEOREM.at("Corollary 1, eq. (7)", LOCAL_SGD),
    {
        "noise": Same(At(term(ONE, "noise"), TUNED), term(COROLLARY_1, "noise")),
        "drift": Same(At(term(ONE, "drift"), TUNED), term(COROLLARY_1, "drift")),
        "start": ImpliedBy(At(term(ONE, "start"), TUNED), term(COROLLARY_1, "start"), under=(COROLLARY_1,)),
        "conditions": States(COROLLARY_1, (a > 4 * L / mu,), (*ALIKE, "strongly_convex"), words=3),
    },
    note="(1 - 1/a)^T is at most exp(-T/a), which is 1/a^2. No whole number of iterations is exactly 2 a log a.",
)

# ---- Theorem 2 and Corollary 2: the power of L ----


def _bent(book: Book) -> Finding:
    """One loss with curvature L below 0 and L/2 above, started at its minimiser 0; the noise is a fair coin, sigma = 1.

    The expected mean of the averages is that of one client's models, and the loss is convex: Jensen's inequality.
    """
    curved, clients, steps = Fraction(1, 10**6), 10**6, 8
    step = 1 / (4 * curved)
    gap = bent_loss(curved, mean(coin_means(bent(curved), step, steps)))
    printed, repaired = (
        number(
            book, name, initial_distance_sq=0, clients=clients, gradient_variance=1, smoothness=curved, step_size=step,
            local_steps=steps, iterations=steps,
        )
        for name in (TWO_PRINTED, TWO)
    )  # fmt: skip
    witness = {
        "f": "L/2 x^2 for x < 0, L/4 x^2 for x > 0", "L": "1e-6", "noise": "1 or -1", "x_0": "0", "M": "1e6",
        "H = T": "8", "gamma": "1/(4L)",
    }  # fmt: skip
    said = f"the gap is at least {short(gap)} against {short(printed)} (repaired: {short(repaired)})"
    return judged(gap <= printed, said, witness, as_audited=gap <= repaired)


DRIFT_TRUE = 4 * gamma**2 * L * sigma2 * H
START_AND_NOISE = 2 * D2 / (gamma * T) + 2 * gamma * sigma2 / M

THEOREM_2 = Claim(
    "classics.local_sgd_theorem_2",
    "(9) bounds the gap at the mean of the averages, with drift 4 gamma^2 L^2 sigma^2 H.",
    Kind.THEOREM.at("Theorem 2, eq. (9)", LOCAL_SGD),
    All(
        {
            "unit": MeasuredIn(term(TWO_PRINTED, "drift"), LOSS, off_by=q.CURVATURE),
            "formula": Same(TWO_PRINTED, START_AND_NOISE + 4 * gamma**2 * L**2 * sigma2 * H),
            "by hand": _bent,
            "conditions": States(TWO_PRINTED, (QUARTER,), (*ALIKE, "convex"), words=1),
        },
        wrong=("unit", "by hand"),
    ),
    note="The proof's last displays have L once. Where L < 1 the print is too small. Of the averaged models the print "
    "has the last one T times; the proof has those before the steps 1 to T, and so does the repair.",
    repair=Repair(
        "with L in place of its square",
        {
            "from the lemmas": Same(Total(((2 / (gamma * T), D2), (2 / gamma, ADDED))), TWO),
            "exact runs": _gaps,
            "search": Dominates(TWO, family="quadratics"),
            "formula": Same(TWO, START_AND_NOISE + DRIFT_TRUE),
            "unit": MeasuredIn(TWO, LOSS),
            "conditions": States(TWO, (QUARTER,), (*ALIKE, "convex"), words=1),
        },
        TWO,
    ),
    defect=Defect.REFUTED,
)

STEP_2 = sp.sqrt(M) / (4 * L * sp.sqrt(T))


def _one_iteration(book: Book) -> Finding:
    """One client, x^2, no noise, one iteration of 1/8 from 20 to 15, the model that the print averages."""
    bound = number(
        book, COROLLARY_2_PRINTED, initial_distance_sq=400, clients=1, gradient_variance=0, smoothness=2, local_steps=1,
        iterations=1,
    )  # fmt: skip
    witness = {"f": "x^2", "L": "2", "x_0": "20", "M = T = H": "1", "sigma": "0"}
    return judged(bound >= 225, f"the gap is 225 against {short(bound)}", witness, bound == 160)


COROLLARY_TWO = Claim(
    "classics.local_sgd_corollary_2",
    "With the step size sqrt(M)/(4 L sqrt(T)) Theorem 2 becomes (10).",
    Kind.THEOREM.at("Corollary 2, eq. (10)", LOCAL_SGD),
    All(
        {
            "start": Same(term(COROLLARY_2_PRINTED, "start"), At(term(TWO, "start"), {gamma: STEP_2})),
            "noise": Same(term(COROLLARY_2_PRINTED, "noise"), At(term(TWO, "noise"), {gamma: STEP_2})),
            "unit": MeasuredIn(COROLLARY_2_PRINTED, LOSS, mixed=True),
            "by hand": _one_iteration,
            "conditions": States(COROLLARY_2_PRINTED, (T >= M,), (*ALIKE, "convex"), words=2),
        },
        wrong=("start", "unit", "by hand"),
    ),
    note="The start lacks L and a square; the drift, put in from the printed theorem, would be sigma^2 M H/(4T).",
    repair=Repair(
        "the start 8 L ||x_0 - x_*||^2/sqrt(MT), the drift sigma^2 M H/(4 L T)",
        {
            "from the theorem": Same(At(TWO, {gamma: STEP_2}), COROLLARY_2),
            "unit": MeasuredIn(COROLLARY_2, LOSS),
            "admitted": ImpliedBy(STEP_2, 1 / (4 * L), under=(COROLLARY_2,)),
            "conditions": States(COROLLARY_2, (T >= M,), (*ALIKE, "convex"), words=2),
        },
        COROLLARY_2,
    ),
    defect=Defect.REFUTED,
)
