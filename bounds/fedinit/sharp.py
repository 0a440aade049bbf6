"""FedInit with all clients in every round: smaller bounds than the paper's, proved here.

Write x = eta K L, e_i = w - last_i, V for the local drift V_1, Delta for the divergence, g for E|grad f(w)|^2 and, per
client, S_i for its K stochastic gradients added up. Noise is independent over clients and has mean 0 given the past.

Drift. A step is |d - eta grad f_i|^2 + eta^2 sigma^2 in expectation; Young's inequality with 1/(2K-1) and
|grad f_i(w_k)|^2 <= 2 L^2 |d|^2 + 2 |grad f_i(w)|^2 give growth 1 + 1/(K-1) where x^2 <= 1/8. Before the last of the K
gradients it has acted K - 1 times at most, (1 + 1/(K-1))^(K-1) <= e, where Lemma 2 takes it K times and writes 4:

    V <= 3 K beta^2 Delta + 2 K^2 eta^2 sigma^2 + 8 K^3 eta^2 (G^2 + B^2 g)

Divergence. The server model is the mean of the local ones, so w' - last_i' is beta e_i - eta S_i less its mean, up to
sign, and a mean square about the mean is at most the mean square. The noise of a step is inside later gradients, so S_i
is split by a factor 2: E|S_i|^2 <= 2 K sigma^2 + 4 K L^2 V_i + 4 K^2 |grad f_i(w)|^2. With the drift and x^2 <= 1/8:

    Delta' <= 5 beta^2 Delta + 6 eta^2 K sigma^2 + 16 eta^2 K^2 (G^2 + B^2 g)

Descent. Starts cancel in the mean, w' = w - eta (H + Z) with H the mean of the clients' true gradients added up and
E|Z|^2 <= K sigma^2/C. Smoothness, |H + Z|^2 <= 2|H|^2 + 2|Z|^2 and |H - K grad f|^2 <= K L^2 V give, for x <= 1/2,

    E f(w') <= E f(w) - eta K g/2 + eta L^2 V/2 + L eta^2 K sigma^2/C

Sum over t < T, put in drift and divergence (Delta^0 = 0), divide by eta K/2.
"""

from __future__ import annotations

from ..core import Condition
from ..vocabulary import grad_norm_sq, mean_grad_norm_sq, next_divergence
from . import common
from .common import fedinit_bound, of
from .letters import B2, beta, D, Delta, eta, G2, K, L, lam, N, sigma2, T

WEIGHT = 1 - 5 * beta**2
SHARE = 8 * (1 + beta**2) / WEIGHT
"""The factor of x^2 B^2 that reduces the descent, and of x^2 G^2 in the bound."""

OF_ROUND = (
    *common.SMOOTH_NOISY_DISSIMILAR,
    common.START,
    Condition.assume("full_participation"),
    common.STEP_LOCAL,
    Condition("5 beta^2 is below 1", 5 * beta**2 < 1),
)

divergence_sharp = fedinit_bound(
    **of("theorem_4_recursion_sharp", next_divergence, "Theorem 4, proof, sharpened", common.ALGORITHM_1),
    terms={
        "relaxed start": 5 * beta**2 * Delta,
        "gradient noise": 6 * eta**2 * K * sigma2,
        "dissimilarity": 16 * eta**2 * K**2 * G2,
        "global gradient": 16 * eta**2 * K**2 * B2 * grad_norm_sq,
    },
    conditions=OF_ROUND,
    statistic=common.EVERY_LOCAL,
    note="Derived, for all clients in every round: 5, 6, 16 where 96, 69, 267 are printed; relaxations of both signs.",
)

theorem_1_sharp = fedinit_bound(
    **of("theorem_1_sharp", mean_grad_norm_sq, "Theorem 1, eq. (9), sharpened", common.ALGORITHM_1, common.MEAN_SERVER),
    terms={
        "initial loss": 2 * D / (lam * eta * K * T),
        "gradient noise": 2 * eta * L * sigma2 / (lam * N),
        "drift noise": 2 * (1 + 4 * beta**2) / WEIGHT * eta**2 * K * L**2 * sigma2 / lam,
        "dissimilarity": SHARE * (eta * K * L) ** 2 * G2 / lam,
    },
    conditions=(
        *OF_ROUND,
        Condition.assume("lower_bounded"),
        common.TOGETHER,
        Condition("lambda is at most the share of descent that is left", lam <= 1 - SHARE * (eta * K * L) ** 2 * B2),
    ),
    note="Derived, for all clients in every round: dissimilarity enters squared in eta K L. Smallest at beta = 0.",
)
