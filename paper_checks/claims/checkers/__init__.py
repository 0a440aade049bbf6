"""The checkers: few and general. A check is a checker with its arguments, called with the book of bounds."""

from .algebra import ArgminIs, derivative_is, Same
from .conditions import ImpliedBy, Satisfies
from .formulas import At, Derivative, Formula, resolve, Term, term, Total
from .instances import Broken, Dominates
from .limits import MonotoneIn, OrderIs, TendsTo
from .plain import All, Computed, Open, Readings, Refuted
from .sampled import DominatesSampled
from .tables import averages_to, counts_to, exact, Ordered, Prints, sums_to
from .trends import SlopeIs, TrendReproduces
from .units import MeasuredIn
from .vacuity import Informative
from .worst import AboveWorstCase

__all__ = [
    "AboveWorstCase", "All", "ArgminIs", "At", "Broken", "Computed", "Derivative", "Dominates", "DominatesSampled",
    "Formula", "ImpliedBy", "Informative", "MeasuredIn", "MonotoneIn", "Open", "OrderIs", "Ordered", "Prints",
    "Readings", "Refuted", "Same", "Satisfies", "SlopeIs", "TendsTo", "Term", "Total", "TrendReproduces",
    "averages_to", "counts_to", "derivative_is", "exact", "resolve", "sums_to", "term",
]  # fmt: skip
