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

from .operators import ClientMax, ClientSum, write_out_means
from .quantities import CLIENTS, quantities_of, Quantity
from .stated import ROUNDING
from .vocabulary import (
    adaptation,
    alignment,
    client_distance_sq,
    client_download_rate,
    client_grad_norm_sq,
    client_gradient_variance,
    client_minibatch_time,
    client_round_time,
    client_upload_rate,
    client_weight,
    clients,
    cohort,
    communicated_bytes,
    communication_time,
    complexity,
    condition_number,
    consensus_distance,
    control_error,
    current_loss,
    dissimilarity_factor,
    dissimilarity_offset,
    distance_sq,
    distillation_weight,
    divergence,
    download_rate,
    drift_factor,
    excess_risk,
    exchanged_parameters,
    final_divergence,
    generalization_gap,
    grad_cap_sq,
    grad_norm_sq,
    gradient_drift,
    gradient_norm_factor,
    gradient_variance,
    heterogeneity,
    initial_distance_sq,
    initial_divergence,
    initial_gap,
    initial_local_steps,
    initial_loss,
    initial_step_size,
    iterations,
    lipschitz,
    local_steps,
    loss_change,
    loss_decrease,
    mean_client_grad_sq,
    mean_divergence,
    mean_gradient_drift,
    minibatch_time,
    model_size,
    optimal_loss,
    optimality_gap,
    optimum_dissimilarity,
    out_of_sample_gap,
    parameters,
    participation,
    participation_gap,
    pl_constant,
    real_batch,
    relaxation,
    round_time,
    rounds,
    runtime,
    samples_per_round,
    server_step_size,
    smoothness,
    squared_step_sizes,
    step_scale,
    step_size,
    step_size_budget,
    step_size_scale,
    steps_cubed_ratio,
    strong_convexity,
    summed_divergence_root,
    summed_step_sizes,
    takes_part,
    train_loss,
    upload_rate,
    variance_growth,
)

EQUAL, AT_MOST, AT_LEAST, TAKEN = "=", "<=", ">=", ":="
RELATIONS = (EQUAL, AT_MOST, AT_LEAST, TAKEN)

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
    return _code(plain)(*(np.asarray(values[q.name], dtype=float) for q in quantities_of([plain])))


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
        return tuple(q.name for q in quantities_of([self.right]))

    @cached_property
    def asked(self) -> tuple[str, ...]:
        """The words that it waits for: those of the right side, and for a list the number of clients."""
        listed = self.left.card.axis == CLIENTS and clients.name not in self.needs
        return (*self.needs, *((clients.name,) if listed else ()))

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


_ROUND = communication_time + minibatch_time * local_steps
_THERE = "at the same model"
_FIXED = "the same step size and local steps in every round"

TIES: tuple[Tie, ...] = (
    # ---- the federation ----
    _tie(clients, EQUAL, length(client_weight)),
    _tie(clients, EQUAL, length(client_gradient_variance)),
    _tie(cohort, EQUAL, participation * clients),
    _tie(participation, EQUAL, cohort / clients),
    _tie(takes_part, TAKEN, first(cohort, clients), "any as many clients"),
    _tie(client_weight, TAKEN, 1 / clients, "every client weighs the same, unless given", "default"),
    _tie(cohort, TAKEN, clients, "all take part, unless given", "default"),
    # ---- the plan ----
    _tie(rounds, EQUAL, whole(runtime / _ROUND), "the whole rounds that the runtime holds"),
    _tie(rounds, EQUAL, iterations / local_steps, _FIXED),
    _tie(iterations, EQUAL, local_steps * rounds, _FIXED),
    _tie(local_steps, EQUAL, iterations / rounds, _FIXED),
    _tie(runtime, TAKEN, rounds * _ROUND),
    _tie(communication_time, EQUAL, model_size / download_rate + model_size / upload_rate),
    _tie(model_size, EQUAL, 32 * parameters / 10**6, "32 bits a parameter"),
    _tie(download_rate, TAKEN, -ClientMax(-client_download_rate), "the slowest client"),
    _tie(upload_rate, TAKEN, -ClientMax(-client_upload_rate), "the slowest client"),
    _tie(minibatch_time, TAKEN, ClientMax(client_minibatch_time), "the slowest client"),
    _tie(
        client_round_time,
        EQUAL,
        model_size / client_download_rate + model_size / client_upload_rate + local_steps * client_minibatch_time,
    ),
    _tie(round_time, TAKEN, _ROUND, "every client alike"),
    _tie(round_time, AT_MOST, ClientMax(client_round_time), "a round waits for its slowest participant"),
    _tie(communicated_bytes, TAKEN, 4 * exchanged_parameters, "in single precision"),
    _tie(step_size_budget, EQUAL, step_size_scale * local_steps, "steps that fall as c/t"),
    _tie(step_size_scale, EQUAL, step_size_budget / local_steps, "steps that fall as c/t"),
    _tie(download_rate, TAKEN, 2 * model_size / communication_time, "half of the time each way"),
    _tie(upload_rate, TAKEN, 2 * model_size / communication_time, "half of the time each way"),
    _tie(initial_step_size, EQUAL, step_size, _FIXED),
    _tie(initial_local_steps, EQUAL, local_steps, _FIXED),
    _tie(squared_step_sizes, EQUAL, iterations * step_size**2, _FIXED),
    _tie(summed_step_sizes, EQUAL, iterations * step_size, _FIXED),
    _tie(steps_cubed_ratio, EQUAL, local_steps**2, _FIXED),
    _tie(step_scale, EQUAL, step_size * sp.sqrt(local_steps * rounds), _FIXED),
    _tie(server_step_size, TAKEN, 1, "the server takes the average, unless given", "default"),
    _tie(relaxation, TAKEN, 0, "FedAvg, unless given", "default"),
    _tie(adaptation, TAKEN, 1, "FedAvg, unless given", "default"),
    _tie(distillation_weight, TAKEN, 0, "FedAvg, unless given", "default"),
    # ---- the loss and its constants ----
    _tie(condition_number, EQUAL, smoothness / strong_convexity),
    _tie(smoothness, EQUAL, condition_number * strong_convexity),
    _tie(strong_convexity, EQUAL, smoothness / condition_number),
    _tie(initial_gap, EQUAL, initial_loss - optimal_loss),
    _tie(optimal_loss, EQUAL, initial_loss - initial_gap),
    _tie(initial_loss, EQUAL, optimal_loss + initial_gap),
    _tie(current_loss, TAKEN, initial_loss, "round 0"),
    _tie(gradient_variance, EQUAL, ClientMax(client_gradient_variance)),
    _tie(pl_constant, AT_LEAST, strong_convexity, "strong convexity gives PL"),
    _tie(client_gradient_variance, AT_MOST, gradient_variance),
    _tie(client_gradient_variance, AT_MOST, grad_cap_sq, "a variance is at most the second moment"),
    _tie(gradient_variance, AT_MOST, grad_cap_sq, "a variance is at most the second moment"),
    _tie(grad_cap_sq, AT_MOST, lipschitz**2),
    _tie(alignment, TAKEN, 1, "unbiased gradients", "exact"),
    _tie(gradient_norm_factor, TAKEN, 1, "unbiased gradients", "exact"),
    _tie(variance_growth, TAKEN, 0, "bounded variance", "exact"),
    _tie(heterogeneity, AT_MOST, optimum_dissimilarity / (2 * strong_convexity)),
    _tie(optimum_dissimilarity, AT_MOST, 2 * smoothness * heterogeneity),
    _tie(
        control_error,
        AT_MOST,
        optimum_dissimilarity / (-ClientMax(-client_weight) * clients),
        "controls begin at zero: equal where all clients weigh the same",
    ),
    _tie(initial_gap, AT_MOST, smoothness / 2 * initial_distance_sq),
    _tie(initial_distance_sq, AT_MOST, 2 * initial_gap / strong_convexity),
    # ---- what a run starts from ----
    _tie(initial_divergence, TAKEN, 0, "before the first round all clients hold the start", "exact"),
    _tie(final_divergence, AT_LEAST, 0, "never negative, where it is subtracted", "proved"),
    # ---- what a run gives, at one model or in one round ----
    _tie(optimality_gap, EQUAL, train_loss - optimal_loss, _THERE),
    _tie(loss_change, EQUAL, -loss_decrease),
    _tie(loss_decrease, EQUAL, -loss_change),
    _tie(generalization_gap, EQUAL, out_of_sample_gap + participation_gap, _THERE),
    _tie(out_of_sample_gap, EQUAL, generalization_gap - participation_gap, _THERE),
    _tie(participation_gap, EQUAL, generalization_gap - out_of_sample_gap, _THERE),
    _tie(excess_risk, EQUAL, generalization_gap + optimality_gap, _THERE),
    _tie(consensus_distance, EQUAL, ClientSum(client_distance_sq) / clients, _THERE),
    _tie(mean_client_grad_sq, EQUAL, ClientSum(client_weight * client_grad_norm_sq), _THERE),
    _tie(mean_gradient_drift, AT_MOST, ClientSum(client_weight * gradient_drift), "squares are convex"),
    _tie(drift_factor, EQUAL, 2 * local_steps * (local_steps - 1) * (step_size * smoothness) ** 2),
    _tie(distance_sq, AT_MOST, 2 * optimality_gap / strong_convexity, _THERE),
    _tie(optimality_gap, AT_MOST, smoothness / 2 * distance_sq, _THERE),
    _tie(grad_norm_sq, AT_MOST, 2 * smoothness * optimality_gap, _THERE),
    _tie(mean_client_grad_sq, AT_MOST, dissimilarity_offset + dissimilarity_factor * grad_norm_sq, _THERE),
    _tie(consensus_distance, AT_MOST, divergence, "the mean is the best centre of the same models"),
    _tie(summed_divergence_root, AT_MOST, rounds * sp.sqrt(mean_divergence), "the root is concave"),
    # ---- stand-ins ----
    _tie(samples_per_round, TAKEN, local_steps * real_batch, "every step takes new samples", "assumed"),
    _tie(complexity, TAKEN, parameters, "stands in", "assumed"),
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
