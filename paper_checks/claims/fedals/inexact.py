"""Theorem C.1 and its proof, (38) to (53): local models that are not minimisers; a bound that need not be so large."""

from __future__ import annotations

import sympy as sp

from bounds.fedals.letters import a, b, Delta, delta, epsilon, K, L, mu, w
from bounds.operators import bind, ClientMean as E_k

from ..checkers import At, ImpliedBy, requires, resolve, Same, TendsTo, term
from ..claim import Book, Claim, Defect, Finding, Grade, judged, Kind, Repair
from .common import alike, NONNEGATIVE, shared, SOLVER
from .enumerated import MU, SMOOTH
from .one_round import above, step

THEOREM = "Theorem C.1, eq. (38) (v1: B.1)"
BOUND, JOINED = "fedals.one_round_inexact", "fedals.one_round_inexact_joined"
SIGNS = tuple(map(shared, SOLVER))

MOVED_SQ = 4 * w**2 / mu * (Delta + 2 * epsilon)
"""(46)."""
SLOPE_SQ = 2 * L * (delta + epsilon)
"""(51)."""
ROOTS = sp.sqrt(2 / mu * (Delta + epsilon)) + sp.sqrt(2 / mu * epsilon)
"""The roots of the distances to the other's minimiser and to one's own, added."""

HALF_MOVED_SQ = 2 * w**2 / mu * (Delta + epsilon)
"""A client's weight squared times the variance of its model, at most."""
SHARP_EXACT, SHARP_ANY = "fedals.one_round_sharp", "fedals.one_round_inexact_sharp"
IID_DRIFT = (1 - 1 / K) * shared(Delta) / 2
"""The non-iidness of iid clients, for squared distances."""


def _one_noisy_client(book: Book) -> Finding:
    """Squared distances, one client with all noise, the others at its mean without any: the sharp bound is the gap."""
    mine, rest, gap = sp.symbols("w rest Delta", positive=True)
    stated, gaps = book[SHARP_EXACT], (gap, sp.S.Zero)
    here = {w: (mine, rest), Delta: gaps, delta: (rest**2 * gap / 2, mine**2 * gap / 2), L: sp.S.One, mu: sp.S.One}
    off = bind(stated.expr, {q: here[q] for q in stated.quantities}) - mine**2 * gap * (mine + rest)
    return judged(sp.simplify(off) == 0, "w^2 Delta, the gap, for every weight w", grade=Grade.PROVED)


STATEMENT = Claim(
    "fedals.theorem_c1",
    "As a formula, the bound for inexact local models is (31) with the two estimates (46) and (51) put in.",
    Kind.EQUATION.at(THEOREM),
    {
        "local generalization": Same(term(BOUND, "local generalization"), E_k(L / 2 * MOVED_SQ)),
        "non-iidness": Same(term(BOUND, "non-iidness"), E_k(sp.sqrt(SLOPE_SQ * MOVED_SQ))),
        "signs": requires({BOUND: (sp.Ge(Delta + 2 * epsilon, 0), SOLVER[1])}),
    },
    note="An identity of formulas; the steps of the proof: fedals.eqs_39_53.",
)

CHAIN = Claim(
    "fedals.eqs_39_53",
    "On a problem whose data sets are all enumerated every step of the proof of Theorem C.1 holds, (41) read as an "
    "inequality, and its bound is above the gap.",
    Kind.PROOF.at("proof of Theorem C.1, eqs. (39) to (53)"),
    {
        "(41)": step(lambda c: (c.local_moved_sq, 2 * (c.to_best_sq + c.own_to_best_sq))),
        "(42)": step(
            lambda c: (2 * (c.to_best_sq + c.own_to_best_sq), 4 / MU * (c.excess_over_best + c.suboptimality))
        ),
        "(43)": step(
            lambda c: (c.excess_over_best + c.suboptimality, c.excess_on_copy + 2 * c.suboptimality), equal=True
        ),
        "(48)": step(lambda c: (c.slope_sq, 2 * SMOOTH * c.above_best_on_copy)),
        "(51)": step(lambda c: (c.above_best_on_copy, c.drift_on_copy + c.suboptimality), equal=True),
        "signs": step(lambda c: (c.gap + c.suboptimality, c.excess_over_best), equal=True),
        "(53)": above(BOUND),
    },
    note="The numbers under the roots are nonnegative for any solver: mean excesses over the smallest training risk, "
    "even where a local gap or a non-iidness is negative.",
)

JOINED_BOUND = Claim(
    "fedals.theorem_c1.joined",
    "Adding the two distances of (41) as roots gives a bound that meets (6) for exact solvers and is never above (38).",
    Kind.THEOREM.at("Theorem C.1, repaired"),
    {
        "Minkowski": step(lambda c: (c.local_moved_sq**0.5, c.to_best_sq**0.5 + c.own_to_best_sq**0.5)),
        "to the other's": step(lambda c: (MU / 2 * c.to_best_sq, c.gap + c.suboptimality)),
        "to its own": step(lambda c: (MU / 2 * c.own_to_best_sq, c.suboptimality)),
        "local generalization": Same(term(JOINED, "local generalization"), E_k(L / 2 * w**2 * ROOTS**2)),
        "non-iidness": Same(term(JOINED, "non-iidness"), E_k(sp.sqrt(SLOPE_SQ) * w * ROOTS)),
        "meets (6)": Same(At(JOINED, {epsilon: 0}), "fedals.one_round", where=(sp.Ge(Delta, 0), sp.Ge(delta, 0))),
        "below (38)": ImpliedBy(alike(JOINED), alike(BOUND), where=SIGNS),
        "above the gap": above(JOINED),
        "signs": requires({JOINED: SOLVER}),
    },
    note="Minkowski. (47) doubles a square of which one part may be zero: for exact solvers the terms of (38) "
    "are 2 and sqrt(2) times those of (6), though the appendix calls the theorems identical but for the solver.",
    ours=True,
)

SHARP = Claim(
    "fedals.theorem_4_1.sharp",
    "Theorem 4.1 holds with sqrt(2) for the 2 of its second term, but nothing less; Theorem C.1 with 2 for sqrt(8).",
    Kind.THEOREM.at("Theorem 4.1, eq. (6), with the best constant, and Theorem C.1, eq. (38), with smaller ones"),
    {
        "half of (22)": step(lambda c: (c.inner, (c.slope_sq * c.moved_sq / 2) ** 0.5)),
        "local generalization": Same(term(SHARP_EXACT, "local generalization"), E_k(L * w**2 / mu * Delta)),
        "non-iidness": Same(
            term(SHARP_EXACT, "non-iidness"), E_k(w * sp.sqrt(2 * L * delta * Delta / mu)), where=NONNEGATIVE
        ),
        "any solver": Same(SHARP_ANY, E_k(L / 2 * HALF_MOVED_SQ * 2) + E_k(sp.sqrt(SLOPE_SQ * HALF_MOVED_SQ))),
        "signs": requires({SHARP_EXACT: NONNEGATIVE, SHARP_ANY: SOLVER}),
        "below (38)": ImpliedBy(alike(SHARP_ANY), alike(BOUND), where=SIGNS),
        "not the best for (38)": ImpliedBy(
            ((a + b) ** 2 + 2 * a**2) / 2,
            (1 + 1 / sp.sqrt(2)) * (a**2 + b**2),
            squares=((sp.sqrt(2) - 1) / 2 * (a - (1 + sp.sqrt(2)) * b) ** 2,),
        ),
        "above the gap": above(SHARP_ANY),
        "above the gap, exact": above(SHARP_EXACT, solvers=("exact",)),
        "one noisy client": _one_noisy_client,
        "alone": Same(At(alike(SHARP_EXACT), {K: 1, shared(delta): 0, mu: L}), shared(Delta)),
        "many iid clients": TendsTo(
            lambda book: K * resolve(At(alike(SHARP_EXACT), {mu: L, shared(delta): IID_DRIFT}), book) / shared(Delta),
            K,
            sp.oo,
            sp.S.One,
            where=(sp.Gt(shared(Delta), 0),),
        ),
    },
    note="The mean of the inner product of (17) is that with a client's mean model in place of the one that S_k "
    "trained, which is independent of the rest: half of the squared move of (22) suffices. For squared distances the "
    "gap of clients of equal weight is a local gap over K; one client meets the first constant, many iid clients the "
    "second. A client that has all the noise, the others being sure of its mean, meets the bound with equality at "
    "every weight. Theorem C.1 has smaller constants still: mu times the variance of a model is at most both 2 a^2 and "
    "(a + b)^2, with a^2 = Delta + epsilon and b^2 = epsilon, so at most (1 + 1/sqrt(2)) (Delta + 2 epsilon). Which "
    "are its best is not known.",
    ours=True,
)

SQUARE = Claim(
    "fedals.eq_41",
    "A squared sum of two equals twice the sum of the squares.",
    Kind.PROOF.at("proof of Theorem C.1, eq. (41)"),
    Same((a + b) ** 2, 2 * (a**2 + b**2), difference=-((a - b) ** 2)),
    note="A slip of the sign: (47), which it rests on, is the inequality that is meant, and all that the proof needs.",
    repair=Repair("at most", ImpliedBy((a + b) ** 2, 2 * (a**2 + b**2), squares=((a - b) ** 2,))),
    defect=Defect.SLIP,
)
