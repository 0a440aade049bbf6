"""The falsifier on this paper's bounds: searches that broke none."""

from ..rows import rows

CLAIMS = rows("fedals", "searches")
