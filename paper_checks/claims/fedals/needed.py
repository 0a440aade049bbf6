"""What Theorem 4.1 needs, stated or not: instances that break its bound without it; where it says something."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction as F
from itertools import product

import sympy as sp

from bounds.fedals.letters import Delta, distance_sq, K, L

from ..checkers import At, Informative, MonotoneIn, Requires, Same
from ..claim import Book, Check, Claim, Defect, Finding, Grade, holds, judged, Kind, Repair
from .common import alike, NONNEGATIVE, shared

ONE_ROUND = "fedals.one_round"
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


def breaks(data: Data, solve: Solver) -> Check:
    """HOLDS where the instance has a larger gap than the bound: the condition it lacks is needed."""

    def run(book: Book) -> Finding:
        gap, local, drift = measured(data, solve)
        given = {"local_gap": float(local), "non_iidness": float(drift), "smoothness": 1.0, "strong_convexity": 1.0}
        stated = book[ONE_ROUND](client_weight=[1 / CLIENTS] * CLIENTS, **given)
        said = f"gap {gap}, local gap {local}, non-iidness {drift}, bound {float(stated):.4g}"
        return judged(float(gap) > float(stated), said)

    return run


INDEPENDENT: Data = list(product(COIN, repeat=CLIENTS))
COPIES: Data = [(z, z) for z in COIN]

EXACT = Claim(
    "fedals.theorem_4_1.exact_needed",
    "Theorem 4.1 needs exact local minimisers: one local step that is twice too long breaks its bound.",
    Kind.ASSUMPTION.at("Theorem 4.1, eq. (6)"),
    breaks(INDEPENDENT, lambda z: 2 * z),
    note="From zero, a step of 2/L ends as far beyond the minimum as it began: the training risk of the averaged "
    "model is then that of the local ones, and the non-iidness zero.",
    ours=True,
)


def searched(evaluations: int = 1000, seed: int = 0, **opened: bool) -> Check:
    """Finite distributions beyond what the proof covers: FAILS with the first instance found, made simple and exact."""

    def run(book: Book) -> Finding:
        from ...falsifier.atoms.bent import BentAtoms, shown  # the falsifier needs torch
        from ...falsifier.core import MARGIN
        from ...falsifier.search import Searcher
        from ...falsifier.shrink import Shrinker

        bound, family = book[ONE_ROUND], BentAtoms(**opened)
        found = Searcher(bound, family, evaluations, seed).run()
        if found.score <= MARGIN:
            return holds(
                f"bound / exact value >= {1 / found.best.ratio:.4g} on {found.admissible} instances", Grade.SEARCHED
            )
        simple = Shrinker(bound, family, found.instance).run()
        seen = family.exactly(bound, simple)
        said = f"gap {float(seen.measured):.4g}, bound {float(seen.bound):.4g}: {shown(simple)}"
        return judged(not seen.violated, said, simple)

    return run


PREDICTION = Claim(
    "fedals.theorem_4_1.conditions",
    "Theorem 4.1 holds as it is worded, for losses that are strongly convex and smooth in the model's prediction.",
    Kind.ASSUMPTION.at("Theorem 4.1, eq. (6)"),
    searched(bend=True),
    note="FAILS if read without convexity in the parameters, not refuted with it: (22) takes what is averaged for what "
    "the loss is convex in. Small: two clients of equal weight, one draws 0 or 1 with even odds, the other always 0, "
    "predictions 3w/(1 + 2|w|), half squared errors: gap 3/32, bound 1/16. The ratio has no bound: it tends to K^2 "
    "for ever steeper predictions. Averaging predictions in place of parameters would mend it too.",
    repair=Repair("in the parameters that are averaged", searched()),
    defect=Defect.READING,
)

BOUNDARY = Claim(
    "fedals.theorem_4_1.boundary",
    "Theorem 4.1 holds wherever the local minimisers lie, at the boundary of the allowed parameters too.",
    Kind.ASSUMPTION.at("Theorem 4.1, eq. (6)"),
    searched(ceiling=True),
    note="FAILS if read with constrained minimisers, not refuted where minimisers have no gradient, which (28) uses. "
    "Small: two clients of equal weight and parameters of at most 1, one draws 0 or 16 with even odds, the other "
    "always 1, half squared distances: gap 1, bound 3/4. The ratio has no bound either.",
    repair=Repair("where the gradient vanishes at the minimisers", searched()),
    defect=Defect.READING,
)

APART = Claim(
    "fedals.theorem_4_1.independence_needed",
    "Theorem 4.1 needs clients whose samples are independent of one another's: copies of one data set break its bound.",
    Kind.ASSUMPTION.at("Theorem 4.1, eq. (6)"),
    breaks(COPIES, lambda z: z),
    note="The paper draws all S_k independently without naming it a condition.",
    ours=True,
)

D, r = shared(Delta), shared(distance_sq)
CLOSED = alike("fedals.gaussian_mean_bound")
SQUARED = ("bound", "gap", "non_iidness")
FAR = D * ((K - 1 / K) ** 2 / 2 - (1 - 1 / K)) / L
"""Squared distance of equal clients up to which (6) is below a local gap, for squared distances: solved for."""

SAYS = Claim(
    "fedals.eq_6.informative",
    "The one-round bound can be below the clients' mean local gap, so that it shows averaging to help.",
    Kind.REMARK.at("Theorem 4.1, eq. (6)"),
    {
        "somewhere": Informative(CLOSED, D, where=(sp.Gt(D, 0), sp.Ge(K, 2))),
        "up to this distance": Same(At(CLOSED, {r: FAR}), D, where=(sp.Gt(D, 0), sp.Gt(K, 1))),
        "not beyond": MonotoneIn(CLOSED, r, up=True, where=(sp.Gt(D, 0), sp.Gt(r, 0))),
        **{f"sign, {name}": Requires(f"fedals.gaussian_mean_{name}", NONNEGATIVE[:1]) for name in SQUARED},
    },
    note="For squared distances and clients of equal weight, equally far from their mean: as long as L times the "
    "squared distance is at most ((K - 1/K)^2 / 2 - (1 - 1/K)) local gaps; beyond that each client's own model has "
    "the smaller guarantee.",
    ours=True,
)
