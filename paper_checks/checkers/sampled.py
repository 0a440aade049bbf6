"""A sampled inequality, decided by tests that may be looked at after every draw."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from bounds.quantities import quantities_of

from ..claims import Book, ClaimError, Finding, Grade, Status
from .formulas import Formula, resolve

STAKES = tuple(2.0**-k for k in range(1, 14))
"""Shares of the largest stake that the bets are spread over: small ones find small differences, late."""
FIRST_LOOK = 20
"""Draws before the first t test; then at every doubling."""


@dataclass(frozen=True)
class DominatesSampled:
    """The expectation of a nonnegative random number is at most ``bound_value``.

    ``draws(seed)`` are independent draws of the number, one per seed. FAILS when a bet against the statement has
    multiplied its stake by 1/``error_rate``: a wealth process that no true statement lets grow, whatever the law of the
    draws, so that a true one is called FAILS with probability at most ``error_rate``, however often one looks. HOLDS
    when a bet against the opposite (an expectation of at least the bound) has; that takes the largest possible value
    ``cap``. Without one, t tests at 20, 40, 80, ... draws share the error rate (1/2, 1/4, ... of it), which is right
    where means are nearly normal. OPEN after ``most`` draws.
    """

    bound_value: Formula | float
    draws: Callable[[int], float]
    error_rate: float = 0.05
    most: int = 2000
    cap: float | None = None

    def __call__(self, book: Book) -> Finding:
        bound = self._bound(book)
        against, below, seen = _Bets(-bound), self._below(bound), []
        for seed in range(self.most):
            number = float(self.draws(seed))
            self._checked(number)
            seen.append(number - bound)
            if against.grown(seen[-1]) >= 1 / self.error_rate:
                return self._said(Status.FAILS, seen, bound, "a bet against it")
            if below(seen):
                return self._said(Status.HOLDS, seen, bound, "a bet on it" if self.cap is not None else "t tests")
        return self._said(Status.OPEN, seen, bound, "")

    def _bound(self, book: Book) -> float:
        formula = self.bound_value
        if isinstance(formula, float):
            bound = formula
        else:
            expression = resolve(formula, book)
            if left := quantities_of([expression]):
                raise ClaimError(f"the bound is no number: {', '.join(q.name for q in left)} have no value")
            bound = float(expression)
        if not (0 < bound < math.inf) or not 0 < self.error_rate < 1 or self.most < 1:
            raise ClaimError(f"a sampled bound, its error rate and most draws must be positive; got {bound:g}")
        if self.cap is not None and self.cap <= bound:
            raise ClaimError(
                f"nothing to sample: the largest possible value {self.cap:g} is within the bound {bound:g}"
            )
        return bound

    def _checked(self, number: float) -> None:
        if not 0 <= number <= (math.inf if self.cap is None else self.cap) or math.isinf(number):
            raise ClaimError(f"draws must lie between 0 and {self.cap or 'infinity'}; got {number:g}")

    def _below(self, bound: float) -> Callable[[list[float]], bool]:
        """Whether the draws so far show that the expectation is below the bound."""
        if self.cap is None:
            looks = _looks(self.error_rate)
            due = [next(looks)]
            return lambda seen: self._tested(seen, due, looks)
        bets = _Bets(bound - self.cap)
        return lambda seen: bets.grown(-seen[-1]) >= 1 / self.error_rate

    def _tested(self, seen: list[float], due: list[tuple[int, float]], looks: Iterator[tuple[int, float]]) -> bool:
        draws, rate = due[0]
        if len(seen) < draws:
            return False
        due[0] = next(looks)
        return _significant([-x for x in seen], rate)

    def _said(self, status: Status, seen: list[float], bound: float, how: str) -> Finding:
        mean, error = float(np.mean(seen)) + bound, float(np.std(seen, ddof=1) / len(seen) ** 0.5) if seen[1:] else 0.0
        said = f"mean {mean:.4g} (standard error {error:.2g}) of {len(seen)} draws against bound {bound:.6g}"
        if status is Status.OPEN:
            return Finding(status, Grade.SAMPLED, f"{said}: not decided at an error rate of {self.error_rate:g}")
        said += f"; decided by {how} at an error rate of {self.error_rate:g}, looks after every draw included"
        witness = {"mean": f"{mean:.6g}", "draws": str(len(seen))} if status is Status.FAILS else {}
        return Finding(status, Grade.SAMPLED, said, witness)


class _Bets:
    """The wealth of bets that the mean of numbers which are never below ``low`` < 0 is positive.

    Each bet multiplies its wealth by 1 + stake * number with a stake of at most 1/|low|. If the mean is not positive,
    that is at most 1 in expectation, so the mean wealth over the stakes exceeds W at any time with chance at most 1/W.
    """

    def __init__(self, low: float) -> None:
        self._stakes = np.array(STAKES) / abs(low)
        self._logs: Any = np.zeros(len(STAKES))

    def grown(self, number: float) -> float:
        """The wealth after one more number."""
        self._logs += np.log1p(self._stakes * number)
        top = float(self._logs.max())
        return math.exp(min(top, 700.0)) * float(np.exp(self._logs - top).mean())


def _looks(error_rate: float) -> Iterator[tuple[int, float]]:
    """After how many draws there is a test, and its share of the error rate."""
    draws, rate = FIRST_LOOK, error_rate / 2
    while True:
        yield draws, rate
        draws, rate = 2 * draws, rate / 2


def _significant(numbers: list[float], rate: float) -> bool:
    """A one-sided t test that the mean is positive."""
    from scipy import stats

    error = float(np.std(numbers, ddof=1)) / len(numbers) ** 0.5
    mean = float(np.mean(numbers))
    if error == 0:
        return mean > 0
    return mean > float(stats.t.isf(rate, len(numbers) - 1)) * error
