"""Atoms with more than convex losses of free parameters: what "strongly convex in the model" may be taken for.

A prediction may bend as a function of the parameter, the loss being convex in the prediction, and parameters may have
a ceiling. The local models stay exact minimisers, and every expectation stays an exact sum. No search of a statement
takes this family by itself: what fails there fails *if read* in this way, and is not refuted.
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

from ..box import Box, Parameter
from ..core import Instance, Point
from ..kinds import counts
from .family import Atoms
from .sums import entry, weights, words

Sample = tuple[Fraction, Fraction]
"""Curvature and place of a sample's loss."""

FREE = 2
"""A ceiling beyond all samples, which lie between -1 and 1."""


def bent_words(table: Mapping[str, Any]) -> dict[str, Any]:
    """The quantities of clients with one sample each that minimise exactly, in fractions, every outcome gone through.

    Predictions are ``(1 + bend) w / (1 + bend |w|)``, rational both ways, of parameters ``w`` up to ``ceiling``.
    """
    bend, ceiling = Fraction(table["bend"]), Fraction(table["ceiling"])

    def loss(sample: Sample, w: Fraction) -> Fraction:
        curvature, place = sample
        return curvature * ((1 + bend) * w / (1 + bend * abs(w)) - place) ** 2 / 2

    def points(k: int) -> list[tuple[Fraction, Sample]]:
        share, curvatures, places = (
            Fraction(entry(table, "share", k)),
            *([Fraction(entry(table, word, k, f"_{i}")) for i in range(2)] for word in ("curvature", "place")),
        )
        return [(chance, (curvatures[i], places[i])) for i, chance in enumerate((share, 1 - share))]

    def trained(sample: Sample) -> Fraction:
        return min(sample[1] / (1 + bend - bend * abs(sample[1])), ceiling)

    many, shares = counts(table), weights(table, Fraction)
    people = [k for k, count in enumerate(many) for _ in range(count)]
    seen, whole, own, local = ([Fraction(0)] * len(many) for _ in range(4))
    for outcome in product(*(points(k) for k in people)):
        chance = prod((c for c, _ in outcome), start=Fraction(1))
        model = sum((shares[k] * trained(x) for k, (_, x) in zip(people, outcome, strict=True)), Fraction(0))
        for k, (_, sample) in zip(people, outcome, strict=True):
            alone, share = trained(sample), chance / many[k]
            seen[k] += share * loss(sample, model)
            whole[k] += share * sum(c * loss(x, model) for c, x in points(k))
            own[k] += share * loss(sample, alone)
            local[k] += share * sum(c * loss(x, alone) for c, x in points(k))
    known = {
        q: value.tolist() if isinstance(value, np.ndarray) else value for q, value in words(table, Fraction).items()
    }
    gap = sum(n * p * (w - s) for n, p, w, s in zip(many, shares, whole, seen, strict=True))
    return {
        **known,
        "generalization_gap": gap,
        "out_of_sample_gap": gap,
        "non_iidness": [s - o for s, o in zip(seen, own, strict=True)],
        "local_gap": [x - o for x, o in zip(local, own, strict=True)],
    }


@dataclass(frozen=True)
class BentAtoms(Atoms):
    """Two clients with one sample each: ``bend`` lets predictions bend, ``ceiling`` holds parameters down."""

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
        known = bent_words(instance)
        return {q: np.asarray(value, dtype=float) for q, value in known.items()} if number is float else known


def shown(table: Instance) -> str:
    """Such an instance in words."""

    def drawn(k: int) -> str:
        one, other = (table[f"place_{k}_{i}"] for i in (0, 1))
        return f"always {one}" if one == other else f"{one} (chance {table[f'share_{k}']}) or {other}"

    people = [drawn(0 if table["alike"] else k) for k in (0, 1)]
    said = f"weights as {table['weight_0']} to {table['weight_1']}, samples {people[0]} and {people[1]}"
    bent = f", predictions {1 + table['bend']} w/(1 + {table['bend']} |w|)" if table["bend"] else ""
    return said + bent + (f", w at most {table['ceiling']}" if table["ceiling"] < FREE else "")
