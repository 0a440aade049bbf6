"""Means and covariances of clients' participation and weights: all that second moments of a run need of a cohort."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb, exp, expm1, lgamma, log, log1p
from typing import Any, NamedTuple

import numpy as np

from ..errors import EmpiricsError
from .cohorts import Cohort
from .numbers import FLOATS, Kind

Array = np.ndarray[Any, Any]


class Draw(NamedTuple):
    """Moments of the pair (weight in the average, 1 if the client works else 0), for G groups of identical clients.

    ``mean (G, 2)`` and ``own (G, 2, 2)`` are mean and covariance of a client's pair; ``other (G, G, 2, 2)`` is its
    covariance with the pair of another client of the same or another group. ``sums_to_one``: the weights of every
    cohort sum to 1.
    """

    mean: Array
    own: Array
    other: Array
    sums_to_one: bool = True

    def everyone(self) -> Draw:
        """The draw with the same weights in which all clients work in every round, whichever are averaged."""
        mean, own, other = (x.copy() for x in self[:3])
        mean[:, 1] = 1 + 0 * mean[:, 1]
        for pairs in (own, other):
            pairs[..., 1, :] = pairs[..., :, 1] = 0 * pairs[..., :, 1]
        return Draw(mean, own, other, self.sums_to_one)

    @property
    def certain(self) -> bool:
        """Whether weights and participation are not random."""
        return not (self.own != 0).any()


def draw(sampling: str, cohort: int, sizes: Sequence[int], shares: Array, kind: Kind = FLOATS) -> Draw:
    """Return the moments of drawing ``cohort`` clients from groups of ``sizes (G,)`` clients of weight ``shares (G,)``.

    If all clients take part they are averaged by share, else evenly. The cost does not depend on the number of clients.
    """
    clients, groups = sum(int(size) for size in sizes), len(sizes)
    if cohort > clients and sampling != "with_replacement":
        raise EmpiricsError(f"cohort must be <= clients; got {cohort} > {clients}")
    if sampling == "with_replacement":
        return _with_replacement(cohort, shares, kind)
    one, zero = kind.make(1), kind.make(0)
    if sampling == "bernoulli":
        if kind.exact:
            raise EmpiricsError("cohorts of random size are followed in floats alone")
        return _bernoulli(clients, cohort, groups)
    if cohort == clients:
        mean = np.stack([shares, 0 * shares + one], axis=1)
        return Draw(mean, kind.zeros(groups, 2, 2), kind.zeros(groups, groups, 2, 2))
    rate = one * cohort / clients
    variance = rate * (clients - cohort) / clients
    scale = kind.array([one / cohort, one])
    covariance = -variance / (clients - 1) if clients > 1 else zero
    return _same_for_all(rate * scale, variance * np.outer(scale, scale), covariance * np.outer(scale, scale), groups)


def _same_for_all(mean: Array, own: Array, other: Array, groups: int) -> Draw:
    """A draw in which all clients have the same moments."""
    return Draw(np.tile(mean, (groups, 1)), np.tile(own, (groups, 1, 1)), np.tile(other, (groups, groups, 1, 1)))


def _bernoulli(clients: int, cohort: int, groups: int) -> Draw:
    """Independent participation with probability cohort / clients, conditional on at least one participant."""
    rate = cohort / clients
    if clients == 1 or rate == 1:
        return _same_for_all(np.array([1 / clients, 1.0]), np.zeros((2, 2)), np.zeros((2, 2)), groups)
    nonempty = -expm1(clients * log1p(-rate))
    works = rate / nonempty
    inverse = _mean_inverse(clients, rate) / nonempty
    ordered_pairs = (clients - 1) * clients
    mean = np.array([1 / clients, works])
    own = np.array([[inverse / clients, 1 / clients], [1 / clients, works]]) - np.outer(mean, mean)
    mixed = (clients * works - 1) / ordered_pairs
    other = np.array([[(1 - inverse) / ordered_pairs, mixed], [mixed, rate * works]]) - np.outer(mean, mean)
    return _same_for_all(mean, own, other, groups)


def _mean_inverse(clients: int, rate: float) -> float:
    """``E[1/u; u > 0]`` of a binomial number u of participants, summed where its probability is not negligible."""
    middle, wide = clients * rate, 40 * (clients * rate * (1 - rate)) ** 0.5 + 40
    numbers = range(max(1, int(middle - wide)), min(clients, int(middle + wide)) + 1)
    if clients < 500:
        return sum(comb(clients, u) * rate**u * (1 - rate) ** (clients - u) / u for u in numbers)
    top = lgamma(clients + 1)
    return sum(
        exp(top - lgamma(u + 1) - lgamma(clients - u + 1) + u * log(rate) + (clients - u) * log1p(-rate)) / u
        for u in numbers
    )


def _power_minus_one(rate: Array, times: int, kind: Kind) -> Array:
    """``(1 + rate)^times - 1``, in floats without cancellation."""
    if kind.exact:
        return (1 + rate) ** times - 1
    with np.errstate(divide="ignore"):
        return np.asarray(np.expm1(times * np.log1p(np.maximum(rate, -1.0))))


def _with_replacement(cohort: int, p: Array, kind: Kind) -> Draw:
    """``cohort`` independent draws by share ``p (G,)``; a client drawn twice works once and counts twice."""
    groups, rest = len(p), 1 - p
    works = -_power_minus_one(-p, cohort, kind)
    idle = 1 - works
    mean = np.stack([p, works], axis=1)
    own, other = kind.zeros(groups, 2, 2), kind.zeros(groups, groups, 2, 2)
    own[:, 0, 0] = p * rest / cohort
    own[:, 0, 1] = own[:, 1, 0] = p * idle
    own[:, 1, 1] = works * idle
    both = p[:, None] * p[None, :]
    other[..., 0, 0] = -both / cohort
    other[..., 0, 1] = -both * rest[None, :] ** (cohort - 1)
    other[..., 1, 0] = np.swapaxes(other[..., 0, 1], 0, 1)
    if all(rest != 0):  # else there is one client
        ratio = _power_minus_one(-both / (rest[:, None] * rest[None, :]), cohort, kind)
        other[..., 1, 1] = idle[:, None] * idle[None, :] * ratio
    return Draw(mean, own, other)


def draw_of_cohorts(cohorts: Sequence[Cohort], weights: Sequence[Array]) -> Draw:
    """Return the draw, with every client a group, from all cohorts and the weights ``(members,)`` of their members."""
    clients = 1 + max(max(cohort.clients) for cohort in cohorts)
    mean, second = np.zeros((clients, 2)), np.zeros((clients, clients, 2, 2))
    for cohort, weight in zip(cohorts, weights, strict=True):
        pair = np.zeros((clients, 2))
        pair[list(cohort.clients), 0], pair[list(cohort.clients), 1] = weight, 1
        mean += cohort.probability * pair
        second += cohort.probability * pair[:, None, :, None] * pair[None, :, None, :]
    covariance = second - mean[:, None, :, None] * mean[None, :, None, :]
    sums_to_one = all(abs(weight.sum() - 1) < 1e-12 for weight in weights)
    return Draw(mean, covariance[np.arange(clients), np.arange(clients)], covariance, sums_to_one)
