"""Rounds of one local step by all clients are steps of SGD on one machine, on the global loss.

The server's model moves by the weighted mean of the clients' stochastic gradients, which is unbiased for the gradient
of the global loss. So a theorem on one client covers such a federation, with the federation's own loss and the noise
``sum p_k^2 sigma_k^2``, as the clients' noise is independent, which is assumed. What holds for every client's
loss (L, mu) holds for their mean, a second moment of every client for that of the mean, and a single client has no
heterogeneity.
"""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

from .assumptions import INDEPENDENT_NOISE
from .known import Known
from .operators import ClientSum
from .places import AVERAGE, SERVER, VIRTUAL
from .stated import EXACT, role_of, Stated, UP, worst
from .ties import evaluated, FEDAVG, WITHOUT_REPLACEMENT
from .vocabulary import client_gradient_variance, client_weight

Of = TypeVar("Of", bound=Known)
NAME = "C15"
"""What a comparison calls it."""
TARGETS = ("grad_norm_sq", "optimality_gap", "distance_sq")
"""What is read at the server's model, and so is the machine's; the divergence of its only client has no counterpart."""
IDENTICAL = (SERVER, VIRTUAL, AVERAGE, "averaged model")
"""Where the machine's models are the server's; its last local model is not a client's."""
KEPT = (
    "smoothness", "sample_smoothness", "strong_convexity", "pl_constant", "grad_cap_sq", "lipschitz", "loss_cap",
    "initial_loss", "optimal_loss", "current_loss", "initial_gap", "initial_distance_sq", "initial_grad_norm_sq",
    "rounds", "local_steps", "step_size", "step_offset", "step_size_scale", "relaxation", "adaptation",
    "distillation_weight",
)  # fmt: skip
"""What is of the global loss, or bounds it, and the plan: the same on the machine."""
ALONE = {
    "clients": 1.0, "cohort": 1.0, "client_weight": (1.0,), "heterogeneity": 0.0, "optimum_dissimilarity": 0.0,
    "dissimilarity_offset": 0.0, "dissimilarity_factor": 1.0, "uniform_dissimilarity": 0.0, "chi_square": 0.0,
}  # fmt: skip
"""What is so of any single client."""
INDEPENDENT = ClientSum(client_weight**2 * client_gradient_variance)


def one_machine(scenario: Of) -> tuple[Of, tuple[str, ...]] | None:
    """The machine that a federation is, and what that assumes; None where it is none.

    All clients take part, with one local step in every round, and start at the server's model.
    """
    plan = {word: scenario[word].value for word in ("clients", "cohort", "local_steps") if word in scenario}
    everyone = len(plan) == 3 and plan["clients"] == plan["cohort"] > 1 == plan["local_steps"]
    if not everyone or scenario.sampling != WITHOUT_REPLACEMENT or scenario.method != FEDAVG:
        return None
    known: dict[str, Any] = {word: scenario[word] for word in KEPT if word in scenario}
    known |= {word: _alone(word, value) for word, value in ALONE.items()}
    if {"client_gradient_variance", "client_weight"} <= scenario.keys():
        known["gradient_variance"] = _noise(scenario)
    noisy = "gradient_variance" in known and known["gradient_variance"].high > 0
    trusted = (INDEPENDENT_NOISE.words,) if noisy else ()
    return type(scenario)(known, {}, also=scenario._also), trusted


def _alone(word: str, value: Any) -> Stated:
    return Stated(value, value, value, EXACT, role_of(word), "all clients as one machine", frozenset([word]))


def _noise(scenario: Known) -> Stated:
    """The variance of the mean of the clients' gradients: it rises in each of theirs, so its ends are at their ends."""
    sources = [scenario[q.name] for q in (client_weight, client_gradient_variance)]
    low, value, high = (
        float(evaluated(INDEPENDENT, {"client_weight": sources[0].value, "client_gradient_variance": np.asarray(end)}))
        for end in (sources[1].low, sources[1].value, sources[1].high)
    )
    how = f"{INDEPENDENT} of all clients as one machine"
    return Stated(value, low, high, worst(*sources), UP, how, frozenset(["gradient_variance"]))
