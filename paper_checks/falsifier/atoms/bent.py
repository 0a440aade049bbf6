"""Atoms with more than convex losses of free parameters: what "strongly convex in the model" may be taken for.

A prediction may bend as a function of the parameter, the loss being convex in the prediction, and parameters may have
a ceiling. The local models stay exact minimisers, and every expectation stays an exact sum. No search of a statement
takes this family by itself: what fails there fails *if read* in this way, and is not refuted.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from bounds.core import Bound

from .. import deciding
from ..box import Box, Parameter
from ..core import Evaluation, Instance, Point
from ..entries import Entry
from ..exact import Exactly, RATIONAL, weigh
from ..kinds import by_kind
from .family import Atoms, facts
from .plain import Plain, Sample

FREE = 2
"""A ceiling beyond all samples, which lie between -1 and 1."""


class BentPlain(Plain):
    """Predictions ``(1 + bend) w / (1 + bend |w|)``, rational both ways, of parameters ``w`` up to ``ceiling``."""

    def predicted(self, w: Fraction) -> Fraction:
        bend = self.table["bend"]
        return (1 + bend) * w / (1 + bend * abs(w))

    def best(self, samples: list[Sample]) -> Fraction:
        bend, best = self.table["bend"], super().best(samples)
        return min(best / (1 + bend - bend * abs(best)), self.table["ceiling"])

    def risk(self, samples: list[Sample], w: Fraction) -> Fraction:
        return super().risk(samples, self.predicted(w))

    def population(self, k: int, w: Fraction) -> Fraction:
        return super().population(k, self.predicted(w))


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

    def evaluate(self, bound: Bound, instance: Instance) -> Evaluation:
        if (found := super().evaluate(bound, instance)).failed:
            return found
        known = {q: np.asarray(value, dtype=float) for q, value in BentPlain(instance).words().items()}
        return deciding.beside(by_kind(bound), known, known[bound.target.name])

    def exactly(self, bound: Bound, instance: Instance) -> Exactly:
        known = BentPlain(instance).words()
        counted = by_kind(bound)
        entry = Entry({q.name: known[q.name] for q in counted.quantities}, known[bound.target.name], None)
        return weigh(counted, entry, deciding.decided(bound, *facts(bound, instance)), RATIONAL, known)


def shown(table: Instance) -> str:
    """Such an instance in words."""

    def drawn(k: int) -> str:
        one, other = (table[f"place_{k}_{i}"] for i in (0, 1))
        return f"always {one}" if one == other else f"{one} (chance {table[f'share_{k}']}) or {other}"

    people = [drawn(0 if table["alike"] else k) for k in (0, 1)]
    said = f"weights as {table['weight_0']} to {table['weight_1']}, samples {people[0]} and {people[1]}"
    bent = f", predictions {1 + table['bend']} w/(1 + {table['bend']} |w|)" if table["bend"] else ""
    return said + bent + (f", w at most {table['ceiling']}" if table["ceiling"] < FREE else "")
