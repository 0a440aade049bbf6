"""Problems that know their constants: smoothness, strong convexity, exact local minimisers, exact population risk."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:  # who keeps the contract
    from numpy import ndarray
    from torch import Tensor

    from .facts import Problem
    from .problem import FederatedProblem
    from .quadratics import Quadratics

    KEEP: tuple[type[Problem[Tensor]], type[Problem[ndarray]]] = (FederatedProblem, Quadratics)
