"""Section 4.3.1 and Appendix A.2: what the lemmas leave in front of each quantity of the descent inequality."""

from __future__ import annotations

from collections.abc import Callable

import sympy as sp

from bounds.fedinit.letters import beta, C, Delta, eta, g2, K, L, N, path2

from ..checkers import At, resolve
from ..claim import Book, Finding, judged


def _expanded(book: Book, square: sp.Expr) -> sp.Expr:
    """E f(w^{t+1}) - f(w^t) by smoothness, Lemmas 2 and 3 put in; ``square`` stands for L^2 beside Lemma 2."""
    drift, step = resolve("fedinit.lemma_2", book), resolve("fedinit.lemma_3", book)
    return sp.expand(-eta * K * g2 / 2 + eta * square * drift / 2 + L * step / 2 - eta * path2 / (2 * C**2 * K))


def front(quantity: sp.Symbol) -> Callable[[Book], sp.Expr]:
    """What stands in front of a quantity once Lemma 4 has taken the place of the divergence.

    N eta K L is put to its cap 1, except beside the gradient; 19 divergences are written as 20.
    """

    def front(book: Book) -> sp.Expr:
        square = L**2 if quantity == g2 else L / (N * eta * K)
        whole = _expanded(book, square)
        once = _expanded(book, L / (N * eta * K)).coeff(Delta, 1) + beta**2 * L / (2 * N)
        lemma_4 = sp.expand(resolve("fedinit.lemma_4", book))
        kept = 0 if quantity == Delta else whole.coeff(quantity, 1)
        return kept + once * lemma_4.coeff(quantity, 1)

    return front


def pole(book: Book) -> sp.Expr:
    """L, to which 1/kappa_1 at the end of the range of beta adds nothing."""
    return L + L * sp.cancel(1 / resolve("fedinit.kappa_1", book)).subs(beta, sp.sqrt(2) / 12)


def weighted_decreases(book: Book) -> Finding:
    """Divergence 0, 1, 0: the weighted sum of its decreases against Delta^0 - Delta^T."""
    a = sp.Rational(1, 2)  # 1 - lambda mu eta K
    path = [0, 1, 0]
    weighted = sum((a ** (1 - t) * (path[t] - path[t + 1]) for t in range(2)), sp.S.Zero)
    at = {"Delta": path, "1 - lambda mu eta K": a, "T": 2}
    said = f"the weighted sum is {weighted}, Delta^0 - Delta^T is 0"
    return judged(weighted <= path[0] - path[-1], said, at, weighted == 1 - a)


OWN_WEIGHT = At("fedinit.theorem_2", {1 / (1 - 72 * beta**2): 1})
