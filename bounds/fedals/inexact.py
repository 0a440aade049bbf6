"""Theorems 4.1 and C.1 with the better constants that their proof gives.

The proof needs one number per client, the mean squared distance V of its models A on two independent training sets;
its bound is ``E_k[L/2 w^2 V + w sqrt(2L(delta + epsilon) V)]``. With A* the exact minimiser on the *other* set, strong
convexity gives ``E|A - A*|^2 <= 2/mu (Delta + epsilon)`` and ``<= 2/mu epsilon`` for A on A*'s own set. Then

- by Minkowski's inequality ``V <= 2/mu (sqrt(Delta + epsilon) + sqrt(epsilon))^2``, which gives (6) for exact solvers;
- V is twice the variance of A, and A is independent of A*, so ``V <= 2 E|A - A*|^2 <= 4/mu (Delta + epsilon)``.

The paper uses ``(a + b)^2 <= 2(a^2 + b^2)`` instead and gets ``4/mu (Delta + 2 epsilon)``, which is larger than both.

The second term does not need all of V. It bounds the mean of ``w <g, A_k(S_k) - A_k(S'_k)>``, g the gradient on S'_k
at the model that is averaged without S_k. Only A_k(S_k) depends on S_k, and its mean given the rest is the mean
a of A_k. So the term is the mean of ``w <g, a - A_k(S'_k)>``, at most ``w sqrt(E|g|^2 V/2)``: the ``_sharp`` bounds.
For exact solvers, neither constant can be smaller: a single client with L = mu attains the first term, and for K iid
clients and squared distances the bound over the gap is ``1/K + sqrt(1 - 1/K)``, which tends to one.
"""

from __future__ import annotations

import sympy as sp

from ..core import Bound, Condition, Statistic
from ..operators import ClientMean as E_k
from ..vocabulary import generalization_gap
from .letters import Delta, delta, epsilon, L, mu, w
from .one_round import CONVEX_LOSS, EVERYONE, EXACT, fedals_bound, FEDAVG, INDEPENDENT, NONNEGATIVE, of, ONE_ROUND
from .rounds import EACH_ROUND, MANY_ROUNDS

SOLVER = (
    Condition("local gap plus the local suboptimality is nonnegative", sp.Ge(Delta + epsilon, 0)),
    Condition("non-iidness plus local suboptimality is nonnegative", sp.Ge(delta + epsilon, 0)),
)
ANY_SOLVER = (*CONVEX_LOSS, INDEPENDENT, Condition.assume("local_sgd"), EVERYONE)


JOINED = sp.sqrt(Delta + epsilon) + sp.sqrt(epsilon)


def terms(spread: sp.Expr, root: sp.Expr) -> dict[str, sp.Expr]:
    """Return the two terms for ``spread = mu V / 2`` and ``root``, the square root of ``(delta + epsilon) spread``."""
    return {"local generalization": E_k(L * w**2 / mu * spread), "non-iidness": E_k(2 * sp.sqrt(L / mu) * w * root)}


def _bound(
    name: str, place: str, parts: dict[str, sp.Expr], how: tuple[Condition, ...], at: Statistic, note: str
) -> Bound:
    return fedals_bound(
        **of(name, generalization_gap, place, FEDAVG, at), terms=parts, conditions=how, note=f"Derived. {note}"
    )


one_round_inexact_joined = _bound(
    "one_round_inexact_joined",
    "Theorem C.1, eq. (38), repaired",
    terms(JOINED**2, sp.sqrt(delta + epsilon) * JOINED),
    (*ANY_SOLVER, *SOLVER),
    ONE_ROUND,
    "With no suboptimality it is (6); it is never above (38).",
)
rounds_inexact = _bound(
    "rounds_inexact",
    "proof of Theorem C.2, eq. (57), repaired",
    terms(2 * (Delta + epsilon), sp.sqrt(2 * (delta + epsilon) * (Delta + epsilon))),
    (*MANY_ROUNDS, *SOLVER),
    EACH_ROUND,
    "One suboptimality instead of two in both terms. It is below (57), and so proves (57) as printed.",
)
one_round_sharp = _bound(
    "one_round_sharp",
    "Theorem 4.1, eq. (6), with the best constants",
    terms(Delta, sp.sqrt(delta * Delta / 2)),
    (*CONVEX_LOSS, INDEPENDENT, EXACT, EVERYONE, *NONNEGATIVE),
    ONE_ROUND,
    "(6) with sqrt(2) in place of 2 in its second term; neither constant can be smaller.",
)
one_round_inexact_sharp = _bound(
    "one_round_inexact_sharp",
    "Theorem C.1, eq. (38), with smaller constants",
    terms(2 * (Delta + epsilon), sp.sqrt((delta + epsilon) * (Delta + epsilon))),
    (*ANY_SOLVER, *SOLVER),
    ONE_ROUND,
    "(38) with one suboptimality beside the gap, and with 2 in place of sqrt(8) in its second term.",
)
