"""The exact answer for estimating a mean, ``l = 1/2 ||theta - z||^2``, identical clients, n samples each.

What ``bounds.fedals.quadratic`` says of squared distances, put into numbers of clients and samples and s^2, the total
variance of a sample (trace of its covariance), which is also the variance of a sample's gradient.
"""

from __future__ import annotations

from typing import NamedTuple

import sympy as sp

from bounds.catalog import get
from bounds.vocabulary import clients as K, gradient_variance as s_sq, samples as n


class ExactMean(NamedTuple):
    """Expectations over all draws, as expressions in clients, samples and gradient_variance."""

    gap: sp.Expr
    local_gap: sp.Expr
    non_iidness: sp.Expr
    bound: sp.Expr


def exact_mean() -> ExactMean:
    """Gap, local gap, non-iidness and the bound of Theorem 4.1 in closed form, for K identical clients."""
    put = {"smoothness": 1, "client_distance_sq": 0, "client_gradient_variance": s_sq, "local_gap": s_sq / n}
    exact = [get(f"fedals.gaussian_mean_{name}").equal_clients() for name in ExactMean._fields]
    found = [bound.expr.subs({q: put[q.name] for q in bound.quantities if q.name in put}) for bound in exact]
    return ExactMean(*map(sp.simplify, found))


def sentence() -> str:
    """The answer in words, made from the derived expressions."""
    exact = exact_mean()
    Delta = sp.Symbol("Delta", positive=True)
    short = {s_sq: n * Delta, K: sp.Symbol("K", positive=True)}
    gap, excess, bound = (sp.simplify(e.subs(short)) for e in (exact.gap, exact.non_iidness, exact.bound))
    limit = sp.limit(exact.bound / exact.gap, K, sp.oo)
    return (
        f"Exact, for l = 1/2 ||theta - z||^2 and Delta = s^2/n: gap = {gap}, delta = {excess}, bound = {bound}. "
        f"The gap falls exactly like 1/K, delta does not vanish for iid clients, and bound / gap tends to {limit}."
    )
