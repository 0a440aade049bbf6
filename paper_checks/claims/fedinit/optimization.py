"""Section 4.3.1 and Appendix A.2: the coefficients of the descent inequality, derived from the lemmas."""

from __future__ import annotations

from collections.abc import Callable

import sympy as sp

from bounds.fedinit.letters import beta, C, Delta, eta, g2, K, L, N, path2

from ..checkers import At, resolve
from ..claim import Book, Finding, finding


def _expanded(book: Book, square: sp.Expr) -> sp.Expr:
    """Return the bound on E f(w^{t+1}) - f(w^t) by smoothness and Lemmas 2, 3; ``square`` is L^2 beside Lemma 2."""
    drift, step = resolve("fedinit.lemma_2", book), resolve("fedinit.lemma_3", book)
    return sp.expand(-eta * K * g2 / 2 + eta * square * drift / 2 + L * step / 2 - eta * path2 / (2 * C**2 * K))


def front(quantity: sp.Symbol) -> Callable[[Book], sp.Expr]:
    """Return the formula of the coefficient of a quantity after Lemma 4 has replaced the divergence.

    N eta K L is replaced by its cap 1, except beside the gradient; 19 divergences are written as 20.
    """

    def coefficient(book: Book) -> sp.Expr:
        square = L**2 if quantity == g2 else L / (N * eta * K)
        inequality = _expanded(book, square)
        of_divergence = _expanded(book, L / (N * eta * K)).coeff(Delta, 1) + beta**2 * L / (2 * N)
        lemma_4 = sp.expand(resolve("fedinit.lemma_4", book))
        direct = 0 if quantity == Delta else inequality.coeff(quantity, 1)
        return direct + of_divergence * lemma_4.coeff(quantity, 1)

    return coefficient


def pole(book: Book) -> sp.Expr:
    """Return L + L/kappa_1 at the end of the range of beta, which is L if kappa_1 has a pole there."""
    return L + L * sp.cancel(1 / resolve("fedinit.kappa_1", book)).subs(beta, sp.sqrt(2) / 12)


def weighted_decreases(book: Book) -> Finding:
    """The weighted sum of the decreases of a divergence 0, 1, 0 is at most Delta^0 - Delta^T."""
    a = sp.Rational(1, 2)  # 1 - lambda mu eta K
    path = [0, 1, 0]
    weighted = sum((a ** (1 - t) * (path[t] - path[t + 1]) for t in range(2)), sp.S.Zero)
    at = {"Delta": path, "1 - lambda mu eta K": a, "T": 2}
    evidence = f"the weighted sum is {weighted}, Delta^0 - Delta^T is 0"
    return finding(weighted <= path[0] - path[-1], evidence, at, as_audited=weighted == 1 - a)


OWN_WEIGHT = At("fedinit.theorem_2", {1 / (1 - 72 * beta**2): 1})
