"""Theorem 4.1: what it states, and what is read off its terms."""

import sympy as sp

from bounds.fedals.letters import Delta, delta, distance_sq, L, mu, w
from bounds.operators import ClientMean as E_k

from ..checkers import Requires, Same, term
from ..claim import Claim, Kind
from .common import NONNEGATIVE, shared

THEOREM, DISCUSSION = "Theorem 4.1, eq. (6)", "Section 4.1, Discussion"
GAP, LOCAL_GAP, NON_IIDNESS, CLOSED, IID = (
    "fedals.gaussian_mean_gap",
    "fedals.gaussian_mean_local_gap",
    "fedals.gaussian_mean_non_iidness",
    "fedals.gaussian_mean_bound",
    "fedals.one_round_iid_claimed",
)
D, d, r = shared(Delta), shared(delta), shared(distance_sq)
LOCAL, DRIFT = term("fedals.one_round", "local generalization"), term("fedals.one_round", "non-iidness")

SPREAD_SQ = 2 * w**2 / mu * Delta
"""(26): what replacing one client's data moves the averaged model, squared and in the mean."""
SLOPE_SQ = 2 * L * delta
"""(29) with (36): the squared gradient of a client's training risk at the averaged model, in the mean."""


STATEMENT = Claim(
    "fedals.theorem_4_1",
    "As a formula, the one-round bound is (31) with the two estimates (26) and (29) put in.",
    Kind.EQUATION.at(THEOREM),
    {
        "local generalization": Same(LOCAL, E_k(L / 2 * SPREAD_SQ)),
        "non-iidness": Same(DRIFT, E_k(sp.sqrt(SLOPE_SQ * SPREAD_SQ)), where=NONNEGATIVE),
        "signs": Requires("fedals.one_round", NONNEGATIVE),
    },
    note="An identity of formulas; whether the theorem holds is decided by fedals.eqs_16_37 and "
    "fedals.theorem_4_1.search. Numbered (15) and (37) in the appendix, where the same formula stands.",
)

READ_OFF = Claim(
    "fedals.discussion.local",
    "The bound is smaller where clients' own models generalise better, and grows with the clients' non-iidness.",
    Kind.REMARK.at(DISCUSSION),
    {
        "a Delta + b sqrt(delta Delta)": Same(
            "fedals.one_round",
            E_k(L / mu * w**2 * Delta) + E_k(2 * sp.sqrt(L / mu) * w * sp.sqrt(delta * Delta)),
            where=NONNEGATIVE,
        ),
    },
    note="Both factors, a and b, are nonnegative. The bound alone is judged, not the gap.",
)
