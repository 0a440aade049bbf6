"""Methods by the names that proofs call them; the listing that proofs are checked by is the verifier's own."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from empirics.algorithms.algorithm import Algorithm, Average, Gradient, ServerStart
from empirics.algorithms.local import ClientMomentum, Controlled, Proximal
from empirics.algorithms.relaxed import RelaxedStart
from empirics.algorithms.server import ServerMomentum
from empirics.exact.numbers import fraction

from .program import WorstCaseError


class NoListing(WorstCaseError):
    """The verifier knows no such method."""


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
