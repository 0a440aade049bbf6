"""The eight schedules of Decaying-K's Table 3: local steps and step size of every round, and their cost.

A ``Schedule`` is two formulas; ``Schedule.plan`` evaluates them and returns a ``StepPlan``: the numbers of every
round with the total of SGD steps, the ratio that Theorem 1 needs and the wall-clock time by (5) or by (3) and (4).

>>> plan = SCHEDULES["k_rounds"].plan(rounds=64, initial_local_steps=60, initial_step_size=0.3)
>>> plan.local_steps[[0, 7, 26, 63]]
array([60, 30, 20, 15])
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import sympy as sp

from ..core import About, Bound, Condition
from ..domains import array_of, COUNT, Domain, NONNEGATIVE, POSITIVE
from ..errors import DomainError, MissingQuantityError
from ..numerics.functions import RoundUp
from ..quantities import Quantity
from ..vocabulary import plateau
from .letters import eta, eta_0, F_0, F_r, K, K_0, r
from .practice import PRACTICE_LETTERS
from .runtime import of, runtime

Array = np.ndarray


@dataclass(frozen=True)
class Schedule:
    """Local steps and step size as formulas of the round, the loss and whether the validation error has converged."""

    key: str
    title: str
    local_steps: sp.Expr
    step_size: sp.Expr
    place: str
    note: str = ""

    @cached_property
    def needs_losses(self) -> bool:
        return F_r in self.local_steps.free_symbols | self.step_size.free_symbols

    @cached_property
    def needs_plateau(self) -> bool:
        return plateau in self.local_steps.free_symbols | self.step_size.free_symbols

    @cached_property
    def steps_bound(self) -> Bound:
        """The local steps as a bound of the catalogue."""
        return self._bound("steps", K, self.local_steps)

    @cached_property
    def step_size_bound(self) -> Bound:
        """The step size as a bound of the catalogue."""
        return self._bound("step_size", eta, self.step_size)

    def _bound(self, what: str, target: Quantity, value: sp.Expr) -> Bound:
        losses = (
            Condition("the loss at the start is positive", F_0 > 0),
            Condition("the loss is nonnegative", F_r >= 0),
        )
        return Bound(
            **of(f"schedule_{self.key}_{what}", target, self.place, About("fedavg")),
            relation="=",
            terms={target.name.replace("_", " "): value},
            conditions=losses if F_r in value.free_symbols else (),
            letters=PRACTICE_LETTERS,
            note=self.note,
        )

    def plan(
        self,
        *,
        rounds: int,
        initial_local_steps: int,
        initial_step_size: float,
        losses: Sequence[float] | Array | None = None,
        initial_loss: float | None = None,
        plateau_round: int | None = None,
    ) -> StepPlan:
        """Return the numbers of rounds 1 to ``rounds``; arguments that a schedule does not use may be left out.

        ``losses`` is the loss at the start of every round, and ``initial_loss`` the one they are divided by (default:
        the first). ``plateau_round`` is the first round with the decayed value; a number beyond ``rounds`` means that
        the validation error never converges.
        """
        rounds = int(_scalar("rounds", rounds, COUNT))
        values = self._values(rounds, losses, initial_loss, plateau_round)
        values |= {K_0.name: initial_local_steps, eta_0.name: initial_step_size}
        for q in (K_0, eta_0):
            _scalar(q.name, values[q.name], q.card.domain)
        return StepPlan(
            local_steps=np.rint(self._rounds(self.steps_bound, rounds, values)).astype(np.int64),
            step_sizes=self._rounds(self.step_size_bound, rounds, values),
        )

    def _values(
        self, rounds: int, losses: Any, initial_loss: float | None, plateau_round: int | None
    ) -> dict[str, Any]:
        values: dict[str, Any] = {r.name: np.arange(1, rounds + 1)}
        if losses is not None:
            reported = _losses(losses, rounds)
            values |= {
                F_r.name: reported,
                F_0.name: reported[0] if initial_loss is None else _scalar(F_0.name, initial_loss, POSITIVE),
            }
        elif self.needs_losses:
            raise MissingQuantityError(f"schedule {self.key} needs losses: the loss at the start of each round")
        if plateau_round is not None:
            values[plateau.name] = values[r.name] >= _scalar("plateau_round", plateau_round, COUNT)
            values[plateau.name] = values[plateau.name].astype(float)
        elif self.needs_plateau:
            raise MissingQuantityError(
                f"schedule {self.key} needs plateau_round: the first round with the decayed value "
                "(beyond the last round if the validation error never converges)"
            )
        return values

    @staticmethod
    def _rounds(bound: Bound, rounds: int, values: dict[str, Any]) -> Array:
        used = {q.name: values[q.name] for q in bound.quantities}
        if F_0.name in used and not used[F_0.name] > 0:
            raise DomainError(f"{F_0.name} must be > 0 to divide by; got {used[F_0.name]:g}")
        return np.broadcast_to(np.asarray(bound(**used), dtype=float), (rounds,)).copy()


@dataclass(frozen=True, eq=False)
class StepPlan:
    """The ``local_steps`` (integers) and ``step_sizes`` of every round."""

    local_steps: Array
    step_sizes: Array

    @property
    def rounds(self) -> int:
        return len(self.local_steps)

    @property
    def total_steps(self) -> int:
        """The number of SGD steps of a client over all rounds, T in Theorem 1."""
        return int(self.local_steps.sum())

    @property
    def steps_cubed_ratio(self) -> float:
        return steps_cubed_ratio(self.local_steps)

    def runtime(self, *, model_size: Any, download_rate: Any, upload_rate: Any, minibatch_time: Any) -> Any:
        """Return the runtime in seconds by (5), if all clients have the same hardware."""
        return runtime(
            rounds=self.rounds,
            iterations=self.total_steps,
            model_size=model_size,
            download_rate=download_rate,
            upload_rate=upload_rate,
            minibatch_time=minibatch_time,
        )


def steps_cubed_ratio(local_steps: Any) -> float:
    """Return ``sum_r K_r^3 / sum_r K_r``, as in Theorem 1, without overflow."""
    steps = array_of(K.name, local_steps)
    if steps.ndim != 1:
        raise DomainError(f"local_steps must be a list with one number per round; got shape {steps.shape}")
    COUNT.check(K.name, steps)
    whole = [int(k) for k in steps]
    return sum(k**3 for k in whole) / sum(whole)


def _scalar(name: str, value: Any, domain: Domain) -> float:
    number = array_of(name, value)
    if number.ndim:
        raise DomainError(f"{name} must be one number; got {value!r}")
    domain.check(name, number)
    return float(number)


def _losses(losses: Any, rounds: int) -> Array:
    reported = array_of("losses", losses)
    if reported.shape != (rounds,):
        raise DomainError(f"losses must be one number for each of the {rounds} rounds; got shape {reported.shape}")
    NONNEGATIVE.check("losses", reported)
    return reported


_DECAYED = 10**plateau

SCHEDULES: dict[str, Schedule] = {
    s.key: s
    for s in (
        Schedule("dsgd", "dSGD", sp.S.One, eta_0, "Table 3, dSGD"),
        Schedule("k_eta_fixed", "Kη-fixed", K_0, eta_0, "Table 3, Kη-fixed"),
        Schedule("k_rounds", "K_r-rounds", RoundUp(K_0 / sp.cbrt(r)), eta_0, "Table 3, K_r-rounds, after eq. (10)"),
        Schedule(
            "k_error",
            "K_r-error",
            sp.Max(1, RoundUp(K_0 * sp.cbrt(F_r / F_0)), evaluate=False),
            eta_0,
            "eq. (13) and Table 3, K_r-error",
            "The print has no lower limit of 1, which matters only where the loss is 0: "
            "decaying_k.schedule_k_error_steps_printed.",
        ),
        Schedule(
            "k_step",
            "K_r-step",
            RoundUp(K_0 / _DECAYED),
            eta_0,
            "Table 3, K_r-step",
            "The print has no ceiling here; K_0 / 10 is rounded up where it is not an integer.",
        ),
        Schedule("eta_rounds", "η_r-rounds", K_0, eta_0 / sp.sqrt(r), "Table 3, η_r-rounds, after eq. (12)"),
        Schedule("eta_error", "η_r-error", K_0, eta_0 * sp.sqrt(F_r / F_0), "eq. (14) and Table 3, η_r-error"),
        Schedule("eta_step", "η_r-step", K_0, eta_0 / _DECAYED, "Table 3, η_r-step"),
    )
}

SCHEDULED = tuple(b for s in SCHEDULES.values() for b in (s.steps_bound, s.step_size_bound))

k_error_steps_printed = replace(
    SCHEDULES["k_error"].steps_bound,
    name="decaying_k.schedule_k_error_steps_printed",
    terms={"local steps": RoundUp(K_0 * sp.cbrt(F_r / F_0))},
    note="If the loss is 0 it gives no local step; decaying_k.schedule_k_error_steps gives one.",
)
