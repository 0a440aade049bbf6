"""Everything a table says, as sums over data sets and cohorts, in floating-point numbers.

Client k's data are two points: with probability ``share_k`` a model w loses ``1/2 curvature_k_0 (w - place_k_0)^2``,
else as much with the numbers of point 1. ``samples`` points are drawn, and only how many of them are the first point
matters: a client's data sets are its counts 0..samples with binomial chances.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations, product
from math import comb
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def entry(table: Mapping[str, Any], word: str, client: int, tail: str = "") -> Any:
    """A number of a client's distribution; identical clients have the first one's."""
    return table[f"{word}_{0 if table['alike'] else client}{tail}"]


def curvatures(table: Mapping[str, Any]) -> list[Any]:
    return [entry(table, "curvature", k, f"_{i}") for k in range(int(table["clients"])) for i in range(2)]


@dataclass(frozen=True)
class Loss:
    """Losses with a share of every data set's points at the first place, one per data set."""

    share: Array
    curves: Array
    places: Array

    def mean(self, values: Array) -> Array:
        return np.asarray(self.share * values[0] + (1 - self.share) * values[1])

    @property
    def square(self) -> Array:
        return self.mean(self.curves)

    @property
    def best(self) -> Array:
        return self.mean(self.curves * self.places) / self.square

    def at(self, w: Any) -> Any:
        """The loss of models, as a sum of squares: nothing cancels."""
        first, second = (self.curves[i] * (w - self.places[i]) ** 2 / 2 for i in range(2))
        return self.share * first + (1 - self.share) * second


@dataclass(frozen=True)
class Client:
    """A client's data sets: their chances, training losses, trained models, and the population loss."""

    chances: Array
    training: Loss
    models: Array
    population: Loss
    suboptimality: float


def client(table: Mapping[str, Any], k: int) -> Client:
    n, share = int(table["samples"]), float(entry(table, "share", k))
    curves = np.array([float(entry(table, "curvature", k, f"_{i}")) for i in range(2)])
    places = np.array([float(entry(table, "place", k, f"_{i}")) for i in range(2)])
    first = np.arange(n + 1) / n
    chances = np.array([comb(n, m) * share**m * (1 - share) ** (n - m) for m in range(n + 1)])
    training, population = Loss(first, curves, places), Loss(np.array(share), curves, places)
    best = training.best
    models = best
    if table["local_steps"]:
        left = (1 - float(table["step_size"]) * training.square) ** int(table["local_steps"])
        models = best + left * (float(table["start"]) - best)
    behind = float(chances @ (training.square * (models - best) ** 2 / 2))
    return Client(chances, training, models, population, behind)


def weights(table: Mapping[str, Any]) -> Array:
    raw = np.array([float(table[f"weight_{k}"]) for k in range(table["clients"])])
    return raw / raw.sum()


def cohorts(table: Mapping[str, Any], shares: Array) -> Iterator[tuple[float, Array, Array]]:
    """Chance, weights in the averaged model, and weights in the empirical risk, of every draw of participants."""
    clients, cohort = len(shares), int(table["cohort"])
    if table["sampling"] == 0:
        yield 1.0, shares, shares
    elif table["sampling"] == 1:
        for drawn in product(range(clients), repeat=cohort):
            counts = np.bincount(drawn, minlength=clients) / cohort
            yield float(np.prod(shares[list(drawn)])), counts, counts
    else:
        for drawn in combinations(range(clients), cohort):
            own = np.zeros(clients)
            own[list(drawn)] = shares[list(drawn)] * clients / cohort
            yield 1 / comb(clients, cohort), own, own


def words(table: Mapping[str, Any]) -> dict[str, Any]:
    """Every quantity of the table by word."""
    number = table["clients"]
    people, shares = [client(table, k) for k in range(number)], weights(table)
    local = np.array([c.chances @ (c.population.at(c.models) - c.training.at(c.models)) for c in people])
    found: dict[str, Any] = {"gap": 0.0, "out": 0.0, "seen": 0.0}
    apart: Array = np.zeros(number)
    taking: Array = np.zeros(number)
    for chance, model, risk in cohorts(table, shares):
        trained, whole = _averaged(people, model)
        found["seen"] += chance * (risk @ trained)
        found["gap"] += chance * (shares @ whole - risk @ trained)
        found["out"] += chance * (risk @ whole - risk @ trained)
        own = np.array([c.chances @ c.training.at(c.models) for c in people])
        apart += chance * (risk > 0) * (trained - own)
        taking += chance * (risk > 0)
    curves = list(map(float, curvatures(table)))
    means = np.array([float(c.population.best) for c in people])
    away = means - shares @ means
    noise = np.array([_noise(table, k, people[k]) for k in range(number)])
    return {
        "generalization_gap": found["gap"],
        "out_of_sample_gap": found["out"],
        "participation_gap": found["gap"] - found["out"],
        "train_loss": found["seen"],
        "local_gap": local,
        "non_iidness": apart / taking,
        "local_suboptimality": np.array([c.suboptimality for c in people]),
        "client_weight": shares,
        "smoothness": max(curves),
        "strong_convexity": min(curves),
        "clients": number,
        "cohort": int(table["cohort"]),
        "samples": int(table["samples"]),
        "client_distance_sq": np.where(abs(away) > 1e-13 * abs(means).max(), away, 0.0) ** 2,
        "client_gradient_variance": noise,
        "gradient_variance": noise.max(),
    }


def _averaged(people: list[Client], model: Array) -> tuple[Array, Array]:
    """Expected training and population risk on every client's data of the average with these weights."""
    size = len(people)
    shape = [len(c.chances) for c in people]
    joint: Any = np.ones(())
    average: Any = np.zeros(())
    for k, c in enumerate(people):
        axis = [1] * size
        axis[k] = shape[k]
        joint = joint * c.chances.reshape(axis)
        average = average + model[k] * c.models.reshape(axis)
    trained, whole = np.empty(size), np.empty(size)
    for k, c in enumerate(people):
        axis = [1] * size
        axis[k] = shape[k]
        own = Loss(c.training.share.reshape(axis), c.training.curves, c.training.places)
        trained[k] = float((joint * own.at(average)).sum())
        whole[k] = float((joint * c.population.at(average)).sum())
    return trained, whole


def _noise(table: Mapping[str, Any], k: int, person: Client) -> float:
    """Variance of one sample's gradient; that of every model where both points have the same curvature."""
    share = float(entry(table, "share", k))
    away = float(entry(table, "place", k, "_0")) - float(entry(table, "place", k, "_1"))
    return share * (1 - share) * (float(person.population.square) * away) ** 2
