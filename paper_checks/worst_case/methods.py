"""Methods by the names that proofs call them, and a round of a method as what it does to vectors of all clients.

It is what the hooks that train do to linear forms (``empirics.exact``), so nothing is listed a second time here; the
listing that proofs are checked by is the verifier's own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from empirics.algorithms.algorithm import Algorithm, Average, Gradient, ServerStart
from empirics.algorithms.local import ClientMomentum, Controlled, Proximal
from empirics.algorithms.relaxed import RelaxedStart
from empirics.algorithms.server import ServerMomentum
from empirics.exact.coefficients import Coefficients, Forms
from empirics.exact.numbers import fraction

from .program import WorstCaseError
from .symbolic_run import Array

AGREE = 1e-11
"""How far a round in fractions may be from the same in floats, relative to its largest number."""


class NoListing(WorstCaseError):
    """The verifier knows no such method."""


# ---- the methods ----


def _of(part: str, kind: Any, name: str) -> Callable[[Algorithm], float | None]:
    """Reads a number of the algorithm's part where that is of this kind."""
    return lambda a: getattr(getattr(a, part), name) if isinstance(getattr(a, part), kind) else None


METHODS: dict[str, Callable[[Algorithm], float | None]] = {
    "fedavg": lambda a: 0,
    "fedprox": _of("direction", Proximal, "mu"),
    "fedinit": _of("start", RelaxedStart, "beta"),
    "scaffold": lambda a: 0 if isinstance(a.direction, Controlled) else None,
    "fedavgm": lambda a: a.combine.momentum if isinstance(a.combine, ServerMomentum) and not a.combine.divide else None,
    "fedcm": _of("direction", ClientMomentum, "alpha"),
}
"""By name, how a method's one number is read off it; None: it is another method."""


def named(algorithm: Algorithm) -> tuple[str, Fraction]:
    """The method by name and its one number; ``NoListing`` where there is none of it."""
    name = algorithm.name.partition("(")[0]
    number = METHODS[name](algorithm) if name in METHODS else None
    if number is not None:
        return name, fraction(number)
    if (algorithm.start, algorithm.direction, algorithm.combine) == (ServerStart(), Gradient(), Average()):
        return "fedavg", Fraction(0)  # dsgd too
    raise NoListing(f"{algorithm.name} has no listing in fractions; there is one of {', '.join(METHODS)}")


def named_round(algorithm: Algorithm, local_steps: int) -> tuple[str, Fraction]:
    """The method whose round it is when all clients take part."""
    if local_steps == 1 and isinstance(algorithm.direction, Controlled) and algorithm.start == ServerStart():
        return "fedavg", Fraction(0)  # the mean of the controls is the server's
    return named(algorithm)


# ---- a round ----


@dataclass(frozen=True, eq=False)
class Vector:
    """A vector of every client: coefficients of its mean over the clients, and of each client's deviation from it."""

    mean: Array
    apart: Array
    __array_ufunc__ = None
    """NumPy's numbers leave products with it to ``__rmul__``."""

    def __add__(self, other: Vector) -> Vector:
        return Vector(self.mean + other.mean, self.apart + other.apart)

    def __sub__(self, other: Vector) -> Vector:
        return Vector(self.mean - other.mean, self.apart - other.apart)

    def __rmul__(self, factor: Any) -> Vector:
        return Vector(factor * self.mean, factor * self.apart)


def next_round(forms: Forms, clients: int, cohort: int) -> Coefficients:
    """The coefficients of the next round; ``weighed`` counts all that participants send.

    Equal weights of that many are a mean, and what is added is as many times its mean.
    """
    found = forms.next(clients)
    sent = found.weighed + cohort * found.added
    return found._replace(weighed=sent, added=0 * sent)


def play_round(
    c: Coefficients, sizes: Iterable[Any], server: Sequence[Vector], memory: Sequence[Vector],
    ask: Callable[[Vector], Vector],
) -> tuple[list[Vector], list[Vector], list[Vector]]:  # fmt: skip
    """A client's models before every local step and after the last one, the server's vectors, and its memory, after it.

    Deviations of what the server keeps are what a single client adds to it.
    """
    parts = [*server, *memory]
    path = [_sum(c.start, parts)]
    for k, eta in enumerate(sizes):
        x, j = path[-1], min(k, len(c.pull) - 1)
        path.append(x - eta * (_sum([*c.push[j], c.pull[j], c.steepness[j]], [*parts, x, ask(x)])))
    known = [*parts, path[-1]]
    after = [_sum(stay, server) + _sum(sent, known) for stay, sent in zip(c.stays, c.weighed, strict=True)]
    return path, after, [_sum(row, known) for row in c.keeps]


def _sum(factors: Iterable[Any], vectors: Sequence[Vector]) -> Vector:
    found = [factor * vector for factor, vector in zip(factors, vectors, strict=True) if factor]
    return sum(found[1:], found[0]) if found else 0 * vectors[0]


def check_same(algorithm: Algorithm, pairs: Sequence[tuple[Array, Array]], what: str) -> None:
    """Refuse a method whose hooks do something else than what was taken for its round."""
    for exact, seen in pairs:
        listed = exact.astype(float)
        if listed.shape != seen.shape or np.abs(listed - seen).max(initial=0) > AGREE * (
            1 + np.abs(listed).max(initial=0)
        ):
            raise WorstCaseError(f"{algorithm.name} makes other steps than its listing: no {what}")
