"""One round of learning by arithmetic of its own, for attempts on FedALS's statements: every data set, or moments.

An average model's gap, and what the statements are made of: local gaps, non-iidness, suboptimality, variances.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import product

import numpy as np
from scipy.stats import binom

Array = np.ndarray


@dataclass(frozen=True)
class Learned:
    """What an instance has; arrays hold one number per client, ``noise`` the variance of one sample's gradient."""

    gap: float
    weights: Array
    local_gap: Array
    non_iidness: Array
    suboptimality: Array
    noise: Array
    samples: int = 1
    smoothness: float = 1.0
    strong_convexity: float = 1.0
    exact: bool = True
    steps: dict[str, float] = field(default_factory=dict)

    def words(self) -> dict[str, object]:
        zero = np.maximum  # rounding below zero
        return {
            "client_weight": self.weights,
            "local_gap": zero(self.local_gap, 0) if self.exact else self.local_gap,
            "non_iidness": zero(self.non_iidness, 0) if self.exact else self.non_iidness,
            "local_suboptimality": zero(self.suboptimality, 0),
            "client_gradient_variance": self.noise,
            "gradient_variance": float(self.noise.max()),
            "samples": self.samples,
            "samples_per_round": np.full(len(self.weights), self.samples),
            "smoothness": self.smoothness,
            "strong_convexity": self.strong_convexity,
            "complexity": 0.0,
            **self.steps,
        }


# ---- losses of model minus sample, between two curvatures ----


@dataclass(frozen=True)
class Curve:
    """``value`` and ``slope`` of the loss at model minus sample; curvature between ``low`` and ``high``."""

    value: Callable[[Array], Array]
    slope: Callable[[Array], Array]
    low: float
    high: float


PARABOLA = Curve(lambda u: u**2 / 2, lambda u: u, 1.0, 1.0)


def log_cosh(low: float, high: float) -> Curve:
    def value(u: Array) -> Array:
        size = np.abs(u)
        return low / 2 * u**2 + (high - low) * (size + np.log1p(np.exp(-2 * size)) - np.log(2))

    return Curve(value, lambda u: low * u + (high - low) * np.tanh(u), low, high)


def two_sided(low: float, high: float) -> Curve:
    """One curvature below the sample and another above it."""
    return Curve(lambda u: np.where(u > 0, high, low) * u**2 / 2, lambda u: np.where(u > 0, high, low) * u, low, high)


def wavy(low: float, high: float, often: float) -> Curve:
    """The curvature runs through all values again and again."""
    mid, half = (low + high) / 2, (high - low) / 2
    return Curve(
        lambda u: mid / 2 * u**2 + half / often**2 * (1 - np.cos(often * u)),
        lambda u: mid * u + half / often * np.sin(often * u),
        low,
        high,
    )


def rounded(low: float, high: float) -> Curve:
    """Nearly a kink at the sample, nearly flat far off."""
    return Curve(
        lambda u: low / 2 * u**2 + (high - low) * (np.sqrt(1 + u**2) - 1),
        lambda u: low * u + (high - low) * u / np.sqrt(1 + u**2),
        low,
        high,
    )


# ---- every data set ----


@dataclass(frozen=True)
class Client:
    """Data sets, one per row, with their chances, and the models trained on them."""

    weight: float
    chances: Array
    sets: Array
    models: Array


def data(points: tuple[float, ...], chances: tuple[float, ...], samples: int) -> tuple[Array, Array]:
    rows = list(product(range(len(points)), repeat=samples))
    return np.array([np.prod([chances[i] for i in r]) for r in rows]), np.array([[points[i] for i in r] for r in rows])


def best(curve: Curve, sets: Array) -> Array:
    """Minimisers by halving: the slope rises."""
    low, high = sets.min(-1), sets.max(-1)
    for _ in range(110):
        middle = (low + high) / 2
        rising = curve.slope(middle[:, None] - sets).mean(-1) > 0
        low, high = np.where(rising, low, middle), np.where(rising, middle, high)
    return (low + high) / 2


def steps(curve: Curve, sets: Array, start: float, size: float, number: int) -> Array:
    """Gradient steps on the whole data set."""
    models = np.full(len(sets), start)
    for _ in range(number):
        models = models - size * curve.slope(models[:, None] - sets).mean(-1)
    return models


def walk(curve: Curve, sets: Array, start: float, size: float, batch: int = 1) -> Array:
    """One step on every sample, or batch, in turn."""
    models = np.full(len(sets), start)
    for part in np.split(sets, sets.shape[1] // batch, axis=1):
        models = models - size * curve.slope(models[:, None] - part).mean(-1)
    return models


def enumerated(curve: Curve, people: list[Client], exact: bool = True) -> Learned:
    """Sums over all data sets of all clients."""
    count = len(people)
    along = [tuple(-1 if j == k else 1 for j in range(count)) for k in range(count)]
    chance = np.prod(np.array([1.0]))
    theta: Array = np.zeros((1,) * count)
    for k, one in enumerate(people):
        chance = chance * one.chances.reshape(along[k])
        theta = theta + one.weight * one.models.reshape(along[k])
    gap, local, drift, behind, noise = 0.0, [], [], [], []
    for k, one in enumerate(people):
        seen = (chance * curve.value(theta[..., None] - one.sets.reshape(*along[k], one.sets.shape[1])).mean(-1)).sum()
        points, odds = one.sets[:, 0], one.chances  # the first sample of every set: the distribution itself
        whole = sum(p * (chance * curve.value(theta - z)).sum() for z, p in zip(points, odds, strict=True))
        gap += one.weight * (whole - seen)
        own = one.chances @ curve.value(one.models[:, None] - one.sets).mean(-1)
        fresh = sum(p * (one.chances @ curve.value(one.models - z)) for z, p in zip(points, odds, strict=True))
        least = one.chances @ curve.value(best(curve, one.sets)[:, None] - one.sets).mean(-1)
        local.append(fresh - own)
        drift.append(seen - own)
        behind.append(own - least)
        grid = np.linspace(points.min() - 30, points.max() + 30, 801)
        slopes = curve.slope(grid[:, None] - points)
        noise.append(float((slopes**2 @ odds - (slopes @ odds) ** 2).max()))
    return Learned(
        float(gap), np.array([one.weight for one in people]), np.array(local), np.array(drift), np.array(behind),
        np.array(noise), people[0].sets.shape[1], curve.high, curve.low, exact,
    )  # fmt: skip


# ---- many clients ----


@dataclass(frozen=True)
class Kind:
    """Alike clients of half squared distances: ``weight`` is one client's.

    A model is ``share`` of the way from ``start`` to the mean of the samples, plus noise of its own.
    """

    count: int
    weight: float
    mean: float
    variance: float
    share: float = 1.0
    start: float = 0.0
    own_noise: float = 0.0


def squares(kinds: list[Kind], samples: int = 1, scale: float = 1.0) -> Learned:
    """Moments in closed form; ``scale`` times half the squared distance."""
    total = sum(k.count * k.weight for k in kinds)
    spread = {k: k.variance / samples for k in kinds}
    where = {k: k.mean + (1 - k.share) * (k.start - k.mean) for k in kinds}
    varies = {k: k.share**2 * spread[k] + k.own_noise for k in kinds}
    centre = sum(k.count * k.weight / total * where[k] for k in kinds)
    around = sum(k.count * (k.weight / total) ** 2 * varies[k] for k in kinds)
    gap, rows = 0.0, []
    for k in kinds:
        w = k.weight / total
        off = (where[k] - k.mean) ** 2 + (1 - k.share) ** 2 * spread[k] + k.own_noise
        seen = (centre - k.mean) ** 2 + around - 2 * w * k.share * spread[k] + spread[k]
        local = k.share * spread[k]
        gap += k.count * w**2 * local
        rows.append((w, local, (seen - off) / 2, off / 2, k.variance))
    columns = [np.repeat(c, [k.count for k in kinds]) for c in np.array(rows).T]
    w, local, drift, behind, noise = columns
    exact = all(k.share == 1 and k.own_noise == 0 for k in kinds)
    return Learned(
        scale * gap, w, scale * local, scale * drift, scale * behind, scale**2 * noise, samples, scale, scale, exact
    )


def crowd(curve: Curve, clients: int, odds: float, low: float, high: float) -> Learned:
    """Alike clients with one sample each, ``high`` with these odds or ``low``: the average is binomial."""
    others = np.arange(clients)
    law = binom.pmf(others, clients - 1, odds)
    seen = whole = 0.0
    ends = ((high, odds), (low, 1 - odds))
    for z, chance in ends:
        theta = (z + others * high + (clients - 1 - others) * low) / clients
        seen += chance * law @ curve.value(theta - z)
        whole += chance * sum(p * (law @ curve.value(theta - y)) for y, p in ends)
    local = odds * (1 - odds) * (curve.value(np.array(high - low)) + curve.value(np.array(low - high)))
    grid = np.linspace(low - 30, high + 30, 801)
    apart = curve.slope(grid - high) - curve.slope(grid - low)
    full = np.ones(clients)
    return Learned(
        float(whole - seen), full / clients, full * float(local), full * float(seen), 0 * full,
        full * float((odds * (1 - odds) * apart**2).max()), 1, curve.high, curve.low,
    )  # fmt: skip
