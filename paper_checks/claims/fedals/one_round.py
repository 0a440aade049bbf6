"""Theorem 4.1: what it states, and its quantities for squared distances."""

import sympy as sp

from bounds.assumptions import EXACT_LOCAL_SOLVER, FULL_PARTICIPATION, INDEPENDENT_SAMPLES, SMOOTH, STRONGLY_CONVEX
from bounds.operators import ClientMean as E_k
from bounds.vocabulary import (
    client_distance_sq as distance_sq,
    client_gradient_variance as sigma_sq,
    client_weight as w,
    local_gap as Delta,
    non_iidness as delta,
    samples as n,
    smoothness as L,
    strong_convexity as mu,
)

from ..checkers import At, ImpliedBy, MonotoneIn, Requires, Same, term
from ..claim import Claim, Kind
from .common import alike, MU_AT_MOST_L, NONNEGATIVE, shared

THEOREM, DISCUSSION = "Theorem 4.1, eq. (6)", "Section 4.1, Discussion"
GAP, LOCAL_GAP, NON_IIDNESS, CLOSED, IID = (
    "fedals.gaussian_mean_gap",
    "fedals.gaussian_mean_local_gap",
    "fedals.gaussian_mean_non_iidness",
    "fedals.gaussian_mean_bound",
    "fedals.one_round_iid_claimed",
)
SIGNS = tuple(map(shared, NONNEGATIVE))
D, d, r = shared(Delta), shared(delta), shared(distance_sq)
LOCAL, DRIFT = term("fedals.one_round", "local generalization"), term("fedals.one_round", "non-iidness")

SPREAD_SQ = 2 * w**2 / mu * Delta
"""(26): what replacing one client's data moves the averaged model, squared and in the mean."""
SLOPE_SQ = 2 * L * delta
"""(29) with (36): the squared gradient of a client's training risk at the averaged model, in the mean."""


STATEMENT = Claim(
    "fedals.theorem_4_1",
    "The one-round bound is what (31) gives with the two estimates (26) and (29) put in.",
    Kind.THEOREM.at(THEOREM),
    {
        "local generalization": Same(LOCAL, E_k(L / 2 * SPREAD_SQ)),
        "non-iidness": Same(DRIFT, E_k(sp.sqrt(SLOPE_SQ * SPREAD_SQ)), where=NONNEGATIVE),
    },
    note="Numbered (15) and (37) in the appendix, where the same formula stands.",
)

CONDITIONS = Claim(
    "fedals.theorem_4_1.conditions",
    "The theorem asks for a smooth, strongly convex loss, independent samples, exact local minimisers and everyone's "
    "participation; local gaps and non-iidness are then nonnegative.",
    Kind.ASSUMPTION.at(THEOREM),
    Requires(
        "fedals.one_round",
        NONNEGATIVE,
        (SMOOTH, STRONGLY_CONVEX, INDEPENDENT_SAMPLES, EXACT_LOCAL_SOLVER, FULL_PARTICIPATION),
    ),
    note="The two signs are not asked for in the paper but follow from (23) and from the definition of non-iidness.",
)

CONDITION_NUMBER = Claim(
    "fedals.theorem_4_1.condition_number",
    "The bound grows with the condition number L/mu, so it is smallest where they agree.",
    Kind.REMARK.at(THEOREM),
    ImpliedBy(At(alike("fedals.one_round"), {mu: L}), alike("fedals.one_round"), where=(*SIGNS, MU_AT_MOST_L)),
)

MEAN_GAP = Claim(
    "fedals.discussion.local",
    "Clients whose own models generalise better make the bound on the averaged model smaller.",
    Kind.REMARK.at(DISCUSSION),
    MonotoneIn(alike("fedals.one_round"), D, up=True, where=SIGNS),
)

HURTS_BOUND = Claim(
    "fedals.discussion.non_iid_bound",
    "The bound grows with the non-iidness of the clients.",
    Kind.REMARK.at(DISCUSSION),
    MonotoneIn(alike("fedals.one_round"), d, up=True, where=(sp.Gt(D, 0), sp.Gt(d, 0))),
)

EXACT_LOCAL = Claim(
    "fedals.squared_distances.local_gap",
    "For squared distances a client's local gap is its gradient variance over L n.",
    Kind.EQUATION.at("Theorem 4.1, its quantities for squared distances"),
    Same(LOCAL_GAP, 2 * (sigma_sq / L**2 / n) * L / 2),
    note="Ours: the sample mean is s^2/n too far from a fresh sample and as much too near its own.",
)

EXACT_BOUND = Claim(
    "fedals.squared_distances.bound",
    "For squared distances (6) is its formula at L = mu and at the exact non-iidness of the clients.",
    Kind.EQUATION.at("Theorem 4.1, its quantities for squared distances"),
    {
        "bound": Same(CLOSED, At("fedals.one_round", {mu: L, delta: NON_IIDNESS}), where=(sp.Ge(Delta, 0),)),
        "conditions": Requires(CLOSED, NONNEGATIVE[:1]),
        "conditions of the gap": Requires(GAP, NONNEGATIVE[:1]),
        "conditions of the non-iidness": Requires(NON_IIDNESS, NONNEGATIVE[:1]),
    },
    note="Ours.",
)
