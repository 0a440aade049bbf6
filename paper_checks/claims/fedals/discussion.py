"""Section 4.1, discussion: 1/K^2 for iid clients, the effect of non-iidness, and what Theorem 4.1 needs."""

from __future__ import annotations

from fractions import Fraction as F
from itertools import product

import sympy as sp

from bounds.fedals.letters import Delta, distance_sq, K, L
from bounds.operators import equal_clients

from ..checkers import At, OrderIs
from ..claim import Book, fails, Finding, Grade, holds, judged, Status
from .common import SAMPLES, with_equal_clients

PLACES = (0, -10, -100, -1000)
"""Values of D, the only sample of the second client, in ``distant``."""


def distant(book: Book) -> Finding:
    """The gap grows as client 2, whose only sample is D, moves away; one sample a client, fitted by its model."""
    place, gap, local = sp.Symbol("D"), sp.S.Zero, sp.S.Zero
    for (own, at), (h, y) in product(SAMPLES, repeat=2):
        average = (at + place) / 2
        gap += sp.expand(h * (average - y) ** 2 - own * (average - at) ** 2) / 16
        local += sp.Rational(h * (at - y) ** 2, 8)
    at_places = ", ".join(str(gap.subs(place, value)) for value in PLACES)
    evidence = f"local gaps {local} and 0, gap {gap}: {at_places} at D = {', '.join(map(str, PLACES))}"
    return judged(gap == (4 - place) / 8 and local == 2, evidence, grade=Grade.PROVED)


def unequal(book: Book) -> Finding:
    """The second term is below twice the first for iid clients of unequal weight or sample count, squared distances."""
    ratios = []
    for weights, gaps in (([0.99, 0.01], [1, 1]), ([0.5, 0.5], [1, 0.01])):
        bound = book["fedals.gaussian_mean_bound"]
        parts = bound.parts(client_weight=weights, local_gap=gaps, client_distance_sq=[0, 0], smoothness=1)
        ratios.append(float(parts["non-iidness"] / parts["local generalization"]))
    evidence = "the second term is {:.3g} of the first at weights 0.99 and 0.01, {:.3g} for 1 and 100 samples"
    return judged(max(ratios) < 2, evidence.format(*ratios))


CLOSED, D, r = with_equal_clients("fedals.gaussian_mean_bound"), equal_clients(Delta), equal_clients(distance_sq)
"""(6) for squared distances and equal clients; their local gap; their squared distance from the mean."""


def need_not_fall(book: Book) -> Finding:
    bound, numbers = CLOSED(book), {L: sp.Integer(1), D: sp.Rational(3, 10), r: sp.Integer(50)}
    alone = bound.subs({**numbers, K: 1, r: 0})
    two = bound.subs({**numbers, K: 2})
    evidence = (
        f"squared distances, local gap 3/10: {float(alone):.4g} alone, {float(two):.4g} for two clients whose squared "
        "distance from their mean is 50"
    )
    return judged(two > alone, evidence)


def contrast(book: Book) -> Finding:
    orders = {
        "non-iid": OrderIs(CLOSED, K, 1 / K, where=(sp.Gt(D, 0), sp.Gt(r, 0)))(book),
        "iid": OrderIs(At(CLOSED, {r: 0}), K, 1 / K, where=(sp.Gt(D, 0),))(book),
    }
    if all(f.status is Status.HOLDS for f in orders.values()):
        return fails(f"both are of the order 1/K: {orders['iid'].evidence}")
    return holds("; ".join(f"{name}: {f.evidence}" for name, f in orders.items()))


# ---- the assumptions of Theorem 4.1, stated or not ----

ONE_ROUND = "fedals.one_round"
COIN = (F(-1), F(1))
"""The equally likely samples; a client has one sample, and the loss is half the squared distance."""
CLIENTS = 2
Data = list[tuple[F, ...]]
INDEPENDENT: Data = list(product(COIN, repeat=CLIENTS))
COPIES: Data = [(z, z) for z in COIN]


def risk(theta: F, points: tuple[F, ...]) -> F:
    return sum(((theta - z) ** 2 / 2 for z in points), F(0)) / len(points)


def measured(data: Data, stretch: int) -> tuple[F, F, F]:
    """Return the expected gap, local gap and non-iidness of two clients; models are ``stretch`` times samples."""
    gap = local = drift = F(0)
    for z in data:
        models = [stretch * x for x in z]
        theta = sum(models, F(0)) / CLIENTS
        gap += risk(theta, COIN) - sum((risk(theta, (x,)) for x in z), F(0)) / CLIENTS
        local += risk(models[0], COIN) - risk(models[0], (z[0],))
        drift += risk(theta, (z[0],)) - risk(models[0], (z[0],))
    return gap / len(data), local / len(data), drift / len(data)


def breaks(book: Book, data: Data, stretch: int) -> Finding:
    """The gap of an instance that lacks a condition exceeds the bound, so that the condition is needed."""
    gap, local, drift = measured(data, stretch)
    numbers = {"local_gap": float(local), "non_iidness": float(drift), "smoothness": 1.0, "strong_convexity": 1.0}
    bound = book[ONE_ROUND](client_weight=[1 / CLIENTS] * CLIENTS, **numbers)
    evidence = f"gap {gap}, local gap {local}, non-iidness {drift}, bound {float(bound):.4g}"
    return judged(float(gap) > float(bound), evidence)


def searched(book: Book, seed: int = 0, **opened: bool) -> Finding:
    """Search finite distributions that the proof does not cover; FAILS with a simplified violation in fractions."""
    from ...falsifier.bent_atoms import BentAtoms, shown  # the falsifier needs torch
    from ...falsifier.core import MARGIN
    from ...falsifier.search import Searcher
    from ...falsifier.simplify import Shrinker

    bound, family = book[ONE_ROUND], BentAtoms(**opened)
    search = Searcher(bound, family, 1000, seed).run()
    if search.score <= MARGIN:
        evidence = f"bound / exact value >= {1 / search.best.ratio:.4g} on {search.admissible} instances"
        return holds(evidence, Grade.SEARCHED)
    simple = Shrinker(bound, family, search.instance).run()
    exact = family.exactly(bound, simple)
    evidence = f"gap {float(exact.measured):.4g}, bound {float(exact.bound):.4g}: {shown(simple)}"
    return judged(not exact.violated, evidence, simple)
