"""Replacements for (6), (9) and (72), proved here: the gap by the gradient noise, without the clients' distances.

Client k's risk f on a copy S' of its data is independent of the other clients' part B of the average. Let m' be its
model trained on S', A the one on S, a their mean, V their variance, w the share and c = B + w a. What (10) averages is
``f(B + w A) - f(B + w m')``. Smoothness and strong convexity, both expanded at c, give in the mean at most

``(L - mu)/2 w^2 V + w E<grad f(c), a - m'>``,

since A is independent of f. Given c the gradient has the mean of the population's, and a - m' has mean zero: only the
covariance matters, which over n samples is at most ``sigma_k n^(-1/2) V^(1/2)``, whatever the others have learnt.

- Exact minimisers (at a boundary too): ``V <= Delta/mu``.
- A sample moves an exact minimiser by ``sigma_k/(mu n)`` in root mean square, given the others: the covariance is at
  most ``sigma_k^2/(mu n)``, and ``V <= sigma_k^2/(mu^2 n)`` by Efron and Stein.
- tau steps of ``eta <= 2/(L + mu)`` on fresh samples contract by ``q = 1 - eta mu``: a sample of the step before the
  last s ones moves the model by ``eta q^s`` over the batch. Added up, the covariance is at most
  ``sigma_k^2 (1 - q^tau)/(mu |Z_k|)``, and ``V <= eta^2 sigma_k^2 tau/|Z_k| (1 + q^2 + ... + q^(2 tau - 2))``.

All are equalities for squared distances, however far apart the clients are. All need a variance of a
sample's gradient that is bounded at every model, which Theorem 4.3 assumes and Theorem 4.1 does not. Without it the gap
can grow with the distance, as in least squares with different inputs (claim fedals.discussion.non_iid_hurts).
"""

from __future__ import annotations

import sympy as sp

from ..core import assumed, Bound, Condition
from ..operators import ClientMean as E_k
from ..quantities import Quantity
from ..vocabulary import generalization_gap, out_of_sample_gap
from .letters import Delta, eta, L, mu, n, sigma_k_sq, tau, w, Z
from .one_round import CONVEX_LOSS, EVERYONE, EXACT, fedals_bound, FEDAVG, INDEPENDENT, NONNEGATIVE, of, ONE_ROUND
from .participation import CASE_1, share_moment
from .rounds import EACH_ROUND

NOISE = Condition.assume("samples_noise")
CONTRACTS = Condition("a local step brings two models closer", eta * (L + mu) <= 2)


def terms(square: sp.Expr, share: sp.Expr, variance: sp.Expr, covariance: sp.Expr) -> dict[str, sp.Expr]:
    """Return the two terms; ``share`` is the mean of a client's share of the average, ``square`` that of its square."""
    return {"curvature": E_k((L - mu) / 2 * square * variance), "sampling": E_k(share * covariance)}


def _bound(
    name: str, place: str, parts: dict[str, sp.Expr], how: tuple[Condition, ...], note: str,
    target: Quantity = generalization_gap,
) -> Bound:  # fmt: skip
    return fedals_bound(
        **of(name, target, place, FEDAVG),
        terms=parts,
        conditions=(*CONVEX_LOSS, INDEPENDENT, NOISE, *how),
        statistic=EACH_ROUND if tau in sp.Add(*parts.values()).free_symbols else ONE_ROUND,
        note=f"Derived. {note}",
    )


MEASURED = Delta / mu, sp.sqrt(sigma_k_sq * Delta / (mu * n))
q = sp.Max(1 - eta * mu, 0, evaluate=False)  # nonnegative if a step contracts

one_round_noise_sharp = _bound(
    "one_round_noise_sharp",
    "Theorem 4.1, eq. (6), without non-iidness",
    terms(w**2, w, *MEASURED),
    (EXACT, EVERYONE, NONNEGATIVE[0]),
    "It has no distance of the clients, but the variance must be bounded at every model. Minimisers may lie "
    "at the boundary of a convex set of models.",
)
one_round_constants_sharp = _bound(
    "one_round_constants_sharp",
    "Theorem 4.1, eq. (6), by constants alone",
    terms(w**2, w, sigma_k_sq / (mu**2 * n), sigma_k_sq / (mu * n)),
    (EXACT, EVERYONE),
    "Of the order 1/(clients samples) for equal weights, iid or not: that of one model fitted to all data.",
)
rounds_noise_sharp = _bound(
    "rounds_noise_sharp",
    "Theorem 4.3, eq. (9), replaced",
    terms(
        w**2,
        w,
        eta * sigma_k_sq * tau * (1 - q ** (2 * tau)) / (mu * Z * (1 + q)),
        sigma_k_sq * (1 - q**tau) / (mu * Z),
    ),
    (
        EVERYONE, CONTRACTS,
        *assumed("local_sgd", "fixed_local_steps", "fresh_samples"),
        Condition("a round's samples are used once each, in batches of one size"),
        Condition("every round is measured at the model that it ends with"),
    ),
    "Only constants: no rate of the local steps, no complexity and no non-iidness; rounds may differ.",
)  # fmt: skip
participation_case1_noise_sharp = _bound(
    "participation_case1_noise_sharp",
    "eq. (72), averaged over the participants of Case I, without non-iidness",
    terms(share_moment(3), share_moment(2), *MEASURED),
    (EXACT, CASE_1, NONNEGATIVE[0]),
    "Nothing in it depends on which clients take part. The participation gap of (62) comes on top.",
    target=out_of_sample_gap,
)
