"""Theorem C.1 and its proof, (38) to (53): local models that are not minimisers; a bound that need not be so large."""

from __future__ import annotations

import sympy as sp

from bounds.fedals.letters import Delta, delta, L, mu, w
from bounds.operators import bind

from ..claim import Book, Finding, Grade, judged


def one_noisy_client(book: Book) -> Finding:
    """Squared distances, one client with all noise, the others at its mean without any: the sharp bound is the gap."""
    mine, rest, gap = sp.symbols("w rest Delta", positive=True)
    stated, gaps = book["fedals.one_round_sharp"], (gap, sp.S.Zero)
    here = {w: (mine, rest), Delta: gaps, delta: (rest**2 * gap / 2, mine**2 * gap / 2), L: sp.S.One, mu: sp.S.One}
    off = bind(stated.expr, {q: here[q] for q in stated.quantities}) - mine**2 * gap * (mine + rest)
    return judged(sp.simplify(off) == 0, "w^2 Delta, the gap, for every weight w", grade=Grade.PROVED)
