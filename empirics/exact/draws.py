"""Who takes part in a round, by means and covariances alone: all that second moments of a run ask of a cohort."""

from __future__ import annotations

from math import comb, exp, expm1, lgamma, log, log1p
from typing import Any, NamedTuple

import numpy as np

from ..errors import EmpiricsError
from ..training.setting import Setting

Array = np.ndarray[Any, Any]


class Draw(NamedTuple):
    """The pair (weight in the average, 1 if the client works else 0) of clients in G groups of clients alike.

    ``mean (G, 2)``; ``own (G, 2, 2)`` is the pair's covariance; ``other (G, G, 2, 2)`` that with another client's, of
    the same group or not.
    """

    mean: Array
    own: Array
    other: Array


def draw(setting: Setting, sizes: Array, shares: Array) -> Draw:
    """The draw of a setting for groups of ``sizes`` (G) clients, each client of share ``shares`` (G) of the loss.

    Everybody counts by the setting's client weights, a drawn client evenly; the number of clients costs nothing.
    """
    clients, cohort = int(sizes.sum()), setting.cohort
    if cohort > clients:
        raise EmpiricsError(f"cohort must be <= clients; got {cohort} > {clients}")
    if setting.sampling == "with_replacement":
        return _with_replacement(cohort, shares)
    if setting.sampling == "bernoulli":
        return _bernoulli(clients, cohort, len(sizes))
    if cohort == clients:
        groups = len(sizes)
        mean = np.stack([shares, np.ones(groups)], axis=1)
        return Draw(mean, np.zeros((groups, 2, 2)), np.zeros((groups, groups, 2, 2)))
    share = cohort / clients
    alone = share * (clients - cohort) / clients
    scale = np.array([1 / cohort, 1.0])
    return _alike(share * scale, alone * np.outer(scale, scale), -alone / (clients - 1), scale, len(sizes))


def _alike(mean: Array, own: Array, other: float, scale: Array, groups: int) -> Draw:
    """A draw that treats all clients the same."""
    return Draw(
        np.tile(mean, (groups, 1)),
        np.tile(own, (groups, 1, 1)),
        np.tile(other * np.outer(scale, scale), (groups, groups, 1, 1)),
    )


def _bernoulli(clients: int, cohort: int, groups: int) -> Draw:
    """Every client by itself with probability cohort / clients, given that somebody takes part."""
    chance = cohort / clients
    if clients == 1 or chance == 1:
        return _alike(np.array([1 / clients, 1.0]), np.zeros((2, 2)), 0.0, np.ones(2), groups)
    somebody = -expm1(clients * log1p(-chance))
    works = chance / somebody
    inverse = _mean_inverse(clients, chance) / somebody
    among = (clients - 1) * clients
    mean = np.array([1 / clients, works])
    own = np.array([[inverse / clients, 1 / clients], [1 / clients, works]]) - np.outer(mean, mean)
    both = np.array([
        [(1 - inverse) / among, (clients * works - 1) / among],
        [(clients * works - 1) / among, chance * works],
    ])  # fmt: skip
    found = _alike(mean, own, 0.0, np.ones(2), groups)
    return found._replace(other=np.tile(both - np.outer(mean, mean), (groups, groups, 1, 1)))


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


def _with_replacement(cohort: int, p: Array) -> Draw:
    """``cohort`` draws by share: who is drawn twice works once and counts twice."""
    groups = len(p)
    rest = 1 - p
    idle = rest**cohort
    works = -np.expm1(cohort * np.log1p(-np.minimum(p, 1 - 1e-16)))
    mean = np.stack([p, works], axis=1)
    own = np.empty((groups, 2, 2))
    own[:, 0, 0] = p * rest / cohort
    own[:, 0, 1] = own[:, 1, 0] = p * idle
    own[:, 1, 1] = works * idle
    other = np.zeros((groups, groups, 2, 2))
    other[..., 0, 0] = -np.outer(p, p) / cohort
    other[..., 0, 1] = -np.outer(p, p * rest ** (cohort - 1))
    other[..., 1, 0] = np.swapaxes(other[..., 0, 1], 0, 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        apart = np.log1p(-np.minimum(np.outer(p, p) / np.outer(rest, rest), 1.0))
        other[..., 1, 1] = np.nan_to_num(np.outer(idle, idle) * np.expm1(cohort * apart))
    return Draw(mean, own, other)
