"""Searches: the falsifier on this paper's bounds, of which it broke none."""

from ..rows import rows

CLAIMS = rows("fedals", "searches")
