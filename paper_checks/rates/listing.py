"""A round in fractions, from the method's listing: what a proof is about, held against the hooks that train."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from empirics.algorithms.algorithm import Algorithm, Average, Gradient, ServerStart
from empirics.algorithms.local import ClientMomentum, Controlled
from empirics.algorithms.server import ServerMomentum

from ..worst_cases.certificates.exact import AGREE, declared, fraction
from ..worst_cases.program import WorstCaseError
from .one_round import Array, OneRound

KEPT: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "fedavg": (("model",), ()),
    "fedprox": (("model",), ()),
    "fedinit": (("model",), ("last",)),
    "scaffold": (("model",), ("control",)),
    "fedavgm": (("model", "velocity"), ()),
    "fedcm": (("model", "direction"), ()),
}
"""What the means and the deviations keep from round to round, by method."""


class NoListing(WorstCaseError):
    """No listing of the method is played in fractions."""


def named(algorithm: Algorithm, local_steps: int) -> tuple[str, Fraction]:
    """The method by name and its one number; ``NoListing`` where no listing of it is played here."""
    name, combine, direction = algorithm.name.partition("(")[0], algorithm.combine, algorithm.direction
    if local_steps == 1 and isinstance(direction, Controlled) and algorithm.start == ServerStart():
        return "fedavg", Fraction(0)  # the mean of the controls is the server's
    if name == "fedavgm" and isinstance(combine, ServerMomentum) and not combine.divide:
        return name, fraction(combine.momentum)
    if name == "fedcm" and isinstance(direction, ClientMomentum):
        return name, fraction(direction.alpha)
    if (algorithm.start, direction, combine) == (ServerStart(), Gradient(), Average()) and not algorithm.remember:
        return "fedavg", Fraction(0)  # dsgd too
    try:
        return declared(algorithm)
    except WorstCaseError:
        known = ", ".join(KEPT)
        raise NoListing(f"{algorithm.name} has no listing in fractions: proved are {known}") from None


def listed(algorithm: Algorithm, like: OneRound, step_size: float) -> OneRound:
    """The round in fractions; ``WorstCaseError`` where there is no listing, or it is not what the hooks do."""
    name, parameter = named(algorithm, like.gradients)
    found = _played(name, parameter, fraction(step_size), like.gradients)
    pairs = list(zip(found.arrays(), like.arrays(), strict=True))
    if (found.means, found.apart) != (like.means, like.apart) or any(
        a.shape != b.shape or np.abs(a.astype(float) - b).max(initial=0) > AGREE * (1 + np.abs(b).max(initial=0))
        for a, b in pairs
    ):
        raise WorstCaseError(f"{algorithm.name} makes other steps than its listing: no proof")
    return found


def _played(name: str, p: Fraction, eta: Fraction, steps: int) -> OneRound:
    """A vector is one row: its mean over state and gradients, then its deviation over state and gradients."""
    means, apart = KEPT[name]
    n, k = len(means), len(apart)
    size = n + steps + k + steps
    units = np.array([[Fraction(i == j) for j in range(size)] for i in range(size)], dtype=object).reshape(size, size)

    def averaged(row: Array) -> Array:
        return np.concatenate([row[: n + steps], 0 * row[n + steps :]])

    w = units[0]
    kept = units[1] if n > 1 else 0 * w
    own = units[n + steps] if k else 0 * w
    x = first = w - p * own if name == "fedinit" else w  # the deviation of w + p (w - last)
    asked = []
    for j in range(steps):
        asked.append(x)
        way = units[n + j] + units[n + steps + k + j]
        if name == "fedprox":
            way = way + p * (x - w)
        elif name == "scaffold":
            way = way - own
        elif name == "fedcm":
            way = p * way + (1 - p) * kept
        x = x - eta * way
    after, moved = averaged(x), averaged(x - first)
    away = x - averaged(x)
    if name == "fedavgm":
        kept = p * kept - moved
        after = w - kept
    elif name == "fedcm":
        kept = -moved / (steps * eta)
    elif name == "scaffold":
        away = own + (first - x - averaged(first - x)) / (steps * eta)
    mean_rows = np.array([after, kept][:n], dtype=object)
    apart_rows = np.array([away][:k], dtype=object).reshape(k, size)
    points = np.array(asked, dtype=object)
    start = np.array([Fraction(1), Fraction(0)][:n], dtype=object)
    return OneRound(
        means, apart, start, mean_rows[:, : n + steps], points[:, : n + steps],
        apart_rows[:, n + steps :], points[:, n + steps :], apart,
    )  # fmt: skip
