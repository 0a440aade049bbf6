"""Personalised methods: fine-tuning, FedRep and Ditto. Each stores the clients' personal models as rows of a memory.

``Algorithm.own_models(state)`` returns these rows for local metrics; before its first round, a client's row is the
initial model.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from torch import Tensor

from bounds.domains import COUNT, NONNEGATIVE

from ..errors import EmpiricsError
from .algorithm import Algorithm, fedavg, method, PlannedSteps, renamed, Rows, State, Work
from .layerwise import checked_head, head_columns, LocalModels, OwnStart
from .local import FixedSteps, Proximal

OWN = "personal"


@method()
def finetuned(algorithm: Algorithm = fedavg) -> Algorithm:
    """``algorithm`` with fine-tuned personal models: a client's last local model, before averaging.

    The server's model is that of ``algorithm``.
    """
    _refuse_personal("finetuned", algorithm)
    return replace(algorithm, remember=(*algorithm.remember, Rows(OWN)), personal=OWN)


def _refuse_personal(name: str, algorithm: Algorithm) -> None:
    """Raise if ``algorithm`` already has personal models."""
    if algorithm.personal:
        raise EmpiricsError(f"{name} needs a method without personal models; got {algorithm.name}")


# ---- FedRep ----


@dataclass(frozen=True)
class BodyOnly:
    """Everything but the head is averaged after every round."""

    head: str

    def averaged(self, work: Work) -> Tensor:
        return ~head_columns(work, self.head)


@dataclass(frozen=True)
class HeadSteps:
    """``head_steps`` steps for the head, then the planned steps for the body."""

    head_steps: int
    needs_loss: ClassVar[bool] = False

    def __call__(self, state: State, steps: int, step_size: float) -> tuple[int, float]:
        return self.head_steps + steps, step_size


@dataclass(frozen=True)
class HeadThenBody:
    """The head moves in the first steps, the body in the others."""

    head: str
    head_steps: int

    def phase(self, step: int) -> str:
        """Return the name of the part that the step trains; steps of the same phase train the same columns."""
        return "head" if step < self.head_steps else "body"

    def __call__(self, work: Work, step: int) -> Tensor:
        columns = head_columns(work, self.head)
        return columns if step < self.head_steps else ~columns


@method(head=checked_head, head_steps=COUNT)
def fedrep(head: str = "head", head_steps: int = 5) -> Algorithm:
    """FedRep (Collins et al. 2021): a shared body, a private head for every client.

    A round trains the head for ``head_steps`` steps with the body fixed, then the body for the planned steps with the
    head fixed (momentum is reset in between); the server averages the bodies. A client's personal model is the server's
    body with its own head; the head of the server's model, the mean of the active clients' heads, is never sent.
    """
    return replace(
        fedavg,
        start=OwnStart(OWN),
        steps=HeadSteps(head_steps),
        moves=HeadThenBody(head, head_steps),
        remember=(LocalModels(BodyOnly(head), OWN),),
        personal=OWN,
    )


# ---- Ditto ----


@method(weight=NONNEGATIVE, local_steps=COUNT)
def ditto(algorithm: Algorithm = fedavg, weight: float = 0.1, local_steps: int | None = None) -> Algorithm:
    """Ditto (Li et al. 2021): ``algorithm``, while every active client also trains a personal model near the server's.

    ``v <- v - eta (g(v) + weight (v - w^t))`` for ``local_steps`` steps (None: the planned number), on the batches of
    the round. The server's model is that of ``algorithm``, which does not use the personal ones.
    """
    _refuse_personal("ditto", algorithm)
    own = renamed(
        fedavg,
        "ditto's personal models",
        start=OwnStart(OWN),
        direction=Proximal(weight),
        steps=PlannedSteps() if local_steps is None else FixedSteps(local_steps),
        remember=(Rows(OWN),),
    )
    return replace(algorithm, also=own, personal=OWN)
