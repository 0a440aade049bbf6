"""Theorem 4.1 as it is worded, "strongly convex and smooth in the model": more than its proof covers.

The falsifier's finite distributions have losses that are convex in the parameters and minimisers that nothing holds
back. Here a prediction may bend as a function of the parameter, the loss being convex in the prediction, and
parameters may have a ceiling. The local models stay exact minimisers, and every expectation stays an exact sum.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from bounds.core import Bound

from ...falsifier import deciding
from ...falsifier.atoms.family import Atoms, facts
from ...falsifier.atoms.plain import Plain, Sample
from ...falsifier.box import Box, Parameter
from ...falsifier.core import Evaluation, Instance, MARGIN, Point
from ...falsifier.entries import Entry
from ...falsifier.exact import Exactly, RATIONAL, weigh
from ...falsifier.kinds import by_kind
from ...falsifier.search import Searcher
from ...falsifier.shrink import Shrinker
from ..claim import Book, Finding, holds, judged

FREE = 2
"""A ceiling beyond all samples, which lie between -1 and 1."""


class Bent(Plain):
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
class Fringe(Atoms):
    """Two clients with one sample each: ``bend`` lets predictions bend, ``ceiling`` holds parameters down."""

    bend: bool = False
    ceiling: bool = False

    def box(self, bound: Bound) -> Box:
        found = list(super().box(bound).pinned({"clients": 2, "kinds": 2, "samples": 1}).parameters)
        found += [Parameter("bend", 1e-2, 1e3, log=True)] * self.bend + [
            Parameter("ceiling", -1, 1, special=(0, 0.5))
        ] * self.ceiling
        return Box(tuple(found))

    def instance(self, bound: Bound, point: Point) -> Instance:
        table = super().instance(bound, point)
        return {**table, "bend": point.get("bend", 0), "ceiling": point.get("ceiling", FREE)}

    def evaluate(self, bound: Bound, instance: Instance) -> Evaluation:
        if (found := super().evaluate(bound, instance)).failed:
            return found
        known = {q: np.asarray(value, dtype=float) for q, value in Bent(instance).words().items()}
        return deciding.beside(by_kind(bound), known, known[bound.target.name])

    def exactly(self, bound: Bound, instance: Instance) -> Exactly:
        known = Bent(instance).words()
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


def search(book: Book, name: str, evaluations: int = 1000, seed: int = 0, **opened: bool) -> Finding:
    """FAILS with the first instance of the fringe that violates the bound, made simple and confirmed in fractions."""
    bound, family = book[name], Fringe(**opened)
    found = Searcher(bound, family, evaluations, seed).run()
    if found.score <= MARGIN:
        return holds(f"bound / exact value >= {1 / found.best.ratio:.4g} on {found.admissible} instances")
    simple = Shrinker(bound, family, found.instance).run()
    seen = family.exactly(bound, simple)
    said = f"gap {float(seen.measured):.4g}, bound {float(seen.bound):.4g}: {shown(simple)}"
    return judged(not seen.violated, said, simple)
