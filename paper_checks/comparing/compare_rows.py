"""What a comparison holds: one row for what one bound says in one class, and the states that it can be in."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from bounds.classes import ClassOf

SPEAKS, OF_CLASS, VACUOUS, SILENT, ORDER, UNLIKE, MISSING = (
    "speaks", "of the class", "vacuous", "silent", "order", "unlike", "missing",
)  # fmt: skip
STATES = (SPEAKS, OF_CLASS, VACUOUS, SILENT, ORDER, UNLIKE, MISSING)
"""Below what the start of this federation shows; below what the theorem's own premises give; neither; a condition
fails; known up to a constant alone; about another number; words are lacking."""
RANKED = (SPEAKS, OF_CLASS, VACUOUS)
"""The states of rows that have a number."""


@dataclass(frozen=True)
class Failed:
    """A condition that is not met: its words, and both sides where it has sides (NaN where it has none)."""

    words: str
    left: float = math.nan
    right: float = math.nan

    @property
    def margin(self) -> float:
        """How many times too large the larger side is."""
        small, large = sorted((abs(self.left), abs(self.right)))
        return large / small if small > 0 else math.inf if large > 0 else math.nan


@dataclass(frozen=True)
class Row:
    """What one bound says in one class. ``low`` is what it would be with every uncertain constant at its better end.

    ``conclusive`` is False where no safe end of a constant is known: then ``vacuous`` is certain and nothing else.
    ``printed``: the audit has refuted the statement as it stands; such a row is shown, and never the best.
    """

    bound: str
    kind: ClassOf
    state: str
    conversions: tuple[str, ...] = ()
    factor: float = math.nan
    value: float = math.nan
    low: float = math.nan
    high: float = math.nan
    conclusive: bool = True
    alias: tuple[str, ...] = ()
    failed: tuple[Failed, ...] = ()
    trusted: tuple[str, ...] = ()
    trivial_class: float = math.nan
    trivial_here: float = math.nan
    terms: Mapping[str, float] = field(default_factory=dict)
    values: Mapping[str, Any] = field(default_factory=dict)
    provenance: Mapping[str, str] = field(default_factory=dict)
    how: Mapping[str, str] = field(default_factory=dict)
    floor: tuple[str, ...] = ()
    why: str = ""
    audit: str = ""
    source: str = ""

    @property
    def printed(self) -> bool:
        return self.audit == "FAILS"

    @property
    def over_trivial(self) -> float:
        """The safe end over what the start of the federation shows, or what the premises give if that is not known."""
        least = self.trivial_here if math.isfinite(self.trivial_here) else self.trivial_class
        return self.high / least if least > 0 else math.nan

    @property
    def largest(self) -> tuple[str, float]:
        """The largest term and its share of the positive ones."""
        positive = {name: t for name, t in self.terms.items() if t > 0}
        if not positive or not math.isfinite(sum(positive.values())):
            return "", math.nan
        name = max(positive, key=lambda n: positive[n])
        return name, positive[name] / sum(positive.values())

    def as_json(self) -> dict[str, Any]:
        """One object, with the numbers of the evidence that is not there yet as null."""
        found = {
            "bound": self.bound,
            "alias": list(self.alias),
            "class": asdict(self.kind),
            "state": self.state,
            "conclusive": self.conclusive,
            "conversions": list(self.conversions),
            "factor": self.factor,
            "value": self.value,
            "low": self.low,
            "high": self.high,
            "failed": [{**asdict(f), "margin": f.margin} for f in self.failed],
            "trusted": list(self.trusted),
            "trivial": {"class": self.trivial_class, "here": self.trivial_here},
            "over_trivial": self.over_trivial,
            "terms": dict(self.terms),
            "values": {name: np.asarray(v).tolist() for name, v in self.values.items()},
            "provenance": dict(self.provenance),
            "how": dict(self.how),
            "floor": list(self.floor),
            "why": self.why,
            "audit": self.audit,
            "source": self.source,
        }
        return found | dict.fromkeys(("over_exact", "over_twin", "over_measured", "price"))
