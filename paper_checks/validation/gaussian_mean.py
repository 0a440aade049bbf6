"""Exact gap and bound for estimating a mean: ``l = 1/2 ||theta - z||^2``, identical clients, n samples each.

The formulas of ``bounds.fedals.quadratic`` in terms of the numbers of clients and samples and s^2, the total variance
of a sample (trace of its covariance), which is also the variance of its gradient.
"""

from __future__ import annotations

from typing import NamedTuple

import sympy as sp

from bounds.catalog import get
from bounds.vocabulary import gradient_variance as s_sq, samples as n


class ExactMean(NamedTuple):
    """Expectations over all draws, as expressions in clients, samples and gradient_variance."""

    gap: sp.Expr
    local_gap: sp.Expr
    non_iidness: sp.Expr
    bound: sp.Expr


def exact_mean() -> ExactMean:
    """Gap, local gap, non-iidness and the bound of Theorem 4.1 in closed form, for K identical clients."""
    values = {"smoothness": 1, "client_distance_sq": 0, "client_gradient_variance": s_sq, "local_gap": s_sq / n}
    exact = [get(f"fedals.gaussian_mean_{name}").equal_clients() for name in ExactMean._fields]
    formulas = [bound.expr.subs({q: values[q.name] for q in bound.quantities if q.name in values}) for bound in exact]
    return ExactMean(*map(sp.simplify, formulas))
