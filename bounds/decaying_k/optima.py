"""Decaying-K, the best number of local steps and the best step size: as printed, and as derived from (8).

Differences from the derived minimisers, all checked in the tests:

* (9), (10) have lost the factor G^2 under the root, so they carry the unit of a gradient to the power 2/3; their
  constant 8 (1 + 1/(2N)) is the 8 + 4/N of (8).
* (11), (12) have lost the factor K under the root, so the printed step size is sqrt(K) too large; their units agree.
* (24) treats the bracket tau + beta K as a constant when differentiating by K; without that error beta drops out, as it
  does in (9), which therefore does not follow from (24). (25) keeps the bracket too: not the derivative of (24) either.
* (27), (28) are right, so (11) does not follow from (27).
* (13), (14) divide the optimum at round r by the one at round 0 and drop the runtimes; at W = 0 there is no optimum.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any, cast

import sympy as sp

from ..core import Bound, Condition
from ..numerics.closed import Optimum
from ..operators import ClientSum
from ..quantities import Quantity
from ..vocabulary import GRADIENT
from .convergence import CAPPED_STEP_SIZE, FIXED_STEPS, KAPPA, per_rounds, per_second
from .letters import beta, eta, F_0, F_star, F_t0, G2, Gamma, K, kappa, L, N, p_c, R, sigma_c, tau, W, Z
from .runtime import decaying_k_bound, FEDAVG, of, TAU

WHERE = {**KAPPA, **TAU}
NOISE = {Z: ClientSum(p_c**2 * sigma_c) + 6 * L * Gamma + (8 + 4 / N) * G2 * K**2}
AT_OPTIMUM = "at the optimum, "
LOST_G2 = {"optimum": GRADIENT ** Fraction(2, 3)}

_REAL_ROOT = Condition("kappa F - F^* is positive, so that the root is real", kappa * F_t0 > F_star)
_SLOW_NETWORK = Condition("communication takes much longer than computation: the runtime is that of communication")
_LOSS_FALLS = Condition("the current loss is at most the loss at the start")


def _without(conditions: tuple[Condition, ...], quantity: Quantity) -> tuple[Condition, ...]:
    """Return the conditions whose relation does not contain ``quantity``."""
    return tuple(c for c in conditions if c.relation is None or quantity not in c.relation.free_symbols)


# ---- as printed ----


def _printed(name: str, place: str, target: Quantity, root: sp.Expr, **more: Any) -> Bound:
    conditions = (*_without(FIXED_STEPS, target), _REAL_ROOT, *more.pop("extra", ()))
    return decaying_k_bound(
        **of(name, target, place, FEDAVG), relation="=", terms={"optimum": root}, conditions=conditions, **more
    )


def _capped(step_size: sp.Expr) -> Condition:
    """Return the condition that the optimum itself is at most 1/(4L)."""
    return Condition(f"{AT_OPTIMUM}{CAPPED_STEP_SIZE.words}", step_size <= 1 / (4 * L))


def _at_start(bound: Bound) -> Bound:
    """Return the right side of the chains (10) and (12): an upper bound with the loss at the start."""
    return replace(
        bound,
        name=bound.name.replace("_printed", "_cap_printed"),
        relation="<=",
        terms={n: t.subs(F_t0, F_0) for n, t in bound.terms.items()},
        conditions=(
            *(c if c.relation is None else replace(c, relation=c.relation.subs(F_t0, F_0)) for c in bound.conditions),
            _LOSS_FALLS,
        ),
        source=replace(bound.source, place=f"{bound.source.place}, right side"),
    )


_K_LEVEL = (kappa * F_t0 - F_star) / (8 * eta**2 * L * (1 + 1 / (2 * N)))
_ETA_LEVEL = 2 * (kappa * F_t0 - F_star) / (L * Z)
_PRINTED_ETA = sp.sqrt(_ETA_LEVEL * (tau + beta * K) / W)
_PRINTED_ETA_ROUNDS = sp.sqrt(_ETA_LEVEL / R)

k_star_printed = _printed(
    "k_star_printed",
    "Theorem 2, eq. (9)",
    K,
    sp.cbrt(_K_LEVEL * tau / W),
    where=WHERE,
    off_by=LOST_G2,
    note="G^2 has been lost in the denominator: the true minimiser of (8) is this divided by G^(2/3). "
    "|x|/D + |x|/D is read as |x|/D + |x|/U, the root as that of both fractions.",
)

k_star_rounds_printed = _printed(
    "k_star_rounds_printed",
    "Remark 2.3, eq. (10)",
    K,
    sp.cbrt(_K_LEVEL / R),
    extra=(_SLOW_NETWORK,),
    where=KAPPA,
    off_by=LOST_G2,
    note="G^2 has been lost as in (9). For a given number of rounds no assumption on the network is needed.",
)

eta_star_printed = _printed(
    "eta_star_printed",
    "Corollary 2.1, eq. (11)",
    eta,
    _PRINTED_ETA,
    extra=(_capped(_PRINTED_ETA),),
    where={**WHERE, **NOISE},
    note="K has been lost in the denominator: the root of (27) is this divided by sqrt(K).",
)

eta_star_rounds_printed = _printed(
    "eta_star_rounds_printed",
    "Remark 2.1.3, eq. (12)",
    eta,
    _PRINTED_ETA_ROUNDS,
    extra=(_capped(_PRINTED_ETA_ROUNDS), _SLOW_NETWORK),
    where={**KAPPA, **NOISE},
    note="K has been lost as in (11).",
)

k_star_rounds_cap_printed = _at_start(k_star_rounds_printed)
eta_star_rounds_cap_printed = _at_start(eta_star_rounds_printed)

# ---- as derived ----


def _derived(name: str, place: str, bound: Bound, over: Quantity, where: dict[Quantity, sp.Expr], note: str) -> Bound:
    """Return the minimiser as a bound; conditions on the minimised quantity become conditions on the minimiser."""
    optimum = cast(Optimum, bound.minimize(over))  # a formula, since no values are given
    independent = _without(bound.conditions, over)
    on_minimiser = tuple(
        replace(c, words=f"{AT_OPTIMUM}{c.words}", relation=c.relation.subs(over, optimum.at))
        for c in bound.conditions
        if c not in independent and c.relation is not None
    )
    return optimum.as_bound(
        **of(name, None, f"{place}, derived"), note=note, conditions_extra=on_minimiser, where=where
    )


# Abbreviations are kept in the minimisers, which then print as in the paper.
_per_second = replace(per_second, where={})
_per_rounds = replace(per_rounds, where={})

k_star = _derived(
    "k_star",
    "Theorem 2, minimiser of (8) over K",
    _per_second,
    K,
    WHERE,
    "Over positive real K. Neither beta nor the gradient variance nor the heterogeneity enters; (9) lacks G^2.",
)
k_star_rounds = _derived(
    "k_star_rounds",
    "Remark 2.3, minimiser over K of (6) with T = K R",
    _per_rounds,
    K,
    KAPPA,
    "Over positive real K; exact for a given number of rounds, however long computation takes. (10) lacks G^2.",
)
eta_star = _derived(
    "eta_star",
    "Corollary 2.1, minimiser of (8) over eta",
    _per_second,
    eta,
    WHERE,
    "(11) lacks K in the denominator. Where it exceeds 1/(4L), decaying_k.eta_star_capped is the best allowed.",
)
eta_star_rounds = _derived(
    "eta_star_rounds",
    "Remark 2.1.3, minimiser over eta of (6) with T = K R",
    _per_rounds,
    eta,
    KAPPA,
    "(12) lacks K in the denominator.",
)
eta_star_capped = replace(
    eta_star,
    name="decaying_k.eta_star_capped",
    # Unevaluated: which one is smaller depends on the numbers, and SymPy's attempt to decide is slow.
    terms={"optimum": sp.Min(eta_star.terms["optimum"], 1 / (4 * L), evaluate=False)},
    conditions=tuple(c for c in eta_star.conditions if not c.words.startswith(AT_OPTIMUM)),
    note="The smaller of the minimiser and 1/(4L): (8) decreases in eta up to its minimiser.",
)
