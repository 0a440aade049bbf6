"""A federation with its plan: the values that bounds take there, and the facts that decide assumptions."""

from __future__ import annotations

from functools import cached_property
from types import SimpleNamespace
from typing import Any, TYPE_CHECKING

import numpy as np

from .identities import FEDAVG
from .one_machine import one_machine
from .scenario_mapping import ScenarioMapping
from .substituting import first_pair, missing, substitute, Substituted

if TYPE_CHECKING:
    from .core import Bound


class Scenario(ScenarioMapping):
    """A federation, its plan and its costs, by name of quantity. Immutable: made with ``of``, changed with ``at``.

    >>> s = Scenario.of(clients=10, cohort=4, local_steps=3, rounds=20, step_size=0.05)
    >>> print(s["iterations"])
    60; chosen: local_steps*rounds (the same step size and local steps in every round)
    >>> s.at(local_steps=5)["iterations"].value
    100.0
    """

    # ---- in a bound ----

    def missing(self, bound: Bound) -> dict[str, str]:
        """Return the quantities that the bound needs and this scenario lacks, each with how to give it."""
        return missing(self, bound)

    def substituted(self, bound: Bound) -> Substituted:
        """Evaluate the bound at this scenario; see ``bounds.substituting``."""
        return substitute(self, bound)

    def values(self, bound: Bound) -> dict[str, Any]:
        """Return the arguments with which ``bound(**values)`` is valid here: the safe value of every quantity.

        Raises ``BoundsError`` if quantities are missing.
        """
        return dict(self.substituted(bound).values)

    # ---- for assumptions ----

    @cached_property
    def facts(self) -> tuple[SimpleNamespace, SimpleNamespace, SimpleNamespace]:
        """The problem, algorithm and setting, as objects whose attributes assumptions check; unknown ones are absent.

        FedAvg counts as FedInit without relaxation and as FedCOG with distillation weight 0, where all clients hold the
        same (unused) generated data.
        """
        problem = {word: self[word].safe for word in PROBLEM_FACTS if word in self}
        problem = {word: value if np.ndim(value) == 0 else max(value) for word, value in problem.items()}
        if "optimal_loss" in self or "initial_gap" in self:
            problem["lower_bound"] = self["optimal_loss"].value if "optimal_loss" in self else 0.0
        if "strong_convexity" in self:
            problem["convex"] = True
        if any(word in self and np.max(self[word].low) > 0 for word in ("heterogeneity", "optimum_dissimilarity")):
            problem["identical_clients"] = False
        if "uniform_dissimilarity" in self:
            apart = self["uniform_dissimilarity"]
            problem |= {"identical_clients": True} if apart.safe == 0 and not apart.only_estimated else {}
            problem |= {"identical_clients": False} if apart.low > 0 else {}
        if problem.get("gradient_variance") == 0:
            problem["independent_noise"] = True
        if "clients" in self and self["clients"].value == 1:
            problem |= {"identical_clients": True, "independent_noise": True}
        if "dissimilarity_offset" not in self and (pair := first_pair(self)):
            problem["dissimilarity_offset"] = pair.offset
        setting: dict[str, Any] = {w: self[w].value for w in ("clients", "cohort", "local_steps") if w in self}
        if "step_size" in self:
            setting["step_sizes"] = self["step_size"].value
            setting["iteration_step_sizes"] = (self["step_size"].value,) * 3  # constant: a plan has one step size
        setting["sampling"] = self.sampling
        plain = self.base == FEDAVG
        method: dict[str, Any] = {"local_sgd": plain, "exact_local_solver": False, "relaxed_start": plain}
        if self["distillation_weight"].value == 0:
            method["shared_generated_data"] = True
        return SimpleNamespace(**problem), SimpleNamespace(**method), SimpleNamespace(**setting)

    @cached_property
    def machine(self) -> tuple[Scenario, tuple[str, ...]] | None:
        """The equivalent run of SGD on one machine with the assumptions of that view, or None if there is none."""
        return one_machine(self)


PROBLEM_FACTS = (
    "smoothness", "strong_convexity", "pl_constant", "lipschitz", "gradient_variance", "grad_cap_sq",
    "dissimilarity_offset", "loss_cap", "sample_smoothness", "uniform_dissimilarity",
)  # fmt: skip
