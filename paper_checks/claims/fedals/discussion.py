"""Section 4.1, discussion: 1/K^2 for iid clients, the effect of non-iidness, and what Theorem 4.1 needs."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction as F
from itertools import product
from typing import Any

import sympy as sp

from bounds.fedals.letters import Delta, distance_sq, K, L
from bounds.operators import equal_clients

from ..checkers import At, OrderIs
from ..claim import Book, fails, Finding, finding, Grade, holds, Status
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
    return finding(gap == (4 - place) / 8 and local == 2, evidence, grade=Grade.PROVED)


def unequal(book: Book) -> Finding:
    """The second term is below twice the first for iid clients of unequal weight or sample count, squared distances."""
    ratios = []
    for weights, gaps in (([0.99, 0.01], [1, 1]), ([0.5, 0.5], [1, 0.01])):
        bound = book["fedals.gaussian_mean_bound"]
        parts = bound.parts(client_weight=weights, local_gap=gaps, client_distance_sq=[0, 0], smoothness=1)
        ratios.append(float(parts["non-iidness"] / parts["local generalization"]))
    evidence = "the second term is {:.3g} of the first at weights 0.99 and 0.01, {:.3g} for 1 and 100 samples"
    return finding(max(ratios) < 2, evidence.format(*ratios))


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
    return finding(two > alone, evidence)


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
    return finding(float(gap) > float(bound), evidence)


PAIR: dict[str, Any] = {
    "clients": 2, "samples": 1, "cohort": 2, "sampling": 0, "alike": 0, "local_steps": 0, "start": 0,
    "weight_0": F(1), "weight_1": F(1), "share_0": F(1, 2), "place_0_0": F(1), "curvature_0_0": 1, "place_0_1": F(-1),
    "curvature_0_1": 1, "share_1": F(1, 2), "place_1_0": F(0), "curvature_1_0": 1, "place_1_1": F(0),
    "curvature_1_1": 1, "step_size": 0, "bend": F(0), "ceiling": F(2),
}  # fmt: skip
"""Two clients with one sample each, a point ``place`` of a distribution on two points; ``ceiling`` limits models, and
predictions are ``(1 + bend) w / (1 + bend |w|)``, which is w for ``bend = 0`` and has a rational inverse."""
STEEP = PAIR | {"weight_0": F(1, 100), "weight_1": F(7, 50), "place_0_1": F(1), "place_1_0": F(1), "place_1_1": F(-1),
                "bend": F(900)}  # fmt: skip
"""Found by a search among such pairs and simplified, as is the next one."""
LIMITED = PAIR | {"ceiling": F(-9, 10)}


def nonconvex(book: Book) -> Finding:
    """A loss that is convex in the prediction, but not in the parameters that are averaged."""
    predictions = f"predictions {1 + STEEP['bend']} w/(1 + {STEEP['bend']} |w|)"
    return _exceeds(book, STEEP, f"samples always 1 and 1 (chance 1/2) or -1, {predictions}")


def constrained(book: Book) -> Finding:
    """Minimisers at the boundary of the allowed parameters, where the gradient does not vanish."""
    return _exceeds(book, LIMITED, f"samples 1 (chance 1/2) or -1 and always 0, w at most {LIMITED['ceiling']}")


def _exceeds(book: Book, pair: Mapping[str, Any], words: str) -> Finding:
    """Compare the exact gap of a pair of clients with the bound, over all outcomes of their samples."""

    def loss(w: F, place: F) -> F:
        return ((1 + pair["bend"]) * w / (1 + pair["bend"] * abs(w)) - place) ** 2 / 2

    def trained(place: F) -> F:
        return min(place / (1 + pair["bend"] - pair["bend"] * abs(place)), pair["ceiling"])

    points = [[(pair[f"share_{k}"], pair[f"place_{k}_0"]), (1 - pair[f"share_{k}"], pair[f"place_{k}_1"])]
              for k in range(2)]  # fmt: skip
    weights = [pair[f"weight_{k}"] / (pair["weight_0"] + pair["weight_1"]) for k in range(2)]
    gap, local, drift = F(0), [F(0), F(0)], [F(0), F(0)]
    for (chance, one), (other_chance, other) in product(*points):
        average = weights[0] * trained(one) + weights[1] * trained(other)
        for k, place in enumerate((one, other)):
            own, probability = trained(place), chance * other_chance
            everywhere, alone = (sum(c * loss(w, y) for c, y in points[k]) for w in (average, own))
            gap += probability * weights[k] * (everywhere - loss(average, place))
            local[k] += probability * (alone - loss(own, place))
            drift[k] += probability * (loss(average, place) - loss(own, place))
    numbers = {"client_weight": weights, "local_gap": local, "non_iidness": drift}
    values = {name: list(map(float, each)) for name, each in numbers.items()}
    bound = float(book[ONE_ROUND](**values, smoothness=1.0, strong_convexity=1.0))
    evidence = f"gap {float(gap):.4g}, bound {bound:.4g}: weights as {pair['weight_0']} to {pair['weight_1']}, {words}"
    return finding(not float(gap) > bound, evidence, pair)


def searched(book: Book) -> Finding:
    """Search pairs of clients with convex losses and models without constraints."""
    from ...falsifier.atoms import Atoms  # the falsifier needs torch
    from ...falsifier.search import Searcher

    search = Searcher(book[ONE_ROUND], Atoms(), 1000, pins={"clients": 2, "kinds": 2, "samples": 1}).run()
    evidence = f"bound / exact value >= {1 / search.best.ratio:.4g} on {search.admissible} instances"
    return finding(not search.best.violated, evidence, grade=Grade.SEARCHED)
