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
    reader should know first, the weightiest first, at most ten: each a name, or a pair of the name and a sentence that
    says what is wrong and gives the counterexample, where the evidence of the check is too long for one line.
    ``survives`` and ``change`` are sentences: what stands although it was attacked, what the authors should correct.
    """

    summary: tuple[str, ...]
    theorems: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    findings: tuple[str | tuple[str, str], ...] = ()
    survives: tuple[str, ...] = ()
    change: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("summary", "findings", "survives", "change"):
            check_kinds("a review", **{name: (getattr(self, name), tuple)})
        for theorem, row in self.theorems.items():
            check_kinds("a review", **{f"theorems[{theorem!r}]": (row, Mapping)})
        if len(self.findings) > MOST_FINDINGS:
            raise ClaimError(f"a review has at most {MOST_FINDINGS} findings; got {len(self.findings)}")
        for finding in self.findings:
            parts = finding if isinstance(finding, tuple) and len(finding) == 2 else (finding,)
            if not all(isinstance(part, str) for part in parts):
                raise ClaimError(f"a finding is the name of a claim, or a pair of name and sentence; got {finding!r}")

    @property
    def found(self) -> dict[str, str]:
        """The findings by name in their order; the sentence is empty where the evidence is told."""
        return dict((finding, "") if isinstance(finding, str) else finding for finding in self.findings)

    def claims(self) -> Iterator[str]:
        """The names of all claims that the page speaks of."""
        for text in (*self.summary, *self.survives, *self.change, *self.found.values()):
            yield from NAMED.findall(text)
        for row in self.theorems.values():
            yield from row.values()
        yield from self.found
