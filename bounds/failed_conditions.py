"""Conditions that fail at given values: the inequality in the names of quantities, and both sides as numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy as sp
from sympy.core.relational import Relational

from .identities import evaluated
from .numerics.floats import COMPARISONS
from .quantities import Quantity
from .showing.printing import words
from .showing.tables import number
from .showing.unicode_letters import in_unicode
from .statement import Statement

WIDE = 90
"""The length up to which a sum is printed as a whole."""
FEW, MOST_DIGITS = 3, 17
"""Significant digits of a side; this many distinguish any two floats."""


@dataclass(frozen=True)
class FailedCondition:
    """A condition that fails, in the paper's words, and if it is an inequality its formula and the two sides.

    ``why`` names the decisive part of a long right side, and says if no value of the left quantity meets the condition.
    """

    condition: str
    left: float = math.nan
    right: float = math.nan
    formula: str = ""
    why: str = ""

    @classmethod
    def at(cls, bound: Statement, condition: str, values: Mapping[str, Any]) -> FailedCondition:
        """Return a numeric condition with its sides at values; for lists, at the first client where it fails."""
        relation = dict(zip((one.words for one in bound.numeric_conditions), bound.relations, strict=True))[condition]
        if not isinstance(relation, Relational):
            return cls(condition)
        given = {**bound.given, **values}
        sides = np.broadcast_arrays(*(evaluated(side, given) for side in relation.args))
        each = list(zip(*(np.ravel(side).tolist() for side in sides), strict=True))
        left, right = next((pair for pair in each if not COMPARISONS[relation.rel_op](*pair)), each[0])
        subject, shown, why = words(relation.lhs), words(relation.rhs), []
        if len(shown) > WIDE and relation.rhs.is_Add:
            sign = 1 if relation.rel_op[0] == "<" else -1
            parts = {part: float(np.min(sign * evaluated(part, given))) for part in relation.rhs.args}
            worst = min(parts, key=parts.__getitem__)
            constant = sp.Add(*(part for part in relation.rhs.args if part.is_Number))
            why = [f"where {words(worst)} is {number(sign * parts[worst], FEW)}"]
            shown = f"{constant} - ..." if constant else "..."
        if isinstance(relation.lhs, Quantity):
            domain = relation.lhs.card.domain
            empty = right < domain.low or (right == domain.low and domain.open_low)
            if empty and relation.rel_op in ("<", "<=") and not relation.rhs.has(relation.lhs):
                why.append(f"no {subject} meets it")
            subject += f" ({in_unicode(bound.letters.get(relation.lhs, relation.lhs.card.letter))})"
        return cls(condition, left, right, f"{subject} {relation.rel_op} {shown}", "; ".join(why))

    def __str__(self) -> str:
        if math.isnan(self.left):
            return self.condition
        distinct = (n for n in range(FEW, MOST_DIGITS) if number(self.left, n) != number(self.right, n))
        digits = next(distinct, MOST_DIGITS)
        left, right = number(self.left, digits), number(self.right, digits)
        if not self.formula:
            return f"{self.condition}: {left} is not {right}"
        sign = next(part for part in self.formula.split(" ") if part in COMPARISONS)
        return ", ".join(filter(None, [f"{self.formula}: {left} {sign} {right} is false", self.why]))
