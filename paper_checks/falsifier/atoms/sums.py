"""The quantities of an instance as sums over data sets and cohorts, in floats or in the type of ``number``.

Client k's distribution has two points: with probability ``share_k`` the loss of a model w is
``1/2 curvature_k_0 (w - place_k_0)^2``, else the same with the numbers of point 1. A data set of ``samples`` points is
determined by how often it contains the first point, which has a binomial distribution.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np

from empirics.exact import cohorts

from ..kinds import counts, kinds, of_kinds

Array = np.ndarray[Any, Any]
Number = Callable[[Any], Any]


def entry(table: Mapping[str, Any], word: str, client: int, tail: str = "") -> Any:
    """Return a number of a client's distribution, that of the first client if all are identical."""
    return table[f"{word}_{0 if table['alike'] else client}{tail}"]


def curvatures(table: Mapping[str, Any]) -> list[Any]:
    return [entry(table, "curvature", k, f"_{i}") for k in range(kinds(table)) for i in range(2)]


@dataclass(frozen=True)
class Loss:
    """Empirical losses, one per data set; ``share`` is the share of the first point in the data set."""

    share: Array
    curves: Array
    places: Array

    def mean(self, values: Array) -> Array:
        """Return the mean over the data sets' points of a value per point."""
        return np.asarray(self.share * values[0] + (1 - self.share) * values[1])

    @property
    def curvature(self) -> Array:
        return self.mean(self.curves)

    @property
    def minimiser(self) -> Array:
        return self.mean(self.curves * self.places) / self.curvature

    def at(self, w: Any) -> Any:
        """Return the loss of models, as a sum of squares without cancellation."""
        first, second = (self.curves[i] * (w - self.places[i]) ** 2 / 2 for i in range(2))
        return self.share * first + (1 - self.share) * second


@dataclass(frozen=True)
class Client:
    """A client's data sets: probabilities, training losses and trained models; and its population loss."""

    chances: Array
    training: Loss
    models: Array
    population: Loss
    suboptimality: Any

    @property
    def mean(self) -> Any:
        """The expected model."""
        return self.chances @ self.models

    @property
    def variance(self) -> Any:
        return self.chances @ (self.models - self.mean) ** 2


def client(table: Mapping[str, Any], k: int, number: Number = float) -> Client:
    """Return the data sets of a client and the models trained on them."""
    n, share = int(table["samples"]), number(entry(table, "share", k))
    curves = np.array([number(entry(table, "curvature", k, f"_{i}")) for i in range(2)])
    places = np.array([number(entry(table, "place", k, f"_{i}")) for i in range(2)])
    first = np.array([number(m) / n for m in range(n + 1)])
    chances = np.array([comb(n, m) * share**m * (1 - share) ** (n - m) for m in range(n + 1)])
    training, population = Loss(first, curves, places), Loss(np.array(share), curves, places)
    models = minimiser = training.minimiser
    if table["local_steps"]:
        left = (1 - number(table["step_size"]) * training.curvature) ** int(table["local_steps"])
        models = minimiser + left * (number(table["start"]) - minimiser)
    suboptimality = chances @ (training.curvature * (models - minimiser) ** 2 / 2)
    return Client(chances, training, models, population, suboptimality)


def weights(table: Mapping[str, Any], number: Number = float) -> Array:
    """Return the weight of a client of every group."""
    raw = np.array([number(table[f"weight_{k}"]) for k in range(kinds(table))])
    return np.asarray(raw / (raw @ np.array(counts(table))))


def draws(table: Mapping[str, Any], shares: Array) -> Iterator[tuple[Any, Array, Array]]:
    """Yield, for every cohort, its probability, the weights of the averaged model and those of the empirical risk."""
    clients, cohort = len(shares), int(table["cohort"])
    if table["sampling"] == 0:
        yield 0 * shares[0] + 1, shares, shares
        return
    again = table["sampling"] == 1
    for one in cohorts("with_replacement" if again else "without_replacement", cohort, shares):
        own, who = 0 * shares, list(one.clients)
        own[who] = (
            [(count + 0 * shares[0]) / cohort for count in one.counts] if again else shares[who] * clients / cohort
        )
        yield one.probability, own, own


def quantities(table: Mapping[str, Any], number: Number = float) -> dict[str, Any]:
    """Return all quantities of the table by name; those that vary over clients have one value per group."""
    shares, zero = weights(table, number), number(0)
    sizes = np.array(counts(table))
    clients = [client(table, k, number) for k in range(kinds(table))]
    local_gap = np.array([c.chances @ (c.population.at(c.models) - c.training.at(c.models)) for c in clients])
    own_loss = np.array([c.chances @ c.training.at(c.models) for c in clients])
    gap, out_of_sample, train_loss = zero, zero, zero
    difference, participation = 0 * shares, 0 * shares
    for chance, model, risk in draws(table, shares):
        training, population = _averaged(clients, sizes, model)
        train_loss += chance * (sizes * risk @ training)
        gap += chance * (sizes * shares @ population - sizes * risk @ training)
        out_of_sample += chance * (sizes * risk @ (population - training))
        takes_part = np.where(risk > 0, zero + 1, zero)
        difference += chance * takes_part * (training - own_loss)
        participation += chance * takes_part
    curves = list(map(number, curvatures(table)))
    means = np.array([np.asarray(c.population.minimiser).item() for c in clients])
    distances = means - (sizes * shares) @ means
    if number is float:  # remove rounding errors of zero
        distances = np.where(abs(distances) > 1e-13 * abs(means).max(), distances, 0.0)
    noise = np.array([_noise(table, k, clients[k], number) for k in range(len(clients))])
    return {
        **{name: np.array(value) for name, value in of_kinds(sizes.tolist(), list(sizes * shares)).items()},
        "generalization_gap": gap, "out_of_sample_gap": out_of_sample, "participation_gap": gap - out_of_sample,
        "train_loss": train_loss, "local_gap": local_gap, "non_iidness": difference / participation,
        "local_suboptimality": np.array([c.suboptimality for c in clients]), "smoothness": max(curves),
        "strong_convexity": min(curves), "cohort": int(table["cohort"]), "samples": int(table["samples"]),
        "client_distance_sq": distances**2, "client_gradient_variance": noise, "gradient_variance": noise.max(),
    }  # fmt: skip


def _averaged(clients: list[Client], sizes: Array, model: Array) -> tuple[Array, Array]:
    """Return the expected training and population risk, for every group, of the average model with these weights. As
    risks are quadratic, they depend on the other clients' models through the mean and variance of their sum."""
    means, variances = np.array([c.mean for c in clients]), np.array([c.variance for c in clients])
    training, population = [], []
    for k, c in enumerate(clients):
        others = sizes - (np.arange(len(clients)) == k)
        rest, variance = (others * model) @ means, (others * model**2) @ variances
        average = model[k] * c.models + rest
        training.append(c.chances @ (c.training.at(average) + c.training.curvature * variance / 2))
        population.append(c.chances @ (c.population.at(average) + c.population.curvature * variance / 2))
    return np.array(training), np.array(population)


def _noise(table: Mapping[str, Any], k: int, one: Client, number: Number) -> Any:
    """Return the variance of a sample's gradient, the same at every model if both points have the same curvature."""
    share = number(entry(table, "share", k))
    distance = number(entry(table, "place", k, "_0")) - number(entry(table, "place", k, "_1"))
    return share * (1 - share) * (np.asarray(one.population.curvature).item() * distance) ** 2
