"""Khaled et al. 2019, local gradient descent: the lemmas, the theorem they give, and what is read off it."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise, product

import sympy as sp

from bounds import vocabulary as q
from bounds.classics.local_gd import LOCAL_GD
from bounds.units import LOSS, PARAMETER

from ..checkers import (
    All,
    At,
    Dominates,
    EdgeIs,
    ImpliedBy,
    Informative,
    MeasuredIn,
    number,
    Same,
    short,
    States,
    Total,
)
from ..claim import Book, Check, Claim, Defect, Finding, judged, Kind, Repair
from .runs import bent, Case, compared, consensus, mean, MIXED, ONE_MINIMUM, optimum_dissimilarity, paths

D2, D_f, H, L = q.initial_distance_sq, q.optimality_gap, q.local_steps, q.smoothness
M, T, V, epsilon = q.clients, q.iterations, q.consensus_distance, q.average_gap
gamma, sigma_f = q.step_size, q.optimum_dissimilarity

LEMMA_1, SHORT_STEP, LEMMA_2 = (f"classics.local_gd_{x}" for x in ("lemma_1", "lemma_1_short_step", "lemma_2"))
THEOREM, COROLLARY = "classics.local_gd_theorem_1", "classics.local_gd_corollary_1"
SETTING = ("convex", "smooth", "exact_gradients", "local_sgd", "full_participation", "fixed_step_size")
EPOCHS = gamma <= 1 / (4 * L * H)
THREE_HALVES = sp.Rational(3, 2)


def _every_step(name: str, steps: tuple[Fraction, ...]) -> Check:
    """The distance after every step of two rounds of different parabolas against the lemma."""

    def cases() -> Iterator[Case]:
        for step, start in product(steps, (Fraction(4), MIXED.minimiser)):
            for before, after in pairwise(paths(MIXED, start, 2, 5, step)):
                x = mean(before)
                yield (mean(after) - MIXED.minimiser) ** 2, {
                    "distance_sq": (x - MIXED.minimiser) ** 2, "consensus_distance": consensus(before),
                    "optimality_gap": MIXED.loss(x) - MIXED.optimal_loss, "smoothness": 3, "step_size": step,
                }  # fmt: skip
        apart = (Fraction(-1), Fraction(1))  # two clients on either side of the minimum of a bent loss
        moved = mean([x - steps[0] * bent(Fraction(3))(x) for x in apart])
        yield moved**2, {
            "distance_sq": 0, "consensus_distance": consensus(apart), "optimality_gap": 0, "smoothness": 3,
            "step_size": steps[0],
        }  # fmt: skip

    return lambda book: compared(book, name, cases())


def _epoch(book: Book) -> Finding:
    def cases() -> Iterator[Case]:
        for problem, steps, start in (
            (MIXED, 4, Fraction(4)), (MIXED, 9, MIXED.minimiser), (MIXED, 2, Fraction(-5, 3)),
            (ONE_MINIMUM, 4, Fraction(4)),
        ):  # fmt: skip
            step = Fraction(1, 12 * steps)
            seen = paths(problem, start, 1, steps, step)[:steps]
            yield sum(map(consensus, seen), Fraction(0)), {
                "summed_gap": sum((problem.loss(mean(models)) - problem.optimal_loss for models in seen), Fraction(0)),
                "local_steps": steps, "smoothness": 3, "step_size": step,
                "optimum_dissimilarity": optimum_dissimilarity(problem),
            }  # fmt: skip

    return compared(book, LEMMA_2, cases())


def _whole_run(late: int) -> Check:
    """The gap at the mean of the averages; ``late``: further steps of the first epoch, as the printed index has it."""

    def cases() -> Iterator[Case]:
        for problem, steps, rounds, start in (
            (MIXED, 4, 6, Fraction(4)), (MIXED, 7, 3, MIXED.minimiser), (MIXED, 1, 20, Fraction(-2)),
            (ONE_MINIMUM, 2, 2, Fraction(4)),
        ):  # fmt: skip
            step = Fraction(1, 12 * steps)
            seen = paths(problem, start, 1, steps + late, step)
            seen = [*seen[:-1], *paths(problem, mean(seen[-1]), rounds - 1, steps, step)[:-1]]
            middle = mean([mean(models) for models in seen])
            yield problem.loss(middle) - problem.optimal_loss, {
                "initial_distance_sq": (start - problem.minimiser) ** 2, "smoothness": 3, "step_size": step,
                "local_steps": steps, "iterations": len(seen), "optimum_dissimilarity": optimum_dissimilarity(problem),
            }  # fmt: skip

    return lambda book: compared(book, THEOREM, cases())


ONE_STEP = Claim(
    "classics.local_gd_lemma_1",
    "(4) bounds the distance of the average to the minimiser one step later, for every step size.",
    Kind.THEOREM.at("Lemma 1, eq. (4)", LOCAL_GD),
    {
        "formula": Same(
            LEMMA_1, q.distance_sq + gamma * L * (1 + 2 * gamma * L) * V - 2 * gamma * (1 - 2 * gamma * L) * D_f
        ),
        "unit": MeasuredIn(LEMMA_1, PARAMETER**2),
        "conditions": States(LEMMA_1, (), SETTING, words=1),
        "exact steps": _every_step(LEMMA_1, (Fraction(1, 20), Fraction(1, 6), Fraction(1, 2))),
    },
)

SHORTER_STEP = Claim(
    "classics.local_gd_lemma_1_short_step",
    "With steps of at most 1/(4L) it is at most the distance, 3/2 gamma L times the disagreement, less gamma times "
    "the gap.",
    Kind.THEOREM.at("Lemma 1, second display", LOCAL_GD),
    {
        "follows": ImpliedBy(LEMMA_1, SHORT_STEP, under=(SHORT_STEP,)),
        "formula": Same(SHORT_STEP, q.distance_sq + THREE_HALVES * gamma * L * V - gamma * D_f),
        "exact steps": _every_step(SHORT_STEP, (Fraction(1, 12), Fraction(1, 40))),
        "conditions": States(SHORT_STEP, (gamma <= 1 / (4 * L),), SETTING, words=1),
    },
)

_FLOOR = 12 * L * gamma**2 * H**2 * H * sigma_f

SECOND_DISPLAY = ImpliedBy(
    Total(((THREE_HALVES * L, LEMMA_2), (-1, q.summed_gap))), _FLOOR - q.summed_gap / 2, under=(LEMMA_2,)
)

EPOCH = Claim(
    "classics.local_gd_lemma_2",
    "Over an epoch the disagreement is bounded by the gaps and the clients' gradients at the minimiser, and 3/2 L "
    "times it takes at most half of the gaps.",
    Kind.THEOREM.at("Lemma 2", LOCAL_GD),
    {
        "formula": Same(LEMMA_2, 5 * L * gamma**2 * H**2 * q.summed_gap + 8 * gamma**2 * H**2 * H * sigma_f),
        "second display": SECOND_DISPLAY,
        "unit": MeasuredIn(LEMMA_2, PARAMETER**2),
        "conditions": States(LEMMA_2, (EPOCHS,), SETTING, words=1),
        "exact epochs": _epoch,
    },
)

RELAXED = Claim(
    "classics.local_gd_theorem_1.relaxed",
    "In the proof the factor 3/2 of the disagreement is first raised to 2, and then half of the gaps is still left "
    "over.",
    Kind.PROOF.at("Appendix, proof of Theorem 1", LOCAL_GD),
    ImpliedBy(Total(((2 * L, LEMMA_2), (-1, q.summed_gap))), _FLOOR - q.summed_gap / 2, under=(LEMMA_2,)),
    note="With 2 the gaps take up to 10/16 of themselves, and the floor is 16 instead of 12. The theorem needs no such "
    "detour: Lemma 2 is stated for 3/2.",
    repair=Repair(
        "with 3/2, as Lemma 1 leaves it",
        SECOND_DISPLAY,
    ),
    defect=Defect.GAP,
)


SUMMED = 2 / (gamma * T) * (D2 + gamma * T / H * _FLOOR)
"""Lemmas 1 and 2 over T steps: half of gamma times the gaps is at most the start and the floors."""

THEOREM_1 = Claim(
    "classics.local_gd_theorem_1",
    "(5) bounds the gap at the mean of the averages, with steps of at most 1/(4LH).",
    Kind.THEOREM.at("Theorem 1, eq. (5)", LOCAL_GD),
    {
        "from the lemmas": Same(SUMMED, THEOREM),
        "formula": Same(THEOREM, 2 * D2 / (gamma * T) + 24 * gamma**2 * sigma_f * H**2 * L),
        "unit": MeasuredIn(THEOREM, LOSS),
        "conditions": States(THEOREM, (EPOCHS,), SETTING, words=2),
        "largest step": EdgeIs(THEOREM, gamma, 1 / (4 * L * H)),
        "exact runs": _whole_run(0),
        "search": Dominates(THEOREM, family="quadratics"),
    },
)

INDEX = Claim(
    "classics.local_gd_theorem_1.first_epoch",
    "In four exact runs it holds as well where the first average comes a step later, as Algorithm 1's index has it if "
    "it counts from 0.",
    Kind.ALGORITHM.at("Algorithm 1", LOCAL_GD),
    _whole_run(1),
    note="The averaging at t = t_p makes the model of t_p + 1, so that the first epoch has one step more than H. The "
    "proof does not cover that: for the gaps alone it takes (H + 1)^2 <= 16/15 H^2, and so H of 31 or more.",
    ours=True,
)

SAYS = Claim(
    "classics.local_gd_theorem_1.informative",
    "(5) can be smaller than what smoothness says of the start.",
    Kind.REMARK.at("Theorem 1", LOCAL_GD),
    Informative(THEOREM, L / 2 * D2, under=(THEOREM,)),
    ours=True,
)


def _gradient_descent(book: Book) -> Finding:
    """Two parabolas with different minima, one local step: the gap after long training against the floor of (5)."""
    step = Fraction(1, 12)
    seen = paths(MIXED, MIXED.minimiser, 30, 1, step)
    gap = MIXED.loss(mean([mean(models) for models in seen])) - MIXED.optimal_loss
    floor = number(
        book, THEOREM, initial_distance_sq=0, smoothness=3, step_size=step, local_steps=1, iterations=30,
        optimum_dissimilarity=optimum_dissimilarity(MIXED),
    )  # fmt: skip
    return judged(gap == 0 < floor, f"from the minimiser the gap stays {short(gap)}, the bound says {short(floor)}")


ONE_LOCAL_STEP = Claim(
    "classics.local_gd_theorem_1.one_step",
    "With one local step the method is gradient descent, which stays at the minimiser; (5) leaves a floor there.",
    Kind.REMARK.at("Theorem 1 with H = 1", LOCAL_GD),
    _gradient_descent,
    ours=True,
)

TUNED = sp.sqrt(M) / (4 * L * sp.sqrt(T))

COROLLARY_1 = Claim(
    "classics.local_gd_corollary_1",
    "With the step size sqrt(M)/(4 L sqrt(T)) and at most sqrt(T/M) local steps, Theorem 1 becomes Corollary 1.",
    Kind.THEOREM.at("Corollary 1", LOCAL_GD),
    {
        "from the theorem": Same(At(THEOREM, {gamma: TUNED}), COROLLARY),
        "admitted": Same(4 * L * H * TUNED, H / (sp.sqrt(T) / sp.sqrt(M))),
        "unit": MeasuredIn(COROLLARY, LOSS),
        "conditions": States(COROLLARY, (H**2 * M <= T,), SETTING, words=3),
    },
)

# ---- (6): rounds for an accuracy ----

_WORST = sp.Max(L, sp.sqrt(sigma_f) * sp.sqrt(3 * L / epsilon))
_RUN = {T: 4 * D2 / (epsilon * gamma), H: 1 / (4 * _WORST * gamma)}

ROUNDS = Claim(
    "classics.local_gd_eq_6",
    "With T and H as given every step size of at most 1/(4L) that leaves at least one local step reaches the accuracy "
    "epsilon, in the rounds of (6).",
    Kind.EQUATION.at("eq. (6)", LOCAL_GD),
    {
        "accuracy": ImpliedBy(At(THEOREM, _RUN), epsilon, where=(sp.Gt(epsilon, 0), sp.Gt(sigma_f, 0))),
        "rounds": Same(At(T / H, _RUN), 16 * D2 / epsilon * _WORST),
    },
    note="As if T and H could be any real numbers.",
)

SMALLEST = Claim(
    "classics.local_gd_eq_6.smallest",
    "The smallest of these numbers of local steps, that of the step size 1/(4L), is min(1, sqrt(epsilon L/(3 "
    "sigma_f^2))).",
    Kind.REMARK.at("after eq. (6)", LOCAL_GD),
    All(
        {
            "formula": Same(At(_RUN[H], {gamma: 1 / (4 * L)}), sp.Min(1, sp.sqrt(epsilon * L / (3 * sigma_f)))),
            "a number of steps": ImpliedBy(
                1, At(_RUN[H], {gamma: 1 / (4 * L)}), where=(sp.Gt(epsilon, 0), sp.Gt(sigma_f, 0))
            ),
        },
        wrong=("a number of steps",),
    ),
    note="It is below one local step as soon as epsilon < 3 sigma_f^2/L: for such accuracies the longest step is not "
    "among those for which (6) holds, although gradient descent with it would do.",
    repair=Repair(
        "a step size of at most 1/(4 max(L, sigma_f sqrt(3 L/epsilon))) leaves at least one local step",
        ImpliedBy(1, _RUN[H], where=(sp.Gt(epsilon, 0), sp.Gt(sigma_f, 0), gamma <= 1 / (4 * _WORST))),
    ),
    defect=Defect.SLIP,
)
