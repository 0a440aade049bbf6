"""What the remarks read out of Theorem 1, Theorem 2 and Corollary 2.1."""

from __future__ import annotations

import sympy as sp

from bounds.vocabulary import (
    cohort as N,
    grad_cap_sq as G2,
    heterogeneity as Gamma,
    initial_runtime as W_0,
    steps_cubed_ratio as ratio,
)

from ..checkers import All, ArgminIs, At, MonotoneIn, OrderIs, Same, TendsTo, term, Total
from ..claims import Book, Claim, Kind, Repair, Status
from .common import at, beta, D, eta, F_t0, K, REAL_ROOT, T, U, W, x
from .optima import ETA_PRINT, ETA_TRUE, ETAR_TRUE, K_PRINT, K_TRUE, ROUNDS, SECONDS, VARIANCE

SIX = "decaying_k.theorem_1"
FLOOR = ("gradient variance", "heterogeneity", "drift")
FIXED_K = At(SIX, {ratio: K**2})

# ---- Theorem 1 ----

RATE = Claim(
    "decaying_k.remark_1_1",
    "With a fixed step size (6) is O(1/T) + O(eta).",
    at("Remark 1.1"),
    Kind.REMARK,
    All(
        {
            "first term": OrderIs(term(SIX, "optimisation"), T, 1 / T),
            "floor": OrderIs(term(SIX, *FLOOR), eta, eta, to=0),
            "floor without T": TendsTo(SIX, T, sp.oo, term(SIX, *FLOOR)),
        }
    ),
    known=Status.HOLDS,
)

AS_CENTRALISED = Claim(
    "decaying_k.remark_1_1_centralised",
    "But for its constants (6) is the classical result for centralised SGD.",
    at("Remark 1.1"),
    Kind.REMARK,
    OrderIs(At(SIX, {VARIANCE: 0, Gamma: 0, ratio: 1}), T, 1 / T, at_most=True),
    known=Status.FAILS,
    note="One step per round, no gradient noise and identical clients is gradient descent, whose gradients vanish. (6) "
    "keeps the floor eta kappa L (8 + 4/N) G^2 there: the 8 comes from replacing K_r - 1 by K_r, 4/N from a "
    "participation factor bounded by 1.",
    repair=Repair(
        "with 8 (K - 1)^2 as in (17) and all clients present the floor is gone",
        OrderIs(
            lambda book: (
                At(
                    Total(((1, term("decaying_k.lemma_2", "optimisation")), (1, term("decaying_k.lemma_2", "drift")))),
                    {K: sp.S.One},
                )(book)
                / (eta * T)
            ),
            T,
            1 / T,
        ),
    ),
)

VARIANCE_PER_ROUND = Claim(
    "decaying_k.remark_1_2",
    "Written for a number of rounds, (6) shows that more local steps reduce the influence of the gradient variance.",
    at("Remark 1.2"),
    Kind.REMARK,
    MonotoneIn(term(ROUNDS, "gradient variance"), K, up=False),
    known=Status.FAILS,
    note="Dividing (6) by K_r divides its left side too. With T = K R the variance term does not contain K at all.",
    repair=Repair(
        "with the best step size for R rounds it falls as K grows",
        MonotoneIn(
            At(term(ROUNDS, "gradient variance"), {eta: ETAR_TRUE}), K, up=False, where=(REAL_ROOT, sp.Gt(VARIANCE, 0))
        ),
        ROUNDS,
    ),
)

COHORT_AND_DRIFT = Claim(
    "decaying_k.remark_1_2_cohort",
    "More participants reduce what K_r > 1 adds, by more the larger K_r is.",
    at("Remark 1.2"),
    Kind.REMARK,
    All(
        {
            "falls in N": MonotoneIn(term(SIX, "drift"), N, up=False),
            "by more for larger K": MonotoneIn(lambda book: -_drift(book).diff(N), K, up=True),
            "at most by a third": TendsTo(
                term(SIX, "drift"), N, sp.oo, lambda book: sp.Rational(2, 3) * _drift(book).subs(N, 1).subs(K**2, ratio)
            ),
        }
    ),
    known=Status.HOLDS,
    note="In proportion the gain does not depend on K_r, and it is at most a third. The sum of the gradient "
    "variances does not fall with N: it runs over all C clients whoever takes part.",
)


def _drift(book: Book) -> sp.Expr:
    return At(term(SIX, "drift"), {ratio: K**2})(book)


MORE_STEPS_HARM = Claim(
    "decaying_k.remark_1_3",
    "For a given number of iterations T, more local steps make (6) larger.",
    at("Remark 1.3"),
    Kind.REMARK,
    MonotoneIn(FIXED_K, K, up=True, where=(sp.Gt(G2, 0),)),
    known=Status.HOLDS,
)

FIXED_K_RATE = Claim(
    "decaying_k.summary_of_6",
    "With a fixed K (6) is O(1/T) + O(eta K^2).",
    at("Section 3.5, on plateaus"),
    Kind.REMARK,
    All(
        {
            "first term": OrderIs(At(term(SIX, "optimisation"), {ratio: K**2}), T, 1 / T),
            "floor in K": OrderIs(At(term(SIX, *FLOOR), {ratio: K**2}), K, eta * K**2),
            "floor in eta": OrderIs(At(term(SIX, *FLOOR), {ratio: K**2}), eta, eta * K**2, to=0),
        }
    ),
    known=Status.HOLDS,
)

# ---- Theorem 2 ----

FALLS_WITH_TIME = Claim(
    "decaying_k.theorem_2_order",
    "K* falls at least as fast as W^(-1/3).",
    at("Theorem 2, after eq. (9)"),
    Kind.REMARK,
    All(
        {
            "order": OrderIs(K_PRINT, W, W ** sp.Rational(-1, 3), where=(REAL_ROOT,)),
            "derived": OrderIs(K_TRUE, W, W ** sp.Rational(-1, 3), where=(REAL_ROOT,)),
            "falls": MonotoneIn(K_PRINT, W, up=False, where=(REAL_ROOT,)),
            "rises with the loss": MonotoneIn(K_PRINT, F_t0, up=True, where=(REAL_ROOT,)),
        }
    ),
    known=Status.HOLDS,
    note="As a function of the runtime W of the run that (8) speaks of, and if the loss at its start does not rise.",
)

DECAY = Claim(
    "decaying_k.theorem_2_decay",
    "Hence K should decay during a run: the best K from the time w on falls as w passes.",
    at("Theorem 2 and Section 3.4, on K_w"),
    Kind.REMARK,
    MonotoneIn(At(K_TRUE, {W: W_0 - W}), W, up=False, where=(REAL_ROOT, W < W_0)),
    known=Status.FAILS,
    note="(8) is stated for a new run that begins at t_0, and W is how long that run lasts. In a run that ends at a "
    "given time, what is left at w is the total minus w, so that at an equal loss the best K rises. W^(-1/3) says that "
    "a longer run wants a smaller K, not that one K should follow another; what can make K fall is the loss alone, and "
    "only if kappa F - F^* falls faster than the time left.",
    repair=Repair(
        "at a fixed horizon K* falls with the loss",
        MonotoneIn(K_TRUE, F_t0, up=True, where=(REAL_ROOT,)),
        K_TRUE,
    ),
    about=(SECONDS,),
)


def _divergence_in_k(book: Book) -> sp.Expr:
    """(8) with K in place of K^2 in the drift."""
    terms = book[SECONDS].spelled_terms
    return sp.Add(*(t / K if name == "drift" else t for name, t in terms.items()))


def _best_for_it(book: Book) -> sp.Expr:
    terms = book[SECONDS].spelled_terms
    return sp.sqrt(terms["optimisation"].subs({beta: 0, K: 1}) / terms["drift"].subs(K, 1))


AGAINST_PASGD = Claim(
    "decaying_k.remark_2_1",
    "With divergence growing like K instead of K^2 the best K would fall like W^(-1/2).",
    at("Remark 2.1"),
    Kind.REMARK,
    All(
        {
            "best K": ArgminIs(_divergence_in_k, K, _best_for_it),
            "its order": OrderIs(_best_for_it, W, W ** sp.Rational(-1, 2), where=(REAL_ROOT,)),
        }
    ),
    known=Status.HOLDS,
    note="(8) with K for K^2 has that minimiser: the reason given for the slower decay is the right one. The order "
    "itself is quoted from Wang and Joshi.",
)

STEPS_AND_COHORT = Claim(
    "decaying_k.remark_2_2",
    "K* increases with the number of participants.",
    at("Remark 2.2"),
    Kind.REMARK,
    All(
        {
            "printed": MonotoneIn(K_PRINT, N, up=True, where=(REAL_ROOT,)),
            "derived": MonotoneIn(K_TRUE, N, up=True, where=(REAL_ROOT,)),
            "at most by": Same(
                lambda book: (book[K_PRINT].expr / book[K_PRINT].expr.subs(N, 1)) ** 3,
                sp.Rational(3, 2) / (1 + 1 / (2 * N)),
                where=(REAL_ROOT,),
            ),
        }
    ),
    known=Status.HOLDS,
    note="By little: from one participant to infinitely many by the cube root of 3/2, 14 %; from the paper's smallest "
    "cohort, 10, by 1.6 %.",
)

# ---- Corollary 2.1 ----

STEP_SIZE_ORDER = Claim(
    "decaying_k.corollary_2_1_order",
    "The best step size falls like W^(-1/2).",
    at("Corollary 2.1, after eq. (11)"),
    Kind.REMARK,
    All(
        {
            "printed": OrderIs(ETA_PRINT, W, 1 / sp.sqrt(W), where=(REAL_ROOT,)),
            "derived": OrderIs(ETA_TRUE, W, 1 / sp.sqrt(W), where=(REAL_ROOT,)),
        }
    ),
    known=Status.HOLDS,
)

LONGER_ROUNDS = Claim(
    "decaying_k.remark_2_1_1",
    "The best step size grows with the upload, download and computation time.",
    at("Remark 2.1.1"),
    Kind.REMARK,
    All(
        {
            "size": MonotoneIn(ETA_PRINT, x, up=True, where=(REAL_ROOT,)),
            "download rate": MonotoneIn(ETA_PRINT, D, up=False, where=(REAL_ROOT,)),
            "upload rate": MonotoneIn(ETA_PRINT, U, up=False, where=(REAL_ROOT,)),
            "computation": MonotoneIn(ETA_PRINT, beta, up=True, where=(REAL_ROOT,)),
            "derived": MonotoneIn(ETA_TRUE, beta, up=True, where=(REAL_ROOT,)),
        }
    ),
    known=Status.HOLDS,
)

STEP_SIZE_AND_COHORT = Claim(
    "decaying_k.remark_2_1_2",
    "More participants allow a smaller best step size, as K* shows too.",
    at("Remark 2.1.2"),
    Kind.REMARK,
    MonotoneIn(ETA_PRINT, N, up=False, where=(REAL_ROOT,)),
    known=Status.FAILS,
    note="Z falls as N grows, so that (11) and the derived step size rise, like K* in Remark 2.2, to which this one "
    "refers. Less noise allows larger steps.",
    repair=Repair(
        "they allow a larger one",
        All(
            {
                "printed": MonotoneIn(ETA_PRINT, N, up=True, where=(REAL_ROOT, sp.Gt(G2, 0))),
                "derived": MonotoneIn(ETA_TRUE, N, up=True, where=(REAL_ROOT, sp.Gt(G2, 0))),
            }
        ),
        ETA_TRUE,
    ),
)

STEP_SIZE_AND_STEPS = Claim(
    "decaying_k.remark_2_1_2_steps",
    "A larger K in (11) goes with a smaller step size.",
    at("Remark 2.1.2"),
    Kind.REMARK,
    MonotoneIn(ETA_PRINT, K, up=False, where=(REAL_ROOT,)),
    known=Status.FAILS,
    note="In (11) K also stands in the time of a round, above the fraction: with little drift and slow computation the "
    "printed step size rises with K.",
    repair=Repair(
        "the derived step size, with the lost K, falls in K always",
        MonotoneIn(ETA_TRUE, K, up=False, where=(REAL_ROOT,)),
        ETA_TRUE,
    ),
)

CLAIMS: tuple[Claim, ...] = (
    RATE,
    AS_CENTRALISED,
    VARIANCE_PER_ROUND,
    COHORT_AND_DRIFT,
    MORE_STEPS_HARM,
    FIXED_K_RATE,
    FALLS_WITH_TIME,
    DECAY,
    AGAINST_PASGD,
    STEPS_AND_COHORT,
    STEP_SIZE_ORDER,
    LONGER_ROUNDS,
    STEP_SIZE_AND_COHORT,
    STEP_SIZE_AND_STEPS,
)
