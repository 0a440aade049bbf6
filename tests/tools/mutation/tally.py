"""How many planted errors were noticed, and what is said of those that were not."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from .explained import EXPLAINED, PATTERNS


@dataclass(frozen=True)
class Survivor:
    """A planted error that no claim notices."""

    name: str

    @property
    def reason(self) -> str:
        """Why it is none to worry about, where somebody has said so; empty: it is a hole."""
        named = (why for start, why in EXPLAINED.items() if self.name.startswith(start))
        sorts = (why for pattern, why in PATTERNS.items() if re.search(pattern, self.name))
        return next(named, next(sorts, ""))


@dataclass(frozen=True)
class Tally:
    """How many errors were planted in something, which of them survived, and which were not decided in time."""

    name: str
    planted: int
    survivors: tuple[Survivor, ...]
    undecided: tuple[str, ...] = ()

    @property
    def caught(self) -> int:
        return self.planted - len(self.survivors) - len(self.undecided)


def tallied(name: str, noticed: Iterable[tuple[str, bool | None]]) -> Tally:
    """The tally of errors, each with whether it was noticed; None: not decided in time."""
    answers = tuple(noticed)
    survivors = tuple(Survivor(error) for error, answer in answers if answer is False)
    return Tally(name, len(answers), survivors, tuple(error for error, answer in answers if answer is None))
