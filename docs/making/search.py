"""What readers type into the search field where the catalogue says it in other words: entries of the index."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from bounds.assumptions import CONVEX, GLOBALLY_STRONGLY_CONVEX, POLYAK_LOJASIEWICZ, SMOOTH, STRONGLY_CONVEX
from bounds.catalog import BOUNDS
from bounds.core import Bound
from bounds.vocabulary import strong_convexity
from figures.explorer import optima

from .text import entries

BEST = {
    "local_steps": ("best K", "optimal K", "best number of local steps", "optimal number of local steps"),
    "step_size": ("best step size", "best learning rate", "optimal step size", "optimal learning rate"),
}
"""A chosen quantity, and what its best value is called."""
MEANT = {
    "grad_norm_sq": ("convergence", "stationary point", "gradient norm"),
    "optimality_gap": ("convergence", "suboptimality", "optimality gap"),
    "generalization_gap": ("generalization bound", "generalisation"),
    "stability": ("uniform stability",),
    "divergence": ("client drift", "divergence of clients"),
}
"""A quantity that is bounded, and the words of the field for it."""


@cache
def minimisers() -> frozenset[str]:
    """The bounds of the catalogue that state where another one is smallest."""
    stated = (found for bound in BOUNDS.values() for found in optima.stated(bound).values())
    return frozenset(best.name for found in stated for best in found)


def words_of(bound: Bound) -> list[str]:
    """Each true of the bound: what it is the best value of, what it bounds, and for which losses."""
    assumed = {c.assumption for c in bound.conditions}
    found = [*BEST[bound.target.name]] if bound.name in minimisers() else []
    if bound.relation in ("<=", "<~"):
        found += MEANT.get(bound.target.name, ())
        if STRONGLY_CONVEX in assumed or GLOBALLY_STRONGLY_CONVEX in assumed:
            found.append("strongly convex")
        elif CONVEX in assumed:
            found.append("convex")
        elif SMOOTH in assumed and strong_convexity not in bound.quantities:
            found.append("non-convex")
        if POLYAK_LOJASIEWICZ in assumed:
            found.append("Polyak-Lojasiewicz")
    return found


def asked(bound: Bound) -> Iterator[list[str]]:
    """The entries of the index of a bound's page."""
    if found := words_of(bound):
        yield entries(*found)
