"""Atoms for weaker readings of "strongly convex": in the prediction instead of the model, or with constraints.

Predictions may be a nonlinear function of the parameter, with a loss that is convex in the prediction, and parameters
may have an upper limit. Local models are still exact minimisers, and expectations exact sums. Searches do not use this
family: a statement that fails here fails *if read* in this way, and is not refuted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import prod
from typing import Any

import numpy as np

from bounds.core import Bound

from .atoms import Atoms, entry, quantities, weights
from .box import Box, Parameter
from .client_groups import counts
from .core import Instance, Point

Sample = tuple[Fraction, Fraction]
"""Curvature and place of a sample's loss."""

FREE = 2
"""A limit that has no effect, as all samples are between -1 and 1."""


def bent_quantities(table: Mapping[str, Any]) -> dict[str, Any]:
    """Return the quantities for clients with one sample each that minimise exactly, in fractions, over all outcomes.
    Predictions are ``(1 + bend) w / (1 + bend |w|)`` of parameters ``w`` up to ``ceiling``; the inverse is rational."""
    bend, ceiling = Fraction(table["bend"]), Fraction(table["ceiling"])

    def loss(sample: Sample, w: Fraction) -> Fraction:
        curvature, place = sample
        return curvature * ((1 + bend) * w / (1 + bend * abs(w)) - place) ** 2 / 2

    def points(k: int) -> list[tuple[Fraction, Sample]]:
        share = Fraction(entry(table, "share", k))
        samples = [tuple(Fraction(entry(table, name, k, f"_{i}")) for name in ("curvature", "place")) for i in range(2)]
        return [(share, (samples[0][0], samples[0][1])), (1 - share, (samples[1][0], samples[1][1]))]

    def trained(sample: Sample) -> Fraction:
        return min(sample[1] / (1 + bend - bend * abs(sample[1])), ceiling)

    sizes, shares = counts(table), weights(table, Fraction)
    groups = [k for k, size in enumerate(sizes) for _ in range(size)]  # of every client
    training, population, own_training, own_population = ([Fraction(0)] * len(sizes) for _ in range(4))
    for outcome in product(*(points(k) for k in groups)):
        chance = prod((c for c, _ in outcome), start=Fraction(1))
        model = sum((shares[k] * trained(x) for k, (_, x) in zip(groups, outcome, strict=True)), Fraction(0))
        for k, (_, sample) in zip(groups, outcome, strict=True):
            own_model, share = trained(sample), chance / sizes[k]
            training[k] += share * loss(sample, model)
            population[k] += share * sum(c * loss(x, model) for c, x in points(k))
            own_training[k] += share * loss(sample, own_model)
            own_population[k] += share * sum(c * loss(x, own_model) for c, x in points(k))
    values = quantities(table, Fraction)
    lists = {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in values.items()}
    gap = sum(n * p * (w - s) for n, p, w, s in zip(sizes, shares, population, training, strict=True))
    return {
        **lists, "generalization_gap": gap, "out_of_sample_gap": gap,
        "non_iidness": [s - o for s, o in zip(training, own_training, strict=True)],
        "local_gap": [x - o for x, o in zip(own_population, own_training, strict=True)],
    }  # fmt: skip


@dataclass(frozen=True)
class BentAtoms(Atoms):
    """Two clients with one sample each, with nonlinear predictions (``bend``) or limited parameters (``ceiling``)."""

    bend: bool = False
    ceiling: bool = False

    def box(self, bound: Bound) -> Box:
        found = list(super().box(bound).pinned({"clients": 2, "kinds": 2, "samples": 1}).parameters)
        found += [Parameter("bend", 1e-2, 1e3, log=True)] * self.bend
        found += [Parameter("ceiling", -1, 1, special=(0, 0.5))] * self.ceiling
        return Box(tuple(found))

    def instance(self, bound: Bound, point: Point) -> Instance:
        table = super().instance(bound, point)
        return {**table, "bend": point.get("bend", 0), "ceiling": point.get("ceiling", FREE)}

    def values(self, instance: Mapping[str, Any], number: Callable[[Any], Any] = float) -> dict[str, Any]:
        values = bent_quantities(instance)
        return {q: np.asarray(value, dtype=float) for q, value in values.items()} if number is float else values


def shown(table: Instance) -> str:
    """Return a description of an instance."""

    def samples(k: int) -> str:
        one, other = (table[f"place_{k}_{i}"] for i in (0, 1))
        return f"always {one}" if one == other else f"{one} (chance {table[f'share_{k}']}) or {other}"

    first, second = (samples(0 if table["alike"] else k) for k in (0, 1))
    text = f"weights as {table['weight_0']} to {table['weight_1']}, samples {first} and {second}"
    bent = f", predictions {1 + table['bend']} w/(1 + {table['bend']} |w|)" if table["bend"] else ""
    return text + bent + (f", w at most {table['ceiling']}" if table["ceiling"] < FREE else "")
