"""FedALS, one round: the generalization bound of averaged local minimisers, its inexact form and its iid reading.

In every statement, the contribution of client k is weighted by the share of its model in the average. In Theorem 4.1
this share is the client's weight, in Remark 4.2 another one; the terms are therefore functions of the share.
"""

from __future__ import annotations

from functools import partial

import sympy as sp

from ..core import About, Bound, Condition, Statistic
from ..operators import ClientMean as E_k
from ..papers import heads
from ..vocabulary import generalization_gap, swap_gap
from .letters import Delta, delta, epsilon, K, K_hat, L, mu, n, tau, w

LETTERS = {w: r"\mathcal{K}(k)", K: "K", K_hat: r"\hat{K}", tau: r"\tau", n: "n"}
fedals_bound = partial(Bound, letters=LETTERS)
"""Creates a bound with the paper's letters."""
of = heads("fedals")
FEDAVG = About("fedavg")
ONE_ROUND = Statistic("expectation", over="the training samples", at="averaged model")

INDEPENDENT = Condition.assume("independent_samples")
# The proofs expand a client's risk on a new data set, so L must hold for every sample that can be drawn.
EVERY_SAMPLE = Condition.assume("samples_smooth")
CONVEX_LOSS = (EVERY_SAMPLE, Condition.assume("strongly_convex"))
EVERYONE = Condition.assume("full_participation")
EXACT = Condition.assume("exact_local_solver")
# Both always hold for exact minimisers, but a measured value can be negative (noise, inexact solvers).
NONNEGATIVE = (
    Condition("every client's expected local generalization gap is nonnegative", sp.Ge(Delta, 0)),
    Condition("every client's expected non-iidness is nonnegative", sp.Ge(delta, 0)),
)


def local_part(share: sp.Expr) -> sp.Expr:
    """Return ``E_k[L/mu share_k^2 Delta_k]``, the contribution of the clients' own generalization gaps."""
    return E_k(L / mu * share**2 * Delta)


def drift_part(share: sp.Expr) -> sp.Expr:
    """Return ``E_k[2 sqrt(L/mu) share_k sqrt(delta_k Delta_k)]``: the averaged model does not minimise local losses."""
    return E_k(2 * sp.sqrt(L / mu) * share * sp.sqrt(delta * Delta))


def inexact_terms(last_factor: sp.Expr) -> dict[str, sp.Expr]:
    """Return the two terms for models ``epsilon_k`` above the minimum; ``last_factor`` is a factor under the root."""
    return {
        "local generalization": E_k(2 * L * w**2 / mu * (Delta + 2 * epsilon)),
        "non-iidness": E_k(sp.sqrt(8 * L / mu) * w * sp.sqrt((delta + epsilon) * last_factor)),
    }


one_round = fedals_bound(
    **of("one_round", generalization_gap, "Theorem 4.1, eq. (6)", FEDAVG, ONE_ROUND),
    terms={"local generalization": local_part(w), "non-iidness": drift_part(w)},
    conditions=(*CONVEX_LOSS, INDEPENDENT, EXACT, EVERYONE, *NONNEGATIVE),
    note="Same as Theorem B.2 (v1: A.2), eqs. (15) and (37).",
)

one_round_iid_claimed = fedals_bound(
    **of("one_round_iid_claimed", generalization_gap, "Discussion of Theorem 4.1", FEDAVG, ONE_ROUND),
    terms={"local generalization": one_round.terms["local generalization"]},
    conditions=(
        *CONVEX_LOSS,
        INDEPENDENT,
        EXACT,
        EVERYONE,
        Condition("all clients draw from the same distribution"),
        NONNEGATIVE[0],
    ),
    note=(
        "The discussion's reading of (6), not its theorem: it says that only the first term is left for iid clients "
        "and infers a factor 1/clients^2 for uniform weights. The non-iidness of (6) is a difference of training "
        "risks on finite samples and stays positive for iid clients: see fedals.gaussian_mean_gap."
    ),
)

one_round_inexact = fedals_bound(
    **of("one_round_inexact", generalization_gap, "Theorem C.1, eq. (38)", FEDAVG, ONE_ROUND),
    terms=inexact_terms(Delta + 2 * epsilon),
    conditions=(
        *CONVEX_LOSS,
        INDEPENDENT,
        Condition.assume("local_sgd"),
        EVERYONE,
        Condition("local gap plus twice the local suboptimality is nonnegative", sp.Ge(Delta + 2 * epsilon, 0)),
        Condition("non-iidness plus local suboptimality is nonnegative", sp.Ge(delta + epsilon, 0)),
    ),
    note="Theorem B.1 in v1. With no suboptimality its terms are 2 and sqrt(2) times those of (6), not those of (6).",
)

lemma_b1 = fedals_bound(
    **of("lemma_b1", generalization_gap, "Lemma B.1, eq. (10)", FEDAVG, ONE_ROUND),
    terms={"swapped training set": E_k(swap_gap)},
    conditions=(
        INDEPENDENT,
        Condition("each client's fresh data are drawn like its training set and independent of all others"),
    ),
    relation="=",
    signed=("swapped training set",),
    note="Lemma A.1 in v1: any learning map, any loss.",
)
