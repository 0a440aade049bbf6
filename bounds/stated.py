"""A value of a scenario with its interval, where it comes from, and how it may be replaced in a bound."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from . import vocabulary
from .errors import DomainError
from .quantities import Quantity

UP, DOWN, PAIR = "admissible above", "admissible below", "admissible pair"
DEFINED, DESIGN, COST, FREE, OUTCOME = "defined", "design", "cost", "free", "outcome"
ADMISSIBLE = (UP, DOWN, PAIR)
ROLES: dict[str, str] = {
    word: role
    for role, words in {
        UP: "smoothness sample_smoothness lipschitz loss_cap gradient_variance client_gradient_variance grad_cap_sq "
        "complexity uniform_dissimilarity weak_convexity gradient_norm_factor variance_growth inexactness",
        DOWN: "strong_convexity pl_constant alignment",
        PAIR: "dissimilarity_offset dissimilarity_factor",
        DEFINED: "clients client_weight samples samples_per_round parameters extractor_size head_size model_size "
        "class_count classes client_value condition_number optimum_dissimilarity heterogeneity initial_loss "
        "optimal_loss current_loss initial_gap initial_distance_sq initial_grad_norm_sq control_error initial_lyapunov "
        "chi_square inverse_step",
        DESIGN: "cohort participation takes_part local_steps rounds iterations round_index step_size initial_step_size "
        "initial_local_steps squared_step_sizes steps_cubed_ratio step_scale step_size_scale step_size_budget "
        "local_iteration untouched_steps relaxation adaptation plateau rolling_window distillation_weight "
        "step_offset summed_step_sizes proximal_weight server_step_size communication_probability "
        "disagreement_weight generated_batch generated_samples generation_steps real_batch samples_per_class",
        COST: "download_rate upload_rate minibatch_time communication_time client_download_rate client_upload_rate "
        "client_minibatch_time client_round_time round_time runtime initial_runtime",
        FREE: "contraction",
    }.items()
    for word in words.split()
}
"""How a word may be replaced in a bound; what is not listed is an ``outcome`` of a run.

``admissible``: the assumption with a constant implies that with every larger (``above``) or smaller (``below``) one, so
the theorem holds with it as it stands, and the best of several may be taken; two words of a ``pair`` go together.
``defined``: a number of this problem; where only an interval is known the largest value of the bound over it is valid.
``design`` and ``cost`` are chosen, ``free`` is a proof's own constant: the best one is taken.
"""

EXACT, CHOSEN, PROVED, INTERVAL, DEFAULT, ASSUMED, LOWER = (
    "exact", "chosen", "proved", "interval", "default", "assumed", "lower",
)  # fmt: skip
PROVENANCES = (EXACT, CHOSEN, PROVED, INTERVAL, DEFAULT, ASSUMED, LOWER)
"""Where a value comes from, and so what it is worth, the best first: counted or computed; chosen in the plan; valid at
every model or along every run of this plan; known to lie in an interval; a default; typed, and taken at its word; the
largest over some models alone, which no constant of an assumption may be."""

OF_RUNS = ("grad_cap_sq",)
"""Constants that hold along the runs of a plan, where others hold at every model."""
OF_WEIGHTS = (
    "heterogeneity", "optimum_dissimilarity", "dissimilarity_offset", "dissimilarity_factor", "initial_loss",
    "optimal_loss", "current_loss", "initial_gap", "initial_distance_sq", "initial_grad_norm_sq", "pl_constant",
    "grad_cap_sq", "uniform_dissimilarity", "chi_square", "control_error", "initial_lyapunov",
)  # fmt: skip
"""Constants of the global loss, of its minimiser and of runs: with other weights of the clients they are others."""


def of_weights(word: str) -> bool:
    """Whether a number depends on the clients' weights; whatever is read off a run does."""
    return word in OF_WEIGHTS or (word in QUANTITIES and role_of(word) == OUTCOME)


QUANTITIES: dict[str, Quantity] = {n: q for n, q in vars(vocabulary).items() if isinstance(q, Quantity)}


ROUNDING = 1e-9
"""Relative difference up to which two numbers are one."""


@dataclass(frozen=True)
class Stated:
    """A value, the ends of the interval it lies in, where it comes from, its role, and how it was come by.

    Lists over the clients are tuples. ``support`` are the words that were given on which it rests. ``up_to`` are words
    of the plan, each with the largest value up to which this one is known to hold.
    """

    value: Any
    low: Any
    high: Any
    provenance: str
    role: str
    how: str
    support: frozenset[str] = frozenset()
    up_to: tuple[tuple[str, float], ...] = ()

    @property
    def origin(self) -> str:
        """Who says so: a file, a mapping, or what was typed."""
        return self.how.partition(":")[0]

    @property
    def certain(self) -> bool:
        return bool(np.all(np.asarray(self.low) == np.asarray(self.high)))

    @property
    def safe(self) -> Any:
        """The value with which a theorem holds: the end on the weaker side for a constant that is admissible."""
        end = {UP: self.high, PAIR: self.high, DOWN: self.low}.get(self.role, self.value)
        ok = np.all(np.isfinite(end)) and (self.role != DOWN or np.all(np.asarray(end) > 0))
        return end if ok else self.value

    @property
    def floor(self) -> bool:
        """Whether the end on the weaker side is not known, as of a lower estimate: no theorem holds with it."""
        if self.role == DOWN:
            low = np.asarray(self.low)
            return not np.all(np.isfinite(low) & (low > 0))
        return self.role in (UP, PAIR) and not np.all(np.isfinite(self.high))

    def __str__(self) -> str:
        shown = told(self.value)
        ends = "" if self.certain else f" in [{told(self.low)}, {told(self.high)}]"
        return f"{shown}{ends}; {self.provenance}: {self.how}"


def worst(*sources: Stated | str) -> str:
    """The provenance of what is made of these: that of its worst source."""
    words = [source if isinstance(source, str) else source.provenance for source in sources]
    return max(words, key=PROVENANCES.index)


def role_of(word: str) -> str:
    return ROLES.get(word, OUTCOME)


def told(value: Any) -> str:
    if np.ndim(value):
        ends = sorted({f"{v:g}" for v in value}, key=float)
        return f"{len(value)} x {ends[0]}" if len(ends) == 1 else f"{len(value)} numbers from {ends[0]} to {ends[-1]}"
    return f"{value:.6g}"


def frozen(word: str, value: Any) -> Any:
    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        raise DomainError(f"{word} must be a number, or a list of one for each client; got {value!r}") from None
    if array.ndim > 1:
        raise DomainError(f"{word} must be a number, or a list of one for each client; got lists in a list")
    return float(array) if array.ndim == 0 else tuple(array.tolist())


def widened(end: Any, sign: int) -> Any:
    """An end of an interval, moved outward (``sign`` -1 or 1) by rounding."""
    number = np.asarray(end, dtype=float)
    return number + sign * ROUNDING * np.abs(number)
