"""The setting of a run: rounds, cohort, local steps, step sizes and optimizer, whatever the algorithm."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..errors import EmpiricsError
from ..numbers import check_options
from .step_sizes import falling, harmonic

WEIGHTS = ("uniform", "samples")
CHOICES = {
    "sampling": ("without_replacement", "with_replacement", "bernoulli"),
    "client_weight": WEIGHTS,
    "average": ("renormalised", "unbiased"),
    "optimizer": ("sgd", "adamw"),
    "step_size_rule": ("constant", "harmonic"),
    "nesterov": (False, True),
}
"""The allowed values of the options that are not numbers."""


@dataclass(frozen=True)
class Setting:
    """A plan of ``rounds`` rounds, with ``cohort`` clients that take ``local_steps`` steps or ``local_epochs`` passes.

    Without either a round has the ``DEFAULTS`` number of steps; giving both is an error.

    ``sampling`` draws the cohort uniformly without replacement (Case II of FedALS), with replacement by the client
    weights (Case I: a client drawn m times trains once and counts m times), or each client independently with
    probability cohort/clients (bernoulli). ``client_weight`` weights clients equally or by samples.

    ``average`` applies to clients that were not drawn by weight: ``renormalised`` divides their weights by the sum over
    the cohort (as implementations do); ``unbiased`` uses weight * clients / cohort as printed for Case II (for
    Bernoulli sampling the inverse probability), whose sum is 1 in expectation only. Both are the same for uniform
    weights and a cohort of fixed size.

    ``optimizer`` takes the local steps; momentum and Adam's moments restart every round. ``weight_decay`` is added to
    the direction of an SGD step, and decoupled in ``adamw``; ``clip`` limits the direction's norm before that.
    ``step_size_decay`` multiplies the step size once a round. ``step_size_rule="harmonic"`` divides it by
    ``t/100 + 10``, where t counts local steps since the start, ``local_steps`` per round (FedALS's language model).
    With ``step_offset`` g, step t has ``step_size * g/(g + t)``: the classic ``scale/(g + t)``.
    """

    DEFAULTS: ClassVar[dict[str, int]] = {"local_steps": 5}
    """The values used for fields that are None."""

    rounds: int
    cohort: int
    batch: int = 32
    step_size: float = 0.05
    local_steps: int | None = None
    local_epochs: int | None = None
    step_size_decay: float = 1.0
    momentum: float = 0.0
    nesterov: bool = False
    weight_decay: float = 0.0
    clip: float | None = None
    sampling: str = "without_replacement"
    client_weight: str = "uniform"
    average: str = "renormalised"
    optimizer: str = "sgd"
    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-8
    step_size_rule: str = "constant"
    step_offset: float | None = None

    @classmethod
    def among(cls, clients: int, rounds: int, cohort: int | None = None, **others: Any) -> Setting:
        """Return a setting for this number of clients, all of which take part if no ``cohort`` is given."""
        return cls(rounds, clients if cohort is None else cohort, **others)

    def described(self, clients: int) -> str:
        """Return participation, rounds and local steps in words."""
        return f"{self.cohort} of {clients} clients, {self.sampling}; {self.rounds} rounds of {self.steps} steps"

    def __post_init__(self) -> None:
        check_options(vars(self))
        for name, known in CHOICES.items():
            if (value := getattr(self, name)) not in known:
                raise EmpiricsError(f"{name} must be one of {', '.join(map(str, known))}; got {value!r}")
        refuse_both(self.local_steps, self.local_epochs)
        if self.nesterov and not self.momentum:
            raise EmpiricsError("nesterov needs momentum > 0; got momentum 0")
        if self.optimizer == "adamw" and self.momentum:
            raise EmpiricsError(f"momentum belongs to sgd; adamw has beta1; got momentum {self.momentum:g}")
        moments = [n for n in ("beta1", "beta2", "epsilon") if getattr(self, n) != getattr(Setting, n)]
        if self.optimizer != "adamw" and moments:
            raise EmpiricsError(f"{' and '.join(moments)} would change nothing: only the optimizer adamw has them")
        if self.step_size_rule == "harmonic":
            self.refuse_epochs("step_size_rule harmonic counts local steps")
        if self.step_offset is not None:
            if self.step_size_rule != "constant":
                raise EmpiricsError(f"step_offset is a step_size_rule of its own; got {self.step_size_rule!r} too")
            self.refuse_epochs("step_offset counts local steps")

    def refuse_epochs(self, why: str) -> None:
        """Raise if the length of a round is in epochs; ``why`` says why steps are needed."""
        if self.local_epochs is not None:
            raise EmpiricsError(f"{why}: give local_steps instead of local_epochs")

    @property
    def steps(self) -> int:
        """The number of local steps of every round; raises for epochs, whose steps differ by client."""
        self.refuse_epochs("a common number of local steps is needed")
        return self.DEFAULTS["local_steps"] if self.local_steps is None else self.local_steps

    def planned(self, samples: np.ndarray) -> np.ndarray:
        """The local steps of a round for clients with ``samples (clients,)`` samples."""
        if self.local_epochs is None:
            return np.full(len(samples), self.steps)
        return -(-samples // self.batch) * self.local_epochs

    def check_cohort(self, clients: int) -> None:
        """Raise if the cohort exceeds the number of clients."""
        if self.sampling != "with_replacement" and self.cohort > clients:
            raise EmpiricsError(f"cohort must be <= clients; got {self.cohort} > {clients}")

    def sizes(self, round_: int, step_size: float, steps: int) -> np.ndarray:
        """The sizes of a round's local steps ``(steps,)``, of which ``step_size`` is the constant or first one."""
        if self.step_size_rule == "constant" and self.step_offset is None:
            return np.full(steps, step_size)
        iteration = round_ * self.steps + np.arange(steps)
        if self.step_offset is None:
            return harmonic(step_size, iteration)
        return falling(step_size, self.step_offset, iteration)


def refuse_both(local_steps: int | None, local_epochs: int | None) -> None:
    """Raise if a round's length is given twice."""
    if local_steps is not None and local_epochs is not None:
        raise EmpiricsError("a round has local_steps or local_epochs; got both")
