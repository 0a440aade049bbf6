"""A sampled inequality, decided by tests that may be looked at after every draw."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from bounds.quantities import quantities_of

from ..claim import Book, ClaimError, Finding, Grade, Status
from .formulas import Formula, resolve

STAKES = tuple(2.0**-k for k in range(1, 14))
"""Shares of the largest stake that the bets are spread over: small ones find small differences, late."""


@dataclass(frozen=True)
class DominatesSampled:
    """The expectation of a nonnegative random number is at most ``bound_value``.

    ``draws(seed)`` are independent draws of the number, one per seed. FAILS when a bet against the statement has
    multiplied its stake by 1/``error_rate``: a wealth that no true statement lets grow, whatever the law of the draws,
    so that a true one is called FAILS with probability at most ``error_rate``, however often one looks. HOLDS when a
    bet against the opposite (an expectation of at least the bound) has. That takes knowledge of the upper tail, as a
    rare huge number could raise any mean unseen: ``cap``, the largest possible value, or ``mean_square``, the largest
    possible expectation of the square. With neither it never HOLDS. OPEN after ``most`` draws.
    """

    bound_value: Formula | float
    draws: Callable[[int], float]
    error_rate: float = 0.05
    most: int = 2000
    cap: float | None = None
    mean_square: float | None = None

    def __call__(self, book: Book) -> Finding:
        bound = self._bound(book)
        against, below = _Bets(-bound), self._below(bound)
        seen: list[float] = []
        for seed in range(self.most):
            number = float(self.draws(seed))
            self._checked(number)
            seen.append(number)
            if against.grown(number - bound) >= 1 / self.error_rate:
                return self._said(Status.FAILS, seen, bound)
            if below is not None and below(number) >= 1 / self.error_rate:
                return self._said(Status.HOLDS, seen, bound)
        return self._said(Status.OPEN, seen, bound)

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
        if self.mean_square is not None and self.mean_square < bound**2:
            raise ClaimError(
                f"nothing to sample: a mean square of {self.mean_square:g} keeps the mean within {bound:g}"
            )
        if self.cap is not None and self.cap <= bound:
            raise ClaimError(
                f"nothing to sample: the largest possible value {self.cap:g} is within the bound {bound:g}"
            )
        return bound

    def _checked(self, number: float) -> None:
        cap = math.inf if self.cap is None else self.cap
        if not 0 <= number <= cap or math.isinf(number):
            raise ClaimError(f"draws must lie between 0 and {cap:g}; got {number:g}")

    def _below(self, bound: float) -> Callable[[float], float] | None:
        """The wealth, after each number, of a bet that the expectation is below the bound."""
        if self.cap is not None:
            bets = _Bets(bound - self.cap)
            return lambda number: bets.grown(bound - number)
        if self.mean_square is not None:
            return _SmallBets(bound, self.mean_square).grown
        return None

    def _said(self, status: Status, seen: list[float], bound: float) -> Finding:
        error = float(np.std(seen, ddof=1)) / len(seen) ** 0.5 if seen[1:] else 0.0
        mean = float(np.mean(seen))
        said = f"mean {mean:.4g} (standard error {error:.2g}) of {len(seen)} draws against bound {bound:.6g}"
        if status is Status.OPEN:
            known = self.cap is not None or self.mean_square is not None
            tail = "" if known else "; nothing is known of the upper tail, so that no number of draws could confirm it"
            return Finding(status, Grade.SAMPLED, f"{said}: not decided at an error rate of {self.error_rate:g}{tail}")
        said += f"; decided by a bet at an error rate of {self.error_rate:g}, looks after every draw included"
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
        return _mean_wealth(self._logs)


class _SmallBets:
    """The wealth of bets that the mean of nonnegative numbers is below ``bound``, whose mean square is at most known.

    As exp(-x) <= 1 - x + x^2/2 for x >= 0, the expectation of exp(-stake * number) is at most 1 - stake * bound +
    stake^2 * mean_square / 2 if the mean is at least the bound; each bet multiplies its wealth by one over the other.
    """

    def __init__(self, bound: float, mean_square: float) -> None:
        self._stakes = np.array(STAKES) * 2 / bound
        self._fair = np.log(1 - self._stakes * bound + self._stakes**2 * mean_square / 2)
        self._logs: Any = np.zeros(len(STAKES))

    def grown(self, number: float) -> float:
        """The wealth after one more number."""
        self._logs += -self._stakes * number - self._fair
        return _mean_wealth(self._logs)


def _mean_wealth(logs: Any) -> float:
    top = float(logs.max())
    return math.exp(min(top, 700.0)) * float(np.exp(logs - top).mean())
