"""Compare all bounds on one quantity of a federation, and recommend local steps, step size and cohort.

``api`` has the functions behind ``fedbounds compare`` and ``fedbounds advise``. A comparison is made of ``rows`` (the
value of every bound), with ``evidence`` and ``worst_evidence`` beside them, and printed by ``table``. Advice starts
from a ``goal``; ``bound_advice``, ``surrogate``, ``worst_advice`` and ``seed_racing`` (training) each recommend plans,
``advising`` puts them together, and ``advice_table`` prints them.
"""

from .api import advise, compare
from .rows import Row
from .table import ComparisonTable

__all__ = ["ComparisonTable", "Row", "advise", "compare"]
