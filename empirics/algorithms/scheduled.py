"""Decaying-K: the eight schedules of local steps and step size, applied to any algorithm."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TYPE_CHECKING

import numpy as np

from bounds.domains import COUNT

from ..errors import EmpiricsError
from ..numbers import check_choice
from .algorithm import Algorithm, method, PlannedSteps, State

if TYPE_CHECKING:
    from bounds import Bound
    from bounds.decaying_k.schedules import Schedule


@dataclass(frozen=True)
class ScheduledSteps:
    """Local steps and step size of a round by the schedule ``key`` of Table 3.

    The current loss is the mean of the losses reported in the last ``window`` rounds, eq. (15), divided by the mean of
    the first window; until the first window is over, the schedule keeps its initial values. Step schedules decay at
    round ``plateau_round`` (counted from 1), if given. Otherwise they decay when ``stalled()`` returns True, or without
    that function when the best windowed loss has not improved by the relative ``tolerance`` for ``patience`` rounds:
    the paper decays once the validation error stops improving and gives no number. ``size_key`` is a different schedule
    for the step size, so that both decay.
    """

    key: str
    window: int = 100
    plateau_round: int | None = None
    patience: int = 100
    tolerance: float = 1e-3
    size_key: str = ""
    stalled: Callable[[], bool] | None = None

    @property
    def needs_losses(self) -> bool:
        return any(schedule.needs_losses for schedule in self._schedules)

    @property
    def needs_plateau(self) -> bool:
        return any(schedule.needs_plateau for schedule in self._schedules)

    @property
    def needs_loss(self) -> bool:
        return self.needs_losses or (self.needs_plateau and self.plateau_round is None and self.stalled is None)

    @property
    def _schedules(self) -> tuple[Schedule, Schedule]:
        """The schedule of the local steps and that of the step size."""
        return schedules()[self.key], schedules()[self.size_key or self.key]

    def __call__(self, state: State, steps: int, step_size: float) -> tuple[int, float]:
        return self.of_rounds(state.round + np.arange(1), state.losses, steps, step_size)[0]

    def of_rounds(
        self, rounds: np.ndarray, losses: Sequence[float], steps: int, step_size: float
    ) -> list[tuple[int, float]]:
        """Return the local steps and the step size of each of ``rounds``, given the losses up to the first of them."""
        current, first = self._losses(losses)
        values = {
            "round_index": rounds + 1,
            "initial_local_steps": steps,
            "initial_step_size": step_size,
            "current_loss": current,
            "initial_loss": first,
            "plateau": float(self._converged(int(rounds[0]) + 1, losses)),
        }
        bounds = self._schedules[0].steps_bound, self._schedules[1].step_size_bound
        local_steps, step_sizes = (np.broadcast_to(_evaluated(b, values), rounds.shape).tolist() for b in bounds)
        return [(round(k), eta) for k, eta in zip(local_steps, step_sizes, strict=True)]

    def _losses(self, losses: Sequence[float]) -> tuple[float, float]:
        """Return the windowed loss now and in the first window; both are 1 until the first window is over."""
        if not self.needs_losses or len(losses) <= self.window:
            return 1.0, 1.0
        current, first = (float(np.mean(part)) for part in (losses[-self.window :], losses[: self.window]))
        if not (np.isfinite(current) and np.isfinite(first)):
            return 1.0, 1.0  # the run is about to stop as diverged
        if first <= 0 or current < 0:
            raise EmpiricsError(
                f"schedule {self.key} needs a loss > 0 at first and never < 0; got {first:.3g}, then {current:.3g}"
            )
        return current, first

    def _converged(self, round_: int, losses: Sequence[float]) -> bool:
        if not self.needs_plateau:
            return False
        if self.plateau_round is not None:
            return round_ >= self.plateau_round
        if self.stalled is not None:
            return self.stalled()
        if len(losses) < self.window + self.patience:
            return False
        means = np.convolve(losses, np.full(self.window, 1 / self.window), mode="valid")
        best = np.minimum.accumulate(means)
        stalled = best[self.patience :] > (1 - self.tolerance) * best[: -self.patience]
        return bool(stalled.any())


def schedules() -> dict[str, Schedule]:
    """Return the schedules of Table 3 by name."""
    from bounds.decaying_k.schedules import SCHEDULES  # slow to import, and no other method needs it

    return SCHEDULES


def _evaluated(bound: Bound, values: dict[str, Any]) -> Any:
    """Return the formula's value; ``values`` may hold more quantities than it needs."""
    return bound.compile()(**{q.name: values[q.name] for q in bound.quantities})


def _schedule(where: str, name: Any) -> str:
    return check_choice(where, name, schedules())


@method("step_size", schedule=_schedule, window=COUNT, plateau_round=COUNT, patience=COUNT, step_size=_schedule)
def scheduled(
    algorithm: Algorithm,
    schedule: str = "k_rounds",
    window: int = 100,
    plateau_round: int | None = None,
    patience: int = 100,
    step_size: str | None = None,
) -> Algorithm:
    """``algorithm`` with its local steps and step size following a schedule of Table 3, such as ``k_rounds``.

    ``step_size`` is a different schedule for the step size, so that both decay: ``scheduled(fedavg(), 'k_rounds',
    step_size='eta_rounds')``. With local epochs, the initial number of local steps is that of the client's epochs.
    """
    if algorithm.steps != PlannedSteps():
        raise EmpiricsError(f"scheduled needs a method with the planned local steps; got {algorithm.name}")
    hook = ScheduledSteps(schedule, window, plateau_round, patience, size_key=step_size or "")
    return replace(algorithm, steps=hook)
