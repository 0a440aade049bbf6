"""Theorem 4.1, its proof (10) to (37), and Remark 5.1 on the consensus distance."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import sympy as sp

from bounds.operators import bind

from ..claim import Book, Finding, finding, Grade
from .enumerated import risk, risk_slope, SETS, SMOOTH, TOLERANCE


def regression(book: Book) -> Finding:
    """The gradient variance of ``a (theta - b)^2 / 2`` over three equally likely samples (a, b) grows with theta^2."""
    theta, curvatures, places = sp.Symbol("theta", real=True), sp.symbols("a1:4"), sp.symbols("b1:4")
    slopes = [a * (theta - b) for a, b in zip(curvatures, places, strict=True)]
    variance = sp.Poly(sum(s**2 for s in slopes) / 3 - (sum(slopes) / 3) ** 2, theta)
    growth = variance.coeff_monomial(theta**2)
    pairs = sum((a - b) ** 2 for a, b in combinations(curvatures, 2)) / 9
    unlike = growth.subs(dict(zip(curvatures, (1, 2, 4), strict=True)))
    evidence = (
        "over the square of the model the gradient variance of three equally likely samples tends to the sum of the "
        f"squared differences of their curvatures over 9: {unlike} for 1, 2, 4, zero for like ones alone"
    )
    return finding(sp.expand(growth - pairs) != 0, evidence, grade=Grade.PROVED)


def exchanged(book: Book) -> Finding:
    """The lemma for two data sets of a client with arbitrary probabilities, risks and models, all else being fixed.

    If a client's data are one of finitely many sets, both sides are sums over pairs of sets, equal or not; two sets
    suffice to have every such pair. ``own`` is the client's set, ``copy`` the independent copy.
    """
    chances = sp.symbols("p0:2", positive=True)
    risk = [[sp.Symbol(f"r{model}{data}", real=True) for data in (0, 1)] for model in (0, 1)]
    gap = swap = sp.Integer(0)
    for own, copy in product((0, 1), repeat=2):
        chance = chances[own] * chances[copy]
        gap += chance * (risk[own][copy] - risk[own][own])
        swap += chance * (risk[own][copy] - risk[copy][copy])
    stated = book["fedals.lemma_b1"]
    weights = sp.symbols("w0:2", positive=True)
    swaps = sp.symbols("g0:2", real=True)
    mean = bind(stated.expr, {q: dict(client_weight=weights, swap_gap=swaps)[q.name] for q in stated.quantities})
    same = sp.expand((gap - swap).subs(chances[1], 1 - chances[0])) == 0
    weighed = sp.expand(mean - sum(w * g for w, g in zip(weights, swaps, strict=True))) == 0
    evidence = "both sides equal as polynomials in all chances and risks, and averaged with the clients' weights"
    return finding(same and weighed, evidence, grade=Grade.PROVED)


def descent(book: Book) -> Finding:
    """(17), the second-order bound of a smooth function, holds for every pair of models and every data set."""
    grid = np.linspace(-4.0, 5.0, 37)
    x, y = grid[:, None, None], grid[None, :, None]
    worst = -np.inf
    for sets in (own[None, None] for own in SETS):
        right = risk_slope(x, sets) * (y - x) + SMOOTH / 2 * (y - x) ** 2
        worst = max(worst, float((risk(y, sets) - risk(x, sets) - right).max()))
    evidence = f"largest left - right {worst:.3g} over 37 x 37 models"
    return finding(worst <= TOLERANCE, evidence, grade=Grade.SEARCHED)
