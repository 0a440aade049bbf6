"""Algorithm 1 on equal parabolas w^2/2, where absent clients keep their local models: exact expectations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, TYPE_CHECKING

import sympy as sp

from bounds.fedinit.letters import B2, beta, C, D, Delta, Delta_next, eta, G2, g2, K, L, lam, mu, N, path2, sigma2, T
from bounds.vocabulary import final_divergence, initial_divergence, loss_decrease

from ..checkers.formulas import resolve
from ..claim import Book, Check, fails, Finding, Grade, holds

if TYPE_CHECKING:
    from empirics.exact import Run


@dataclass(frozen=True)
class EqualParabolas:
    """C, N, K, eta K L, beta (a decimal), T and lambda; every client's loss is w^2/2.

    The start is w = 1; with ``noise``, the variance of a gradient, it is the minimiser.
    """

    clients: int
    cohort: int
    local_steps: int
    speed: Fraction
    relaxation: Fraction
    rounds: int
    contraction: Fraction
    code: bool = False
    """Whether moves are averaged, as in the released code."""
    noise: int = 0

    @cached_property
    def run(self) -> Run:
        from empirics.exact import expected, Group
        from empirics.training.setting import Setting

        step_size: Any = self.speed / self.local_steps
        return expected(
            f"fedinit(beta={float(self.relaxation)}, reading={'code' if self.code else 'intended'!r})",
            [Group(1, 0, self.noise, self.clients)],
            0 if self.noise else 1,
            Setting(self.rounds, self.cohort, local_steps=self.local_steps, step_size=step_size),
        )

    @property
    def quantities(self) -> dict[sp.Symbol, Any]:
        """The quantities of the bounds on a whole run."""
        known = {
            C: self.clients, N: self.cohort, K: self.local_steps, eta: self.speed / self.local_steps, beta:
            self.relaxation, T: self.rounds, lam: self.contraction, L: 1, mu: 1, B2: 1, G2: 0, sigma2: self.noise,
            D: 0 if self.noise else Fraction(1, 2), initial_divergence: 0, final_divergence: 0,
        }  # fmt: skip
        return {quantity: sp.Rational(value) for quantity, value in known.items()}

    @property
    def last_round(self) -> dict[sp.Symbol, Any]:
        """The quantities of the bounds on one round, in the last one."""
        server, rounds = self.run.server, self.run.rounds
        known = {
            Delta: server["divergence"][-2], Delta_next: server["divergence"][-1], g2: server["grad_norm_sq"][-2],
            path2: rounds["summed_grad_norm_sq"][-1], loss_decrease: rounds["loss_decrease"][-1],
        }  # fmt: skip
        return {quantity: sp.Rational(value) for quantity, value in known.items()}

    @property
    def settled_divergence(self) -> Fraction:
        """Limit of Delta^T at beta = 0 with N = 1 and noise of variance 1: 2v(1 - 1/C)/((1 + a)(1 - (1 - 1/C)a))."""
        keep, step = 1 - Fraction(1, self.clients), self.speed / self.local_steps
        added = step**2 * sum((1 - step) ** (2 * k) for k in range(self.local_steps))
        shrink = (1 - step) ** self.local_steps
        return 2 * added * keep / ((1 + shrink) * (1 - keep * shrink))


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
NOISY = EqualParabolas(100_000, 1, 2, Fraction(1, 200_000), Fraction(0), 1, Fraction(1, 2), noise=1)
"""FedAvg from the minimiser with noise; any number of rounds is as long as another."""


def exceeds(name: str, plan: EqualParabolas, measured: Callable[[EqualParabolas], Fraction]) -> Check:
    """Whether what a bound limits exceeds it in a run that meets its numeric conditions."""

    def run(book: Book) -> Finding:
        bound = book[f"fedinit.{name}"]
        at = plan.quantities | (plan.last_round if Delta in bound.quantities else {})
        unmet = [c.words for c, r in zip(bound.numeric_conditions, bound.relations, strict=True) if not r.subs(at)]
        if unmet:
            return fails(f"the witness breaks {'; '.join(unmet)}", as_audited=False)
        found, said = sp.Rational(measured(plan)), resolve(bound.name, book).subs(at)
        if not found > said:
            return holds(f"{float(found):.4g} is at most {float(said):.4g}")
        shown = {"f_i": "w^2/2", "C": plan.clients, "N": plan.cohort, "K": plan.local_steps, "eta K L": plan.speed}
        shown |= {"beta": plan.relaxation, "lambda": plan.contraction} | ({} if plan.noise else {"T": plan.rounds})
        shown |= {"sigma_l^2": plan.noise, "start": "minimiser"} if plan.noise else {"w^0": 1}
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
