"""Section 3.5: the schedules that follow the loss, its estimate (15), and Table 3."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import sympy as sp

from bounds.decaying_k.letters import eta_0, F_0, F_r, F_star, G2, h, K_0, L, mu, N, reports, s, W, W_0
from bounds.units import LOSS
from bounds.vocabulary import distance_sq, initial_distance_sq

from ..checkers import All, At, MeasuredIn, MonotoneIn, OrderIs, Same, States
from ..claim import Book, Claim, Defect, Finding, judged, Kind, Repair
from ..parabolas import Scalars
from .common import REAL_ROOT
from .optima import ETA_PRINT, K_PRINT, K_TRUE

K_TIMED, ETA_TIMED = "decaying_k.k_error_with_time", "decaying_k.eta_error_with_time"
ROLLING, ROLLING_TRUE = "decaying_k.rolling_loss_printed", "decaying_k.rolling_loss"
OWN_CAP = At("decaying_k.gradient_cap", {initial_distance_sq: distance_sq})
LOSSES = (sp.Gt(F_0, 0), sp.Ge(F_r, 0))
K_LEFT, ETA_LEFT = sp.cbrt(W / W_0), sp.sqrt(W / W_0)
"""What the runtimes of two rounds leave in the quotients."""
CUBE_ROOT, SQUARE_ROOT = sp.cbrt(F_r / F_0), sp.sqrt(F_r / F_0)


def _relative(optimum: str, start: sp.Expr) -> Callable[[Book], sp.Expr]:
    """The optimum with F^* = 0 for (F_r, W), over the one for (F_0, W_0), times what was chosen there."""

    def made(book: Book) -> sp.Expr:
        now = book[optimum].expr.subs(F_star, 0)
        return start * now / now.subs({F_r: F_0, W: W_0}, simultaneous=True)

    return made


QUOTIENTS = Claim(
    "decaying_k.eq_13",
    "Dividing (9), and (11), at round r by what they are at round 0, with F^* = 0, gives (13) and (14).",
    Kind.EQUATION.at("Section 3.5, eqs. (13), (14)"),
    All(
        {
            "(13), one runtime": Same(K_0 * CUBE_ROOT, At(_relative(K_PRINT, K_0), {W: W_0})),
            "(14), one runtime": Same(eta_0 * SQUARE_ROOT, At(_relative(ETA_PRINT, eta_0), {W: W_0})),
            "(13), its runtimes": Same(K_0 * CUBE_ROOT, _relative(K_PRINT, K_0), K_LEFT, where=LOSSES),
            "(14), its runtimes": Same(eta_0 * SQUARE_ROOT, _relative(ETA_PRINT, eta_0), ETA_LEFT, where=LOSSES),
            "(13) with time": Same(K_TIMED, _relative(K_PRINT, K_0)),
            "(14) with time": Same(ETA_TIMED, _relative(ETA_PRINT, eta_0)),
            **{f"conditions of {n}": States(n, LOSSES, words=1, relation="=") for n in (K_TIMED, ETA_TIMED)},
        },
        wrong=("(13), its runtimes", "(14), its runtimes"),
    ),
    note="It holds if one runtime and one G (decaying_k.restart) are put into both. At the runtimes of the "
    "two rounds the quotients also have the cube (square) root of W_0 / W; the text puts round 0 at W = 0, where (9) "
    "has no value (decaying_k.k_0_at_zero), and lets W grow in (10). tau + beta K and Z cancel for a fixed K; "
    "the ceiling is left aside.",
    damaged="the brackets of (13), read as a ceiling as in Table 3",
    defect=Defect.READING,
)


AT_ZERO = Claim(
    "decaying_k.k_0_at_zero",
    "K_0, a good value of K at W = 0, stands for (9) at W = 0 when (13) is formed.",
    Kind.DEFINITION.at("Section 3.5, before eq. (13)"),
    OrderIs(At(K_PRINT, {F_star: 0}), W, 1, to=0, where=(sp.Gt(F_r, 0),)),
    note="(9) grows without limit as W falls to 0: a run without time has no best K, and (13) divides by it. It "
    "holds if W is read as the whole runtime, which the best K from the start belongs to.",
    defect=Defect.READING,
)


def _of_new_run(smallest: sp.Expr) -> At:
    """The best K of a run begun where a loss of curvature h is h/2 ||x - x^*||^2 above the smallest, with its own G."""
    return At(K_TRUE, {F_star: smallest, F_r: smallest + h / 2 * distance_sq, G2: OWN_CAP})


CURVED = (mu <= h, h <= L)
RESTART = Claim(
    "decaying_k.restart",
    "As every round may be seen as a new run, the best K falls while the loss falls from round to round.",
    Kind.REMARK.at("Section 3.4, first paragraph; Section 3.5, before eq. (13)"),
    All(
        {
            "F^* = 0": MonotoneIn(_of_new_run(sp.S.Zero), distance_sq, up=True, where=CURVED),
            "F^* > 0": MonotoneIn(_of_new_run(F_star), distance_sq, up=True, where=(*CURVED, sp.Gt(F_star, 0), mu < L)),
        },
        wrong=("F^* = 0", "F^* > 0"),
    ),
    note="It holds if one G bounds the gradients of all rounds, and fails with the G of the text, L times the distance "
    "from the start of the run to x^*: a new run has a new G, and G^2 falls as the loss does. With F^* = 0 the best K "
    "of the new runs changes by the cube root of kappa at most, and for a loss of one curvature not at all; with "
    "F^* > 0 it can even rise. (13) does not show it, as (9) has lost G: "
    "for clients x^2/2 the best K from x = 1 is that from x = 4, and (13) has cbrt(1/16) times it.",
    repair=Repair(
        "with one G for the whole run the best K falls with the loss",
        MonotoneIn(K_TRUE, F_r, up=True, where=(REAL_ROOT,)),
        K_TRUE,
    ),
    about=("decaying_k.gradient_cap",),
    defect=Defect.READING,
)

# ---- the estimate of the loss ----

ROLLING_MEAN = Claim(
    "decaying_k.eq_15",
    "(15) is the mean of the losses reported over a window.",
    Kind.EQUATION.at("Section 3.5, eq. (15)"),
    All(
        {
            "constant loss": Same(At(ROLLING, {reports: (s + 1) * N * F_r}), F_r, ratio=(s + 1) / s),
            "sum over s N": Same(ROLLING, reports / (s * N)),
            "conditions": States(ROLLING, words=1, relation="="),
        },
        wrong=("constant loss",),
    ),
    note="The sum runs over the s + 1 rounds r - s to r and is divided by s: a loss that never "
    "changes comes out (s + 1)/s times too large, 1 % with s = 100. In (13) that cancels only if F(x_0) is estimated "
    "the same way.",
    repair=Repair(
        "divided by s + 1",
        {
            "constant loss": Same(At(ROLLING_TRUE, {reports: (s + 1) * N * F_r}), F_r),
            "unit": MeasuredIn(ROLLING_TRUE, LOSS),
            "conditions": States(ROLLING_TRUE, words=1, relation="="),
        },
        ROLLING_TRUE,
    ),
    defect=Defect.SLIP,
)


def _reports(weights: tuple[Fraction, ...]) -> Finding:
    """The mean over uniformly drawn clients of f_c(1) against F(1)."""
    problem = Scalars((Fraction(0), Fraction(4)), (Fraction(1),) * 2, weights=weights)
    x = Fraction(1)
    reported = sum(((x - b) ** 2 / 2 for b in problem.minima), Fraction(0)) / 2
    said = f"clients drawn uniformly report {reported} on average, F is {problem.loss(x)}"
    return judged(reported == problem.loss(x), said, {"p": ", ".join(map(str, weights)), "minima": "0, 4", "x": "1"})


UNBIASED = Claim(
    "decaying_k.loss_reports",
    "What a client reports is F(x_r) in expectation.",
    Kind.REMARK.at("Section 3.5, before eq. (15)"),
    lambda book: _reports((Fraction(1, 4), Fraction(3, 4))),
    note="A client's report has the mean f_c(x_r), and over uniformly drawn clients the plain mean of these, which is "
    "F only for equal shares.",
    repair=Repair(
        "over the draw of the clients, if their shares are equal", lambda book: _reports((Fraction(1, 2),) * 2)
    ),
    defect=Defect.REFUTED,
)
