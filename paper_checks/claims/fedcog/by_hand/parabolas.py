"""Theorem 5.6 where a second moment rests: parabolas x^2/2 whose noise, or whose drawing of clients, it does not see.

Every run starts at the square to which E x^2 returns after each round, so that the squared gradient is the same in all
rounds; the bound is the catalogue's at the run's own constants, L = beta^2 = 1. All in rationals.
"""

from __future__ import annotations

from fractions import Fraction

import sympy as sp

from ...checkers.points import value
from ...claim import Book, Finding, judged, Status


def _bound(book: Book, rest: Fraction, clients: int, **given: int | Fraction) -> Fraction:
    """Theorem 5.6 from a start with gradient^2 = 2 gap = ``rest``, for clients of equal weight."""
    bound = book["fedcog.theorem"]
    numbers = {"initial_gap": rest / 2, "smoothness": 1, "dissimilarity_factor": 1, **given}
    at = {q: sp.Rational(str(Fraction(numbers[q.name]))) for q in bound.quantities if q.name in numbers}
    weights = {q: (sp.Rational(1, clients),) * clients for q in bound.quantities if q.name == "client_weight"}
    return Fraction(str(value(bound.expr, {**at, **weights})))


def _against(rest: Fraction, after: Fraction, bound: Fraction, witness: str) -> Finding:
    """``rest`` against the bound; ``after`` is the second moment one round later, which must be the same."""
    said = f"the squared gradient is {float(rest):.4g} in every round, the bound {float(bound):.4g}"
    return judged(rest <= bound, said, {"instance": witness}, as_audited=after == rest)


def _one_coin(book: Book, steps: int, size: Fraction, rounds: int) -> tuple[Fraction, Fraction, Fraction]:
    """One client x^2/2, one coin of +-1 for all steps of a round: E x^2 at rest, a round later, and the bound.

    A round takes x to q x - (1 - q) coin, q = (1 - eta)^tau, so that E x^2 rests at (1 - q)/(1 + q).
    """
    q = (1 - size) ** steps
    rest = (1 - q) / (1 + q)
    given: dict[str, int | Fraction] = {
        "local_steps": steps,
        "step_size": size,
        "rounds": rounds,
        "gradient_variance": 1,
    }
    return rest, q**2 * rest + (1 - q) ** 2, _bound(book, rest, 1, dissimilarity_offset=0, **given)


def coin_of_a_round(book: Book) -> Finding:
    """20 steps of 1/100 in 100 rounds; and 400 steps of 1/979, the largest admitted, in ever more."""
    small = _one_coin(book, 20, Fraction(1, 100), 100)
    found = _against(*small, "x^2/2, one coin of +-1 a round, tau = 20, eta = 1/100, T = 100")
    rest, _, bound = _one_coin(book, 400, Fraction(1, 979), 10**6)
    ratio = float(rest / bound)
    said = f"{found.evidence}; with 400 steps of 1/979 {ratio:.3g} times the bound"
    return judged(found.status is Status.HOLDS, said, found.witness, found.as_audited and 37 < ratio < 38)


def coin_of_all_clients(book: Book) -> Finding:
    """16 clients x^2/2 with one coin, one step of 1/4: x becomes 3/4 x - coin/4, and E x^2 rests at 1/7."""
    rest, size = Fraction(1, 7), Fraction(1, 4)
    given: dict[str, int | Fraction] = {
        "local_steps": 1,
        "step_size": size,
        "rounds": 100,
        "gradient_variance": 1,
        "dissimilarity_offset": 0,
    }
    after = (1 - size) ** 2 * rest + size**2
    instance = "16 clients x^2/2, one coin of +-1 for all, tau = 1, eta = 1/4, T = 100"
    return _against(rest, after, _bound(book, rest, 16, **given), instance)


def one_of_two(book: Book) -> Finding:
    """Clients (x -+ 1)^2/2, one drawn a round, one step of 1/2: x becomes (x +- 1)/2, and E x^2 rests at 1/3."""
    rest = Fraction(1, 3)
    given: dict[str, int | Fraction] = {"step_size": Fraction(1, 2), "gradient_variance": 0, "dissimilarity_offset": 1}
    bound = _bound(book, rest, 2, local_steps=1, rounds=5, **given)
    return _against(rest, (rest + 1) / 4, bound, "(x - 1)^2/2 and (x + 1)^2/2, one a round, tau = 1, eta = 1/2, T = 5")
