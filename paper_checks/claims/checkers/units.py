"""Checker of units: rescale every quantity by its unit and see by which power a formula follows."""

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
    """``of`` carries the unit of ``target`` (a quantity or a unit); ``off_by`` is the audited excess where it does not.

    Blind to pure numbers: a lost factor 2 or client weight goes unseen. A formula that adds different units fails;
    ``mixed`` says that this is the audited way. That it holds is seen at one generic point, and never proved.
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
        found = unit_of(of)
        wanted = self.target if isinstance(self.target, Unit) else self.target.card.unit
        if found == wanted:
            return Finding(Status.HOLDS, Grade.SEARCHED, f"rescaling every quantity shows the unit {found}")
        # Units do not depend on the point: one that meets the hypotheses is shown, and none is decided by.
        point = next(points([of], 1, premises((self.of,), book)))
        if found is None:
            said = "adds different units: no power of the scale follows when every quantity is rescaled"
            return Finding(Status.FAILS, Grade.EXACT, said, words(point), as_audited=self.mixed or self.off_by is None)
        excess = found / wanted
        said = f"its unit is {found}, not {wanted}: off by {excess}"
        as_audited = not self.mixed and self.off_by in (None, excess)
        return Finding(Status.FAILS, Grade.EXACT, said, words(point), as_audited)
