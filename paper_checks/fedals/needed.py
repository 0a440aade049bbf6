"""Conditions of Theorem 4.1 that cannot be dropped: instances that meet all others and break its bound."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction as F
from itertools import product

from ..checkers import Computed
from ..claims import Book, Claim, Finding, Kind, Status
from .common import fails, holds, of

COIN = (F(-1), F(1))
"""Every sample is one of these with equal odds; a client has one sample, the loss is half the squared distance."""
CLIENTS = 2
Solver = Callable[[F], F]
Data = list[tuple[F, ...]]


def risk(theta: F, points: tuple[F, ...]) -> F:
    return sum(((theta - z) ** 2 / 2 for z in points), F(0)) / len(points)


def measured(data: Data, solve: Solver) -> tuple[F, F, F]:
    """Expected gap, local gap and non-iidness (of the first client) over equally likely data sets of two clients."""
    gap = local = drift = F(0)
    for z in data:
        models = [solve(x) for x in z]
        theta = sum(models, F(0)) / CLIENTS
        gap += risk(theta, COIN) - sum((risk(theta, (x,)) for x in z), F(0)) / CLIENTS
        local += risk(models[0], COIN) - risk(models[0], (z[0],))
        drift += risk(theta, (z[0],)) - risk(models[0], (z[0],))
    return gap / len(data), local / len(data), drift / len(data)


def breaks(data: Data, solve: Solver) -> Computed:
    """HOLDS where the instance has a larger gap than the bound: the condition it lacks is needed."""

    def run(book: Book) -> Finding:
        gap, local, drift = measured(data, solve)
        stated = book["fedals.one_round"](
            client_weight=[1 / CLIENTS] * CLIENTS,
            local_gap=float(local),
            non_iidness=float(drift),
            smoothness=1.0,
            strong_convexity=1.0,
        )
        said = f"gap {gap}, local gap {local}, non-iidness {drift}, bound {float(stated):.4g}"
        return holds(said) if float(gap) > float(stated) else fails(said)

    return Computed("gap and bound over all data sets of two clients with one fair coin each", run)


INDEPENDENT: Data = list(product(COIN, repeat=CLIENTS))
COPIES: Data = [(z, z) for z in COIN]

EXACT = Claim(
    "fedals.theorem_4_1.exact_needed",
    "Theorem 4.1 needs exact local minimisers: one local step that is twice too long breaks its bound.",
    of("Theorem 4.1, eq. (6)"),
    Kind.ASSUMPTION,
    breaks(INDEPENDENT, lambda z: 2 * z),
    Status.HOLDS,
    note="Ours. From zero, a step of 2/L ends as far beyond the minimum as it began: the training risk of the averaged "
    "model is then that of the local ones, and the non-iidness zero.",
)

APART = Claim(
    "fedals.theorem_4_1.independence_needed",
    "Theorem 4.1 needs clients whose samples are independent of one another's: copies of one data set break its bound.",
    of("Theorem 4.1, eq. (6)"),
    Kind.ASSUMPTION,
    breaks(COPIES, lambda z: z),
    Status.HOLDS,
    note="Ours: the paper draws all S_k independently without naming it a condition.",
)

MET = Claim(
    "fedals.theorem_4_1.met",
    "With independent samples and exact minimisers the same instance does not break the bound.",
    of("Theorem 4.1, eq. (6)"),
    Kind.ASSUMPTION,
    Computed("the same instance, nothing left out", lambda book: _met(book)),
    Status.HOLDS,
)


def _met(book: Book) -> Finding:
    found = breaks(INDEPENDENT, lambda z: z)(book)
    return fails(found.evidence) if found.status is Status.HOLDS else holds(found.evidence)


CLAIMS: tuple[Claim, ...] = (EXACT, APART, MET)
