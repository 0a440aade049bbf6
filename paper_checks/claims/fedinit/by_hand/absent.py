"""Algorithm 1 on equal parabolas w^2/2, where absent clients keep their local models: four numbers a round, exactly.

Without noise a participant ends at a((1 + beta) w - beta last), a = (1 - eta)^K, and clients are alike: E w^2,
E w last_i, E last_i^2 and E last_i last_j follow from round to round, for any number of clients. The released code
averages moves instead of models.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate, repeat
from typing import Any

import sympy as sp

from bounds.fedinit.letters import B2, beta, C, D, Delta, Delta_next, eta, G2, g2, K, L, lam, mu, N, path2, sigma2, T
from bounds.vocabulary import final_divergence, initial_divergence, loss_decrease

from ...checkers.formulas import resolve
from ...claim import Book, fails, Finding, Grade, holds

Run = Callable[[Book], Finding]


@dataclass(frozen=True)
class EqualParabolas:
    """C, N, K, eta K L, beta, T and lambda; every client's loss is w^2/2 and the start is w = 1."""

    clients: int
    cohort: int
    local_steps: int
    speed: Fraction
    relaxation: Fraction
    rounds: int
    contraction: Fraction
    code: bool = False
    """Whether moves are averaged, as in the released code."""

    @property
    def shrink(self) -> Fraction:
        """What K local steps leave of a model."""
        return (1 - self.speed / self.local_steps) ** self.local_steps

    def words(self, noise: int = 0) -> dict[sp.Symbol, Any]:
        """The quantities of the bounds; with noise the run starts at the minimiser instead."""
        known = {
            C: self.clients, N: self.cohort, K: self.local_steps, eta: self.speed / self.local_steps, beta:
            self.relaxation, T: self.rounds, lam: self.contraction, L: 1, mu: 1, B2: 1, G2: 0, sigma2: noise,
            D: 0 if noise else Fraction(1, 2), initial_divergence: 0, final_divergence: 0,
        }  # fmt: skip
        return {quantity: sp.Rational(value) for quantity, value in known.items()}


FEW = EqualParabolas(100, 1, 2, Fraction(1, 400), Fraction(1, 10), 100, Fraction(1, 2))
"""One of 100 clients a round, beta = 1/10: the models grow."""
PLAIN = EqualParabolas(100, 1, 2, Fraction(1, 200), Fraction(0), 400, Fraction(4, 5))
"""FedAvg: absent clients hold models of older rounds."""
OLD = EqualParabolas(10, 1, 4, Fraction(1, 20), Fraction(0), 20, Fraction(1, 2))
"""FedAvg, one of ten clients: round 20 is the first in which Lemma 4's recursion fails."""
SWINGS = EqualParabolas(400, 40, 5, Fraction(1, 200), Fraction(1, 10), 61, Fraction(1, 2))
"""40 of 400 clients: in round 61 the server model passes the minimiser, moved by old models more than by gradients."""
TENTH = EqualParabolas(100, 10, 5, Fraction(1, 100), Fraction(1, 10), 60, Fraction(1, 2))
"""Ten of 100 clients, as in the experiments: round 60 is among those in which the loss rises."""
MOVES = EqualParabolas(1000, 1, 2, Fraction(1, 10_000), Fraction(47, 400), 300, Fraction(1, 20), code=True)
"""The released code, one of 1000 clients: the divergence rises faster than the loss falls."""
NOISY = EqualParabolas(100_000, 1, 2, Fraction(1, 200_000), Fraction(0), 1, Fraction(1, 2))
"""FedAvg from the minimiser with noise of variance 1 a step; any number of rounds is as long as another."""


@dataclass(frozen=True)
class Round:
    """E w^2, E w last_i, E last_i^2 and E last_i last_j before a round, and the expected squares that it makes."""

    plan: EqualParabolas
    server: Fraction = Fraction(1)
    cross: Fraction = Fraction(1)
    last: Fraction = Fraction(1)
    pair: Fraction = Fraction(1)

    def _start(self, other: Fraction) -> Fraction:
        """E s_i s_j of relaxed starts s = (1 + beta) w - beta last, ``other`` being E last_i last_j."""
        b = self.plan.relaxation
        return (1 + b) ** 2 * self.server - 2 * b * (1 + b) * self.cross + b**2 * other

    def _to_start(self, model: Fraction, last: Fraction) -> Fraction:
        """E x s_i from E x w and E x last_i."""
        return (1 + self.plan.relaxation) * model - self.plan.relaxation * last

    @property
    def divergence(self) -> Fraction:
        """Delta^t."""
        return self.last - 2 * self.cross + self.server

    @property
    def walked(self) -> Fraction:
        """E |sum of the gradients of all clients, were all to train|^2."""
        n, plan = self.plan.clients, self.plan
        whole = n * self._start(self.last) + n * (n - 1) * self._start(self.pair)
        return whole * ((1 - plan.shrink) * plan.local_steps / plan.speed) ** 2

    def _drawn(self) -> Fraction:
        """E |mean of the participants' starts|^2."""
        n = self.plan.cohort
        return (self._start(self.last) + (n - 1) * self._start(self.pair)) / n

    def step(self, kept: int) -> Fraction:
        """E |w^{t+1} - (1 - kept) w^t|^2: the server's step for 0, its next model for 1."""
        keep, move = self._server()
        keep += kept - 1
        to = self._to_start(self.server, self.cross)
        return keep**2 * self.server + 2 * keep * move * to + move**2 * self._drawn()

    def _server(self) -> tuple[int, Fraction]:
        """The next server model as keep times w plus move times the mean of the participants' starts."""
        return (1, self.plan.shrink - 1) if self.plan.code else (0, self.plan.shrink)

    def after(self) -> Round:
        plan, a, (keep, move) = self.plan, self.plan.shrink, self._server()
        c, n = plan.clients, plan.cohort
        share, both, one = (Fraction(x, c * (c - 1)) for x in (n * (c - 1), n * (n - 1), 2 * n * (c - n)))
        absent = keep * self.cross + move * self._to_start(self.cross, self.pair)
        present = a * (keep * self._to_start(self.server, self.cross) + move * self._drawn())
        mixed = a * self._to_start(self.cross, self.pair)
        return Round(
            plan,
            self.step(kept=1),
            share * present + (1 - share) * absent,
            share * a**2 * self._start(self.last) + (1 - share) * self.last,
            both * a**2 * self._start(self.pair) + one * mixed + (1 - both - one) * self.pair,
        )


@lru_cache(maxsize=4)
def rounds(plan: EqualParabolas) -> tuple[Round, ...]:
    """Before round 0 and after every one."""
    return tuple(accumulate(repeat(Round(plan), plan.rounds + 1), lambda before, _: before.after()))


def mean(plan: EqualParabolas, of: Callable[[Round], Fraction]) -> Fraction:
    """The mean over the rounds t < T."""
    return sum(map(of, rounds(plan)[:-1]), Fraction(0)) / plan.rounds


def last_round(plan: EqualParabolas) -> dict[sp.Symbol, Any]:
    """What statements on one round are told of the last one."""
    *_, before, end = rounds(plan)
    known = {
        Delta: before.divergence, Delta_next: end.divergence, g2: before.server, path2: before.walked,
        loss_decrease: (before.server - end.server) / 2,
    }  # fmt: skip
    return {quantity: sp.Rational(value) for quantity, value in known.items()}


def settled_divergence(plan: EqualParabolas) -> Fraction:
    """Limit of Delta^T at beta = 0 with N = 1 and noise of variance 1: 2v(1 - 1/C)/((1 + a)(1 - (1 - 1/C)a))."""
    keep, step = 1 - Fraction(1, plan.clients), plan.speed / plan.local_steps
    added = step**2 * sum((1 - step) ** (2 * k) for k in range(plan.local_steps))
    return 2 * added * keep / ((1 + plan.shrink) * (1 - keep * plan.shrink))


def exceeds(name: str, plan: EqualParabolas, measured: Callable[[EqualParabolas], Fraction], noise: int = 0) -> Run:
    """Whether what the bound is about exceeds it at a plan that meets its numeric conditions."""

    def run(book: Book) -> Finding:
        at, bound = plan.words(noise), book[name]
        at |= last_round(plan) if Delta in bound.quantities else {}
        unmet = [c.words for c, r in zip(bound.numeric_conditions, bound.relations, strict=True) if not r.subs(at)]
        if unmet:
            return fails(f"the witness breaks {'; '.join(unmet)}", as_audited=False)
        found, said = sp.Rational(measured(plan)), resolve(name, book).subs(at)
        if not found > said:
            return holds(f"{float(found):.4g} is at most {float(said):.4g}")
        shown = {"f_i": "w^2/2", "C": plan.clients, "N": plan.cohort, "K": plan.local_steps, "eta K L": plan.speed}
        shown |= {"beta": plan.relaxation, "lambda": plan.contraction} | ({} if noise else {"T": plan.rounds})
        shown |= {"sigma_l^2": noise, "start": "minimiser"} if noise else {"w^0": 1}
        return fails(f"{float(found):.4g} against {float(said):.4g}", shown)

    return run


def threshold(clients: int, cohort: int, shrink: Fraction) -> Fraction:
    """The relaxation from which on the expected models of the listing grow: a(1 + beta)(1 - N/C) = 1."""
    return clients / (shrink * (clients - cohort)) - 1


def collapses(book: Book) -> Finding:
    """Jury's conditions on the map of E w and E last_i, of the listing and of the released code.

    The roots of x^2 - trace x + det are inside the unit circle exactly while 1 - det, 1 - trace + det and
    1 + trace + det are positive. p is N/C, a what K steps leave, both between 0 and 1; b is the relaxation.
    """
    p, a, b = sp.symbols("p a b", positive=True)
    end = a * (1 + b), -a * b  # of a participant, as multiples of E w and of E last_i
    signs = {  # every summand is positive while b < 1, but for the first of all
        "listed": (end, (1 - a * (1 + b) * (1 - p), p * (1 - a), (2 - p) * (1 + a) + 2 * a * b * (1 - p))),
        "code": ((end[0] - b, end[1] + b), (
            p + (1 - p) * (1 - a) * (1 + b) + a * b * p, p * (1 - a) * (1 + b),
            4 * a * (1 - p) + (1 - b) * ((2 - p) * (1 - a) + 2 * a * p),
        )),
    }  # fmt: skip
    for variant, (server, shown) in signs.items():
        both = sp.Matrix([server, (p * end[0], 1 - p + p * end[1])])
        found = 1 - both.det(), 1 - both.trace() + both.det(), 1 + both.trace() + both.det()
        if any(sp.expand(one - other) != 0 for one, other in zip(found, shown, strict=True)):
            return fails(f"{variant}: Jury's conditions are on {found}", as_audited=False)
    at = {f"{n} of {c}": threshold(c, n, (1 - Fraction(1, 500)) ** 5) for c, n in ((100, 10), (200, 10))}
    told = "; ".join(f"{who}: {float(edge):.4g} at eta K L = 1/100" for who, edge in at.items())
    return holds(f"listed: stable exactly while a(1 + beta)(1 - N/C) < 1; code: for all beta < 1. {told}", Grade.PROVED)
