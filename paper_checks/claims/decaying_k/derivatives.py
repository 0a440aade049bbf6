"""Appendices A.3 and A.4: the derivatives of (8), their signs and their roots."""

from __future__ import annotations

import sympy as sp

from bounds.decaying_k.letters import beta, eta, F_star, F_t0, G2, K, L, W

from ..checkers import All, At, derivative_is, ImpliedBy, MeasuredIn, Same, States, Term, term
from ..claim import Claim, Defect, Kind, Repair
from .common import CAP, KAPPA, REAL_ROOT, TAU
from .optima import ETA_PRINT, ETA_TRUE, FIXED, K_PRINT, K_TRUE, ROUND_FITS, SECONDS, START_IS_BEST, Z

SLOPE, SLOPE_TRUE = "decaying_k.steps_slope_printed", "decaying_k.steps_slope"
CURVE, CURVE_TRUE = "decaying_k.steps_curvature_printed", "decaying_k.steps_curvature"
ETA_SLOPE, ETA_SLOPE_TRUE = "decaying_k.step_size_slope_printed", "decaying_k.step_size_slope"
ETA_CURVE, ETA_CURVE_TRUE = "decaying_k.step_size_curvature_printed", "decaying_k.step_size_curvature"

LEVEL = 2 * KAPPA * (KAPPA * F_t0 - F_star) / (eta * W)
"""What stands in front of (tau + beta K) / K in (8)."""


def minus(part: Term) -> object:
    return lambda book: -part(book)


EQ_24 = Claim(
    "decaying_k.eq_24",
    "(24) is the derivative of (23) in the number of local steps.",
    Kind.PROOF.at("Appendix A.3, eq. (24)"),
    All(
        {"slope": derivative_is(SECONDS, K, SLOPE, difference=-LEVEL * beta / K), "unit": MeasuredIn(SLOPE, G2)},
        wrong=("slope",),
    ),
    note="The bracket tau + beta K is left as it is although it depends on K; tau alone should stand there.",
    repair=Repair("with tau for the bracket", derivative_is(SECONDS, K, SLOPE_TRUE), SLOPE_TRUE),
    defect=Defect.GAP,
)

EQ_25 = Claim(
    "decaying_k.eq_25",
    "(25) is the second derivative of (23) in the number of local steps, and the derivative of (24).",
    Kind.PROOF.at("Appendix A.3, eqs. (24), (25)"),
    All(
        {
            "of (23)": derivative_is(SECONDS, K, CURVE, order=2, difference=2 * LEVEL * beta / K**2),
            "of (24)": derivative_is(SLOPE, K, CURVE, difference=LEVEL * beta / K**2),
        },
        wrong=("of (23)", "of (24)"),
    ),
    note="The bracket is left as it is once more: not even the printed (24) has it for a derivative.",
    repair=Repair(
        "with tau for the bracket",
        {
            "of (23)": derivative_is(SECONDS, K, CURVE_TRUE, order=2),
            "of (24)": derivative_is(SLOPE_TRUE, K, CURVE_TRUE),
        },
        CURVE_TRUE,
    ),
    defect=Defect.GAP,
)


CONVEX = Claim(
    "decaying_k.a_3_convex",
    "As F(x_t0) > F^* and the constants are positive, (25) and (28) are positive: the bound is convex in K and in eta.",
    Kind.PROOF.at("Appendix A.3 and A.4, conclusions"),
    All(
        {
            name: ImpliedBy(0, curve, where=(F_t0 > F_star, ROUND_FITS))
            for name, curve in (("in K", CURVE), ("in eta", ETA_CURVE))
        },
        wrong=("in K", "in eta"),
    ),
    note="What must be positive is kappa F - F^*, which a loss above its smallest value does not ensure where it is "
    "negative. A.4 calls (27) convex and means (26).",
    repair=Repair(
        "where F^* >= 0 the second derivatives are positive",
        {
            name: ImpliedBy(0, curve, where=(F_t0 > F_star, F_star >= 0))
            for name, curve in (("in K", CURVE_TRUE), ("in eta", ETA_CURVE_TRUE))
        },
        CURVE_TRUE,
    ),
    defect=Defect.GAP,
)


def _root(slope: str, by: sp.Expr, root: str, gain: str, **way: object) -> Same:
    """At the root the falling term of the slope balances the growing one."""
    falling = At(minus(term(slope, "optimisation")), {by: root})
    return Same(falling, At(term(slope, gain), {by: root}), where=(REAL_ROOT,), **way)


ROOT_OF_24 = Claim(
    "decaying_k.a_3_root",
    "Setting (24) to zero gives (9).",
    Kind.PROOF.at("Appendix A.3, conclusion"),
    _root(SLOPE, K, K_PRINT, "drift", ratio=lambda book: (1 + beta * book[K_PRINT].expr / TAU) / G2),
    note="The root of the printed (24) depends on beta, (9) does not: (9) is the root of the right derivative, but for "
    "the lost G^2.",
    repair=Repair("the right derivative vanishes at the derived K*", _root(SLOPE_TRUE, K, K_TRUE, "drift"), K_TRUE),
    defect=Defect.GAP,
)

_DERIVATIVES = (SLOPE, SLOPE_TRUE, CURVE, CURVE_TRUE, ETA_SLOPE, ETA_SLOPE_TRUE, ETA_CURVE, ETA_CURVE_TRUE)

EQ_27 = Claim(
    "decaying_k.eq_27",
    "(27) and (28) are the derivatives of (26) in the step size.",
    Kind.PROOF.at("Appendix A.4, eqs. (27), (28)"),
    {
        "(27)": derivative_is(SECONDS, eta, ETA_SLOPE),
        "(27) by SymPy": derivative_is(SECONDS, eta, ETA_SLOPE_TRUE),
        "Z of (11)": Same(term(ETA_SLOPE, "noise"), KAPPA * L * Z),
        "(28)": derivative_is(SECONDS, eta, ETA_CURVE, order=2),
        "(28) of (27)": derivative_is(ETA_SLOPE, eta, ETA_CURVE),
        "(28) by SymPy": derivative_is(SECONDS, eta, ETA_CURVE_TRUE, order=2),
        **{name: States(name, (CAP, START_IS_BEST, ROUND_FITS), FIXED, relation="=") for name in _DERIVATIVES},
    },
)


ROOT_OF_27 = Claim(
    "decaying_k.a_4_root",
    "Setting (27) to zero gives (11).",
    Kind.PROOF.at("Appendix A.4, conclusion"),
    _root(ETA_SLOPE, eta, ETA_PRINT, "noise", ratio=1 / K),
    note="(27) is right, its root is (11) divided by sqrt(K).",
    repair=Repair("(27) vanishes at the derived step size", _root(ETA_SLOPE, eta, ETA_TRUE, "noise"), ETA_TRUE),
    defect=Defect.GAP,
)
