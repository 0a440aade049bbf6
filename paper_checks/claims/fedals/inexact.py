"""Theorem C.1 and its proof (38) to (53), on local models that are not minimisers; and a smaller bound."""

from __future__ import annotations

import sympy as sp

from bounds.fedals.letters import Delta, delta, L, mu, w
from bounds.operators import bind

from ..claim import Book, Finding, finding, Grade


def one_noisy_client(book: Book) -> Finding:
    """The improved bound is the gap if one client has all noise and the others are at its mean; squared distances."""
    own, rest, gap = sp.symbols("w rest Delta", positive=True)
    stated, gaps = book["fedals.one_round_sharp"], (gap, sp.S.Zero)
    values = {w: (own, rest), Delta: gaps, delta: (rest**2 * gap / 2, own**2 * gap / 2), L: sp.S.One, mu: sp.S.One}
    difference = bind(stated.expr, {q: values[q] for q in stated.quantities}) - own**2 * gap * (own + rest)
    return finding(sp.simplify(difference) == 0, "w^2 Delta, the gap, for every weight w", grade=Grade.PROVED)
