"""Names and parameters of methods in proof files; ``verify.one_round`` lists their steps."""

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
    """``verify.one_round`` does not list the steps of this method."""


def _parameter(part: str, kind: Any, name: str) -> Callable[[Algorithm], float | None]:
    """Return a function that reads a number of an algorithm's part, or None where the part is of another kind."""
    return lambda a: getattr(getattr(a, part), name) if isinstance(getattr(a, part), kind) else None


METHODS: dict[str, Callable[[Algorithm], float | None]] = {
    "fedavg": lambda a: 0,
    "fedprox": _parameter("direction", Proximal, "mu"),
    "fedinit": _parameter("start", RelaxedStart, "beta"),
    "scaffold": lambda a: 0 if isinstance(a.direction, Controlled) else None,
    "fedavgm": lambda a: a.combine.momentum if isinstance(a.combine, ServerMomentum) and not a.combine.divide else None,
    "fedcm": _parameter("direction", ClientMomentum, "alpha"),
}
"""By name, a function that returns a method's parameter, or None for another method."""


def method_and_parameter(algorithm: Algorithm) -> tuple[str, Fraction]:
    """Return the name and parameter of a method in proof files; raise ``NoListing`` if it has none."""
    name = algorithm.name.partition("(")[0]
    parameter = METHODS[name](algorithm) if name in METHODS else None
    if parameter is not None:
        return name, fraction(parameter)
    if (algorithm.start, algorithm.direction, algorithm.combine) == (ServerStart(), Gradient(), Average()):
        return "fedavg", Fraction(0)  # such as dsgd
    raise NoListing(f"{algorithm.name} has no steps in verify.one_round; proofs are of {', '.join(METHODS)}")


def round_method(algorithm: Algorithm, local_steps: int) -> tuple[str, Fraction]:
    """Return the listed method that makes the same rounds when all clients take part."""
    if local_steps == 1 and isinstance(algorithm.direction, Controlled) and algorithm.start == ServerStart():
        return "fedavg", Fraction(0)  # the mean of the controls is the server's
    return method_and_parameter(algorithm)
