"""Reviews: the first page of a paper's report, which stands before the list of its claims."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .claim import check_types, ClaimError, Types

MOST_FINDINGS = 10
NAMED = re.compile(r"\[([a-z_0-9.]+)\]")
"""The name of a claim in brackets, as review texts mention it."""


@dataclass(frozen=True)
class Review:
    """One page on a paper. Its texts name claims in [brackets]; the page adds the verdicts of the run behind it.

    ``theorems`` gives for each theorem, by reading or regime, the claim that decides it. ``findings`` are up to ten
    claims, the gravest first; a mapping gives each a sentence with what is wrong and the counterexample, for use where
    the evidence of the check is too long. ``survives`` and ``change`` are sentences on what stands although it was
    tested hard, and on what the authors should correct.
    """

    summary: tuple[str, ...]
    theorems: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    findings: tuple[str, ...] | Mapping[str, str] = ()
    survives: tuple[str, ...] = ()
    change: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        types: Types = {"summary": tuple, "survives": tuple, "change": tuple, "findings": (tuple, Mapping)}
        check_types("a review", vars(self), **types)
        for finding, sentence in self.sentences.items():
            entry = {"findings": finding, f"findings[{finding!r}]": sentence}
            check_types("a review", entry, **dict.fromkeys(entry, str))
        rows = {f"theorems[{theorem!r}]": row for theorem, row in self.theorems.items()}
        check_types("a review", rows, **dict.fromkeys(rows, Mapping))
        if len(self.findings) > MOST_FINDINGS:
            raise ClaimError(f"a review has at most {MOST_FINDINGS} findings; got {len(self.findings)}")

    @property
    def sentences(self) -> dict[str, str]:
        """The sentences of the findings by name, in order; empty where the evidence of the check is shown instead."""
        return dict(self.findings) if isinstance(self.findings, Mapping) else dict.fromkeys(self.findings, "")

    def claims(self) -> Iterator[str]:
        """Yield the names of all claims that the page mentions."""
        for text in (*self.summary, *self.survives, *self.change, *self.sentences.values()):
            yield from NAMED.findall(text)
        for row in self.theorems.values():
            yield from row.values()
        yield from self.sentences


def review(paper: str) -> Review:
    """Read the review of a paper of the catalogue from its ``review.toml``."""
    with (Path(__file__).parent / paper / "review.toml").open("rb") as file:
        entries = tomllib.load(file)
    fields: dict[str, Any] = {name: tuple(x) if isinstance(x, list) else x for name, x in entries.items()}
    return Review(**fields)
