"""Checker of units: rescale every quantity by its unit and compare how a formula scales."""

from __future__ import annotations

from dataclasses import dataclass

from bounds.dimensions import unit_of
from bounds.quantities import Quantity
from bounds.units import Unit

from ..claim import Book, ClaimError, Finding, Grade, Status
from .formulas import Formula, premises, resolve
from .numbers import value, words
from .points import points

TRIED = 12


@dataclass(frozen=True)
class MeasuredIn:
    """States that ``of`` has the unit of ``target`` (a quantity or a unit); ``off_by`` is the audited excess unit.

    Pure numbers have no unit: a lost factor 2 or client weight is not detected. A formula that adds different units
    fails; ``mixed`` says that this is the audited way. HOLDS rests on one generic point and is never proved.
    """

    of: Formula
    target: Quantity | Unit
    off_by: Unit | None = None
    mixed: bool = False

    def __call__(self, book: Book) -> Finding:
        of = resolve(self.of, book)
        drawn = points([of], TRIED, plain=False)  # round numbers may agree by accident
        point = next((p for p in drawn if value(of, p) != 0), None)  # zero has every unit
        if point is None:
            raise ClaimError(f"the formula is 0 at {TRIED} generic points: it has no unit of its own")
        unit = unit_of(of)
        expected = self.target if isinstance(self.target, Unit) else self.target.card.unit
        if unit == expected:
            return Finding(Status.HOLDS, Grade.SEARCHED, f"rescaling every quantity shows the unit {unit}")
        # Units do not depend on the point: the witness is just one that meets the hypotheses.
        point = next(points([of], 1, premises((self.of,), book)))
        if unit is None:
            evidence = "adds different units: no power of the scale follows when every quantity is rescaled"
            as_audited = self.mixed or self.off_by is None
            return Finding(Status.FAILS, Grade.EXACT, evidence, words(point), as_audited)
        excess = unit / expected
        evidence = f"its unit is {unit}, not {expected}: off by {excess}"
        as_audited = not self.mixed and self.off_by in (None, excess)
        return Finding(Status.FAILS, Grade.EXACT, evidence, words(point), as_audited)
