"""Who takes part in a round, by means and covariances alone: all that second moments of a run ask of a cohort."""

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
    """The pair (weight in the average, 1 if the client works else 0) of clients in G groups of identical clients.

    ``mean (G, 2)``; ``own (G, 2, 2)`` is the pair's covariance; ``other (G, G, 2, 2)`` that with another client's, of
    the same group or not. ``whole``: the weights of a cohort sum to 1.
    """

    mean: Array
    own: Array
    other: Array
    whole: bool = True

    def everyone(self) -> Draw:
        """The same weights where all clients work in every round, whoever is averaged."""
        mean, own, other = (x.copy() for x in self[:3])
        mean[:, 1] = 1 + 0 * mean[:, 1]
        for pairs in (own, other):
            pairs[..., 1, :] = pairs[..., :, 1] = 0 * pairs[..., :, 1]
        return Draw(mean, own, other, self.whole)

    @property
    def certain(self) -> bool:
        """Whether nothing is left to chance."""
        return not (self.own != 0).any()


def draw(sampling: str, cohort: int, sizes: Sequence[int], shares: Array, kind: Kind = FLOATS) -> Draw:
    """The draw of ``cohort`` clients for groups of ``sizes`` (G) clients, each client of share ``shares`` (G).

    Where all clients take part they count by share, a drawn client evenly; the number of clients costs nothing.
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
    share = one * cohort / clients
    alone = share * (clients - cohort) / clients
    scale = kind.array([one / cohort, one])
    among = -alone / (clients - 1) if clients > 1 else zero
    return _alike(share * scale, alone * np.outer(scale, scale), among * np.outer(scale, scale), groups)


def _alike(mean: Array, own: Array, other: Array, groups: int) -> Draw:
    """A draw that treats all clients the same."""
    return Draw(np.tile(mean, (groups, 1)), np.tile(own, (groups, 1, 1)), np.tile(other, (groups, groups, 1, 1)))


def _bernoulli(clients: int, cohort: int, groups: int) -> Draw:
    """Every client by itself with probability cohort / clients, given that somebody takes part."""
    chance = cohort / clients
    if clients == 1 or chance == 1:
        return _alike(np.array([1 / clients, 1.0]), np.zeros((2, 2)), np.zeros((2, 2)), groups)
    somebody = -expm1(clients * log1p(-chance))
    works = chance / somebody
    inverse = _mean_inverse(clients, chance) / somebody
    among = (clients - 1) * clients
    mean = np.array([1 / clients, works])
    own = np.array([[inverse / clients, 1 / clients], [1 / clients, works]]) - np.outer(mean, mean)
    mixed = (clients * works - 1) / among
    both = np.array([[(1 - inverse) / among, mixed], [mixed, chance * works]])
    return _alike(mean, own, both - np.outer(mean, mean), groups)


def _mean_inverse(clients: int, chance: float) -> float:
    """``E[1/u; u > 0]`` of a binomial number u, summed over all that carry any weight."""
    middle, wide = clients * chance, 40 * (clients * chance * (1 - chance)) ** 0.5 + 40
    numbers = range(max(1, int(middle - wide)), min(clients, int(middle + wide)) + 1)
    if clients < 500:
        return sum(comb(clients, u) * chance**u * (1 - chance) ** (clients - u) / u for u in numbers)
    top = lgamma(clients + 1)
    return sum(
        exp(top - lgamma(u + 1) - lgamma(clients - u + 1) + u * log(chance) + (clients - u) * log1p(-chance)) / u
        for u in numbers
    )


def _grown(rate: Array, times: int, kind: Kind) -> Array:
    """``(1 + rate)^times - 1``, without the loss of digits that floats would have."""
    if kind.exact:
        return (1 + rate) ** times - 1
    with np.errstate(divide="ignore"):
        return np.asarray(np.expm1(times * np.log1p(np.maximum(rate, -1.0))))


def _with_replacement(cohort: int, p: Array, kind: Kind) -> Draw:
    """``cohort`` draws by share: who is drawn twice works once and counts twice."""
    groups, rest = len(p), 1 - p
    works = -_grown(-p, cohort, kind)
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
        apart = _grown(-both / (rest[:, None] * rest[None, :]), cohort, kind)
        other[..., 1, 1] = idle[:, None] * idle[None, :] * apart
    return Draw(mean, own, other)


def listed(cohorts: Sequence[Cohort], weights: Sequence[Array]) -> Draw:
    """The draw of clients one by one, from all cohorts and the weights ``(members,)`` that their members have."""
    clients = 1 + max(max(cohort.clients) for cohort in cohorts)
    mean, second = np.zeros((clients, 2)), np.zeros((clients, clients, 2, 2))
    for cohort, weight in zip(cohorts, weights, strict=True):
        pair = np.zeros((clients, 2))
        pair[list(cohort.clients), 0], pair[list(cohort.clients), 1] = weight, 1
        mean += cohort.probability * pair
        second += cohort.probability * pair[:, None, :, None] * pair[None, :, None, :]
    apart = second - mean[:, None, :, None] * mean[None, :, None, :]
    whole = all(abs(weight.sum() - 1) < 1e-12 for weight in weights)
    return Draw(mean, apart[np.arange(clients), np.arange(clients)], apart, whole)
