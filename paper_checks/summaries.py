"""What a referee would write of each paper. A claim in [brackets] gets the verdict of the run behind it."""

from __future__ import annotations

SUMMARIES: dict[str, tuple[str, ...]] = {}
