"""Small bounds with quantities of their own, for tests of what every bound can do."""

from __future__ import annotations

from typing import Any

import sympy as sp

from bounds import Bound, Condition, Quantity, quantity, Source
from bounds.domains import COUNT, Domain, NONNEGATIVE, POSITIVE, REAL
from bounds.units import ONE

SOURCE = Source("decaying_k", "a made-up statement")

target = quantity("height", "h", "what is bounded", domain=REAL)
x = quantity("width", "x", "a positive number to choose", domain=POSITIVE)
k = quantity("steps", "k", "a whole number to choose", domain=COUNT)
y = quantity("place", "y", "a real number to choose", domain=REAL)
z = quantity("load", "z", "a number >= 0 to choose", domain=NONNEGATIVE)
share = quantity("share", "s", "a share", domain=Domain("> 0 and < 1", low=0, high=1, open_low=True, open_high=True))
a = quantity("alpha", "a", "a positive constant", domain=POSITIVE)
b = quantity("gamma", "b", "a positive constant", domain=POSITIVE)
c = quantity("offset", "c", "a real constant", domain=REAL)
part = quantity("part", "u_k", "a positive number of each client", domain=POSITIVE, per_client=True)
below = quantity("below", "v", "a number that x must not exceed", domain=POSITIVE)
capped = quantity("capped", "w", "a number that never exceeds another", ONE, POSITIVE, at_most=below)


def toy(*terms: sp.Expr, where: tuple[Any, ...] = (), signed: bool = False, **fields: Any) -> Bound:
    """A bound with these terms; ``where`` holds relations that become conditions worded by themselves."""
    named = {f"term {i}": sp.sympify(term) for i, term in enumerate(terms)}
    return Bound(
        name="toy.bound",
        target=target,
        terms=named,
        source=SOURCE,
        conditions=tuple(Condition(f"needs {relation}", relation) for relation in where),
        signed=tuple(named) if signed else (),
        **fields,
    )


def valley(over: Quantity, middle: float, width: float) -> sp.Expr:
    """A dip of depth 1 at ``middle``."""
    return -sp.exp(-(((over - sp.Float(middle)) / sp.Float(width)) ** 2))
