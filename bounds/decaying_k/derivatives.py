"""Decaying-K, Appendix A.3 and A.4: the derivatives of (8) in K and eta, as printed and as SymPy takes them.

(24) and (25) treat the bracket tau + beta K as a constant when differentiating by K; (27) and (28) are right.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import sympy as sp

from ..core import Bound
from ..quantities import Quantity
from ..vocabulary import step_size_curvature, step_size_slope, steps_curvature, steps_slope
from .convergence import per_second
from .letters import beta, eta, F_star, F_t0, G2, K, kappa, L, N, tau, W, Z
from .optima import NOISE, WHERE
from .runtime import of


def _slope(name: str, place: str, target: Quantity, terms: dict[str, sp.Expr], note: str = "", **more: Any) -> Bound:
    head = of(name, target, place)
    return replace(per_second, **head, relation="=", terms=terms, statistic=None, note=note, **more)


def _derivative(name: str, place: str, target: Quantity, over: Quantity, order: int, note: str = "") -> Bound:
    terms = {n: t.diff(over, order, simplify=False) for n, t in per_second.terms.items()}
    return _slope(name, f"{place}, derived", target, {n: t for n, t in terms.items() if t != 0}, note)


_GAP = kappa * (kappa * F_t0 - F_star) * (tau + beta * K)
_DRIFT = 2 * eta * kappa * L * (8 + 4 / N) * G2

steps_slope_printed = _slope(
    "steps_slope_printed",
    "Appendix A.3, eq. (24)",
    steps_slope,
    {"optimisation": -2 * _GAP / (eta * W * K**2), "drift": _DRIFT * K},
    "The bracket tau + beta K is not differentiated: it should be tau alone.",
)
steps_curvature_printed = _slope(
    "steps_curvature_printed",
    "Appendix A.3, eq. (25)",
    steps_curvature,
    {"optimisation": 4 * _GAP / (eta * W * K**3), "drift": _DRIFT},
    "The bracket tau + beta K is not differentiated: it should be tau alone.",
)
step_size_slope_printed = _slope(
    "step_size_slope_printed",
    "Appendix A.4, eq. (27)",
    step_size_slope,
    {"optimisation": -2 * _GAP / (eta**2 * W * K), "noise": kappa * L * Z},
    "Right; its root is (11) divided by sqrt(K).",
    where={**WHERE, **NOISE},
)
step_size_curvature_printed = _slope(
    "step_size_curvature_printed",
    "Appendix A.4, eq. (28)",
    step_size_curvature,
    {"optimisation": 4 * _GAP / (eta**3 * W * K)},
    "Right.",
)
steps_slope_derived = _derivative("steps_slope", "derivative of (8) in K", steps_slope, K, 1)
steps_curvature_derived = _derivative("steps_curvature", "second derivative of (8) in K", steps_curvature, K, 2)
step_size_slope_derived = _derivative("step_size_slope", "derivative of (8) in eta", step_size_slope, eta, 1)
step_size_curvature_derived = _derivative(
    "step_size_curvature", "second derivative of (8) in eta", step_size_curvature, eta, 2
)
