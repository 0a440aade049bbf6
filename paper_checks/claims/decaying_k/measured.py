"""The four tasks as Tables 1 and 2 and Section 4.2 give them, in exact numbers."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from ...reported import table

_ONE = table("decaying_k", "Table 1")
_TWO = table("decaying_k", "Table 2")
_RATES = table("decaying_k", "Text 4.2")
DOWNLOAD = Fraction(_RATES["all", "download bandwidth D"].value)
UPLOAD = Fraction(_RATES["all", "upload bandwidth U"].value)
ROUNDS = int(table("decaying_k", "Text 3.5")["all", "rounds R"].value)
NAMES = ("Sent140", "FEMNIST", "CIFAR100", "Shakespeare")


@dataclass(frozen=True)
class MeasuredTask:
    """One row of Table 1 with its time per SGD step (s); the model's size in megabits."""

    size: Fraction
    clients: int
    cohort: int
    samples: int
    first_steps: int
    first_step_size: Fraction
    step_time: Fraction

    @property
    def communication(self) -> Fraction:
        """Seconds to download and upload the model once."""
        return self.size / DOWNLOAD + self.size / UPLOAD

    def computation(self, steps: int) -> Fraction:
        """Seconds of so many SGD steps."""
        return self.step_time * steps


def _task(name: str) -> MeasuredTask:
    def cell(column: str) -> Fraction:
        return Fraction(_ONE[name, column].value)

    return MeasuredTask(
        cell("Model size"),
        int(cell("Total clients")),
        int(cell("Clients per round")),
        int(cell("Samples per client")),
        int(cell("K_0")),
        cell("eta_0"),
        Fraction(_TWO[name, "beta"].value),
    )


TASKS: dict[str, MeasuredTask] = {name: _task(name) for name in NAMES}
