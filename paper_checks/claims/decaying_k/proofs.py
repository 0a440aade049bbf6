"""The appendix: Lemma 1 as cited, the steps to Lemma 2 and Theorem 1, and the derivatives of (8)."""

from __future__ import annotations

from fractions import Fraction
from itertools import accumulate

import sympy as sp

from bounds.decaying_k.letters import eta, G2, K, L, mu, N, ratio, S

from ..checkers import term
from ..claim import Book, Finding, finding
from .experiments import TASKS
from .lemmas import sampling_factor


def telescoped(book: Book, squared: bool) -> Finding:
    """The telescoped inequality holds for one client x^2/20 with L = mu = 1/10 and one step of 2 from 1 to 4/5."""
    curvature, step_size = Fraction(1, 10), Fraction(2)
    after = (1 - step_size * curvature) ** 2
    left = (curvature / curvature**2) * (step_size**2 if squared else step_size) * curvature**2
    witness = {"f": "x^2/20", "eta": "2", "T": "1", "x": "1 to 4/5"}
    evidence = f"left side {left}, right side {1 - after}"
    return finding(left <= 1 - after, evidence, witness, as_audited=left == Fraction(2, 5))


def ends(book: Book, last: int) -> Finding:
    distances = [Fraction(1, k) for k in range(1, 8)]  # d_0 .. d_6
    summed = sum(distances[t] - distances[t + 1] for t in range(1, 6))
    ends = distances[last - 5] - distances[last]
    evidence = f"t = 1..5 sums to {summed}, d_{last - 5} - d_{last} is {ends}"
    return finding(summed == ends, evidence, {"d_t": "1/(t + 1)"})


def published_factors(book: Book) -> Finding:
    factors = {name: sampling_factor(book, t.cohort, t.clients) for name, t in TASKS.items()}
    above = {n: f"{float(f):.3g}" for n, f in factors.items() if f > 1}
    evidence = "; ".join(f"{n}: {v}" for n, v in above.items()) or "none exceeds 1"
    audited = len(above) == len(TASKS) and factors["CIFAR100"] == Fraction(475, 24)
    return finding(not above, evidence, above, as_audited=audited)


def reindexed(book: Book, first: int) -> Finding:
    """t = I + k enumerates 1 to T for rounds of 3, 2, 2 steps; I: the steps up to round r (first = 0) or before it."""
    steps = (3, 2, 2)
    ends = list(accumulate(steps, initial=0))
    iterations = [ends[r - first] + k for r in range(1, 4) for k in range(1, steps[r - 1] + 1)]
    evidence = f"iterations {iterations[0]} to {iterations[-1]} for T = {sum(steps)}"
    return finding(iterations == list(range(1, 8)), evidence, {"K_r": "3, 2, 2"}, as_audited=iterations[0] == 4)


def decaying(book: Book) -> Finding:
    """(17) with the largest K_t is at most (6) for rounds of 9, 4 and 2 steps with N = 1."""
    steps, unit = (9, 4, 2), L**2 / mu * G2
    in_17 = term("decaying_k.lemma_2", "drift", "partial participation")(book) / (unit * S)
    in_6 = term("decaying_k.theorem_1", "drift")(book) / (eta * unit)
    derived = sp.simplify(in_17).subs({K: max(steps), N: 1})
    printed = sp.simplify(in_6).subs({N: 1, ratio: sp.Rational(sum(k**3 for k in steps), sum(steps))})
    evidence = f"(17) gives {derived}, (6) has {float(printed):g}, times eta kappa L G^2"
    audited = bool((derived, printed) == (836, sp.Rational(3204, 5)))
    return finding(bool(derived <= printed), evidence, {"K_r": "9, 4, 2", "N": "1"}, as_audited=audited)
