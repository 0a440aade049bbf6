"""How the words of one federation and its plan follow from one another: a table, one row per tie.

A row is ``left relation right``. ``=`` holds both ways, each way with a row of its own, and two sources that disagree
are an error. ``<=`` and ``>=`` give a word that is missing the value of its other side, never the reverse: that is safe
for the constants that such a row stands for, since the theorem holds with every weaker one. ``:=`` is what a word is
taken to be where nothing is said: a convention, a default or a stand-in. Earlier rows go before later ones.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import sympy as sp

from . import vocabulary as q
from .operators import ClientMax, ClientSum, write_out_means
from .quantities import CLIENTS, quantities_of, Quantity
from .stated import QUANTITIES, ROUNDING

EQUAL, AT_MOST, AT_LEAST, TAKEN = "=", "<=", ">=", ":="
RELATIONS = (EQUAL, AT_MOST, AT_LEAST, TAKEN)

WITHOUT_REPLACEMENT = "without_replacement"
SAMPLINGS = (WITHOUT_REPLACEMENT, "with_replacement")
FEDAVG, SCAFFOLD = METHODS = ("fedavg", "scaffold")
"""What clients run, apart from what the numbers of a plan make of it."""
KNOBS = (("fedinit", "relaxation", 0), ("fedcog", "distillation_weight", 0), ("fedals", "adaptation", 1))
"""The algorithm that is FedAvg where its knob has this value."""

length = sp.Function("length")
"""How many entries a list over the clients has."""
whole = sp.Function("whole")
"""The whole part, where what is whole but for rounding counts as whole."""
first = sp.Function("first")
"""``first(n, of)``: a list of ``of`` entries, 1 for the first n and 0 for the others."""


def _first(count: Any, of: Any) -> np.ndarray:
    return (np.arange(int(of)) < int(count)).astype(float)


CODE: dict[str, Callable[..., Any]] = {
    "length": np.size,
    "whole": lambda x: np.floor(x * (1 + ROUNDING)),
    "first": _first,
    "ClientMax": np.max,
    "ClientSum": np.sum,
}


@lru_cache(maxsize=1024)
def _code(expression: sp.Expr) -> Callable[..., Any]:
    code: Callable[..., Any] = sp.lambdify(quantities_of([expression]), expression, modules=[CODE, np])
    return code


def evaluated(expression: sp.Basic, values: Mapping[str, Any]) -> Any:
    """An expression of quantities at values by word, in plain floating point; a list runs over the clients."""
    plain = write_out_means(expression)
    return _code(plain)(*(np.asarray(values[each.name], dtype=float) for each in quantities_of([plain])))


@dataclass(frozen=True)
class Tie:
    """``left relation right``; ``provenance`` is what such a value is worth at best, where it is less than its sources.

    ``said`` are words that go with the formula: when it holds, or why it is taken.
    """

    left: Quantity
    relation: str
    right: sp.Expr
    said: str = ""
    provenance: str = ""

    def __post_init__(self) -> None:
        if self.relation not in RELATIONS:
            raise ValueError(f"the relation of a tie is one of {', '.join(RELATIONS)}; got {self.relation!r}")

    @cached_property
    def needs(self) -> tuple[str, ...]:
        """The words of the right side."""
        return tuple(each.name for each in quantities_of([self.right]))

    @cached_property
    def asked(self) -> tuple[str, ...]:
        """The words that it waits for: those of the right side, and for a list the number of clients."""
        listed = self.left.card.axis == CLIENTS and q.clients.name not in self.needs
        return (*self.needs, *((q.clients.name,) if listed else ()))

    @cached_property
    def counts(self) -> bool:
        """Whether the right side counts the entries of a list."""
        return bool(self.right.has(length))

    def value(self, *given: Any) -> Any:
        """The right side at values of its words, in the order of ``needs``."""
        return _code(self.right)(*given)

    @cached_property
    def formula(self) -> str:
        """The right side as it is read."""
        text = str(self.right)
        return f"{text} ({self.said})" if self.said else text

    def __str__(self) -> str:
        return f"{self.left.name} {self.relation} {self.formula}"


def _tie(left: Quantity, relation: str, right: Any, said: str = "", provenance: str = "") -> Tie:
    return Tie(left, relation, sp.sympify(right), said, provenance)


_ROUND = q.communication_time + q.minibatch_time * q.local_steps
_THERE = "at the same model"
_FIXED = "the same step size and local steps in every round"

TIES: tuple[Tie, ...] = (
    # ---- the federation ----
    _tie(q.clients, EQUAL, length(q.client_weight)),
    _tie(q.clients, EQUAL, length(q.client_gradient_variance)),
    _tie(q.cohort, EQUAL, q.participation * q.clients),
    _tie(q.participation, EQUAL, q.cohort / q.clients),
    _tie(q.takes_part, TAKEN, first(q.cohort, q.clients), "any as many clients"),
    _tie(q.client_weight, TAKEN, 1 / q.clients, "every client weighs the same, unless given", "default"),
    _tie(q.cohort, TAKEN, q.clients, "all take part, unless given", "default"),
    # ---- the plan ----
    _tie(q.rounds, EQUAL, whole(q.runtime / _ROUND), "the whole rounds that the runtime holds"),
    _tie(q.rounds, EQUAL, q.iterations / q.local_steps, _FIXED),
    _tie(q.iterations, EQUAL, q.local_steps * q.rounds, _FIXED),
    _tie(q.local_steps, EQUAL, q.iterations / q.rounds, _FIXED),
    _tie(q.runtime, TAKEN, q.rounds * _ROUND),
    _tie(q.communication_time, EQUAL, q.model_size / q.download_rate + q.model_size / q.upload_rate),
    _tie(q.model_size, EQUAL, 32 * q.parameters / 10**6, "32 bits a parameter"),
    _tie(q.download_rate, TAKEN, -ClientMax(-q.client_download_rate), "the slowest client"),
    _tie(q.upload_rate, TAKEN, -ClientMax(-q.client_upload_rate), "the slowest client"),
    _tie(q.minibatch_time, TAKEN, ClientMax(q.client_minibatch_time), "the slowest client"),
    _tie(
        q.client_round_time,
        EQUAL,
        q.model_size / q.client_download_rate
        + q.model_size / q.client_upload_rate
        + q.local_steps * q.client_minibatch_time,
    ),
    _tie(q.round_time, TAKEN, _ROUND, "every client the same"),
    _tie(q.round_time, AT_MOST, ClientMax(q.client_round_time), "a round waits for its slowest participant"),
    _tie(q.communicated_bytes, TAKEN, 4 * q.exchanged_parameters, "in single precision"),
    _tie(q.step_size_budget, EQUAL, q.step_size_scale * q.local_steps, "steps that fall as c/t"),
    _tie(q.step_size_scale, EQUAL, q.step_size_budget / q.local_steps, "steps that fall as c/t"),
    _tie(q.download_rate, TAKEN, 2 * q.model_size / q.communication_time, "half of the time each way"),
    _tie(q.upload_rate, TAKEN, 2 * q.model_size / q.communication_time, "half of the time each way"),
    _tie(q.initial_step_size, EQUAL, q.step_size, _FIXED),
    _tie(q.initial_local_steps, EQUAL, q.local_steps, _FIXED),
    _tie(q.squared_step_sizes, EQUAL, q.iterations * q.step_size**2, _FIXED),
    _tie(q.summed_step_sizes, EQUAL, q.iterations * q.step_size, _FIXED),
    _tie(q.steps_cubed_ratio, EQUAL, q.local_steps**2, _FIXED),
    _tie(q.step_scale, EQUAL, q.step_size * sp.sqrt(q.local_steps * q.rounds), _FIXED),
    _tie(q.server_step_size, TAKEN, 1, "the server takes the average, unless given", "default"),
    *(_tie(QUANTITIES[knob], TAKEN, off, "FedAvg, unless given", "default") for _, knob, off in KNOBS),
    # ---- the loss and its constants ----
    _tie(q.condition_number, EQUAL, q.smoothness / q.strong_convexity),
    _tie(q.smoothness, EQUAL, q.condition_number * q.strong_convexity),
    _tie(q.strong_convexity, EQUAL, q.smoothness / q.condition_number),
    _tie(q.initial_gap, EQUAL, q.initial_loss - q.optimal_loss),
    _tie(q.optimal_loss, EQUAL, q.initial_loss - q.initial_gap),
    _tie(q.initial_loss, EQUAL, q.optimal_loss + q.initial_gap),
    _tie(q.current_loss, TAKEN, q.initial_loss, "round 0"),
    _tie(q.gradient_variance, EQUAL, ClientMax(q.client_gradient_variance)),
    _tie(q.pl_constant, AT_LEAST, q.strong_convexity, "strong convexity gives PL"),
    _tie(q.client_gradient_variance, AT_MOST, q.gradient_variance),
    _tie(q.client_gradient_variance, AT_MOST, q.grad_cap_sq, "a variance is at most the second moment"),
    _tie(q.gradient_variance, AT_MOST, q.grad_cap_sq, "a variance is at most the second moment"),
    _tie(q.grad_cap_sq, AT_MOST, q.lipschitz**2),
    _tie(q.alignment, TAKEN, 1, "unbiased gradients", "exact"),
    _tie(q.gradient_norm_factor, TAKEN, 1, "unbiased gradients", "exact"),
    _tie(q.variance_growth, TAKEN, 0, "bounded variance", "exact"),
    _tie(q.heterogeneity, AT_MOST, q.optimum_dissimilarity / (2 * q.strong_convexity)),
    _tie(q.optimum_dissimilarity, AT_MOST, 2 * q.smoothness * q.heterogeneity),
    _tie(
        q.control_error,
        AT_MOST,
        q.optimum_dissimilarity / (-ClientMax(-q.client_weight) * q.clients),
        "controls begin at zero: equal where all clients weigh the same",
    ),
    _tie(q.initial_gap, AT_MOST, q.smoothness / 2 * q.initial_distance_sq),
    _tie(q.initial_distance_sq, AT_MOST, 2 * q.initial_gap / q.strong_convexity),
    # ---- what a run starts from ----
    _tie(q.initial_divergence, TAKEN, 0, "before the first round all clients hold the start", "exact"),
    _tie(q.final_divergence, AT_LEAST, 0, "never negative, where it is subtracted", "proved"),
    # ---- what a run gives, at one model or in one round ----
    _tie(q.optimality_gap, EQUAL, q.train_loss - q.optimal_loss, _THERE),
    _tie(q.loss_change, EQUAL, -q.loss_decrease),
    _tie(q.loss_decrease, EQUAL, -q.loss_change),
    _tie(q.generalization_gap, EQUAL, q.out_of_sample_gap + q.participation_gap, _THERE),
    _tie(q.out_of_sample_gap, EQUAL, q.generalization_gap - q.participation_gap, _THERE),
    _tie(q.participation_gap, EQUAL, q.generalization_gap - q.out_of_sample_gap, _THERE),
    _tie(q.excess_risk, EQUAL, q.generalization_gap + q.optimality_gap, _THERE),
    _tie(q.consensus_distance, EQUAL, ClientSum(q.client_distance_sq) / q.clients, _THERE),
    _tie(q.mean_client_grad_sq, EQUAL, ClientSum(q.client_weight * q.client_grad_norm_sq), _THERE),
    _tie(q.mean_gradient_drift, AT_MOST, ClientSum(q.client_weight * q.gradient_drift), "squares are convex"),
    _tie(q.drift_factor, EQUAL, 2 * q.local_steps * (q.local_steps - 1) * (q.step_size * q.smoothness) ** 2),
    _tie(q.distance_sq, AT_MOST, 2 * q.optimality_gap / q.strong_convexity, _THERE),
    _tie(q.optimality_gap, AT_MOST, q.smoothness / 2 * q.distance_sq, _THERE),
    _tie(q.grad_norm_sq, AT_MOST, 2 * q.smoothness * q.optimality_gap, _THERE),
    _tie(q.mean_client_grad_sq, AT_MOST, q.dissimilarity_offset + q.dissimilarity_factor * q.grad_norm_sq, _THERE),
    _tie(q.consensus_distance, AT_MOST, q.divergence, "the mean is the best centre of the same models"),
    _tie(q.summed_divergence_root, AT_MOST, q.rounds * sp.sqrt(q.mean_divergence), "the root is concave"),
    # ---- stand-ins ----
    _tie(q.samples_per_round, TAKEN, q.local_steps * q.real_batch, "every step takes new samples", "assumed"),
    _tie(q.complexity, TAKEN, q.parameters, "stands in", "assumed"),
)

WHY_NOT: dict[str, str] = {
    "step_size_scale": "of steps that fall as c/t: a fixed step size gives none",
    "step_size_budget": "of steps that fall as c/t: a fixed step size gives none",
    "samples": "one number only where all clients hold as many",
    "samples_per_round": "new samples of every round, which local steps do not tell",
    "untouched_steps": "a proof's own number, from 1 to the samples of a client",
    "lipschitz": "infinite with a penalty, or a slope without bound",
    "loss_cap": "infinite for linear models",
    "uniform_dissimilarity": "fedbounds constants bounds it where the loss has a bounded slope; of squares it is "
    "infinite, unless all clients' inputs have the same second moments",
    "current_loss": "the loss where the plan starts again",
    "initial_runtime": "the budget for which the first plan was made",
    "plateau": "a rule of the schedule",
    "rolling_window": "a rule of the schedule",
    "extractor_size": "a part of the model",
    "head_size": "a part of the model",
}
"""Words that do not follow from what a federation and a plan usually say, and why; numbers of a run are read off it."""
