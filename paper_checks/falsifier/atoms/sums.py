"""Everything a table says, as sums over data sets and cohorts, in floats or, with ``number``, in fractions.

Client k's data are two points: with probability ``share_k`` a model w loses ``1/2 curvature_k_0 (w - place_k_0)^2``,
else as much with the numbers of point 1. ``samples`` points are drawn, and only how many of them are the first point
matters: a client's data sets are its counts 0..samples with binomial chances.
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
    """A number of a client's distribution; identical clients have the first one's."""
    return table[f"{word}_{0 if table['alike'] else client}{tail}"]


def curvatures(table: Mapping[str, Any]) -> list[Any]:
    return [entry(table, "curvature", k, f"_{i}") for k in range(kinds(table)) for i in range(2)]


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

    @property
    def mean(self) -> Any:
        """The expected model."""
        return self.chances @ self.models

    @property
    def variance(self) -> Any:
        return self.chances @ (self.models - self.mean) ** 2

    chances: Array
    training: Loss
    models: Array
    population: Loss
    suboptimality: Any


def client(table: Mapping[str, Any], k: int, number: Number = float) -> Client:
    n, share = int(table["samples"]), number(entry(table, "share", k))
    curves = np.array([number(entry(table, "curvature", k, f"_{i}")) for i in range(2)])
    places = np.array([number(entry(table, "place", k, f"_{i}")) for i in range(2)])
    first = np.array([number(m) / n for m in range(n + 1)])
    chances = np.array([comb(n, m) * share**m * (1 - share) ** (n - m) for m in range(n + 1)])
    training, population = Loss(first, curves, places), Loss(np.array(share), curves, places)
    best = training.best
    models = best
    if table["local_steps"]:
        left = (1 - number(table["step_size"]) * training.square) ** int(table["local_steps"])
        models = best + left * (number(table["start"]) - best)
    behind = chances @ (training.square * (models - best) ** 2 / 2)
    return Client(chances, training, models, population, behind)


def weights(table: Mapping[str, Any], number: Number = float) -> Array:
    """The weight of one client of every kind."""
    raw = np.array([number(table[f"weight_{k}"]) for k in range(kinds(table))])
    return np.asarray(raw / (raw @ np.array(counts(table))))


def draws(table: Mapping[str, Any], shares: Array) -> Iterator[tuple[Any, Array, Array]]:
    """Chance, weights in the averaged model, and weights in the empirical risk, of every draw of participants."""
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


def words(table: Mapping[str, Any], number: Number = float) -> dict[str, Any]:
    """Every quantity of the table by word; a word over clients has one value per kind."""
    shares, zero = weights(table, number), number(0)
    many = np.array(counts(table))
    people = [client(table, k, number) for k in range(kinds(table))]
    local = np.array([c.chances @ (c.population.at(c.models) - c.training.at(c.models)) for c in people])
    found: dict[str, Any] = {"gap": zero, "out": zero, "seen": zero}
    apart, taking = 0 * shares, 0 * shares
    for chance, model, risk in draws(table, shares):
        trained, whole = _averaged(people, many, model)
        found["seen"] += chance * (many * risk @ trained)
        found["gap"] += chance * (many * shares @ whole - many * risk @ trained)
        found["out"] += chance * (many * risk @ (whole - trained))
        own = np.array([c.chances @ c.training.at(c.models) for c in people])
        works = np.where(risk > 0, zero + 1, zero)
        apart += chance * works * (trained - own)
        taking += chance * works
    curves = list(map(number, curvatures(table)))
    means = np.array([np.asarray(c.population.best).item() for c in people])
    away = means - (many * shares) @ means
    if number is float:  # of what vanishes rounding is left
        away = np.where(abs(away) > 1e-13 * abs(means).max(), away, 0.0)
    noise = np.array([_noise(table, k, people[k], number) for k in range(len(people))])
    return {
        **{name: np.array(value) for name, value in of_kinds(many.tolist(), list(many * shares)).items()},
        "generalization_gap": found["gap"],
        "out_of_sample_gap": found["out"],
        "participation_gap": found["gap"] - found["out"],
        "train_loss": found["seen"],
        "local_gap": local,
        "non_iidness": apart / taking,
        "local_suboptimality": np.array([c.suboptimality for c in people]),
        "smoothness": max(curves),
        "strong_convexity": min(curves),
        "cohort": int(table["cohort"]),
        "samples": int(table["samples"]),
        "client_distance_sq": away**2,
        "client_gradient_variance": noise,
        "gradient_variance": noise.max(),
    }


def _averaged(people: list[Client], many: Array, model: Array) -> tuple[Array, Array]:
    """Expected training and population risk on every kind's data of the average with these weights.

    Of all other clients' models, a quadratic risk asks for no more than the mean and the variance of their sum.
    """
    means, spreads = np.array([c.mean for c in people]), np.array([c.variance for c in people])
    trained, whole = [], []
    for k, c in enumerate(people):
        others = many - (np.arange(len(people)) == k)
        rest, spread = (others * model) @ means, (others * model**2) @ spreads
        at = model[k] * c.models + rest
        trained.append(c.chances @ (c.training.at(at) + c.training.square * spread / 2))
        whole.append(c.chances @ (c.population.at(at) + c.population.square * spread / 2))
    return np.array(trained), np.array(whole)


def _noise(table: Mapping[str, Any], k: int, person: Client, number: Number) -> Any:
    """Variance of one sample's gradient; that of every model where both points have the same curvature."""
    share = number(entry(table, "share", k))
    away = number(entry(table, "place", k, "_0")) - number(entry(table, "place", k, "_1"))
    return share * (1 - share) * (np.asarray(person.population.square).item() * away) ** 2
