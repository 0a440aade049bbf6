"""Hardt, Recht and Singer 2016: how stable SGD is, and what that makes of its risk."""

from __future__ import annotations

from fractions import Fraction

import sympy as sp

from bounds import vocabulary as q
from bounds.classics.stability import HARDT, T_0
from bounds.units import LOSS

from ..checkers import At, ImpliedBy, MeasuredIn, number, resolve, Same, short, States
from ..claim import Book, Check, Claim, Finding, judged, Kind
from .runs import compared, mean

D2, L, T, U = q.initial_distance_sq, q.lipschitz, q.iterations, q.loss_cap
alpha, beta, c, n = q.step_size, q.smoothness, q.step_size_scale, q.samples

CONVEX, SMOOTH, ONE_PASS_BOUND, ONE_PASS, PASSES = (f"classics.hardt_{x}" for x in ("3_7", "3_8", "5_2", "5_3", "5_4"))
ONE = ("one_client", "local_sgd", "lipschitz")


def _line(book: Book) -> Finding:
    """Losses z L w with z = 1 or -1, of which one is turned round: how far apart two runs are expected to be."""
    steep, step, samples, steps = Fraction(3), Fraction(1, 7), 5, 4
    apart = Fraction(0)
    for picks in range(samples**steps):  # every order of draws, each as likely
        turned = sum((picks // samples**t) % samples == 0 for t in range(steps))
        apart += Fraction(turned, samples**steps) * 2 * step * steep
    found = steep * apart
    stated = number(
        book, CONVEX, lipschitz=steep, samples=samples, summed_step_sizes=step * steps, step_size=step, smoothness=1
    )  # fmt: skip
    return judged(found == stated, f"the expected change of the loss is {short(found)}, the bound {short(stated)}")


THEOREM_3_7 = Claim(
    "classics.hardt_3_7",
    "On convex samples the stability is at most 2 L^2/n times the sum of the step sizes; no smaller constant would do.",
    Kind.THEOREM.at("Theorem 3.7", HARDT),
    {
        "formula": Same(CONVEX, 2 * L**2 / n * q.summed_step_sizes),
        "attained": _line,
        "unit": MeasuredIn(CONVEX, LOSS),
        "conditions": States(CONVEX, (alpha <= 2 / beta,), (*ONE, "samples_smooth"), words=1),
    },
    note="That the constant is the best one is our addition.",
)


SPLIT = U * T_0 / (n - 1) + 2 * L**2 / (beta * (n - 1)) * (T / T_0) ** (beta * c)
"""Apart before t_0 with chance t_0/n < t_0/(n - 1), then by the growth of steps c/t: the sum at the best t_0."""

THEOREM_3_8 = Claim(
    "classics.hardt_3_8",
    "Without convexity, with steps of at most c/t, the stability grows like T to the power 1 - 1/(beta c + 1).",
    Kind.THEOREM.at("Theorem 3.8", HARDT),
    {
        "as printed": Same(
            At(SMOOTH, {U: 1}),
            (1 + 1 / (beta * c)) / (n - 1) * (2 * c * L**2) ** (1 / (beta * c + 1)) * T ** (beta * c / (beta * c + 1)),
        ),
        "at the best t_0": Same(SPLIT, SMOOTH),
        "conditions": States(SMOOTH, (n > 1,), (*ONE, "samples_smooth", "nonnegative_loss", "bounded_loss"), words=1),
    },
    note="In units: the print is for a loss of at most 1, which U stands for. The proof's sum before and after t_0 is "
    "taken from it; no run was made.",
)

MEDIUM_STEP = sp.sqrt(D2) / (L * sp.sqrt(n))
SMALL_STEP = MEDIUM_STEP * n / T * sp.sqrt(T / (n + 2 * T))


def _kink(book: Book) -> Finding:
    """The loss 3 |w|, whose slope at 0 is taken to be 3: two steps from 0, and one that starts at D = step times 3."""
    steep, step = Fraction(3), Fraction(1, 7)
    values = {"lipschitz": steep, "step_size": step}
    from_zero = steep * mean([Fraction(0), step * steep])
    yet_to_come = steep * (step * steep)
    cases = (
        (from_zero, {**values, "initial_distance_sq": 0, "iterations": 2}),
        (yet_to_come, {**values, "initial_distance_sq": (step * steep) ** 2, "iterations": 1}),
    )
    return compared(book, ONE_PASS_BOUND, cases)


COROLLARY_5_3 = Claim(
    "classics.hardt_5_3",
    "One pass with the step size D/(L sqrt(n)) has a risk of at most D L/sqrt(n) above the smallest.",
    Kind.THEOREM.at("Theorem 5.2, Corollary 5.3", HARDT),
    {
        "from 5.2": Same(At(ONE_PASS_BOUND, {T: n, alpha: MEDIUM_STEP}), ONE_PASS),
        "best step": ImpliedBy(ONE_PASS, At(ONE_PASS_BOUND, {T: n})),
        "exact runs of 5.2": _kink,
        "unit": MeasuredIn(ONE_PASS_BOUND, LOSS),
        "conditions": States(ONE_PASS_BOUND, (), (*ONE, "convex", "fresh_samples", "fixed_step_size")),
        "its conditions": States(ONE_PASS, (), (*ONE, "convex", "fresh_samples", "fixed_step_size"), words=2),
    },
)


def _both(passes_of_stability: sp.Rational) -> Check:
    """Optimisation, and a multiple of the stability of the last model, at the stated step size."""

    def run(book: Book) -> Finding:
        stable = resolve(At(CONVEX, {q.summed_step_sizes: alpha * T}), book)
        added = resolve(At(resolve(ONE_PASS_BOUND, book) + passes_of_stability * stable, {alpha: SMALL_STEP}), book)
        return Same(added, PASSES)(book)

    return run


PROPOSITION_5_4 = Claim(
    "classics.hardt_5_4",
    "T steps over n samples have, at the stated step size, which must be at most 2/beta, a risk of at most "
    "D L sqrt(n + 2 T)/sqrt(n T) above the smallest empirical one.",
    Kind.THEOREM.at("Proposition 5.4", HARDT),
    {
        "from 3.7 and 5.2": _both(sp.Rational(1, 2)),
        "conditions": States(
            PASSES,
            (2 / beta >= SMALL_STEP,),
            (*ONE, "samples_smooth", "independent_samples", "fixed_step_size"),
            words=2,
        ),
        "unit": MeasuredIn(PASSES, LOSS),
    },
    note="The proposition does not repeat that the step size is at most 2/beta, as Theorem 3.7 asks; without it "
    "nothing is said here. It needs half of that theorem's stability, which the average of w_0 to w_(T-1) has: model t "
    "is apart by t steps only. With that of the last model the bound would be (n + 3 T)/(n + 2 T) times as large. No "
    "run was made.",
)
