"""Theorem 5.6 at rest: parabolas whose noise, drawing of clients, or local momentum it does not see.

Every run starts where a round leaves it: at the square to which E x^2 returns, or at the model itself. The squared
gradient is then the same in all rounds; the bound is the catalogue's at the run's own constants, L = 1. No client's
loss falls below 0, which is Phi_inf. All in rationals.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy as sp

from bounds.vocabulary import (
    client_weight,
    dissimilarity_factor,
    dissimilarity_offset,
    gradient_variance,
    initial_gap,
    local_steps,
    rounds,
    smoothness,
    step_size,
)

from ..checkers.formulas import relations
from ..checkers.points import true_at, value
from ..claim import Book, Finding, judged, Status


def _bound(
    book: Book, clients: int, steps: int, size: Fraction, many: int, loss: Fraction, variance: int = 0, offset: int = 0
) -> Fraction:
    """Theorem 5.6 for clients of equal weight, from a start of this expected loss, its gap to Phi_inf = 0."""
    at: dict[sp.Symbol, Any] = {
        initial_gap: loss, smoothness: 1, local_steps: steps, step_size: size, rounds: many,
        gradient_variance: variance, dissimilarity_offset: offset,
    }  # fmt: skip
    weights = {client_weight: (sp.Rational(1, clients),) * clients}
    return Fraction(str(value(book["fedcog.theorem"].expr, {**{q: sp.Rational(v) for q, v in at.items()}, **weights})))


def _against(rest: Fraction, after: Fraction, bound: Fraction, witness: str) -> Finding:
    """``rest`` against the bound; ``after`` is the second moment one round later, which must be the same."""
    said = f"the squared gradient is {float(rest):.4g} in every round, the bound {float(bound):.4g}"
    return judged(rest <= bound, said, {"instance": witness}, as_audited=after == rest)


def coin_of_a_round(book: Book) -> Finding:
    """One client x^2/2, one coin of +-1 for all steps of a round: 20 of 1/100 in 100 rounds; 400 of 1/979 in many more.

    A round takes x to q x - (1 - q) coin, q = (1 - eta)^tau, so that E x^2 rests at (1 - q)/(1 + q). The second step
    size is the largest admitted.
    """

    def rests(steps: int, size: Fraction) -> tuple[Fraction, Fraction]:
        q = (1 - size) ** steps
        rest = (1 - q) / (1 + q)
        return rest, q**2 * rest + (1 - q) ** 2

    size = Fraction(1, 100)
    rest, after = rests(20, size)
    witness = "x^2/2, one coin of +-1 a round, tau = 20, eta = 1/100, T = 100"
    found = _against(rest, after, _bound(book, 1, 20, size, 100, rest / 2, variance=1), witness)
    rest, _ = rests(400, Fraction(1, 979))
    ratio = float(rest / _bound(book, 1, 400, Fraction(1, 979), 10**6, rest / 2, variance=1))
    said = f"{found.evidence}; with 400 steps of 1/979 {ratio:.3g} times the bound"
    return judged(found.status is Status.HOLDS, said, found.witness, found.as_audited and 37 < ratio < 38)


def coin_of_all_clients(book: Book) -> Finding:
    """16 clients x^2/2 with one coin, one step of 1/4: x becomes 3/4 x - coin/4, and E x^2 rests at 1/7."""
    size, rest = Fraction(1, 4), Fraction(1, 7)
    instance = "16 clients x^2/2, one coin of +-1 for all, tau = 1, eta = 1/4, T = 100"
    bound = _bound(book, 16, 1, size, 100, rest / 2, variance=1)
    return _against(rest, (1 - size) ** 2 * rest + size**2, bound, instance)


def one_of_two(book: Book) -> Finding:
    """Clients (x -+ 1)^2/2, one drawn a round, one step of 1/2: x becomes (x +- 1)/2, and E x^2 rests at 1/3."""
    rest = Fraction(1, 3)
    instance = "(x - 1)^2/2 and (x + 1)^2/2, one a round, tau = 1, eta = 1/2, T = 20"
    return _against(rest, (rest + 1) / 4, _bound(book, 2, 1, Fraction(1, 2), 20, (rest + 1) / 2, offset=1), instance)


# ---- local momentum ----

UNLIKE = ((sp.Rational(3, 5), 1, 0), (sp.Rational(2, 5), sp.Rational(1, 100), 1))
"""Two clients h/2 (x - c)^2 without noise: weight, curvature h, minimiser c."""
FACTOR, STEPS, SIZE, MANY = 5, 400, Fraction(1, 1900), 10**6
"""beta^2; the published number of local steps, a step size that (5) admits for it, and rounds enough for its start."""


def _travelled(curvature: Fraction, momentum: Fraction) -> Fraction:
    """The share of the way to its minimiser that a client goes in a round; the buffer starts empty."""
    apart, buffer = Fraction(1), Fraction(0)
    for _ in range(STEPS):
        buffer = momentum * buffer + curvature * apart
        apart -= SIZE * buffer
    return 1 - apart


def local_momentum(book: Book, momentum: Fraction) -> Finding:
    """The squared gradient at the model that a round leaves where it is, against the theorem."""
    x = sp.Symbol("x", real=True)
    loss = sum(p * h * (x - c) ** 2 / 2 for p, h, c in UNLIKE)
    gradient = sp.diff(loss, x)
    apart = sum(p * (h * (x - c)) ** 2 for p, h, c in UNLIKE) - FACTOR * gradient**2
    offset = apart.subs(x, *sp.solve(sp.diff(apart, x), x))  # a parabola that opens downwards
    pulls = [(p * sp.Rational(_travelled(Fraction(str(h)), momentum)), c) for p, h, c in UNLIKE]
    rest = sum(pull * c for pull, c in pulls) / sum(pull for pull, _ in pulls)
    at = {
        initial_gap: loss.subs(x, rest), smoothness: 1, local_steps: STEPS, step_size: sp.Rational(SIZE), rounds: MANY,
        gradient_variance: 0, dissimilarity_offset: offset, dissimilarity_factor: FACTOR,
        client_weight: tuple(p for p, _, _ in UNLIKE),
    }  # fmt: skip
    theorem = book["fedcog.theorem"]
    inside = sp.diff(apart, x, 2) < 0 and all(true_at(relation, at) for relation in relations(theorem))
    found, bound = gradient.subs(x, rest) ** 2, value(theorem.expr, at)
    said = f"the squared gradient is {float(found):.4g} in every round, the bound {float(bound):.4g}"
    instance = f"3/5 of x^2/2, 2/5 of (x - 1)^2/200, momentum {momentum}, tau = {STEPS}, eta = {SIZE}, T = {MANY}"
    return judged(bool(found <= bound), said, {"instance": instance}, as_audited=bool(inside))
