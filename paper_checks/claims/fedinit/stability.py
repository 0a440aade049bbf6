"""Section 4.3.2 and Appendix A.3: uniform stability, from one local step to the separation of two runs."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import product

import sympy as sp

from bounds.fedinit.letters import beta, c, Delta, eta, K, L, L_G, mu_0, S, s, sigma2, T, t_0, tau
from bounds.vocabulary import stability

from ..checkers import At, resolve, term
from ..claim import Book, fails, Finding, finding, Grade, holds

COINS = tuple(product((0, 1), repeat=4))
"""All data of two clients of two coins each; the loss of a coin z is (w - z)^2/2."""


def minimiser(coins: tuple[int, ...]) -> Fraction:
    return Fraction(sum(coins), len(coins))


def risk(model: Fraction, coins: tuple[int, ...] = (0, 1)) -> Fraction:
    """Return the mean loss of the model on these coins; by default the population's."""
    return sum(((model - z) ** 2 / 2 for z in coins), Fraction(0)) / len(coins)


def over_coins(measured: Callable[[tuple[int, ...]], Fraction]) -> sp.Rational:
    """Return the expectation of a function of the data over all data sets."""
    return sp.Rational(sum(map(measured, COINS), Fraction(0)) / len(COINS))


def coins(book: Book) -> Finding:
    """The generalisation error of the mean of all coins is at most its stability, by enumeration."""
    gap = over_coins(lambda d: risk(minimiser(d)) - risk(minimiser(d), d))
    pairs = [(minimiser(d), minimiser((1 - d[0], *d[1:]))) for d in COINS]
    worst = max(risk(one, (z,)) - risk(other, (z,)) for one, other in pairs for z in (0, 1))
    bound = resolve("fedinit.lemma_1", book).subs(stability, sp.Rational(worst))
    evidence = f"generalisation error {gap} against stability {worst}, all data sets enumerated"
    return finding(gap <= bound, evidence, grade=Grade.SEARCHED)


def lipschitz_clients(book: Book) -> Finding:
    """Lemma 7 bounds one step if only the global loss is Lipschitz: it is constant, the losses of samples are not."""
    bound = At("fedinit.lemma_7", {s: 0, sigma2: 0, eta: 1, L_G: 1})(book)
    separation = 10  # one step of size 1 on two different samples, of slope 5 and -5
    evidence = f"one step separates the runs by {separation}, Lemma 7 allows {bound}"
    witness = {"f_1": "5w and -5w on two samples", "f": "0", "L_G": 1}
    return finding(separation <= bound, evidence, witness, as_audited=bound == 2)


RUNS = (([0, 3, 7], [1, -2, 7]), ([1, 1, 1], [2, 0, 5]), ([4, 0, -4], [-4, 0, 4]))
"""Last local models of three clients in two runs."""


def moves(book: Book) -> Finding:
    """A client whose last models agree in two runs moves equally in both, although other clients' models differ."""
    b, (one, two) = Fraction(1, 10), RUNS[0]
    first, second = ((1 + b) * (Fraction(sum(run), 3) - run[2]) for run in (one, two))
    at = {"last models": f"{one}, {two}", "client": 3, "beta": b}
    evidence = f"the moves are {first} and {second}"
    return finding(first == second, evidence, at, as_audited=first - second == Fraction(22, 15))


def starts(book: Book) -> Finding:
    """The repaired and the printed bound are at least the mean separation of relaxed starts, full participation."""
    b = Fraction(1, 8)
    for one, two in RUNS:
        means = [Fraction(sum(w), 3) for w in (one, two)]
        starts = [[m + b * (m - w) for w in run] for m, run in zip(means, (one, two), strict=True)]
        separation = sum((abs(x - y) for x, y in zip(*starts, strict=True)), Fraction(0)) / 3
        before = sp.Rational(sum(abs(x - y) for x, y in zip(one, two, strict=True)), 3)
        repaired = At("fedinit.stability_start", {})(book).subs({s: before, beta: sp.Rational(b)})
        lengths = []
        for mean, run, start in zip(means, (one, two), starts, strict=True):
            divergence = sp.Rational(sum((mean - w) ** 2 for w in run), 3)
            lengths.append(resolve("fedinit.stability_round", book).subs({Delta: divergence, beta: sp.Rational(b)}))
            moved = sp.sqrt(sp.Rational(sum((x - w) ** 2 for x, w in zip(start, run, strict=True)), 3))
            if lengths[-1] != moved:
                return fails(f"the bound gives a move of {moved} the length {lengths[-1]}", {"last models": run})
        bound = min(repaired, before + max(lengths))
        if sp.Rational(separation) > bound:
            return fails(f"{separation} > {bound}", {"last models": (one, two)})
    return holds("covered in three pairs of runs, by separation plus one length too")


# ---- the separation of two runs, summed over steps and rounds ----


def summed(book: Book, start: int) -> Finding:
    """The closed form is at least the recursion d <- (1 + a/tau) d + b/tau from step t_0 + start on."""
    at = {c: 1, L: sp.Rational(1, 2), S: 10**6, L_G: 1, sigma2: 1, K: 1, t_0: 1}
    step_size = At("fedinit.step_size_theorem_3", {mu_0: c * K})
    b = tau * At("fedinit.stability_step", {s: 0, eta: step_size})(book)
    a: sp.Expr = (1 - 1 / S) * c * L
    growth, added = float(a.subs(at)), float(sp.expand(b).subs(at))
    closed = sp.lambdify(T, term("fedinit.stability_separation", "stochastic gradients")(book).subs(at))
    distance = 0.0
    for step in range(1 + start, 400):
        distance = (1 + growth / step) * distance + added / step
        if distance > closed(step):
            evidence = f"after step {step} the recursion is at {distance:.6g}, the closed form at {closed(step):.6g}"
            witness = {**{q.name: v for q, v in at.items()}, "first step": 1 + start}
            return fails(evidence, witness, as_audited=step > 50)
    return holds("below the closed form for 400 steps")
