"""FedInit, optimisation: Lemmas 2 to 4, the descent inequality, Theorems 1 and 2.

Lemmas 3 and 4 are built from Lemma 2 as in the proof, so that their integers (15, 10, 39; 72, 51, 195)
are computed, not copied.
"""

from __future__ import annotations

from sympy import exp, Expr, Integer

from .. import vocabulary as q
from . import common
from .common import fedinit_bound, of
from .letters import B2, beta, C, D, Delta, eta, G2, K, kappa_1, kappa_2, L, lam, mu, N, sigma2, T

# ---- Lemmas 2 to 4 ----

LOCAL_DRIFT: dict[str, Expr] = {
    "relaxed start": 4 * K * beta**2 * Delta,
    "gradient noise": 3 * K**2 * eta**2 * sigma2,
    "dissimilarity": 12 * K**3 * eta**2 * G2,
    "global gradient": 12 * K**3 * eta**2 * B2 * q.grad_norm_sq,
}

lemma_2 = fedinit_bound(
    **of("lemma_2", q.local_drift, "Lemma 2, eq. (24)", common.PROOF, common.EVERY_ROUND),
    terms=LOCAL_DRIFT,
    conditions=(*common.SETTING, common.ALL_TRAIN, common.TWO_STEPS, common.STEP_LOCAL),
    note="The cap 1/(2 sqrt(2) K L) is rebuilt (medium confidence): the number under its root is lost.",
)


def with_drift(factor: Expr, own: dict[str, Expr], largest_L: Expr) -> dict[str, Expr]:
    """Return ``factor`` times Lemma 2 plus ``own``, term by term, with L at its largest value under a step-size cap."""
    return {name: (factor * drift).subs(L, largest_L) + own[name] for name, drift in LOCAL_DRIFT.items()}


AT_ROUND_CAP = 1 / (eta * K)  # the L for which eta = 1/(KL)

# The squared mean of the gradients summed over a round: a client's displacement apart from its drift.
MEAN_WALK = {"dissimilarity": eta**2 * K**2 * G2, "global gradient": eta**2 * K**2 * B2 * q.grad_norm_sq}
GLOBAL_STEP: dict[str, Expr] = {
    **with_drift(
        3 * eta**2 * K * L**2 / N,
        {
            "relaxed start": 3 * beta**2 * Delta / N,
            "gradient noise": eta**2 * K * sigma2 / N,
            **{name: 3 * walk / N for name, walk in MEAN_WALK.items()},
        },
        AT_ROUND_CAP,
    ),
    "gradients of all clients": eta**2 / (C * N) * q.summed_grad_norm_sq,
}

lemma_3 = fedinit_bound(
    **of("lemma_3", q.global_step, "Lemma 3, eq. (25)", common.PROOF, common.EVERY_SERVER),
    terms=GLOBAL_STEP,
    conditions=(*common.SETTING, common.ALL_TRAIN, common.TWO_STEPS, common.STEP_ROUND),
    note="The last coefficient is lost in (25) and taken from the proof. The proof uses Lemma 2, whose cap is smaller.",
)

LOCAL_WALK = with_drift(
    2 * eta**2 * K * L**2,
    {
        "relaxed start": Integer(0),
        "gradient noise": eta**2 * K * sigma2,
        **{name: 2 * walk for name, walk in MEAN_WALK.items()},
    },
    AT_ROUND_CAP,
)
NEXT_DIVERGENCE: dict[str, Expr] = {
    # identity (15) squared: three summands, each at most three times its square; 1/N <= 1 outside the last term
    **{name: 3 * (GLOBAL_STEP[name].subs(N, 1) + walk) for name, walk in LOCAL_WALK.items()},
    "gradients of all clients": 3 * GLOBAL_STEP["gradients of all clients"],
}
NEXT_DIVERGENCE["relaxed start"] += 3 * beta**2 * Delta

lemma_4_recursion = fedinit_bound(
    **of("lemma_4_recursion", q.next_divergence, "Lemma 4, proof", common.PROOF, common.EVERY_LOCAL),
    terms=NEXT_DIVERGENCE,
    conditions=common.OF_LEMMA_4,
)

lemma_4 = fedinit_bound(
    **of("lemma_4", Delta, "Lemma 4, eq. (26)", common.PROOF, common.EVERY_LOCAL),
    terms={
        "divergence decrease": (Delta - q.next_divergence) / common.WEIGHT_72,
        **{name: term / common.WEIGHT_72 for name, term in NEXT_DIVERGENCE.items() if name != "relaxed start"},
    },
    signed=("divergence decrease",),
    conditions=common.OF_LEMMA_4,
    note="The recursion of the proof, solved for the divergence of this round.",
)

# ---- Theorems 1 and 2 ----

LASTING: dict[str, Expr] = {
    "gradient noise": kappa_2 * eta * L / (lam * N) * sigma2,
    "dissimilarity": 3 * kappa_1 * eta * K * L / (lam * N) * G2,
}
"""The terms that do not vanish as the run gets longer, as a bound on the squared gradient norm."""

descent = fedinit_bound(
    **of("descent", q.grad_norm_sq, "Appendix A.2.2, last display, divided by lambda eta K / 2", common.PROOF),
    terms={
        "loss decrease": 2 * q.loss_decrease / (lam * eta * K),
        "divergence decrease": 20 * beta**2 * L * (Delta - q.next_divergence) / (common.WEIGHT_72 * N * lam * eta * K),
        **LASTING,
    },
    signed=("loss decrease", "divergence decrease"),
    where=common.CONSTANTS,
    conditions=(*common.OF_DESCENT, common.ALL_TRAIN),
    statistic=common.EVERY_SERVER,
    note="The proof drops the gradients summed over all clients; their factor is at most 0 only under "
    "fedinit.step_size_cap_descent.",
)

theorem_1 = fedinit_bound(
    **of("theorem_1", q.mean_grad_norm_sq, "Theorem 1, eq. (9) (appendix: Theorem 7, eq. (27))", common.ALGORITHM_1),
    terms={"initial loss": 2 * D / (lam * eta * K * T), **LASTING},
    where=common.CONSTANTS,
    conditions=common.OF_THEOREM_1,
    statistic=common.MEAN_SERVER,
    note="The cap N/(2CKL) carries the proof only while 60 beta^2 <= N (1 - 72 beta^2): see "
    "fedinit.step_size_cap_descent. False of Algorithm 1 where absent clients keep their models: once beta exceeds "
    "about N/(C-N) the models grow for ever. Where all clients train in every round no search violates it.",
)

theorem_2 = fedinit_bound(
    **of("theorem_2", q.optimality_gap, "Theorem 2, eq. (11) (appendix: Theorem 8, eq. (29))", common.ALGORITHM_1),
    terms={
        "initial loss": exp(-lam * mu * eta * K * T) * D,
        **{name: term / (2 * mu) for name, term in LASTING.items()},
    },
    where=common.CONSTANTS,
    conditions=common.OF_THEOREM_2,
    statistic=common.LAST_SERVER,
    note="The cap 1/(lambda mu K) is rebuilt from the proof (high confidence). The proof replaces a weighted sum of "
    "decreases of the divergence by Delta^0 - Delta^T; what this drops is positive when it rises and falls again. "
    "False of Algorithm 1 where Theorem 1 is.",
)
