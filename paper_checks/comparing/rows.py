"""Data of a comparison: a row has the value of one bound for one bounded quantity, and the evidence on it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

import numpy as np

from bounds.classes import ClassOf

INFORMATIVE, BELOW_PREMISES, VACUOUS, NOT_MET, ORDER, OTHER, MISSING = (
    "informative", "below premises", "vacuous", "conditions not met", "order", "other quantity", "missing",
)  # fmt: skip
STATES = (INFORMATIVE, BELOW_PREMISES, VACUOUS, NOT_MET, ORDER, OTHER, MISSING)
"""Below the value before training; below the value that the premises imply, but not below that before training;
neither; a condition fails; known up to a constant only; about another quantity; values of quantities are missing."""
RANKED = (INFORMATIVE, BELOW_PREMISES, VACUOUS)
"""The states of rows that have a value."""
EXACT, SURROGATE, WORST, MEASURED = "exact", "surrogate", "worst case", "measured"
KINDS = (EXACT, SURROGATE, WORST, MEASURED)
"""Evidence: exact moments of quadratics that satisfy the row's premises; those of the federation's quadratic surrogate;
the exact worst case over all federations that the theorem covers; training."""
ROUNDING = 1e-9
"""Relative amount by which an exactly computed number may exceed a bound."""


@dataclass(frozen=True)
class FailedCondition:
    """A condition that is not met, with the values of both sides (NaN where it is not an inequality)."""

    condition: str
    left: float = math.nan
    right: float = math.nan

    @property
    def margin(self) -> float:
        """How many times too large the larger side is."""
        small, large = sorted((abs(self.left), abs(self.right)))
        return large / small if small > 0 else math.inf if large > 0 else math.nan


@dataclass(frozen=True)
class Evidence:
    """A value of the row's bounded quantity, which a true bound must not be below.

    ``error`` is a standard error over ``seeds``. With ``upper`` the row's quantity is at most ``value`` (that of
    another quantity, by the conversion ``via``, or an upper estimate), so exceeding the bound proves nothing.
    """

    value: float
    what: str
    error: float = 0.0
    seeds: int = 0
    via: str = ""
    upper: bool = False

    def exceeds(self, high: float, comparisons: int) -> bool:
        """Whether it is above the bound's upper end: beyond rounding, or beyond chance given its seeds."""
        if self.upper or not math.isfinite(high):
            return False
        if not self.seeds:
            return self.value > high * (1 + ROUNDING)
        from empirics.measuring.estimates import Estimate  # loads torch

        from ..validation.comparison import judge, Verdict

        excess = Estimate(np.asarray(self.value - high), np.asarray(self.error))
        return judge(excess, self.seeds, comparisons) is Verdict.VIOLATED


@dataclass(frozen=True)
class MinimumRounds:
    """The smallest number of rounds at which some plan makes a bound informative; infinite if none was found."""

    rounds: float
    local_steps: int = 0
    step_size: float = math.nan
    cohort: float = math.nan


class ServerReadings(NamedTuple):
    """Values at the server model: (number, standard error) each, None where there is none."""

    label: str
    least: tuple[float, float] | None
    mean: tuple[float, float] | None
    last: tuple[float, float] | None
    gap: tuple[float, float] | None


class FormulaValue(NamedTuple):
    """The value of a paper's formula for a plan before rounding, with its range over uncertain constants."""

    formula: str
    quantity: str
    value: float
    low: float
    high: float
    printed: bool
    source: str


@dataclass(frozen=True)
class Row:
    """The value of one bound for one bounded quantity.

    ``high`` holds for all admissible values of the constants, ``low`` is the value at their other ends. ``conclusive``
    is False where a constant is only known as a lower estimate (``lower_estimates``): then only ``vacuous`` is certain.
    ``assumed`` are conditions that cannot be checked.
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
    failed: tuple[FailedCondition, ...] = ()
    met: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()
    trivial_premises: float = math.nan
    trivial_start: float = math.nan
    terms: Mapping[str, float] = field(default_factory=dict)
    values: Mapping[str, Any] = field(default_factory=dict)
    provenance: Mapping[str, str] = field(default_factory=dict)
    how: Mapping[str, str] = field(default_factory=dict)
    lower_estimates: tuple[str, ...] = ()
    why: str = ""
    audit: str = ""
    source: str = ""
    evidence: Mapping[str, Evidence] = field(default_factory=dict)
    minimum_rounds: MinimumRounds | None = None

    @property
    def refuted(self) -> bool:
        """Whether the audit has refuted the statement as printed: it is shown, and never the best."""
        return self.audit == "FAILS"

    @property
    def over_trivial(self) -> float:
        """Its upper end over the value at the start, or if that is unknown over the value that the premises imply."""
        least = self.trivial_start if math.isfinite(self.trivial_start) else self.trivial_premises
        return self.high / least if least > 0 else math.nan

    def over(self, kind: str) -> float:
        """Its upper end over evidence of a kind, NaN where there is none."""
        found = self.evidence.get(kind)
        if found is None or self.state not in RANKED:
            return math.nan
        return self.high / found.value if found.value > 0 else math.inf

    @property
    def largest(self) -> tuple[str, float]:
        """The largest term and its share of the positive ones."""
        positive = {name: t for name, t in self.terms.items() if t > 0}
        if not positive or not math.isfinite(sum(positive.values())):
            return "", math.nan
        name = max(positive, key=lambda n: positive[n])
        return name, positive[name] / sum(positive.values())

    def as_json(self) -> dict[str, Any]:
        found = asdict(self)
        found["class"] = found.pop("kind")
        found["failed"] = [{**asdict(one), "margin": one.margin} for one in self.failed]
        return found | {
            "over_trivial": self.over_trivial,
            **{f"over_{k.replace(' ', '_')}": self.over(k) for k in KINDS},
        }


@dataclass(frozen=True)
class Found:
    """Evidence of one kind: for each row where there is any; a line on the server's model; remarks."""

    kind: str
    of: Callable[[Row], Evidence | None] = lambda row: None
    server_model: ServerReadings | None = None
    remarks: tuple[str, ...] = ()
