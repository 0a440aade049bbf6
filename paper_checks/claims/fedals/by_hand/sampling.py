"""Three clients of which some take part, Cases I and II of Remark 4.2: every draw with its probability in fractions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction as F
from itertools import combinations, product
from math import prod

import sympy as sp

from bounds.core import Bound
from bounds.operators import bind

WEIGHTS = (F(47, 100), F(31, 100), F(22, 100))
VALUES = (F(9, 10), F(-17, 10), F(23, 10))
CLIENTS = len(WEIGHTS)

Shares = tuple[F, ...]
"""The weight of every client in the average of the participants: zero for those who stay away."""


def case_1(cohort: int, weights: Sequence[F] = WEIGHTS) -> Iterator[tuple[F, Shares]]:
    """Draws with replacement, by client: a client drawn twice has twice the weight."""
    for drawn in product(range(len(weights)), repeat=cohort):
        counts = tuple(F(drawn.count(k), cohort) for k in range(len(weights)))
        yield prod((weights[k] for k in drawn), start=F(1)), counts


def case_2(cohort: int, weights: Sequence[F] = WEIGHTS) -> Iterator[tuple[F, Shares]]:
    """Uniform subsets; a participant has its own weight times clients over cohort."""
    subsets = list(combinations(range(len(weights)), cohort))
    for subset in subsets:
        shares = tuple(w * len(weights) / cohort if k in subset else F(0) for k, w in enumerate(weights))
        yield F(1, len(subsets)), shares


CASES = {"I": case_1, "II": case_2}


def moment(cohort: int, power: int) -> F:
    """Expectation of the sum over clients of share^power times value: (63), left sides, counted by clients."""
    return sum((p * sum(s**power * x for s, x in zip(q, VALUES, strict=True)) for p, q in case_1(cohort)), F(0))


def moment_of_draws(cohort: int, power: int) -> F:
    """The same if the draws of one client are kept apart, as in (64) to (66)."""
    total = F(0)
    for drawn in product(range(CLIENTS), repeat=cohort):
        p = prod((WEIGHTS[k] for k in drawn), start=F(1))
        total += p * sum(F(1, cohort) ** power * VALUES[k] for k in drawn)
    return total


def stated(bound: Bound, cohort: int) -> F:
    """The value of a lemma of the catalogue for these clients, in rational arithmetic."""
    known = {
        "client_weight": [sp.Rational(w.numerator, w.denominator) for w in WEIGHTS],
        "client_value": [sp.Rational(x.numerator, x.denominator) for x in VALUES],
        "cohort": sp.Integer(cohort),
        "clients": sp.Integer(CLIENTS),
    }
    result = bind(bound.expr, {q: known[q.name] for q in bound.quantities})
    return F(int(result.p), int(result.q))


CENTRES = (F(-1), F(2), F(3, 2))


def participation_gap(case: str, cohort: int, centres: Sequence[F] = CENTRES, weights: Sequence[F] = WEIGHTS) -> F:
    """(71), left side, for noise-free clients at ``centres`` and half squared distances."""
    total = F(0)
    for p, shares in CASES[case](cohort, weights):
        theta = sum((s * c for s, c in zip(shares, centres, strict=True)), F(0))
        risks = [(theta - c) ** 2 / 2 for c in centres]
        everyone = sum((w * r for w, r in zip(weights, risks, strict=True)), F(0))
        total += p * (everyone - sum((s * r for s, r in zip(shares, risks, strict=True)), F(0)))
    return total


def out_of_sample_gap(case: str, cohort: int, gaps: Sequence[F], weights: Sequence[F] = WEIGHTS) -> F:
    """The second gap of (62) for half squared distances: every participant's share squared times its local gap."""
    return sum(
        (p * sum((s**2 * g for s, g in zip(q, gaps, strict=True)), F(0)) for p, q in CASES[case](cohort, weights)), F(0)
    )
