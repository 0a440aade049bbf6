"""What the remarks read out of Theorem 1, Theorem 2 and Corollary 2.1."""

from __future__ import annotations

from fractions import Fraction

import sympy as sp

from bounds.decaying_k.letters import C, eta, F_0, F_star, G2, Gamma, K, L, N, ratio, sigma_c, T
from bounds.operators import ClientSum

from ..checkers import At, Informative, MonotoneIn, OrderIs, Same, short, TendsTo, term
from ..claim import Book, Check, Claim, Defect, Finding, judged, Kind, Repair
from ..parabolas import Scalars
from .common import CAP, KAPPA, REAL_ROOT
from .optima import ETAR_TRUE, ROUNDS, VARIANCE
from .sharp import SHARP

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


def _quadratics(*curvatures: int) -> Check:
    """Three clients with minima 0, 1, -2, all taking part, exact gradients, from -30 with eta = 1/12."""

    def run(book: Book) -> Finding:
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

    return run


QUADRATICS = Claim(
    "decaying_k.remark_1_3",
    "For a given number of iterations K_r > 1 harms in all analyses, except where clients are quadratic.",
    Kind.REMARK.at("Remark 1.3"),
    _quadratics(1, 3, 2),
    note="It holds in the setting of the cited work, one loss for all clients, and of quadratics with one Hessian, "
    "whose average does not see K; it fails for clients that differ in Hessians and minima, even if all take part and "
    "gradients are exact: they contract the more slowly the larger K is, and for K >= 2 they rest beside the minimum "
    "(decaying_k.remark_1_1_decay). Which K is best depends on the start: near the minimum a few steps can be a "
    "little better than one. The drift of (6) sees none of this, and grows with K for equal clients too.",
    repair=Repair("quadratics with one Hessian", _quadratics(2, 2, 2)),
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
