"""How a bound's words are read off a run: its target by its statistic, and every quantity of its right-hand side.

Nothing here knows a bound's name. A run is anything with ``server`` and ``rounds`` (readings by word) and
``iterations(word)``: the exact moments of training, whichever way they were computed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any, Protocol

import numpy as np

from bounds.core import Bound

PROBLEM = (
    "clients", "smoothness", "strong_convexity", "pl_constant", "gradient_variance", "client_gradient_variance",
    "dissimilarity_offset", "dissimilarity_factor", "heterogeneity", "client_weight", "optimal_loss", "initial_loss",
    "initial_gap", "current_loss",
)  # fmt: skip
SETTING = ("cohort", "local_steps", "rounds", "iterations", "steps_cubed_ratio", "relaxation", "step_size")
RUN = (
    "grad_norm_sq", "divergence", "active_divergence", "next_divergence", "optimality_gap", "local_drift",
    "global_step", "initial_divergence", "final_divergence", "mean_grad_norm_sq", "grad_cap_sq",
)  # fmt: skip

PLAN = ("local_steps", "step_size")
"""What a round was given and not measured."""

SERVER = {
    "mean_grad_norm_sq": "grad_norm_sq",
    "mean_divergence": "divergence",
    "final_divergence": "divergence",
    "next_divergence": "divergence",
}
"""Which reading at the server model a word of a run is made of."""


class Run(Protocol):
    """Readings of a run in the vocabulary's words: per server model, per round, per local iteration."""

    @property
    def server(self) -> Mapping[str, Any]: ...

    @property
    def rounds(self) -> Mapping[str, Any]: ...

    def iterations(self, name: str) -> Any: ...


def values(problem: Any, setting: Any, beta: float, run: Run) -> dict[str, Any]:
    """The quantities of a run by word; one entry per round where a quantity changes from round to round."""
    steps = np.asarray(run.rounds["local_steps"], dtype=float)
    start = float(problem.loss(problem.start))
    return {
        **{name: getattr(problem, name) for name in PROBLEM if hasattr(problem, name)},
        "client_weight": problem.weights,
        "initial_loss": start,
        "current_loss": start,
        "initial_gap": start - problem.optimal_loss,
        **of_run(run),
        "cohort": setting.cohort,
        "local_steps": setting.local_steps,
        "rounds": setting.rounds,
        "step_size": setting.step_size,
        "iterations": int(steps.sum()),
        "steps_cubed_ratio": float((steps**3).sum() / steps.sum()),
        "relaxation": beta,
    }


def of_run(run: Run) -> dict[str, Any]:
    """The quantities that only a run tells; numbers of any kind, such as fractions in arrays of objects."""
    divergence = run.server.get("divergence")
    known = {
        **{name: readings[:-1] for name, readings in run.server.items()},
        **{name: readings for name, readings in run.rounds.items() if name not in PLAN},
        "mean_grad_norm_sq": np.mean(run.server["grad_norm_sq"][:-1]),
        "grad_cap_sq": np.max(run.rounds["grad_cap_sq"]),
    }
    if divergence is not None:
        ends = {"initial_divergence": divergence[0], "final_divergence": divergence[-1]}
        known |= {"next_divergence": divergence[1:], "mean_divergence": np.mean(divergence[:-1]), **ends}
    return known


def target(bound: Bound, run: Run) -> Any:
    """The exact value of the target: one per round, or the statistic over them."""
    word, at = bound.target.name, bound.statistic
    assert at is not None
    if at.over == "iterations":
        return float(np.min(run.iterations("grad_norm_sq")))
    if word == "next_divergence":
        return run.server["divergence"][1:]
    if word in run.rounds:
        return run.rounds[word]
    readings = run.server[SERVER.get(word) or word]
    fold: dict[str, Callable[[Any], Any]] = {"mean": np.mean, "min": np.min, "every": np.asarray}
    return readings[-1] if at.kind == "last" else fold[at.kind](readings[:-1])


def facts(problem: Any, setting: Any) -> SimpleNamespace:
    """The setting in the words that assumptions read."""
    return SimpleNamespace(
        clients=problem.clients,
        cohort=setting.cohort,
        sampling=setting.sampling,
        local_steps=setting.local_steps,
        step_sizes=setting.step_size,
    )
