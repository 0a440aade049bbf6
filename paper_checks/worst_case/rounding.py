"""Round numbers to few digits in a known direction, so that what is printed of a proof stays true."""

from __future__ import annotations

from decimal import Context, Decimal, ROUND_CEILING, ROUND_FLOOR as ROUND_FLOOR
from fractions import Fraction

TINY = 1e-300
"""Lower limit of positive numbers that are rounded up."""


def rounded(x: Fraction, way: str, digits: int = 9) -> float:
    """Return a fraction with this many significant digits, rounded by a rounding mode of ``decimal``."""
    context = Context(prec=digits, rounding=way)
    return float(context.divide(Decimal(x.numerator), Decimal(x.denominator)))


def round_up(x: Fraction | float, digits: int = 6) -> float:
    """Return a number >= 0 rounded up to this many significant digits; it stays positive."""
    return max(rounded(Fraction(x), ROUND_CEILING, digits), TINY) if x else 0.0
