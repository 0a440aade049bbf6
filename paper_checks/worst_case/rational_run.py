"""A run in fractions: the method's declared update, played on coefficients without any rounding.

The recorder plays the hooks that train; its numbers are floats. A proof needs fractions, so the few methods below are
played once more from their listings, and a run counts only if it is the recorded one to rounding.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from empirics.algorithms.algorithm import Algorithm
from empirics.algorithms.local import Controlled, Proximal
from empirics.algorithms.relaxed import RelaxedStart

from .program import WorstCaseError
from .symbolic_run import Recorded

Array = np.ndarray[Any, Any]
SHORT = (10**3, 10**6, 10**9)
"""Denominators that are tried for a number typed as a decimal."""
CLOSE = 1e-15
AGREE = 1e-11
"""How far a recorded run may be from the one in fractions, relative to its largest number."""


def fraction(x: float) -> Fraction:
    """The short fraction that a float was typed as, such as 1/10 for 0.1; else the float itself."""
    for most in SHORT:
        near = Fraction(x).limit_denominator(most)
        if abs(near - Fraction(x)) <= CLOSE * abs(x):
            return near
    return Fraction(x)


def declared(algorithm: Algorithm) -> tuple[str, Fraction]:
    """The method by name and its one number; refused where no listing of it is played here."""
    name = algorithm.name.partition("(")[0]
    parts: Mapping[str, Any] = {"start": algorithm.start, "direction": algorithm.direction}
    if name == "fedavg":
        return name, Fraction(0)
    if name == "scaffold" and isinstance(parts["direction"], Controlled):
        return name, Fraction(0)
    if name == "fedprox" and isinstance(parts["direction"], Proximal):
        return name, fraction(parts["direction"].mu)
    if name == "fedinit" and isinstance(parts["start"], RelaxedStart):
        return name, fraction(parts["start"].beta)
    raise WorstCaseError(
        f"{algorithm.name} has no certificate: fedavg, fedprox, scaffold and fedinit are played in fractions"
    )


@dataclass(frozen=True, eq=False)
class Vector:
    """A vector of every client: coefficients over the start and the own gradients, and over their means."""

    own: Array
    mean: Array

    def __add__(self, other: Vector) -> Vector:
        return Vector(self.own + other.own, self.mean + other.mean)

    def __rmul__(self, factor: Fraction) -> Vector:
        return Vector(factor * self.own, factor * self.mean)

    @property
    def averaged(self) -> Vector:
        return Vector(0 * self.own, self.own + self.mean)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Vector) and all(
            np.all(a == b) for a, b in ((self.own, other.own), (self.mean, other.mean))
        )


@dataclass(eq=False)
class Run:
    """A play in fractions: ``asked`` are the models of the gradients, ``paths`` the local models round by round.

    Column 0 is the start, column j the j-th gradient of a client; every local step has a step size.
    """

    method: str
    parameter: Fraction
    step_sizes: tuple[Fraction, ...]
    steps: tuple[int, ...]
    gradients: int
    asked: list[Vector] = field(default_factory=list)
    paths: list[list[Vector]] = field(default_factory=list)
    servers: list[Vector] = field(default_factory=list)

    def __post_init__(self) -> None:
        p, sizes = self.parameter, iter(self.step_sizes)
        w = last = self._unit(0).averaged
        own = shared = Fraction(0) * w
        self.servers.append(w)
        for steps in self.steps:
            x = w + p * (w + Fraction(-1) * last) if self.method == "fedinit" else w
            path, length = [x], Fraction(0)
            for _ in range(steps):
                eta = next(sizes)
                length += eta
                way = self._gradient(x)
                if self.method == "fedprox":
                    way = way + p * (x + Fraction(-1) * w)
                elif self.method == "scaffold":
                    way = way + shared + Fraction(-1) * own
                x = x + -eta * way
                path.append(x)
            if self.method == "scaffold":
                change = 1 / length * (path[0] + Fraction(-1) * x) + Fraction(-1) * shared
                own, shared = own + change, shared + change.averaged
            last, w = x, x.averaged
            self.paths.append(path)
            self.servers.append(w)

    @property
    def averages(self) -> list[Vector]:
        """The virtual averages iteration by iteration, the last server model included."""
        return [*(x.averaged for path in self.paths for x in path[:-1]), self.servers[-1]]

    def _unit(self, number: int) -> Vector:
        row = np.full(1 + self.gradients, Fraction(0), dtype=object)
        mean = row.copy()
        row[number] = Fraction(1)
        return Vector(row, mean)

    def _gradient(self, x: Vector) -> Vector:
        for j, before in enumerate(self.asked):
            if before == x:
                return self._unit(1 + j)
        self.asked.append(x)
        if len(self.asked) > self.gradients:
            raise WorstCaseError("the run in fractions asks for more gradients than the recorded one")
        return self._unit(len(self.asked))


def played(algorithm: Algorithm, recorded: Recorded, steps: tuple[int, ...]) -> Run:
    """The recorded run in fractions; ``WorstCaseError`` where the listing does something else."""
    name, parameter = declared(algorithm)
    sizes = tuple(fraction(size) for size in recorded.step_sizes)
    run = Run(name, parameter, sizes, steps, recorded.gradients)
    pairs = [(recorded.server, run.servers), (np.moveaxis(recorded.asked, 1, 0), run.asked)]
    pairs += [(np.moveaxis(models, 1, 0), path) for models, path in zip(recorded.path, run.paths, strict=True)]
    if len(run.asked) != recorded.gradients or any(_off(*pair, recorded) > AGREE for pair in pairs):
        raise WorstCaseError(f"{algorithm.name} makes other steps than its listing: no certificate")
    return run


def _off(floats: Array, vectors: list[Vector], recorded: Recorded) -> float:
    """The largest difference of two forms of the same vectors, relative to the largest number."""
    clients, m = recorded.clients, recorded.gradients
    worst = 0.0
    for row, vector in zip(floats, vectors, strict=True):
        own, mean = vector.own.astype(float), vector.mean.astype(float)
        for k in range(clients):
            said = np.zeros(1 + clients * m)
            said[0] = own[0] + mean[0]
            for i in range(clients):
                said[1 + i * m : 1 + (i + 1) * m] = mean[1:] / clients + (own[1:] if i == k else 0)
            seen = row if row.ndim == 1 else row[k]
            worst = max(worst, float(np.abs(seen - said).max()) / max(1.0, float(np.abs(said).max())))
    return worst
