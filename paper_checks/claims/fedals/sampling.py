"""Three clients of which some take part, Cases I and II of Remark 4.2: every draw with its probability in fractions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction as F
from itertools import combinations, product
from math import prod

WEIGHTS = (F(47, 100), F(31, 100), F(22, 100))
CENTRES = (F(-1), F(2), F(3, 2))
"""Where the clients are that have no noise."""
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


def expected(draws: Iterator[tuple[F, Shares]], of: Callable[[Shares], F]) -> F:
    """The expectation of a function of the shares."""
    return sum((chance * of(shares) for chance, shares in draws), F(0))


def dot(left: Sequence[F], right: Sequence[F]) -> F:
    return sum((a * b for a, b in zip(left, right, strict=True)), F(0))


def participation_gap(case: str, cohort: int, weights: Sequence[F] = WEIGHTS) -> F:
    """(71), left side, for noise-free clients at ``CENTRES`` and half squared distances."""

    def of(shares: Shares) -> F:
        risks = [(dot(shares, CENTRES) - c) ** 2 / 2 for c in CENTRES]
        return dot(weights, risks) - dot(shares, risks)

    return expected(CASES[case](cohort, weights), of)


def out_of_sample_gap(cohort: int, gaps: Sequence[F], weights: Sequence[F] = WEIGHTS) -> F:
    """The second gap of (62) in Case I, half squared distances: every share squared times the client's local gap."""
    return expected(case_1(cohort, weights), lambda shares: dot([s**2 for s in shares], gaps))
