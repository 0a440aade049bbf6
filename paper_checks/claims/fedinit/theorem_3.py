"""Section 4.3.2, Theorem 3: how its terms fall with the samples, and the limit of its first term as K grows."""

from __future__ import annotations

import sympy as sp

from bounds.fedinit.letters import c, K, L, L_G, mu_0, S, sigma2, sigma_l, T, U

from ..checkers import At, ImpliedBy, Readings, term
from ..checkers.numbers import value
from ..claim import Book, Finding, finding

FIRST = term("fedinit.theorem_3_printed", "stochastic gradients")


def first_in_the_limit(book: Book) -> Finding:
    """The first term with c = mu_0/K at K = 10^40 is its limit to 30 digits."""
    at = {mu_0: sp.Rational(3, 7), L: 2, S: 50, L_G: 3, sigma2: 4, U: 5, T: 11}
    far = value(At(FIRST, {c: mu_0 / K})(book).subs(at), {K: sp.Integer(10) ** 40})
    limit = value((2 * (L_G**2 + S * L_G * sigma_l) / L / (S - 1)).subs(at), {})
    same = abs(far / limit - 1) <= 1e-30
    return finding(same, f"{float(far):.6g} at K = 1e40: {'the limit to 30 digits' if same else float(limit)}")


counters = Readings(
    {
        counter: ImpliedBy(1, first, where=(T >= 1,), within={T: (1, 3)})
        for counter, first in (("tK+k", (T - 1) * K), ("tK", (T - 1) * K), ("t", T - 1))
    }
)
