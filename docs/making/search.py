"""What readers type into the search field where the catalogue says it in other words: entries of the index."""

from __future__ import annotations

from collections.abc import Iterator

from bounds.assumptions import CONVEX, GLOBALLY_STRONGLY_CONVEX, POLYAK_LOJASIEWICZ, SMOOTH, STRONGLY_CONVEX
from bounds.core import Bound
from bounds.vocabulary import strong_convexity

BEST = {
    "local_steps": ("best K", "optimal K", "best number of local steps", "optimal number of local steps"),
    "step_size": ("best step size", "best learning rate", "optimal step size", "optimal learning rate"),
    "relaxation": ("best beta", "best relaxation", "optimal relaxation"),
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


def words_of(bound: Bound) -> list[str]:
    """Each true of the bound: what it is the best value of, what it bounds, and for which losses."""
    assumed = {c.assumption for c in bound.conditions}
    found = [*BEST.get(bound.target.name, ())] if bound.relation == "=" else []
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
    """The entries of the index of a bound's page, and the same words where a reader sees them."""
    if found := words_of(bound):
        yield [f"```{{index}} {', '.join(found)}", "```"]
        yield [f"Also called: {', '.join(found)}."]
