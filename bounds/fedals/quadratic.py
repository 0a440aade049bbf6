"""Theorem 4.1 for mean estimation, ``l = L/2 ||theta - z||^2``, where every quantity is known exactly.

Client k holds n samples with mean m_k and total variance s_k^2 (trace of the covariance), whatever their distribution;
its minimiser is the sample mean theta_k, and theta = E_k[theta_k]. Then, with m = E_k[m_k]:

- ``Delta_k = L s_k^2 / n``: the sample mean is s_k^2/n farther from a fresh sample and s_k^2/n closer to its own ones.
- ``delta_k = L/2 E||theta - theta_k||^2 = L/2 ||m - m_k||^2 + 1/2 ((1 - 2 p_k) Delta_k + E_j[p_j Delta_j])``; for K iid
  clients this is ``1/2 (1 - 1/K) Delta``, not zero.
- the gap is ``E_k[p_k Delta_k]`` *exactly*, however different the clients: ``Delta/K`` for K identical clients. It
falls like 1/K,
  and so does (6), through its non-iidness; a bound like 1/K^2 would be false here.
"""

from __future__ import annotations

from dataclasses import replace

import sympy as sp

from ..core import Bound, Condition
from ..operators import ClientMean as E_k
from ..quantities import Quantity
from ..vocabulary import client_distance_sq, generalization_gap
from .letters import Delta, delta, L, mu, n, sigma_k_sq, w
from .one_round import (
    EVERY_SAMPLE,
    EVERYONE,
    EXACT,
    FEDAVG,
    INDEPENDENT,
    LETTERS,
    NONNEGATIVE,
    of,
    ONE_ROUND,
    one_round,
)  # fmt: skip

SQUARED_DISTANCE = Condition("the loss is half the smoothness times the squared distance from the model to the sample")
DISTANCES = Condition("distances are those of the clients' population means to their weighted mean")
POSITIVE_GAP = NONNEGATIVE[0]

NON_IIDNESS = {
    "distance of the clients": L * client_distance_sq / 2,
    "sampling": ((1 - 2 * w) * Delta + E_k(w * Delta)) / 2,
}


def _exact(
    name: str,
    target: Quantity,
    terms: dict[str, sp.Expr],
    *extra: Condition,
    at: str = "averaged model",
    note: str = "",
) -> Bound:
    return Bound(
        **of(name, target, "Theorem 4.1, its quantities for squared distances", FEDAVG),
        terms=terms,
        conditions=(SQUARED_DISTANCE, INDEPENDENT, EXACT, EVERYONE, *extra),
        relation="=",
        statistic=replace(ONE_ROUND, at=at),
        letters={**LETTERS, client_distance_sq: r"\|m_k-\bar m\|^2"},
        note=f"Derived. {note}".strip(),
    )


gaussian_mean_local_gap = _exact(
    "gaussian_mean_local_gap",
    Delta,
    {"sampling": sigma_k_sq / (L * n)},
    EVERY_SAMPLE,
    Condition("the gradient variance is the exact one, not just a bound on it"),
    at="client's own model",
    note="The gradient of one sample has variance L^2 s_k^2, the same at every model.",
)
gaussian_mean_non_iidness = _exact(
    "gaussian_mean_non_iidness", delta, NON_IIDNESS, EVERY_SAMPLE, DISTANCES, POSITIVE_GAP
)
gaussian_mean_gap = _exact(
    "gaussian_mean_gap",
    generalization_gap,
    {"local generalization": E_k(w * Delta)},
    POSITIVE_GAP,
    note="Local gap over clients for equal clients, iid or not: 1/clients, not 1/clients^2.",
)
gaussian_mean_bound = Bound(
    **of("gaussian_mean_bound", generalization_gap, "Theorem 4.1, eq. (6) for squared distances", FEDAVG),
    terms={name: term.subs(mu, L) for name, term in one_round.terms.items()},
    conditions=(SQUARED_DISTANCE, EVERY_SAMPLE, INDEPENDENT, EXACT, EVERYONE, DISTANCES, POSITIVE_GAP),
    statistic=ONE_ROUND,
    where={delta: sp.Add(*NON_IIDNESS.values())},
    letters={**LETTERS, client_distance_sq: r"\|m_k-\bar m\|^2"},
    note="Derived: (6) with L = mu and the exact non-iidness. For many iid clients it tends to sqrt(2) times the gap.",
)
