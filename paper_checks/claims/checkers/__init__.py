"""The checkers: frozen dataclasses that state something about formulas and, called with the book of bounds, decide it.

Each returns a ``Finding``. ``algebra`` decides equalities and minimisers, ``conditions`` inequalities, ``limits``
growth and monotonicity, ``stated`` a bound's conditions, ``units`` units, ``tables`` reported numbers, ``trends``
slopes, ``instances`` and ``worst`` whether a bound is violated; ``combined`` has those that combine others. ``points``
draws rational points, ``numbers`` evaluates formulas there in 80 digits, and ``clouds`` searches for counterexamples.
"""

from ..claim import All
from .algebra import ArgminIs, Same
from .combined import agree, Open, Readings, Refuted
from .conditions import ImpliedBy, Informative, Satisfies
from .formulas import At, Formula, number, rational, resolve, term
from .instances import Broken, Dominates
from .limits import MonotoneIn, OrderIs, TendsTo
from .numbers import short
from .stated import EdgeIs, requires, States
from .tables import exact, Mean, mean, noise, Ordered, Prints
from .trends import SlopeIs
from .units import MeasuredIn
from .worst import AboveWorstCase

__all__ = [
    "AboveWorstCase", "All", "ArgminIs", "At", "Broken", "Dominates", "EdgeIs", "Formula", "ImpliedBy",
    "Informative", "Mean", "MeasuredIn", "MonotoneIn", "Open", "OrderIs", "Ordered", "Prints", "Readings", "Refuted",
    "Same", "Satisfies", "SlopeIs", "States", "TendsTo", "agree", "exact", "mean", "noise", "number", "rational",
    "requires", "resolve", "short", "term",
]  # fmt: skip
