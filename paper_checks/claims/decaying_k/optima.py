"""Theorem 2 and Corollary 2.1: the bound per second (8), the best number of local steps and step size, (9) to (12)."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import sympy as sp

from bounds.decaying_k.letters import beta, D, eta, F_0, F_star, F_t0, G2, Gamma, K, L, N, p_c, R, sigma_c, T, W, x
from bounds.operators import ClientSum
from bounds.quantities import Quantity
from bounds.vocabulary import GRADIENT, steps_cubed_ratio

from ..checkers import (
    ArgminIs,
    At,
    ImpliedBy,
    MeasuredIn,
    MonotoneIn,
    OrderIs,
    Readings,
    Same,
    States,
    TendsTo,
)
from ..claim import Book, Check, Claim, claimed, Defect, Finding, judged, Kind, Repair
from .common import CAP, KAPPA, REAL_ROOT, SETTING, STEEP, TAU

SECONDS = "decaying_k.per_second"
ROUNDS = "decaying_k.per_rounds"
K_PRINT, K_TRUE = "decaying_k.k_star_printed", "decaying_k.k_star"
KR_PRINT, KR_TRUE = "decaying_k.k_star_rounds_printed", "decaying_k.k_star_rounds"
KR_CAP = "decaying_k.k_star_rounds_cap_printed"
ETA_PRINT, ETA_TRUE = "decaying_k.eta_star_printed", "decaying_k.eta_star"
ETAR_PRINT, ETAR_TRUE = "decaying_k.eta_star_rounds_printed", "decaying_k.eta_star_rounds"
ETAR_CAP = "decaying_k.eta_star_rounds_cap_printed"
ETA_CAPPED = "decaying_k.eta_star_capped"

LOST_IN_K = G2 ** sp.Rational(1, 3)
VARIANCE = ClientSum(p_c**2 * sigma_c)
Z = VARIANCE + 6 * L * Gamma + (8 + 4 / N) * G2 * K**2
START_IS_BEST = F_star <= F_t0
GAP = KAPPA * F_t0 - F_star
G2_POSITIVE = sp.Gt(G2, 0, evaluate=False)
BELOW_ONE = (8 + 4 / N) * eta**2 * L * G2 >= GAP * TAU / W
"""K* <= 1, without the root."""
ROUND_FITS = TAU + beta * K <= W
FIXED = (*SETTING, "fixed_local_steps")


def iterations_of_runtime(book: Book) -> sp.Expr:
    """T as a function of W: (7) is proportional to T."""
    return W * T / book["decaying_k.runtime_fixed"].expr


EQ_8 = Claim(
    "decaying_k.eq_8",
    "Theorem 1 from round t_0 on, with K_r = K and T put in from (7), is (8).",
    Kind.EQUATION.at("Section 3.4, eq. (8)"),
    {
        "from (6) and (7)": Same(
            SECONDS, At("decaying_k.theorem_1", {steps_cubed_ratio: K**2, F_0: F_t0, T: iterations_of_runtime})
        ),
        "as printed": Same(SECONDS, 2 * KAPPA * GAP / (eta * W * K) * (TAU + beta * K) + eta * KAPPA * L * Z),
        "(23), (26)": Same(SECONDS, 2 * KAPPA * GAP / (eta * W) / K * (TAU + beta * K) + eta * KAPPA * L * Z),
        "conditions": States(SECONDS, (CAP, START_IS_BEST, ROUND_FITS), FIXED),
    },
    note="As algebra; (23) and (26), where the proofs of the appendix begin, repeat it. It takes over what is wrong "
    "with (6), and W is the length of the run that begins at t_0.",
    about=("decaying_k.theorem_1",),
)


def _optimum(of: str, by: Quantity, name: str, conditions: tuple[Any, ...]) -> dict[str, Check]:
    """A formula is the minimiser of a bound, in the unit of the quantity, under exactly these conditions."""
    return {
        "minimiser": ArgminIs(of, by, name),
        "unit": MeasuredIn(name, by),
        "conditions": States(name, conditions, FIXED, relation="="),
    }


def _fits_at_best(book: Book) -> sp.Basic:
    return ROUND_FITS.subs(K, book[K_TRUE].expr)


def _download_twice(book: Book) -> sp.Expr:
    """(9) as it stands: the model is downloaded twice and never uploaded."""
    return book[K_PRINT].expr * sp.cbrt(2 * x / D / TAU)


def _root_closed_early(book: Book) -> sp.Expr:
    """(9) with the time fraction outside of the root."""
    return book[K_PRINT].expr * (TAU / W) ** sp.Rational(2, 3)


THEOREM_2 = Claim(
    "decaying_k.theorem_2",
    "(9) is the number of local steps that minimises (8).",
    Kind.THEOREM.at("Theorem 2, eq. (9)"),
    {
        "minimiser": Readings(
            {
                "the upload rate in the second fraction": ArgminIs(SECONDS, K, K_PRINT, ratio=LOST_IN_K),
                "the download rate twice, as it stands": ArgminIs(SECONDS, K, _download_twice),
                "the root closed before the second fraction": ArgminIs(SECONDS, K, _root_closed_early),
            }
        ),
        "unit": MeasuredIn(K_PRINT, K, off_by=GRADIENT ** Fraction(2, 3)),
        "conditions": States(K_PRINT, (CAP, START_IS_BEST, REAL_ROOT), FIXED, relation="="),
    },
    wrong=("minimiser", "unit"),
    note="G^2 is lost under the root: (9) is the minimiser times G^(2/3). It carries a unit, so that it changes when "
    "the loss is measured in other units, although a number of steps cannot: halving the unit multiplies it by "
    "2^(2/3).",
    repair=Repair(
        "(9) divided by G^(2/3)",
        _optimum(SECONDS, K, K_TRUE, (CAP, START_IS_BEST, REAL_ROOT, G2_POSITIVE, _fits_at_best)),
        K_TRUE,
    ),
    damaged="|x|/D twice instead of |x|/D + |x|/U, and where the cube root ends",
    defect=Defect.REFUTED,
)


IN_ROUNDS = Claim(
    "decaying_k.eq_10",
    "With W = R (|x|/D + |x|/U), (9) becomes (10), the best K for R rounds, which is largest at the start if the loss "
    "has not risen.",
    Kind.EQUATION.at("Remark 2.3, eq. (10)"),
    {
        "from (9)": Same(KR_PRINT, At(K_PRINT, {W: R * TAU})),
        "minimiser": ArgminIs(ROUNDS, K, KR_PRINT, ratio=LOST_IN_K),
        "its bound": Same(ROUNDS, At("decaying_k.theorem_1", {steps_cubed_ratio: K**2, F_0: F_t0, T: K * R})),
        "right side": Same(KR_CAP, At(KR_PRINT, {F_t0: F_0})),
        "at most that": ImpliedBy(KR_PRINT, KR_CAP, where=(F_t0 <= F_0, REAL_ROOT)),
        "conditions of its bound": States(ROUNDS, (CAP, START_IS_BEST), FIXED),
        "conditions": States(KR_PRINT, (CAP, START_IS_BEST, REAL_ROOT), FIXED, words=1, relation="="),
        "conditions, right": States(KR_CAP, (CAP, F_star <= F_0, F_star < KAPPA * F_0), FIXED, words=2),
    },
    wrong=("minimiser",),
    note="It follows from (9), and has lost the same G^2. That the loss has not risen is decaying_k.loss_never_rises.",
    repair=Repair(
        "(10) divided by G^(2/3)",
        _optimum(ROUNDS, K, KR_TRUE, (CAP, START_IS_BEST, REAL_ROOT, G2_POSITIVE)),
        KR_TRUE,
    ),
    damaged="where the cube root ends",
    defect=Defect.REFUTED,
)


AT_LEAST_ONE_STEP = Claim(
    "decaying_k.theorem_2_whole",
    "Where the minimiser of (8) is below 1, one local step is best, which is what the ceilings of Table 3 take.",
    Kind.THEOREM.at("Theorem 2; Table 3"),
    ImpliedBy(At(SECONDS, {K: sp.S.One}), SECONDS, where=(REAL_ROOT, sp.Ge(K, 1), BELOW_ONE), within={K: (1, 60)}),
    note="It is any positive number, below 1 for long runs, large steps or large G.",
    ours=True,
)

NO_COMPUTATION_TIME = Claim(
    "decaying_k.remark_2_3",
    "The best K for a number of rounds does not depend on the time of a local step.",
    Kind.REMARK.at("Remark 2.3"),
    {name: Same(name, At(name, {beta: 7 * beta + 1})) for name in (KR_PRINT, KR_TRUE, K_PRINT, K_TRUE)},
    note="Nor does the best K for a given time: beta drops out when (8) is differentiated.",
)


# ---- Corollary 2.1 ----


def _capped(name: str) -> Callable[[Book], sp.Basic]:
    """The limit 1/(4L) on the step size, asked of the minimiser itself."""
    return lambda book: book[name].expr <= 1 / (4 * L)


def _smaller(book: Book) -> sp.Expr:
    return sp.Min(book[ETA_TRUE].expr, 1 / (4 * L), evaluate=False)


def _at_capped(book: Book) -> sp.Expr:
    return book[SECONDS].expr.xreplace({eta: book[ETA_CAPPED].expr})


COROLLARY = Claim(
    "decaying_k.corollary_2_1",
    "(11) is the step size that minimises (8).",
    Kind.THEOREM.at("Corollary 2.1, eq. (11)"),
    {
        "minimiser": Readings(
            {
                "divided by W once": ArgminIs(SECONDS, eta, ETA_PRINT, ratio=sp.sqrt(K), where=(STEEP,)),
                "divided by W twice": ArgminIs(SECONDS, eta, lambda book: book[ETA_PRINT].expr / sp.sqrt(W)),
            }
        ),
        "unit": MeasuredIn(ETA_PRINT, eta),
        "conditions": States(ETA_PRINT, (START_IS_BEST, REAL_ROOT, _capped(ETA_PRINT)), FIXED, relation="="),
    },
    wrong=("minimiser",),
    note="K is lost in the denominator under the root: the printed step size is sqrt(K) times too large, 7 to 9 times "
    "with the paper's K_0. The units agree, so that they do not tell.",
    repair=Repair(
        "(11) divided by sqrt(K)",
        _optimum(SECONDS, eta, ETA_TRUE, (START_IS_BEST, ROUND_FITS, REAL_ROOT, Z > 0, _capped(ETA_TRUE))),
        ETA_TRUE,
    ),
    damaged="whether W divides once or twice",
    defect=Defect.REFUTED,
)


COROLLARY_CAP = Claim(
    "decaying_k.corollary_2_1_cap",
    "(11) is a step size that Theorem 1 allows: at most 1/(4L).",
    Kind.THEOREM.at("Corollary 2.1"),
    ImpliedBy(ETA_PRINT, 1 / (4 * L), where=(REAL_ROOT, START_IS_BEST, ROUND_FITS, STEEP)),
    note="The corollary asks for step sizes up to 1/(4L) and then minimises over all positive ones. With the lost K "
    "(decaying_k.corollary_2_1) it is the minimiser where that happens to be below the limit.",
    repair=Repair(
        "the smaller of the minimiser and 1/(4L)",
        {
            "formula": Same(ETA_CAPPED, _smaller, where=(REAL_ROOT,)),
            "best of those allowed": ImpliedBy(_at_capped, SECONDS, where=(CAP, REAL_ROOT)),
            "conditions": States(ETA_CAPPED, (START_IS_BEST, ROUND_FITS, REAL_ROOT, Z > 0), FIXED, relation="="),
        },
        ETA_CAPPED,
    ),
    defect=Defect.REFUTED,
)

ETA_IN_ROUNDS = Claim(
    "decaying_k.eq_12",
    "Where communication takes nearly all the time, (11) becomes (12), the best step size for R rounds, which is "
    "largest at the start if the loss has not risen.",
    Kind.EQUATION.at("Remark 2.1.3, eq. (12)"),
    {
        "limit of (11)": TendsTo(At(ETA_PRINT, {W: R * TAU}), beta, 0, ETAR_PRINT),
        "without the limit": Same(ETAR_PRINT, At(ETA_PRINT, {W: R * (TAU + beta * K)})),
        "minimiser": ArgminIs(ROUNDS, eta, ETAR_PRINT, ratio=sp.sqrt(K), where=(STEEP,)),
        "unit": MeasuredIn(ETAR_PRINT, eta),
        "right side": Same(ETAR_CAP, At(ETAR_PRINT, {F_t0: F_0})),
        "at most that": ImpliedBy(ETAR_PRINT, ETAR_CAP, where=(F_t0 <= F_0, REAL_ROOT)),
        "conditions": States(ETAR_PRINT, (START_IS_BEST, REAL_ROOT, _capped(ETAR_PRINT)), FIXED, words=1, relation="="),
        "conditions, right": States(ETAR_CAP, (F_star <= F_0, F_star < KAPPA * F_0, _capped(ETAR_CAP)), FIXED, words=2),
    },
    wrong=("minimiser",),
    note="It follows from (11), for R rounds of any length, and has lost the same K.",
    repair=Repair(
        "(12) divided by sqrt(K)",
        _optimum(ROUNDS, eta, ETAR_TRUE, (START_IS_BEST, REAL_ROOT, Z > 0, _capped(ETAR_TRUE))),
        ETAR_TRUE,
    ),
    defect=Defect.REFUTED,
)


# ---- both at once ----


@claimed(
    "decaying_k.joint_minimum",
    "Chosen together with the step size, the best K of (8) falls with the runtime and with the loss, as (9) does.",
    Kind.REMARK.at("Section 3.4, Theorem 2 and Corollary 2.1 together"),
    note="At the best step size (8) is a function of K times sqrt((kappa F - F^*)/W): the best K depends on neither, "
    "and the step size alone falls. (9) falls with W because it holds a step size that is then too large. Where "
    "that step size is above 1/(4L), as for short runs, the best K is that of 1/(4L) and does fall with W. By (8) a "
    "decaying K only makes up for a step size that is not lowered.",
    repair=Repair(
        "where the best step size is at most 1/(4L), the best K is one number for all runtimes and losses, and the "
        "step size falls like W^(-1/2)",
        {
            "(8) at its best step size": Same(
                lambda book: At(SECONDS, {eta: ETA_TRUE})(book) ** 2,
                8 * KAPPA**2 * L * GAP / W * (TAU / K + beta) * Z,
                where=(REAL_ROOT,),
            ),
            "one best K": MonotoneIn(((TAU / K + beta) * Z).diff(K), K, up=True, where=(Z > 0,)),
            "step size": OrderIs(ETA_TRUE, W, 1 / sp.sqrt(W), where=(REAL_ROOT,)),
        },
        ETA_TRUE,
    ),
    defect=Defect.REFUTED,
    ours=True,
)
def joint_minimum(book: Book) -> Finding:
    """kappa = 50, Gamma = 18, G^2 = 1, N = 4, tau = 2, beta = 1: the best K at the best step size, for two runs."""
    values = {
        "client_weight": [0.25] * 4, "client_gradient_variance": [0.0] * 4, "smoothness": 1.0, "cohort": 4,
        "strong_convexity": 0.02, "heterogeneity": 18.0, "optimal_loss": 18.0, "grad_cap_sq": 1.0,
        "minibatch_time": 1.0, "model_size": 10.0, "download_rate": 20.0, "upload_rate": 20 / 3,
    }  # fmt: skip
    best, steps = {}, np.arange(1, 41)
    for runtime, loss in ((500, 20.0), (4000, 19.0)):
        run = {**values, "runtime": runtime, "current_loss": loss, "local_steps": steps}
        level = book[SECONDS].formula(**run, step_size=book[ETA_TRUE].formula(**run))
        best[runtime] = int(steps[np.argmin(level)])
    said = ", ".join(f"K = {k} for W = {w}" for w, k in best.items())
    witness = {"kappa": "50", "Gamma": "18", "G^2": "1", "N": "4", "tau": "2", "beta": "1", "F": "20, 19"}
    witness |= {"L": "1", "F^*": "18", "sigma_c": "0"}
    return judged(best[4000] < best[500], f"best with the step size: {said}", witness, best == {500: 2, 4000: 2})
