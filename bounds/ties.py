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

from .operators import ClientMax, write_out_means
from .quantities import quantities_of, Quantity
from .stated import ROUNDING
from .vocabulary import (
    adaptation,
    client_gradient_variance,
    client_weight,
    clients,
    cohort,
    communication_time,
    complexity,
    condition_number,
    current_loss,
    distillation_weight,
    download_rate,
    final_divergence,
    grad_cap_sq,
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
    minibatch_time,
    model_size,
    optimal_loss,
    optimum_dissimilarity,
    parameters,
    participation,
    pl_constant,
    relaxation,
    rounds,
    runtime,
    smoothness,
    squared_step_sizes,
    step_scale,
    step_size,
    steps_cubed_ratio,
    strong_convexity,
    takes_part,
    upload_rate,
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
    code: Callable[..., Any] = sp.lambdify(quantities_of([expression]), expression, modules=[CODE, "numpy"])
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
    _tie(download_rate, TAKEN, 2 * model_size / communication_time, "half of the time each way"),
    _tie(upload_rate, TAKEN, 2 * model_size / communication_time, "half of the time each way"),
    _tie(initial_step_size, EQUAL, step_size, _FIXED),
    _tie(initial_local_steps, EQUAL, local_steps, _FIXED),
    _tie(squared_step_sizes, EQUAL, iterations * step_size**2, _FIXED),
    _tie(steps_cubed_ratio, EQUAL, local_steps**2, _FIXED),
    _tie(step_scale, EQUAL, step_size * sp.sqrt(local_steps * rounds), _FIXED),
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
    _tie(heterogeneity, AT_MOST, optimum_dissimilarity / (2 * strong_convexity)),
    _tie(optimum_dissimilarity, AT_MOST, 2 * smoothness * heterogeneity),
    _tie(initial_gap, AT_MOST, smoothness / 2 * initial_distance_sq),
    _tie(initial_distance_sq, AT_MOST, 2 * initial_gap / strong_convexity),
    # ---- what a run starts from ----
    _tie(initial_divergence, TAKEN, 0, "before the first round all clients hold the start", "exact"),
    _tie(final_divergence, AT_LEAST, 0, "never negative, where it is subtracted", "proved"),
    # ---- stand-ins ----
    _tie(complexity, TAKEN, parameters, "stands in", "assumed"),
)
