"""What an engine is: it runs the local steps of a round for the clients that take part."""

from __future__ import annotations

from typing import Protocol

from torch import Tensor

from ...algorithms.algorithm import Algorithm, Work
from ...federation.federation import Source
from ...models.model import Trainable
from ..setting import Setting


class Engine(Protocol):
    """Local steps of a cohort; all engines take the same batches, and on a CPU their numbers agree to the last bit."""

    def local(
        self, model: Trainable, federation: Source, algorithm: Algorithm, setting: Setting, work: Work
    ) -> tuple[Tensor, Tensor | None]:
        """The clients' models after their local steps ``(rows, dim)`` and, if asked for, their first losses.

        ``work`` says who trains, from which models and for how many steps; it is left as it is.
        """
        ...
