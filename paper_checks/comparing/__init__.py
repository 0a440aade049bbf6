"""One federation, every theorem: what each bound says of it, in one table."""

from .compare import compare
from .compare_rows import Row
from .compare_table import Compared

__all__ = ["Compared", "Row", "compare"]
