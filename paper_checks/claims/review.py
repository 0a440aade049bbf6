"""What a referee writes of a paper before the list of its claims."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .claim import check_kinds, ClaimError

MOST_FINDINGS = 10
NAMED = re.compile(r"\[([a-z_0-9.]+)\]")
"""A claim that a text mentions, in brackets."""


@dataclass(frozen=True)
class Review:
    """One page on a paper; claims are named in [brackets] and get the verdict of the run behind the page.

    ``theorems`` says for each theorem, by reading or regime, which claim decides it. ``findings`` are the claims that a
    reader should know first, the weightiest first, at most ten: names, or a mapping from each name to a sentence that
    says what is wrong and gives the counterexample, where the evidence of the check is too long for one line.
    ``survives`` and ``change`` are sentences: what stands although it was attacked, what the authors should correct.
    """

    summary: tuple[str, ...]
    theorems: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    findings: tuple[str, ...] | Mapping[str, str] = ()
    survives: tuple[str, ...] = ()
    change: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("summary", "survives", "change"):
            check_kinds("a review", **{name: (getattr(self, name), tuple)})
        check_kinds("a review", findings=(self.findings, (tuple, Mapping)))
        for finding, said in self.found.items():
            check_kinds("a review", **{"findings": (finding, str), f"findings[{finding!r}]": (said, str)})
        for theorem, row in self.theorems.items():
            check_kinds("a review", **{f"theorems[{theorem!r}]": (row, Mapping)})
        if len(self.findings) > MOST_FINDINGS:
            raise ClaimError(f"a review has at most {MOST_FINDINGS} findings; got {len(self.findings)}")

    @property
    def found(self) -> dict[str, str]:
        """The findings by name in their order; the sentence is empty where the evidence is given."""
        return dict(self.findings) if isinstance(self.findings, Mapping) else dict.fromkeys(self.findings, "")

    def claims(self) -> Iterator[str]:
        """The names of all claims that the page mentions."""
        for text in (*self.summary, *self.survives, *self.change, *self.found.values()):
            yield from NAMED.findall(text)
        for row in self.theorems.values():
            yield from row.values()
        yield from self.found


def review(paper: str) -> Review:
    """The review of a paper of the catalogue, from its file ``review.toml``."""
    with (Path(__file__).parent / paper / "review.toml").open("rb") as file:
        found = tomllib.load(file)
    parts: dict[str, Any] = {name: tuple(x) if isinstance(x, list) else x for name, x in found.items()}
    return Review(**parts)
