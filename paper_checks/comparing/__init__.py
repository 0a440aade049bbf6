"""All bounds on one quantity of a federation in one table, and advice on local steps, step size and cohort."""

from .api import advise, compare
from .rows import Row
from .table import ComparisonTable

__all__ = ["ComparisonTable", "Row", "advise", "compare"]
