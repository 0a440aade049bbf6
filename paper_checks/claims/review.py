"""What a referee writes of a paper before the list of its claims."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from .claim import check_kinds, ClaimError

MOST_FINDINGS = 10
NAMED = re.compile(r"\[([a-z_0-9.]+)\]")
"""A claim that a text speaks of, in brackets."""


@dataclass(frozen=True)
class Review:
    """One page on a paper; claims are named in [brackets] and get the verdict of the run behind the page.

    ``theorems`` says for each theorem, by reading or regime, which claim decides it. ``findings`` are the claims that a
    reader should know first, the weightiest first, at most ten. ``survives`` and ``change`` are sentences: what stands
    although it was attacked, and what the authors should correct.
    """

    summary: tuple[str, ...]
    theorems: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    findings: tuple[str, ...] = ()
    survives: tuple[str, ...] = ()
    change: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("summary", "findings", "survives", "change"):
            check_kinds("a review", **{name: (getattr(self, name), tuple)})
        for theorem, row in self.theorems.items():
            check_kinds("a review", **{f"theorems[{theorem!r}]": (row, Mapping)})
        if len(self.findings) > MOST_FINDINGS:
            raise ClaimError(f"a review has at most {MOST_FINDINGS} findings; got {len(self.findings)}")

    def claims(self) -> Iterator[str]:
        """The names of all claims that the page speaks of."""
        for text in (*self.summary, *self.survives, *self.change):
            yield from NAMED.findall(text)
        for row in self.theorems.values():
            yield from row.values()
        yield from self.findings
