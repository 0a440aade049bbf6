"""What the remarks read out of Theorem 2 and Corollary 2.1."""

from __future__ import annotations

import sympy as sp

from bounds.decaying_k.letters import beta, C, D, eta, F_0, F_star, F_t0, G2, K, L, N, T, U, W, W_0, x
from bounds.vocabulary import steps_cubed_ratio

from ..checkers import All, ArgminIs, At, MonotoneIn, OrderIs, Same
from ..claim import Book, Claim, Defect, Kind, Repair
from .common import REAL_ROOT, STEEP, TAU
from .optima import ETA_PRINT, ETA_TRUE, iterations_of_runtime, K_PRINT, K_TRUE, ROUND_FITS, SECONDS
from .sharp import DRAW, SHARP

FALLS_WITH_TIME = Claim(
    "decaying_k.theorem_2_order",
    "K* falls at least as fast as W^(-1/3).",
    Kind.REMARK.at("Theorem 2, after eq. (9)"),
    {
        "order": OrderIs(K_PRINT, W, W ** sp.Rational(-1, 3), where=(REAL_ROOT,)),
        "derived": OrderIs(K_TRUE, W, W ** sp.Rational(-1, 3), where=(REAL_ROOT,)),
        "falls": MonotoneIn(K_PRINT, W, up=False, where=(REAL_ROOT,)),
        "rises with the loss": MonotoneIn(K_PRINT, F_t0, up=True, where=(REAL_ROOT,)),
    },
    note="As a function of the runtime W of the run that (8) speaks of, at one step size for all W "
    "(decaying_k.joint_minimum), and if the loss at its start does not rise.",
)

ROUND_LEFT = sp.Lt(TAU, W_0 - W)
"""The time left holds a round; the formula of K* has no beta, so that a small enough one is taken."""

DECAY = Claim(
    "decaying_k.theorem_2_decay",
    "Hence K should decay during a run: the best K from the time w on falls as w passes.",
    Kind.REMARK.at("Theorem 2 and Section 3.4, on K_w"),
    MonotoneIn(At(K_TRUE, {W: W_0 - W}), W, up=False, where=(REAL_ROOT, STEEP, ROUND_LEFT)),
    note="It fails with W as it is defined, under (7), and holds if W were the time that has passed. (8) is stated "
    "for a new run that begins at t_0, and W is how long that run lasts. In a run that ends at a given time, what is "
    "left at w is the total minus w, so that at an equal loss the best K rises. W^(-1/3) says that a longer run wants "
    "a smaller K, not that one K should follow another; what can make K fall is the loss alone, and only if kappa F - "
    "F^* falls faster than the time left.",
    repair=Repair(
        "at a fixed horizon K* falls with the loss", MonotoneIn(K_TRUE, F_t0, up=True, where=(REAL_ROOT,)), K_TRUE
    ),
    about=(SECONDS,),
    defect=Defect.READING,
)


def _divergence_in_k(book: Book) -> sp.Expr:
    """(8) with K in place of K^2 in the drift."""
    terms = book[SECONDS].spelled_terms
    return sp.Add(*(t / K if name == "drift" else t for name, t in terms.items()))


def _best_for_it(book: Book) -> sp.Expr:
    terms = book[SECONDS].spelled_terms
    return sp.sqrt(terms["optimisation"].subs({beta: 0, K: 1}) / terms["drift"].subs(K, 1))


def _runtime_of_best(book: Book) -> sp.Expr:
    """The runtime for which a number of local steps is best in the improved Theorem 1, with T put in from (7)."""
    bound = At(SHARP, {steps_cubed_ratio: K**2, T: iterations_of_runtime})(book)
    falling = sp.Add(*(t for t in bound.args if t.has(W)))
    return sp.simplify(-(W * falling).diff(K) / (bound - falling).diff(K))


def _inverse_slope(book: Book) -> sp.Expr:
    """1 over the slope of log K* in log W, in the improved bound."""
    runtime = _runtime_of_best(book)
    return K * runtime.diff(K) / runtime


LOCAL = sp.Rational(2, 3) * eta * L * K
"""What local steps cost in the improved bound, beside ``DRAW`` for the draw of clients."""

AGAINST_PASGD = Claim(
    "decaying_k.remark_2_1",
    "K* falls more slowly than the W^(-1/2) of PASGD because the divergence of FedAvg's clients is bounded by K^2 "
    "rather than K.",
    Kind.REMARK.at("Remark 2.1"),
    {
        "best K of (8) with K for K^2": ArgminIs(_divergence_in_k, K, _best_for_it),
        "its order": OrderIs(_best_for_it, W, W ** sp.Rational(-1, 2), where=(REAL_ROOT,)),
        "improved bound": Same(_inverse_slope, -2 - LOCAL / (DRAW + LOCAL), where=(N < C, F_star < F_0)),
    },
    note="Of the K* of (8), and of bounds, not of FedAvg itself. In the improved bound (decaying_k.theorem_1.sharp) "
    "the slope of log K* in log W is -1/(2 + s), s = (2/3) eta L K / (d + (2/3) eta L K), d = (C - N)/(N (C - 1)): "
    "near -1/2 only if eta L K is far below d, which it is not at the paper's cohorts with eta L = 1/4, and -1/3 if "
    "all take part. The order of PASGD itself is quoted.",
)

STEPS_AND_COHORT = Claim(
    "decaying_k.remark_2_2",
    "K* increases with the number of participants.",
    Kind.REMARK.at("Remark 2.2"),
    {
        "printed": MonotoneIn(K_PRINT, N, up=True, where=(REAL_ROOT,)),
        "derived": MonotoneIn(K_TRUE, N, up=True, where=(REAL_ROOT,)),
        "at most by": Same(
            lambda book: (book[K_PRINT].expr / book[K_PRINT].expr.subs(N, 1)) ** 3,
            sp.Rational(3, 2) / (1 + 1 / (2 * N)),
            where=(REAL_ROOT,),
        ),
    },
    note="By little: from one participant to infinitely many by the cube root of 3/2, 14 %; from the paper's smallest "
    "cohort, 10, by 1.6 %.",
)

# ---- Corollary 2.1 ----


LONGER_ROUNDS = Claim(
    "decaying_k.remark_2_1_1",
    "The best step size falls like W^(-1/2) and grows with the upload, download and computation time.",
    Kind.REMARK.at("Corollary 2.1, after eq. (11); Remark 2.1.1"),
    {
        "order": OrderIs(ETA_PRINT, W, 1 / sp.sqrt(W), where=(REAL_ROOT,)),
        "order, derived": OrderIs(ETA_TRUE, W, 1 / sp.sqrt(W), where=(REAL_ROOT,)),
        "size": MonotoneIn(ETA_PRINT, x, up=True, where=(REAL_ROOT,)),
        "download rate": MonotoneIn(ETA_PRINT, D, up=False, where=(REAL_ROOT,)),
        "upload rate": MonotoneIn(ETA_PRINT, U, up=False, where=(REAL_ROOT,)),
        "computation": MonotoneIn(ETA_PRINT, beta, up=True, where=(REAL_ROOT,)),
        "computation, derived": MonotoneIn(ETA_TRUE, beta, up=True, where=(REAL_ROOT,)),
    },
    note="In the length W of the run that (8) speaks of. The text writes w, the time index of Section 3.4 "
    "(decaying_k.corollary_2_1_decay).",
    damaged="'eta^* + W', read as eta^*_w",
)

STEP_SIZE_DECAY = Claim(
    "decaying_k.corollary_2_1_decay",
    "The best step size falls like w^(-1/2) with the time w that has passed.",
    Kind.REMARK.at("Corollary 2.1, after eq. (11)"),
    MonotoneIn(At(ETA_TRUE, {W: W - W_0}), W_0, up=False, where=(REAL_ROOT, STEEP)),  # W_0 has passed of W
    note="As decaying_k.theorem_2_decay: W is the length of the run that begins at t_0. In a run that ends at a given "
    "time the time left is the total minus w, so that at an equal loss the best step size rises until no round fits or "
    "1/(4L) is reached; it holds if W were the time that has passed.",
    repair=Repair(
        "at a fixed horizon eta* falls with the loss",
        MonotoneIn(ETA_TRUE, F_t0, up=True, where=(REAL_ROOT,)),
        ETA_TRUE,
    ),
    about=(SECONDS,),
    defect=Defect.READING,
)

STEP_SIZE_AND_COHORT = Claim(
    "decaying_k.remark_2_1_2",
    "More participants, and a larger K, go with a smaller best step size (11).",
    Kind.REMARK.at("Remark 2.1.2"),
    All(
        {
            "participants": MonotoneIn(ETA_PRINT, N, up=False, where=(REAL_ROOT, ROUND_FITS)),
            "local steps": MonotoneIn(ETA_PRINT, K, up=False, where=(REAL_ROOT, ROUND_FITS)),
        },
        wrong=("participants", "local steps"),
    ),
    note="Z falls as N grows, so that (11) and the derived step size rise, like K* in Remark 2.2, to which this one "
    "refers: less noise allows larger steps. In (11) K also stands in the time of a round, above the fraction: with "
    "little drift and slow computation the printed step size rises with K; the derived one, with the lost K, never.",
    repair=Repair(
        "more participants allow a larger one; the derived one falls in K",
        {
            "printed": MonotoneIn(ETA_PRINT, N, up=True, where=(REAL_ROOT, sp.Gt(G2, 0))),
            "derived": MonotoneIn(ETA_TRUE, N, up=True, where=(REAL_ROOT, sp.Gt(G2, 0))),
            "local steps": MonotoneIn(ETA_TRUE, K, up=False, where=(REAL_ROOT,)),
        },
        ETA_TRUE,
    ),
    defect=Defect.REFUTED,
)
