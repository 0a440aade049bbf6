"""View a federation as one machine: with full participation and one local step, a round is a step of SGD.

The server's model moves by the weighted mean of the clients' stochastic gradients, which is unbiased for the gradient
of the global loss. A theorem on a single client therefore covers such a federation, with the global loss and, if the
clients' noise is independent (which is assumed), the noise ``sum p_k^2 sigma_k^2``. Constants that hold for every
client's loss (L, mu, a second moment) hold for their mean, and a single client has no heterogeneity.
"""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

from .assumptions import INDEPENDENT_NOISE
from .identities import evaluated, FEDAVG, WITHOUT_REPLACEMENT
from .operators import ClientSum
from .places import AVERAGE, SERVER, VIRTUAL
from .scenario_mapping import ScenarioMapping
from .scenario_values import Provenance, Role, role_of, ScenarioValue, worst
from .vocabulary import client_gradient_variance, client_weight

Of = TypeVar("Of", bound=ScenarioMapping)
NAME = "C15"
"""The name of this conversion in a comparison."""
TARGETS = ("grad_norm_sq", "optimality_gap", "distance_sq")
"""Targets at the server's model, which is the machine's model. The divergence of a single client means nothing here."""
IDENTICAL = (SERVER, VIRTUAL, AVERAGE, "averaged model")
"""Models of the machine that are models of the server. The machine's last local model is not a client's."""
KEPT = (
    "smoothness", "sample_smoothness", "strong_convexity", "pl_constant", "grad_cap_sq", "lipschitz", "loss_cap",
    "initial_loss", "optimal_loss", "current_loss", "initial_gap", "initial_distance_sq", "initial_grad_norm_sq",
    "rounds", "local_steps", "step_size", "step_offset", "step_size_scale", "relaxation", "adaptation",
    "distillation_weight",
)  # fmt: skip
"""Constants of the global loss and quantities of the plan that stay the same on the machine."""
ALONE = {
    "clients": 1.0, "cohort": 1.0, "client_weight": (1.0,), "heterogeneity": 0.0, "optimum_dissimilarity": 0.0,
    "dissimilarity_offset": 0.0, "dissimilarity_factor": 1.0, "uniform_dissimilarity": 0.0, "chi_square": 0.0,
}  # fmt: skip
"""Values that hold for every single client."""
INDEPENDENT = ClientSum(client_weight**2 * client_gradient_variance)


def one_machine(scenario: Of) -> tuple[Of, tuple[str, ...]] | None:
    """Return the scenario of the equivalent machine and the assumptions of that view, or None if there is none.

    There is one if all clients take part with one local step in every round and start at the server's model.
    """
    plan = {word: scenario[word].value for word in ("clients", "cohort", "local_steps") if word in scenario}
    one_step_of_all = len(plan) == 3 and plan["clients"] == plan["cohort"] > 1 == plan["local_steps"]
    if not one_step_of_all or scenario.sampling != WITHOUT_REPLACEMENT or scenario.method != FEDAVG:
        return None
    known: dict[str, Any] = {word: scenario[word] for word in KEPT if word in scenario}
    known |= {word: _alone(word, value) for word, value in ALONE.items()}
    if {"client_gradient_variance", "client_weight"} <= scenario.keys():
        known["gradient_variance"] = _noise(scenario)
    noisy = "gradient_variance" in known and known["gradient_variance"].high > 0
    trusted = (INDEPENDENT_NOISE.words,) if noisy else ()
    return type(scenario)(known, {}, also=scenario._also), trusted


def _alone(word: str, value: Any) -> ScenarioValue:
    how = "all clients as one machine"
    return ScenarioValue(value, value, value, Provenance.EXACT, role_of(word), how, frozenset([word]))


def _noise(scenario: ScenarioMapping) -> ScenarioValue:
    """Return the variance of the mean gradient. It increases in every client's variance, which gives its interval."""
    sources = [scenario[q.name] for q in (client_weight, client_gradient_variance)]
    low, value, high = (
        float(evaluated(INDEPENDENT, {"client_weight": sources[0].value, "client_gradient_variance": np.asarray(end)}))
        for end in (sources[1].low, sources[1].value, sources[1].high)
    )
    how = f"{INDEPENDENT} of all clients as one machine"
    return ScenarioValue(value, low, high, worst(*sources), Role.UP, how, frozenset(["gradient_variance"]))
