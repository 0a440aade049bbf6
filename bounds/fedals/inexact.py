"""Theorem C.1 repaired: what local models that are ``epsilon_k`` above their minimum leave in the averaged model.

The proof needs one number of each client, the mean squared distance V of its models A on two independent training sets;
the bound is then ``E_k[L/2 w^2 V + w sqrt(2L(delta + epsilon) V)]``. With A* the exact minimiser on the *other* set,
strong convexity gives ``E|A - A*|^2 <= 2/mu (Delta + epsilon)`` and ``<= 2/mu epsilon`` for A on A*'s own set. Then

- by Minkowski's inequality ``V <= 2/mu (sqrt(Delta + epsilon) + sqrt(epsilon))^2``: meets (6) for exact solvers;
- V is twice the variance of A, and A is independent of A*, so ``V <= 2 E|A - A*|^2 <= 4/mu (Delta + epsilon)``.

The paper uses ``(a + b)^2 <= 2(a^2 + b^2)`` instead and gets ``4/mu (Delta + 2 epsilon)``, more than either.
"""

from __future__ import annotations

import sympy as sp

from ..assumptions import LOCAL_SGD
from ..core import About, Bound, Condition, Statistic
from ..operators import ClientMean as E_k
from ..papers import Source
from ..vocabulary import (
    client_weight as w,
    generalization_gap,
    local_gap as Delta,
    local_suboptimality as epsilon,
    non_iidness as delta,
    smoothness as L,
    strong_convexity as mu,
)
from .one_round import CONVEX_LOSS, EVERYONE, INDEPENDENT, LETTERS, ONE_ROUND
from .rounds import EACH_ROUND, MANY_ROUNDS

SOLVER = (
    Condition("local gap plus the local suboptimality is nonnegative", sp.Ge(Delta + epsilon, 0)),
    Condition("non-iidness plus local suboptimality is nonnegative", sp.Ge(delta + epsilon, 0)),
)
ANY_SOLVER = (*CONVEX_LOSS, INDEPENDENT, Condition.assume(LOCAL_SGD), EVERYONE)


JOINED = sp.sqrt(Delta + epsilon) + sp.sqrt(epsilon)


def terms(spread: sp.Expr, root: sp.Expr) -> dict[str, sp.Expr]:
    """The two terms for ``spread = mu V / 2`` and ``root``, the square root of ``(delta + epsilon) spread``."""
    return {"local generalization": E_k(L * w**2 / mu * spread), "non-iidness": E_k(2 * sp.sqrt(L / mu) * w * root)}


def _bound(
    name: str, place: str, parts: dict[str, sp.Expr], how: tuple[Condition, ...], at: Statistic, note: str
) -> Bound:
    return Bound(
        name=f"fedals.{name}",
        target=generalization_gap,
        terms=parts,
        source=Source("fedals", place),
        conditions=(*how, *SOLVER),
        about=About("fedavg"),
        statistic=at,
        letters=LETTERS,
        note=f"Derived. {note}",
    )


one_round_inexact_joined = _bound(
    "one_round_inexact_joined",
    "Theorem C.1, eq. (38), repaired",
    terms(JOINED**2, sp.sqrt(delta + epsilon) * JOINED),
    ANY_SOLVER,
    ONE_ROUND,
    "With no suboptimality it is (6); it is never above (38).",
)
rounds_inexact = _bound(
    "rounds_inexact",
    "proof of Theorem C.2, eq. (57), repaired",
    terms(2 * (Delta + epsilon), sp.sqrt(2 * (delta + epsilon) * (Delta + epsilon))),
    MANY_ROUNDS,
    EACH_ROUND,
    "One suboptimality instead of two in both terms: below (57), and so a proof of what (57) prints.",
)
