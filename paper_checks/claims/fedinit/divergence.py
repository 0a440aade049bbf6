"""Section 4.3.3, Appendices A.2.5 and A.2.6: Theorem 5 unrolled, its rate in an exact run, its proof's citations."""

from __future__ import annotations

from math import log

import sympy as sp

from bounds.fedinit.letters import D, Delta, Delta_next, eta, g2, K, lam, mu, T
from bounds.vocabulary import loss_decrease, optimality_gap

from ..checkers import At, resolve, SlopeIs
from ..checkers.trends import Curve
from ..claim import Book, Finding, finding


def assembled(book: Book) -> sp.Expr:
    """Return the unrolled recursion, with the descent inequality, Theorem 2 for loss gaps, and T equal powers for D."""
    recursion = sp.expand(resolve("fedinit.theorem_4_recursion", book))
    weight, gain = recursion.coeff(Delta, 1), recursion.coeff(g2, 1)
    still = At("fedinit.descent", {loss_decrease: 0, Delta: 0, Delta_next: 0})(book)
    loss = 2 / (lam * eta * K)
    lasting = resolve("fedinit.theorem_2", book).subs(D, 0)
    start = gain * loss * D * T * sp.exp(-lam * mu * eta * K * (T - 1))
    return (recursion.subs({Delta: 0, g2: 0}) + gain * (still + loss * lasting)) / (1 - weight) + start


def from_the_minimiser(book: Book) -> Curve:
    """Return the curve of E |w_{i,K}^T - w*|^2 / log T for w^2/2 from w*, C = N = 1, K = 2, lambda = 1/2, noise 1."""
    values, rounds = [], tuple(10**power for power in range(4, 11))
    for count in rounds:
        step = log(count) / count
        factor = (1 - step) ** 2  # v' = (1 - eta)^2 v + eta^2 in each of 2T steps
        values.append(step**2 * (1 - factor ** (2 * count)) / (1 - factor) / log(count))
    return rounds, values


def cited(book: Book) -> Finding:
    """'Theorem 11' and 'Theorem 8' bound what the proof of Theorem 10 cites them for."""
    bounded = {"11": book["fedinit.theorem_3"].target, "8": book["fedinit.theorem_2"].target}
    recursion = book["fedinit.theorem_4_recursion"].target
    wrong = {k: bounded[k].name for k, needed in (("11", optimality_gap), ("8", recursion)) if bounded[k] != needed}
    evidence = "; ".join(f"Theorem {k} bounds the {v}" for k, v in wrong.items())
    return finding(not wrong, evidence or "both bound what is taken from them", wrong, as_audited=len(wrong) == 2)


quadratic_rate = SlopeIs(from_the_minimiser, -2, audited=-1)
linear_rate = SlopeIs(from_the_minimiser, -1, 0.01)
