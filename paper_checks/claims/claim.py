"""Claims: one sentence of a paper, where it stands, the check that decides it, and its audited status."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from bounds.catalog import BOUNDS
from bounds.core import Bound
from bounds.errors import BoundsError, unknown
from bounds.papers import Source


class ClaimError(BoundsError):
    """A claim or a check that is declared wrongly."""


class Status(StrEnum):
    """What a check says of the statement as printed."""

    HOLDS = "HOLDS"
    FAILS = "FAILS"
    OPEN = "OPEN"


class Grade(StrEnum):
    """How a finding was reached, and so how it could be wrong."""

    PROVED = "proved"
    """Symbolically, or by going through all cases: wrong only if the encoding is."""
    EXACT = "exact"
    """By exact arithmetic at stated points or instances: a FAILS is final; a HOLDS says that none refutes it."""
    SAMPLED = "sampled"
    """From random runs, with the error rate that the evidence states."""
    READ = "read"
    """Nothing was computed: the reason is given in words."""


class Kind(StrEnum):
    """What sort of sentence a claim is."""

    EQUATION = "equation"
    DEFINITION = "definition"
    ASSUMPTION = "assumption"
    THEOREM = "theorem"  # lemmas and corollaries too
    PROOF = "proof step"
    REMARK = "remark"  # sentences that interpret a statement
    ALGORITHM = "algorithm"
    TABLE = "table"
    SETTING = "setting"


@dataclass(frozen=True)
class Finding:
    """What a check found: status, grade, the evidence in words, and the point or instance that shows it.

    ``as_audited`` is False when a statement fails, but not in the way that was audited (another factor, another set of
    failing conditions); such a finding is reported as changed although its status is the same.
    """

    status: Status
    grade: Grade
    evidence: str
    witness: Mapping[str, str] = field(default_factory=dict)
    as_audited: bool = True


class Book(Mapping[str, Bound]):
    """The bounds that checks look up by name; it remembers which were asked for, and some can be replaced."""

    def __init__(self, replaced: Mapping[str, Bound] | None = None) -> None:
        self._replaced = dict(replaced or {})
        self.asked: set[str] = set()

    def __getitem__(self, name: str) -> Bound:
        self.asked.add(name)
        found = self._replaced.get(name) or BOUNDS.get(name)
        if found is None:
            raise unknown("bound", name, list(self))
        return found

    def __iter__(self) -> Iterator[str]:
        return iter({**BOUNDS, **self._replaced})

    def __len__(self) -> int:
        return len({**BOUNDS, **self._replaced})


Check = Callable[[Book], Finding]


@dataclass(frozen=True)
class Repair:
    """A corrected statement: its words, the check that it holds where the printed one fails, the bound that states it.

    ``bound`` is empty where the repair is not a bound of the catalogue (a number in a table, a line of an algorithm).
    """

    words: str
    check: Check
    bound: str = ""


@dataclass(frozen=True)
class Claim:
    """One sentence of a paper.

    ``words`` say it in our own words, ``known`` is the audited status of the statement as printed. ``note`` says what a
    reader should make of the verdict. ``damaged`` names the readings of damaged text that were considered; such claims
    are to be checked against the PDF. ``about`` names further bounds the claim speaks of than those its check asks for.
    """

    name: str
    words: str
    source: Source
    kind: Kind
    check: Check
    known: Status
    note: str = ""
    repair: Repair | None = None
    damaged: str = ""
    about: tuple[str, ...] = ()
    deep: bool = False
    """Takes minutes: left to ``--deep``."""

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[a-z][a-z0-9_]*(\.[a-z0-9_]+)+", self.name):
            raise ClaimError(f"claim {self.name!r}: a name is lower-case words joined by '_' and '.'")
        if not self.name.startswith(f"{self.source.paper}."):
            raise ClaimError(f"claim {self.name!r} must be named after its paper: {self.source.paper}.…")
        if self.known is Status.OPEN and self.repair is not None:
            raise ClaimError(f"claim {self.name!r} is open: there is nothing to repair")

    @property
    def paper(self) -> str:
        return self.source.paper


def registry(*groups: tuple[Claim, ...]) -> dict[str, Claim]:
    """The claims by name; a name used twice is an error."""
    found: dict[str, Claim] = {}
    for claim in (c for group in groups for c in group):
        if claim.name in found:
            raise ClaimError(f"two claims are called {claim.name!r}")
        found[claim.name] = claim
    return found
