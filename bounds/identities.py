"""Identities between quantities: a table of how quantities of a federation and its plan follow from one another.

A row is ``left relation right``. For ``=``, each direction has a row of its own, and two sources that disagree are an
error. ``<=`` and ``>=`` give a missing left side the value of the right side, never the reverse: this is safe for the
constants of such rows, since a theorem holds with every weaker constant. ``:=`` is a convention, a default or a
substitute that is used if nothing else gives the quantity. Earlier rows take precedence.
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
from .scenario_values import Provenance, QUANTITIES, ROUNDING

EQUAL, AT_MOST, AT_LEAST, BY_DEFAULT = "=", "<=", ">=", ":="
RELATIONS = (EQUAL, AT_MOST, AT_LEAST, BY_DEFAULT)

WITHOUT_REPLACEMENT = "without_replacement"
SAMPLINGS = (WITHOUT_REPLACEMENT, "with_replacement")
FEDAVG, SCAFFOLD = METHODS = ("fedavg", "scaffold")
"""The base algorithms. The parameters in ``KNOBS`` turn FedAvg into other algorithms."""
KNOBS = (("fedinit", "relaxation", 0), ("fedcog", "distillation_weight", 0), ("fedals", "adaptation", 1))
"""Algorithms, the parameter of each, and the value of that parameter with which the algorithm is FedAvg."""

length = sp.Function("length")
"""The number of entries of a list over the clients."""
whole = sp.Function("whole")
"""The integer part; a number that is an integer up to rounding is not rounded down."""
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
def _code(expression: sp.Basic) -> tuple[Callable[..., Any], tuple[str, ...]]:
    """Return an expression as a function, and the names of the quantities that it takes."""
    plain = write_out_means(expression)
    quantities = quantities_of([plain])
    return sp.lambdify(quantities, plain, modules=[CODE, np]), tuple(each.name for each in quantities)


def evaluated(expression: sp.Basic, values: Mapping[str, Any]) -> Any:
    """Evaluate an expression at values by name of quantity, in floating point; arrays run over the clients."""
    code, names = _code(expression)
    return code(*(np.asarray(values[name], dtype=float) for name in names))


@dataclass(frozen=True)
class Identity:
    """One row of the table: ``left relation right``.

    ``comment`` says when the formula holds or why it is used. The result is as reliable as its worst source, and at
    most as ``provenance``.
    """

    left: Quantity
    relation: str
    right: sp.Expr
    comment: str = ""
    provenance: Provenance = Provenance.EXACT

    def __post_init__(self) -> None:
        if self.relation not in RELATIONS:
            raise ValueError(f"the relation of an identity is one of {', '.join(RELATIONS)}; got {self.relation!r}")

    @cached_property
    def needs(self) -> tuple[str, ...]:
        """The names of the quantities on the right side."""
        return tuple(each.name for each in quantities_of([self.right]))

    @cached_property
    def inputs(self) -> tuple[str, ...]:
        """The quantities that must be known first: ``needs``, and for a per-client left side the number of clients."""
        listed = self.left.card.axis == CLIENTS and q.clients.name not in self.needs
        return (*self.needs, *((q.clients.name,) if listed else ()))

    @cached_property
    def counts_entries(self) -> bool:
        """Whether the right side counts the entries of a list."""
        return bool(self.right.has(length))

    def value(self, *given: Any) -> Any:
        """Evaluate the right side at values in the order of ``needs``."""
        return _code(self.right)[0](*given)

    @cached_property
    def formula(self) -> str:
        """The right side as text, with the comment."""
        text = str(self.right)
        return f"{text} ({self.comment})" if self.comment else text

    def __str__(self) -> str:
        return f"{self.left.name} {self.relation} {self.formula}"


def _row(left: Quantity, relation: str, right: Any, comment: str = "", provenance: str = "exact") -> Identity:
    return Identity(left, relation, sp.sympify(right), comment, Provenance(provenance))


_ROUND = q.communication_time + q.minibatch_time * q.local_steps
_SAME_MODEL = "at the same model"
_FIXED = "the same step size and local steps in every round"

IDENTITIES: tuple[Identity, ...] = (
    # ---- the federation ----
    _row(q.clients, EQUAL, length(q.client_weight)),
    _row(q.clients, EQUAL, length(q.client_gradient_variance)),
    _row(q.cohort, EQUAL, q.participation * q.clients),
    _row(q.participation, EQUAL, q.cohort / q.clients),
    _row(q.takes_part, BY_DEFAULT, first(q.cohort, q.clients), "any clients, as many as the cohort"),
    _row(q.client_weight, BY_DEFAULT, 1 / q.clients, "equal weights, unless given", "default"),
    _row(q.cohort, BY_DEFAULT, q.clients, "all clients take part, unless given", "default"),
    # ---- the plan ----
    _row(q.rounds, EQUAL, whole(q.runtime / _ROUND), "the number of complete rounds in the runtime"),
    _row(q.rounds, EQUAL, q.iterations / q.local_steps, _FIXED),
    _row(q.iterations, EQUAL, q.local_steps * q.rounds, _FIXED),
    _row(q.local_steps, EQUAL, q.iterations / q.rounds, _FIXED),
    _row(q.runtime, BY_DEFAULT, q.rounds * _ROUND),
    _row(q.communication_time, EQUAL, q.model_size / q.download_rate + q.model_size / q.upload_rate),
    _row(q.model_size, EQUAL, 32 * q.parameters / 10**6, "32 bits per parameter"),
    _row(q.download_rate, BY_DEFAULT, -ClientMax(-q.client_download_rate), "the slowest client"),
    _row(q.upload_rate, BY_DEFAULT, -ClientMax(-q.client_upload_rate), "the slowest client"),
    _row(q.minibatch_time, BY_DEFAULT, ClientMax(q.client_minibatch_time), "the slowest client"),
    _row(
        q.client_round_time,
        EQUAL,
        q.model_size / q.client_download_rate
        + q.model_size / q.client_upload_rate
        + q.local_steps * q.client_minibatch_time,
    ),
    _row(q.round_time, BY_DEFAULT, _ROUND, "the same for every client"),
    _row(q.round_time, AT_MOST, ClientMax(q.client_round_time), "a round waits for its slowest participant"),
    _row(q.communicated_bytes, BY_DEFAULT, 4 * q.exchanged_parameters, "in single precision"),
    _row(q.step_size_budget, EQUAL, q.step_size_scale * q.local_steps, "steps that fall as c/t"),
    _row(q.step_size_scale, EQUAL, q.step_size_budget / q.local_steps, "steps that fall as c/t"),
    _row(q.download_rate, BY_DEFAULT, 2 * q.model_size / q.communication_time, "half of the time each way"),
    _row(q.upload_rate, BY_DEFAULT, 2 * q.model_size / q.communication_time, "half of the time each way"),
    _row(q.initial_step_size, EQUAL, q.step_size, _FIXED),
    _row(q.initial_local_steps, EQUAL, q.local_steps, _FIXED),
    _row(q.squared_step_sizes, EQUAL, q.iterations * q.step_size**2, _FIXED),
    _row(q.summed_step_sizes, EQUAL, q.iterations * q.step_size, _FIXED),
    _row(q.steps_cubed_ratio, EQUAL, q.local_steps**2, _FIXED),
    _row(q.step_scale, EQUAL, q.step_size * sp.sqrt(q.local_steps * q.rounds), _FIXED),
    _row(q.server_step_size, BY_DEFAULT, 1, "the server takes the average, unless given", "default"),
    *(_row(QUANTITIES[knob], BY_DEFAULT, off, "FedAvg, unless given", "default") for _, knob, off in KNOBS),
    # ---- the loss and its constants ----
    _row(q.condition_number, EQUAL, q.smoothness / q.strong_convexity),
    _row(q.smoothness, EQUAL, q.condition_number * q.strong_convexity),
    _row(q.strong_convexity, EQUAL, q.smoothness / q.condition_number),
    _row(q.initial_gap, EQUAL, q.initial_loss - q.optimal_loss),
    _row(q.optimal_loss, EQUAL, q.initial_loss - q.initial_gap),
    _row(q.initial_loss, EQUAL, q.optimal_loss + q.initial_gap),
    _row(q.current_loss, BY_DEFAULT, q.initial_loss, "round 0"),
    _row(q.gradient_variance, EQUAL, ClientMax(q.client_gradient_variance)),
    _row(q.pl_constant, AT_LEAST, q.strong_convexity, "strong convexity gives PL"),
    _row(q.client_gradient_variance, AT_MOST, q.gradient_variance),
    _row(q.client_gradient_variance, AT_MOST, q.grad_cap_sq, "a variance is at most the second moment"),
    _row(q.gradient_variance, AT_MOST, q.grad_cap_sq, "a variance is at most the second moment"),
    _row(q.grad_cap_sq, AT_MOST, q.lipschitz**2),
    _row(q.alignment, BY_DEFAULT, 1, "unbiased gradients", "exact"),
    _row(q.gradient_norm_factor, BY_DEFAULT, 1, "unbiased gradients", "exact"),
    _row(q.variance_growth, BY_DEFAULT, 0, "bounded variance", "exact"),
    _row(q.heterogeneity, AT_MOST, q.optimum_dissimilarity / (2 * q.strong_convexity)),
    _row(q.optimum_dissimilarity, AT_MOST, 2 * q.smoothness * q.heterogeneity),
    _row(
        q.control_error,
        AT_MOST,
        q.optimum_dissimilarity / (-ClientMax(-q.client_weight) * q.clients),
        "controls start at zero; an equality if all clients have the same weight",
    ),
    _row(q.initial_gap, AT_MOST, q.smoothness / 2 * q.initial_distance_sq),
    _row(q.initial_distance_sq, AT_MOST, 2 * q.initial_gap / q.strong_convexity),
    # ---- the start of a run ----
    _row(q.initial_divergence, BY_DEFAULT, 0, "before the first round all clients hold the initial model", "exact"),
    _row(q.final_divergence, AT_LEAST, 0, "never negative, where it is subtracted", "proved"),
    # ---- outcomes of a run, at one model or in one round ----
    _row(q.optimality_gap, EQUAL, q.train_loss - q.optimal_loss, _SAME_MODEL),
    _row(q.loss_change, EQUAL, -q.loss_decrease),
    _row(q.loss_decrease, EQUAL, -q.loss_change),
    _row(q.generalization_gap, EQUAL, q.out_of_sample_gap + q.participation_gap, _SAME_MODEL),
    _row(q.out_of_sample_gap, EQUAL, q.generalization_gap - q.participation_gap, _SAME_MODEL),
    _row(q.participation_gap, EQUAL, q.generalization_gap - q.out_of_sample_gap, _SAME_MODEL),
    _row(q.excess_risk, EQUAL, q.generalization_gap + q.optimality_gap, _SAME_MODEL),
    _row(q.consensus_distance, EQUAL, ClientSum(q.client_distance_sq) / q.clients, _SAME_MODEL),
    _row(q.mean_client_grad_sq, EQUAL, ClientSum(q.client_weight * q.client_grad_norm_sq), _SAME_MODEL),
    _row(q.mean_gradient_drift, AT_MOST, ClientSum(q.client_weight * q.gradient_drift), "squares are convex"),
    _row(q.drift_factor, EQUAL, 2 * q.local_steps * (q.local_steps - 1) * (q.step_size * q.smoothness) ** 2),
    _row(q.distance_sq, AT_MOST, 2 * q.optimality_gap / q.strong_convexity, _SAME_MODEL),
    _row(q.optimality_gap, AT_MOST, q.smoothness / 2 * q.distance_sq, _SAME_MODEL),
    _row(q.grad_norm_sq, AT_MOST, 2 * q.smoothness * q.optimality_gap, _SAME_MODEL),
    _row(q.mean_client_grad_sq, AT_MOST, q.dissimilarity_offset + q.dissimilarity_factor * q.grad_norm_sq, _SAME_MODEL),
    _row(
        q.consensus_distance,
        AT_MOST,
        q.divergence,
        "the mean minimises the mean squared distance",
    ),
    _row(q.summed_divergence_root, AT_MOST, q.rounds * sp.sqrt(q.mean_divergence), "the square root is concave"),
    # ---- substitutes ----
    _row(q.samples_per_round, BY_DEFAULT, q.local_steps * q.real_batch, "every step uses new samples", "assumed"),
    _row(q.complexity, BY_DEFAULT, q.parameters, "a substitute", "assumed"),
)

WHY_NOT: dict[str, str] = {
    "step_size_scale": "it belongs to step sizes c/t; a fixed step size does not give it",
    "step_size_budget": "it belongs to step sizes c/t; a fixed step size does not give it",
    "samples": "it is one number only if all clients have equally many samples",
    "samples_per_round": "the number of new samples in every round does not follow from the local steps",
    "untouched_steps": "a constant of the proof, between 1 and the number of samples of a client",
    "lipschitz": "infinite with a penalty or an unbounded slope",
    "loss_cap": "infinite for linear models",
    "uniform_dissimilarity": "fedbounds constants bounds it if the loss has a bounded slope; for squared losses it is "
    "infinite unless all clients' inputs have the same second moments",
    "current_loss": "the loss where the plan starts again",
    "initial_runtime": "the budget for which the first plan was made",
    "plateau": "a parameter of the schedule",
    "rolling_window": "a parameter of the schedule",
    "extractor_size": "the size of a part of the model",
    "head_size": "the size of a part of the model",
}
"""Why a quantity does not follow from the usual data on a federation and a plan, for messages about missing values."""
