"""Corollary 2.1: the step size (11) that is to minimise (8), and (12) for a number of rounds."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import sympy as sp

from bounds.decaying_k.letters import beta, eta, F_0, F_star, F_t0, K, L, R, W

from ..checkers import All, ArgminIs, At, ImpliedBy, MeasuredIn, MonotoneIn, OrderIs, Readings, Same, States, TendsTo
from ..claim import Book, Claim, Defect, Finding, judged, Kind, Repair
from .common import CAP, KAPPA, REAL_ROOT, STEEP, TAU
from .optima import (
    ETA_CAPPED,
    ETA_PRINT,
    ETA_TRUE,
    ETAR_CAP,
    ETAR_PRINT,
    ETAR_TRUE,
    FIXED,
    GAP,
    ROUND_FITS,
    ROUNDS,
    SECONDS,
    START_IS_BEST,
    Z,
)


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
    All(
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
    ),
    note="K is lost in the denominator under the root: the printed step size is sqrt(K) times too large, 7 to 9 times "
    "with the paper's K_0. The units agree, so that they do not tell.",
    repair=Repair(
        "(11) divided by sqrt(K)",
        {
            "minimiser": ArgminIs(SECONDS, eta, ETA_TRUE),
            "unit": MeasuredIn(ETA_TRUE, eta),
            "conditions": States(
                ETA_TRUE, (START_IS_BEST, ROUND_FITS, REAL_ROOT, Z > 0, _capped(ETA_TRUE)), FIXED, relation="="
            ),
        },
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
    All(
        {
            "limit of (11)": TendsTo(At(ETA_PRINT, {W: R * TAU}), beta, 0, ETAR_PRINT),
            "without the limit": Same(ETAR_PRINT, At(ETA_PRINT, {W: R * (TAU + beta * K)})),
            "minimiser": ArgminIs(ROUNDS, eta, ETAR_PRINT, ratio=sp.sqrt(K), where=(STEEP,)),
            "unit": MeasuredIn(ETAR_PRINT, eta),
            "right side": Same(ETAR_CAP, At(ETAR_PRINT, {F_t0: F_0})),
            "at most that": ImpliedBy(ETAR_PRINT, ETAR_CAP, where=(F_t0 <= F_0, REAL_ROOT)),
            "conditions": States(
                ETAR_PRINT, (START_IS_BEST, REAL_ROOT, _capped(ETAR_PRINT)), FIXED, words=1, relation="="
            ),
            "conditions, right": States(
                ETAR_CAP, (F_star <= F_0, F_star < KAPPA * F_0, _capped(ETAR_CAP)), FIXED, words=2
            ),
        },
        wrong=("minimiser",),
    ),
    note="It follows from (11), for R rounds of any length, and has lost the same K.",
    repair=Repair(
        "(12) divided by sqrt(K)",
        {
            "minimiser": ArgminIs(ROUNDS, eta, ETAR_TRUE),
            "unit": MeasuredIn(ETAR_TRUE, eta),
            "conditions": States(ETAR_TRUE, (START_IS_BEST, REAL_ROOT, Z > 0, _capped(ETAR_TRUE)), FIXED, relation="="),
        },
        ETAR_TRUE,
    ),
    defect=Defect.REFUTED,
)


# ---- both at once ----


def _best_together(book: Book) -> Finding:
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


JOINT_MINIMUM = Claim(
    "decaying_k.joint_minimum",
    "Chosen together with the step size, the best K of (8) falls with the runtime and with the loss, as (9) does.",
    Kind.REMARK.at("Section 3.4, Theorem 2 and Corollary 2.1 together"),
    _best_together,
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
