"""A value in a scenario: a number with its interval, its provenance, and the role that says how a bound may use it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np

from . import vocabulary
from .quantities import Quantity


class Role(StrEnum):
    """How a quantity may be replaced in a bound.

    ``UP``, ``DOWN``: an assumption with one constant implies the assumption with every larger or smaller constant, so
    the theorem holds with any valid constant and the best one may be used; the two quantities of a ``PAIR`` go
    together. ``DEFINED``: a number of this problem. If only an interval is known, the largest value of the bound over
    it is valid. ``DESIGN`` and ``COST``: chosen by the user. ``FREE``: a constant of the proof, which is optimised.
    ``OUTCOME``: a number of a run.
    """

    UP = "admissible above"
    DOWN = "admissible below"
    PAIR = "admissible pair"
    DEFINED = "defined"
    DESIGN = "design"
    COST = "cost"
    FREE = "free"
    OUTCOME = "outcome"


class Provenance(StrEnum):
    """Where a value comes from, the most reliable first.

    Counted or computed; chosen in the plan; proved at every model or along every run of this plan; known to lie in an
    interval; a default; given by the user and not checked; the largest over some models only, which does not satisfy an
    assumption.
    """

    EXACT = "exact"
    CHOSEN = "chosen"
    PROVED = "proved"
    INTERVAL = "interval"
    DEFAULT = "default"
    ASSUMED = "assumed"
    LOWER = "lower"


ADMISSIBLE = (Role.UP, Role.DOWN, Role.PAIR)
ROLES: dict[str, Role] = {
    word: role
    for role, words in {
        Role.UP: "smoothness sample_smoothness lipschitz loss_cap gradient_variance client_gradient_variance "
        "grad_cap_sq complexity uniform_dissimilarity weak_convexity gradient_norm_factor variance_growth inexactness",
        Role.DOWN: "strong_convexity pl_constant alignment",
        Role.PAIR: "dissimilarity_offset dissimilarity_factor",
        Role.DEFINED: "clients client_weight samples samples_per_round parameters extractor_size head_size "
        "model_size class_count classes client_value condition_number optimum_dissimilarity heterogeneity "
        "initial_loss optimal_loss current_loss initial_gap initial_distance_sq initial_grad_norm_sq control_error "
        "initial_lyapunov chi_square inverse_step",
        Role.DESIGN: "cohort participation takes_part local_steps rounds iterations round_index step_size "
        "initial_step_size initial_local_steps squared_step_sizes steps_cubed_ratio step_scale step_size_scale "
        "step_size_budget local_iteration untouched_steps relaxation adaptation plateau rolling_window "
        "distillation_weight step_offset summed_step_sizes proximal_weight server_step_size communication_probability "
        "disagreement_weight generated_batch generated_samples generation_steps real_batch samples_per_class",
        Role.COST: "download_rate upload_rate minibatch_time communication_time client_download_rate "
        "client_upload_rate client_minibatch_time client_round_time round_time runtime initial_runtime",
        Role.FREE: "contraction",
    }.items()
    for word in words.split()
}
"""The role of each quantity. A quantity not listed is an ``OUTCOME``."""
OF_RUNS = ("grad_cap_sq",)
"""Constants that hold along the runs of one plan; all others hold at every model."""
OF_WEIGHTS = (
    "heterogeneity", "optimum_dissimilarity", "dissimilarity_offset", "dissimilarity_factor", "initial_loss",
    "optimal_loss", "current_loss", "initial_gap", "initial_distance_sq", "initial_grad_norm_sq", "pl_constant",
    "grad_cap_sq", "uniform_dissimilarity", "chi_square", "control_error", "initial_lyapunov",
)  # fmt: skip
"""Constants that change with the clients' weights: those of the global loss, of its minimiser and of runs."""


def of_weights(word: str) -> bool:
    """Whether a quantity depends on the clients' weights. Every outcome of a run does."""
    return word in OF_WEIGHTS or (word in QUANTITIES and role_of(word) == Role.OUTCOME)


QUANTITIES: dict[str, Quantity] = {n: q for n, q in vars(vocabulary).items() if isinstance(q, Quantity)}
"""All quantities of the vocabulary, by name."""

ROUNDING = 1e-9
"""Relative difference up to which two numbers count as equal."""


@dataclass(frozen=True)
class ScenarioValue:
    """A number, or a tuple of one per client, with the interval from ``low`` to ``high`` in which it is known to lie.

    ``provenance`` is its reliability, ``role`` how a bound may use it, and ``how`` its source in words, such as
    "typed", a file, or a formula. ``support`` are the given quantities from which it was derived. ``up_to`` are pairs
    of a quantity of the plan and its largest value for which this value is valid.
    """

    value: Any
    low: Any
    high: Any
    provenance: Provenance
    role: Role
    how: str
    support: frozenset[str] = frozenset()
    up_to: tuple[tuple[str, float], ...] = ()

    @property
    def origin(self) -> str:
        """The source alone: a file, a mapping, or "typed"."""
        return self.how.partition(":")[0]

    @property
    def certain(self) -> bool:
        """Whether the interval is a single point."""
        return bool(np.all(np.asarray(self.low) == np.asarray(self.high)))

    @property
    def safe(self) -> Any:
        """The value with which a theorem holds: for an admissible constant the weaker end of the interval."""
        end = {Role.UP: self.high, Role.PAIR: self.high, Role.DOWN: self.low}.get(self.role, self.value)
        ok = np.all(np.isfinite(end)) and (self.role != Role.DOWN or np.all(np.asarray(end) > 0))
        return end if ok else self.value

    @property
    def only_estimated(self) -> bool:
        """Whether the weaker end is unknown, as for a lower estimate, so that no theorem holds with this value."""
        if self.role == Role.DOWN:
            low = np.asarray(self.low)
            return not np.all(np.isfinite(low) & (low > 0))
        return self.role in (Role.UP, Role.PAIR) and not np.all(np.isfinite(self.high))

    def __str__(self) -> str:
        shown = format_value(self.value)
        ends = "" if self.certain else f" in [{format_value(self.low)}, {format_value(self.high)}]"
        return f"{shown}{ends}; {self.provenance}: {self.how}"


def worst(*sources: ScenarioValue | Provenance) -> Provenance:
    """Return the least reliable provenance of these sources, which is that of any value derived from them."""
    each = [source.provenance if isinstance(source, ScenarioValue) else source for source in sources]
    return max(each, key=[*Provenance].index)


def role_of(word: str) -> Role:
    return ROLES.get(word, Role.OUTCOME)


def format_value(value: Any) -> str:
    """Format a number, or summarise a list, such as ``10 x 0.1`` or ``10 numbers from 0.05 to 0.2``."""
    if np.ndim(value):
        ends = sorted({f"{v:g}" for v in value}, key=float)
        return f"{len(value)} x {ends[0]}" if len(ends) == 1 else f"{len(value)} numbers from {ends[0]} to {ends[-1]}"
    return f"{value:.6g}"


def float_or_tuple(array: np.ndarray) -> Any:
    """Return a number as a float and a list as a tuple of floats."""
    return float(array) if array.ndim == 0 else tuple(array.tolist())


def widened(end: Any, sign: int) -> Any:
    """Move the lower (``sign`` -1) or upper (1) end of an interval outward by the rounding tolerance."""
    number = np.asarray(end, dtype=float)
    return number + sign * ROUNDING * np.abs(number)
