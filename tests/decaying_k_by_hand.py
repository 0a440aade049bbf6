"""What the Decaying-K tests share: the point, (8) re-read in plain floats, and exact values of expressions."""

import sympy as sp

from bounds.core import spell
from bounds.operators import bind
from bounds.points.decaying_k import POINTS
from bounds.vocabulary import (
    communication_time as tau,
    condition_number as kappa,
    current_loss as F,
    optimal_loss as F_star,
)

POINT = POINTS["decaying_k.per_second"]
POINTS_ALL = {**POINT, "rounds": 43}
VARIANCE = 0.52**2 * 0.7 + 0.31**2 * 1.8 + 0.17**2 * 0.45
TAU = 6.71 / 21.3 + 6.71 / 4.9
GAP = 2 * kappa * (kappa * F - F_star)


def plain(bound):
    """The right-hand side with kappa and tau left as letters, so that it can be compared with print."""
    kept = {q: e for q, e in bound.where.items() if q not in (kappa, tau)}
    return spell(sp.Add(*bound.terms.values()), kept)


def point_of(bound, **changed):
    return {**POINTS[bound.name], **changed}


def exactly(expression, point=POINT):
    """The value in rational arithmetic (roots excepted) at a point of numbers and lists."""
    names = {q: point[q.name] for q in expression.free_symbols}
    return bind(
        expression, {q: [sp.Rational(str(x)) for x in v] if isinstance(v, list) else v for q, v in names.items()}
    )


def bound_8(K, eta, F=1.9, N=2, W=311.0, G2=1.7):
    """(8) re-read from the paper, in plain floats, at the numbers of the point."""
    kappa, L, beta = 1.3 / 0.4, 1.3, 0.017
    Z = VARIANCE + 6 * L * 0.37 + (8 + 4 / N) * G2 * K**2
    return 2 * kappa * (kappa * F - 0.2) / (eta * W * K) * (TAU + beta * K) + eta * kappa * L * Z
