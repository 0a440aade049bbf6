"""Remarks 1.1 to 2.3: what they read out of Theorems 1 and 2 and Corollary 2.1."""

from __future__ import annotations

from fractions import Fraction

import sympy as sp

from bounds.decaying_k.letters import (
    beta,
    C,
    D,
    eta,
    F_0,
    F_star,
    F_t0,
    G2,
    Gamma,
    K,
    L,
    N,
    ratio,
    sigma_c,
    T,
    U,
    W,
    W_0,
    x,
)
from bounds.operators import ClientSum
from bounds.vocabulary import steps_cubed_ratio

from ..checkers import ArgminIs, At, Informative, MonotoneIn, OrderIs, Same, short, TendsTo, term
from ..claim import Book, Claim, Defect, Finding, judged, Kind, Repair
from ..parabolas import Scalars
from .common import CAP, KAPPA, REAL_ROOT, STEEP, TAU
from .optima import (
    ETA_PRINT,
    ETA_TRUE,
    ETAR_TRUE,
    iterations_of_runtime,
    K_PRINT,
    K_TRUE,
    ROUND_FITS,
    ROUNDS,
    SECONDS,
    VARIANCE,
)
from .sharp import DRAW, SHARP

SIX = "decaying_k.theorem_1"
FLOOR = ("gradient variance", "heterogeneity", "drift")
REAL_START = sp.Gt(KAPPA * F_0, F_star)
FIXED_K = At(SIX, {ratio: K**2})


LARGEST_STEP = Claim(
    "decaying_k.theorem_1_informative_at_cap",
    "With the largest step size that it allows, (6) says more than that gradients stay below G.",
    Kind.REMARK.at("Theorem 1"),
    Informative(At(term(SIX, "drift"), {eta: 1 / (4 * L)}), G2, where=(sp.Gt(G2, 0),)),
    note="The drift alone is then kappa (2 + 1/N) G^2 sum K^3 / sum K, more than twice G^2 whatever else is "
    "chosen; no other term is negative where F^* >= 0.",
    repair=Repair(
        "it says something for step sizes well below 1 / (kappa L (8 + 4/N) K^2)",
        Informative(SIX, G2, where=(F_star >= 0, F_star <= F_0, CAP, sp.Gt(G2, 0))),
        SIX,
    ),
    defect=Defect.REFUTED,
    ours=True,
)

RATE = Claim(
    "decaying_k.remark_1_1",
    "With a fixed step size (6) is O(1/T) + O(eta), with a fixed K O(1/T) + O(eta K^2): for a given T more local steps "
    "make it larger.",
    Kind.REMARK.at("Remarks 1.1 and 1.3; Section 3.5, on plateaus"),
    {
        "first term": OrderIs(term(SIX, "optimisation"), T, 1 / T, where=(REAL_START,)),
        "floor": OrderIs(At(term(SIX, *FLOOR), {ratio: K**2}), eta, eta * K**2, to=0),
        "floor in K": OrderIs(At(term(SIX, *FLOOR), {ratio: K**2}), K, eta * K**2),
        "floor without T": TendsTo(SIX, T, sp.oo, term(SIX, *FLOOR)),
        "more local steps": MonotoneIn(FIXED_K, K, up=True, where=(sp.Gt(G2, 0),)),
    },
)


DECAYED_FLOOR = Claim(
    "decaying_k.intro_goal",
    "Decaying K serves a goal similar to that of decaying the step size: the floor that (6) leaves comes down.",
    Kind.REMARK.at("Section 1"),
    {
        "K": MonotoneIn(term(SIX, *FLOOR), ratio, up=True, where=(sp.Gt(G2, 0),)),
        "step size": TendsTo(term(SIX, *FLOOR), eta, 0, sp.S.Zero),
        "floor of K = 1": TendsTo(At(SIX, {ratio: 1}), T, sp.oo, At(term(SIX, *FLOOR), {ratio: 1})),
    },
    note="Similar, not the same: K can fall to 1 and no further, and the floor of (6) is then that of distributed SGD "
    "with a fixed step size. Against K_0 for ever the floor comes down; against equal K_r that take the same rounds, "
    "steps and time it rises (decaying_k.three_schedules).",
)

AS_CENTRALISED = Claim(
    "decaying_k.remark_1_1_centralised",
    "(6) is the classical result for centralised SGD with other constants, due to non-iid clients and K_r > 1.",
    Kind.REMARK.at("Remark 1.1"),
    OrderIs(At(SIX, {VARIANCE: 0, Gamma: 0, ratio: 1}), T, 1 / T, at_most=True, where=(REAL_START,)),
    note="It holds of the orders O(1/T) and O(eta) (decaying_k.remark_1_1), not of the reason for the constants. Where "
    "clients are identical, K_r = 1 and gradients exact, this is gradient descent, whose gradients vanish, and (6) "
    "keeps the floor eta kappa L (8 + 4/N) G^2: the 8 comes from replacing K_r - 1 by K_r, 4/N from a "
    "participation factor bounded by 1.",
    repair=Repair(
        "the improved bound with K_r = 1 and all clients is that of SGD with one sample of each client",
        Same(At(SHARP, {ratio: 1, N: C}), 2 * (F_0 - F_star) / (eta * T) + eta * L * ClientSum(sigma_c) / C**2),
        SHARP,
    ),
    defect=Defect.READING,
)


def _quadratics(*curvatures: int) -> Finding:
    """Three clients with minima 0, 1, -2, all taking part, exact gradients, from -30 with eta = 1/12."""
    problem, found = Scalars.of((0, 1, -2), curvatures), {}
    for steps in (1, 2, 3, 4, 6, 12):
        server = Fraction(-30)
        for _ in range(12 // steps):
            server = problem.average(server, steps, Fraction(1, 12))
        found[steps] = problem.global_gradient(server) ** 2
    said = ", ".join(f"K = {k}: {short(value)}" for k, value in found.items())
    witness = {"curvatures": ", ".join(map(str, curvatures)), "minima": "0, 1, -2", "x_0": "-30", "eta": "1/12"}
    rises = sorted(set(found.values())) == list(found.values())
    harmless = len(set(found.values())) == 1
    return judged(harmless, f"squared gradient after 12 iterations, {said}", witness, harmless or rises)


QUADRATICS = Claim(
    "decaying_k.remark_1_3",
    "For a given number of iterations K_r > 1 harms in all analyses, except where clients are quadratic.",
    Kind.REMARK.at("Remark 1.3"),
    lambda book: _quadratics(1, 3, 2),
    note="It holds in the setting of the cited work, one loss for all clients, and of quadratics with one Hessian, "
    "whose average does not see K; it fails for clients that differ in Hessians and minima, even if all take part and "
    "gradients are exact: they contract the more slowly the larger K is, and for K >= 2 they rest beside the minimum "
    "(decaying_k.remark_1_1_decay). Which K is best depends on the start: near the minimum a few steps can be a "
    "little better than one. The drift of (6) sees none of this, and grows with K for equal clients too.",
    repair=Repair("quadratics with one Hessian", lambda book: _quadratics(2, 2, 2)),
    defect=Defect.READING,
)

VARIANCE_PER_ROUND = Claim(
    "decaying_k.remark_1_2",
    "Written for a number of rounds, (6) shows that more local steps reduce the influence of the gradient variance.",
    Kind.REMARK.at("Remark 1.2"),
    MonotoneIn(term(ROUNDS, "gradient variance"), K, up=False),
    note="Dividing (6) by K_r divides its left side too. With T = K R the variance term does not contain K at all.",
    repair=Repair(
        "with the best step size for R rounds it falls as K grows",
        MonotoneIn(
            At(term(ROUNDS, "gradient variance"), {eta: ETAR_TRUE}), K, up=False, where=(REAL_ROOT, sp.Gt(VARIANCE, 0))
        ),
        ROUNDS,
    ),
    defect=Defect.REFUTED,
)

COHORT_AND_DRIFT = Claim(
    "decaying_k.remark_1_2_cohort",
    "More participants reduce what K_r > 1 adds, by more the larger K_r is.",
    Kind.REMARK.at("Remark 1.2"),
    {
        "falls in N": MonotoneIn(term(SIX, "drift"), N, up=False),
        "by more for larger K": MonotoneIn(lambda book: -_drift(book).diff(N), K, up=True),
        "at most by a third": TendsTo(
            term(SIX, "drift"), N, sp.oo, lambda book: sp.Rational(2, 3) * _drift(book).subs(N, 1).subs(K**2, ratio)
        ),
    },
    note="In proportion the gain does not depend on K_r, and it is at most a third. The sum of the gradient "
    "variances does not fall with N: it runs over all C clients whoever takes part.",
)


def _drift(book: Book) -> sp.Expr:
    return At(term(SIX, "drift"), {ratio: K**2})(book)


# ---- Theorem 2 ----

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
    note="As a function of the runtime W of the run in (8), at one step size for all W "
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
    note="In the length W of the run in (8). The text writes w, the time index of Section 3.4 "
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
        "at a fixed horizon eta* falls with the loss", MonotoneIn(ETA_TRUE, F_t0, up=True, where=(REAL_ROOT,)), ETA_TRUE
    ),
    about=(SECONDS,),
    defect=Defect.READING,
)

STEP_SIZE_AND_COHORT = Claim(
    "decaying_k.remark_2_1_2",
    "More participants, and a larger K, go with a smaller best step size (11).",
    Kind.REMARK.at("Remark 2.1.2"),
    {
        "participants": MonotoneIn(ETA_PRINT, N, up=False, where=(REAL_ROOT, ROUND_FITS)),
        "local steps": MonotoneIn(ETA_PRINT, K, up=False, where=(REAL_ROOT, ROUND_FITS)),
    },
    wrong=("participants", "local steps"),
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
