"""What a comparison holds: one row for what one bound says in one class, and the states that it can be in."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

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
ROUNDING = 1e-9
"""Share of a bound by which a number of exact arithmetic may be above it."""


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


EXACT, TWIN, WORST, MEASURED = "exact", "twin", "worst case", "measured"
KINDS = (EXACT, TWIN, WORST, MEASURED)
"""Evidence: exact moments of quadratics that meet the row's premises; of the federation's quadratic twin; the exact
worst case of the theorem's class; training."""


@dataclass(frozen=True)
class Evidence:
    """A number of a row's class that the bound stands above if it is true, and what it is the number of.

    ``error`` is a standard error over ``seeds``. Where ``above``, the class's own number is at most this one (another
    class's, by the conversion in ``via``, or an upper estimate): a ratio with it is too small, and nothing follows from
    an excess.
    """

    value: float
    what: str
    error: float = 0.0
    seeds: int = 0
    via: str = ""
    above: bool = False

    def exceeds(self, high: float, together: int) -> bool:
        """Whether it is above the safe end of a bound: beyond rounding, or beyond what chance makes of its seeds."""
        if self.above or not math.isfinite(high):
            return False
        if not self.seeds:
            return self.value > high * (1 + ROUNDING)
        from empirics.measuring.estimates import Estimate  # with torch, which a table of bounds does without

        from ..validation.comparison import judge, Verdict

        excess = Estimate(np.asarray(self.value - high), np.asarray(self.error))
        return judge(excess, self.seeds, together) is Verdict.VIOLATED

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


class Price(NamedTuple):
    """The least number of rounds at which some plan makes a bound speak; infinite where none does within reach."""

    rounds: float
    local_steps: int = 0
    step_size: float = math.nan
    cohort: float = math.nan

    def as_json(self) -> dict[str, Any]:
        at = {"local_steps": self.local_steps, "step_size": self.step_size, "cohort": self.cohort}
        return {"rounds": self.rounds, "at": at if math.isfinite(self.rounds) else None}


class Beside(NamedTuple):
    """What runs say at the server model: (number, standard error) each, None where it was not read."""

    label: str
    least: tuple[float, float] | None
    mean: tuple[float, float] | None
    last: tuple[float, float] | None
    gap: tuple[float, float] | None


class Recommended(NamedTuple):
    """A formula's number before rounding, and its ends over uncertain constants."""

    formula: str
    word: str
    value: float
    low: float
    high: float
    printed: bool
    source: str

    def as_json(self) -> dict[str, Any]:
        return self._asdict()


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
    met: tuple[str, ...] = ()
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
    evidence: Mapping[str, Evidence] = field(default_factory=dict)
    price: Price | None = None

    @property
    def printed(self) -> bool:
        return self.audit == "FAILS"

    @property
    def over_trivial(self) -> float:
        """The safe end over what the start of the federation shows, or what the premises give if that is not known."""
        least = self.trivial_here if math.isfinite(self.trivial_here) else self.trivial_class
        return self.high / least if least > 0 else math.nan

    def over(self, kind: str) -> float:
        """The safe end over evidence of a kind, NaN where there is none."""
        found = self.evidence.get(kind)
        if found is None or self.state not in RANKED:
            return math.nan
        return self.high / found.value if found.value > 0 else math.inf

    def exceeded_by(self, together: int) -> tuple[str, ...]:
        """The kinds of evidence that contradict the row, if it is certain; the twin is another federation."""
        if self.state not in RANKED or not self.conclusive:
            return ()
        return tuple(kind for kind, one in self.evidence.items() if kind != TWIN and one.exceeds(self.high, together))

    @property
    def largest(self) -> tuple[str, float]:
        """The largest term and its share of the positive ones."""
        positive = {name: t for name, t in self.terms.items() if t > 0}
        if not positive or not math.isfinite(sum(positive.values())):
            return "", math.nan
        name = max(positive, key=lambda n: positive[n])
        return name, positive[name] / sum(positive.values())

    def as_json(self) -> dict[str, Any]:
        """One object, with null where no evidence of a kind was asked for or there is none."""
        return {
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
            "met": list(self.met),
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
            **{f"over_{kind.replace(' ', '_')}": self.over(kind) for kind in KINDS},
            "evidence": {kind: one.as_json() for kind, one in self.evidence.items()},
            "price": None if self.price is None else self.price.as_json(),
        }
