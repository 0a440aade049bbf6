"""What a bound declares of its terms, that they are not negative unless ``signed``, put to use where intervals see no
end: near 1/(1-y^2) at y = 1 rounding leaves the sign of the denominator open, but the term's own sign settles it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np
import sympy as sp

from ..quantities import Quantity
from . import intervals as iv
from .enclosure import Enclosed, Jet, NotNegative
from .intervals import Array, Interval

if TYPE_CHECKING:
    from ..core import Bound


class Declared:
    """Lower bounds of a bound's terms on boxes of ``over``, from intervals and from what is declared of their signs."""

    def __init__(self, bound: Bound, over: Quantity, numbers: Mapping[str, Array]) -> None:
        self.names = list(bound.terms)
        self.signed = [name in bound.signed for name in self.names]
        terms = list(bound.spelled_terms.values())
        known = [t if signed else _with_sign(t) for t, signed in zip(terms, self.signed, strict=True)]
        self.plain, self.known = (Enclosed(forms, over, numbers) for forms in (terms, known))

    def floor(self, owner: Array, lo: Array, hi: Array) -> Array:
        """A lower bound of the whole bound on every box."""
        floors = self._floors(owner, lo, hi)
        return reduce(iv.add, [iv.point(low) for low in floors]).lo

    def endless(self, owner: Array, lo: Array, hi: Array) -> list[str]:
        """The terms that have no lower bound, or none but their sign, on some box."""
        plain = self._ends(self.plain, owner, lo, hi)
        wide = [np.isneginf(end.lo).any() for end in plain]
        return [name for name, so in zip(self.names, wide, strict=True) if so]

    def _floors(self, owner: Array, lo: Array, hi: Array) -> list[Array]:
        floors = []
        plain, known = (self._ends(which, owner, lo, hi) for which in (self.plain, self.known))
        for signed, a, b in zip(self.signed, plain, known, strict=True):
            # A term that is surely negative belies its declaration: then intervals alone count.
            believed = np.zeros(len(lo), dtype=bool) if signed else ~(a.hi < 0)
            floors.append(np.where(believed, np.fmax(np.fmax(a.lo, b.lo), 0.0), a.lo))
        return floors

    def _ends(self, which: Enclosed, owner: Array, lo: Array, hi: Array) -> list[Interval]:
        jets: list[Jet] = which.run(Interval(lo[:, None], hi[:, None]), None, owner)[0]
        return [Interval(*(np.broadcast_to(end[:, 0], lo.shape) for end in jet.value)) for jet in jets]


def _with_sign(term: sp.Expr) -> sp.Expr:
    """The term with a denominator marked as not negative, if it alone decides the sign of the term."""
    factors = sp.Mul.make_args(term)
    open_ = [f for f in factors if not f.is_nonnegative]
    if len(open_) != 1 or not (open_[0].is_Pow and open_[0].exp.is_negative and open_[0].exp.is_rational):
        return term
    base, exponent = open_[0].args
    return sp.Mul(*(f for f in factors if f is not open_[0]), NotNegative(base) ** exponent)
