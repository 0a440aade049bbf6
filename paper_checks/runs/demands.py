"""What the assumptions of a bound require of federations and plans beyond inequalities."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from bounds.assumptions import (
    EXACT_GRADIENTS,
    IDENTICAL_CLIENTS,
    ONE_CLIENT,
    ONE_LOCAL_STEP,
    ONE_PARTICIPANT,
    UNIFORM_DISSIMILARITY,
)
from bounds.core import Bound

from .words import AVERAGE, WORDS


@dataclass(frozen=True)
class Demands:
    """Whether there is one client, one participant a round, one local step a round; whether gradients are exact.

    ``identical``: all clients have one loss; ``parallel``: their gradients differ by the same vector at every model;
    ``average``: the bound is on the average of a run's iterates.
    """

    one_client: bool
    one_participant: bool
    one_step: bool
    quiet: bool
    identical: bool
    parallel: bool
    average: bool

    @property
    def plan(self) -> dict[str, Any]:
        """The numbers of a plan that they fix, by the names of options."""
        asked = {"clients": self.one_client, "cohort": self.one_participant, "local_steps": self.one_step}
        return {name: 1 for name, one in asked.items() if one}


@lru_cache(maxsize=256)
def demands(bound: Bound) -> Demands:
    """The requirements of a bound."""
    assumed = {c.assumption for c in bound.conditions}
    words = {q.name for q in bound.quantities}
    target = WORDS.get(bound.target.name)
    return Demands(
        ONE_CLIENT in assumed,
        ONE_PARTICIPANT in assumed,
        ONE_LOCAL_STEP in assumed,
        EXACT_GRADIENTS in assumed,
        IDENTICAL_CLIENTS in assumed,
        UNIFORM_DISSIMILARITY in assumed or "uniform_dissimilarity" in words,
        target is not None and target.how == AVERAGE,
    )
