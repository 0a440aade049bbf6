"""Algorithm 1 on equal parabolas w^2/2, where absent clients keep their local models: two or three numbers a round.

Without noise a participant ends at a((1 + beta) w - beta last), a = (1 - eta)^K, and a client takes part with chance
N/C. Expectations of both models follow from that alone, for any number of clients; the square of an expectation is at
most the expected square, so they bound from below what the theorems bound from above.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import sympy as sp

from bounds.vocabulary import final_divergence, initial_divergence

from ...checkers.formulas import resolve
from ...claim import Book, fails, Finding, holds
from ..common import B2, beta, C, D, Delta, eta, G2, g2, K, L, lam, mu, N, path2, sigma2, T

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
"""One of 100 clients a round, beta = 1/10: the expected model grows."""
PLAIN = EqualParabolas(100, 1, 2, Fraction(1, 200), Fraction(0), 400, Fraction(4, 5))
"""FedAvg: absent clients hold models of older rounds."""
OLD = EqualParabolas(10, 1, 4, Fraction(1, 20), Fraction(0), 20, Fraction(1, 2))
"""FedAvg, one of ten clients: round 20 is the first in which Lemma 4's recursion fails."""
NOISY = EqualParabolas(100_000, 1, 2, Fraction(1, 200_000), Fraction(0), 1, Fraction(1, 2))
"""FedAvg from the minimiser with noise of variance 1 a step; any number of rounds is as long as another."""


def expected(plan: EqualParabolas) -> list[tuple[Fraction, Fraction]]:
    """Expectations of the server model and of a client's last local model before round 0 and after every round."""
    share, server, last = Fraction(plan.cohort, plan.clients), Fraction(1), Fraction(1)
    found = [(server, last)]
    for _ in range(plan.rounds):
        server = plan.shrink * ((1 + plan.relaxation) * server - plan.relaxation * last)
        last += share * (server - last)
        found.append((server, last))
    return found


def mean_gradient(plan: EqualParabolas) -> Fraction:
    """At most the mean of E|grad f(w^t)|^2 over t < T."""
    return sum((server**2 for server, _ in expected(plan)[:-1]), Fraction(0)) / plan.rounds


def last_gap(plan: EqualParabolas) -> Fraction:
    """At most E f(w^T)."""
    return expected(plan)[-1][0] ** 2 / 2


def last_divergence(plan: EqualParabolas) -> Fraction:
    """At most Delta^T."""
    server, last = expected(plan)[-1]
    return (server - last) ** 2


def divergences(plan: EqualParabolas) -> list[Fraction]:
    """Delta^0 to Delta^T at beta = 0, where the server model is a^t: exactly."""
    share, server, last, square = Fraction(plan.cohort, plan.clients), Fraction(1), Fraction(1), Fraction(1)
    found = []
    for _ in range(plan.rounds + 1):
        found.append(square - 2 * last * server + server**2)
        server *= plan.shrink
        last, square = last + share * (server - last), square + share * (server**2 - square)
    return found


def mean_divergence(plan: EqualParabolas) -> Fraction:
    """The mean of Delta^t over t < T at beta = 0."""
    return sum(divergences(plan)[:-1], Fraction(0)) / plan.rounds


def as_round_begins(plan: EqualParabolas) -> dict[sp.Symbol, Any]:
    """What the recursion of Lemma 4 asks of the last round at beta = 0, the gradients of all clients added up."""
    server, step = plan.shrink ** (plan.rounds - 1), plan.speed / plan.local_steps
    walked = plan.clients * server * (1 - plan.shrink) / step
    known = {Delta: divergences(plan)[-2], g2: server**2, path2: walked**2}
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
        at |= as_round_begins(plan) if Delta in bound.quantities else {}
        unmet = [c.words for c, r in zip(bound.numeric_conditions, bound.relations, strict=True) if not r.subs(at)]
        if unmet:
            return fails(f"the witness breaks {'; '.join(unmet)}", as_audited=False)
        found, said = sp.Rational(measured(plan)), resolve(name, book).subs(at)
        if not found > said:
            return holds(f"{float(found):.4g} is at most {float(said):.4g}")
        shown = {"f_i": "w^2/2", "C": plan.clients, "N": plan.cohort, "K": plan.local_steps, "eta K L": plan.speed}
        shown |= {"beta": plan.relaxation, "lambda": plan.contraction} | ({} if noise else {"T": plan.rounds})
        shown |= {"sigma_l^2": noise, "start": "minimiser"} if noise else {"w^0": 1}
        return fails(f"at least {float(found):.4g} against {float(said):.4g}", shown)

    return run


def threshold(plan: EqualParabolas) -> Fraction:
    """The relaxation from which on the expected models grow: a(1 + beta)(1 - N/C) is the product of their two rates.

    The other condition of stability, a < 1, does not contain beta.
    """
    return plan.clients / (plan.shrink * (plan.clients - plan.cohort)) - 1


def collapses(book: Book) -> Finding:
    """Ten clients of 100: the threshold and the expected model after 2000 rounds on both sides of it."""
    plan = EqualParabolas(100, 10, 5, Fraction(1, 100), Fraction(0), 2000, Fraction(1, 2))
    least, most = (threshold(replace(plan, clients=c, speed=Fraction(1, 10**9))) for c in (200, 100))
    far = {b: _far(replace(plan, relaxation=Fraction(b))) for b in ("1/10", "3/20")}
    if not (Fraction(1, 10) < threshold(plan) < Fraction(3, 20) and far["1/10"] < 1 < far["3/20"]):
        return fails(f"threshold {float(threshold(plan)):.4g}", far, as_audited=False)
    return holds(
        f"10 of 100: {float(most):.4g} as the step vanishes, {float(threshold(plan)):.4g} at eta K L = 1/100, where "
        f"after 2000 rounds E w is {far['1/10']:.1e} at beta = 0.1 and {far['3/20']:.1e} at 0.15; 10 of 200: "
        f"{float(least):.4g}"
    )


def _far(plan: EqualParabolas) -> float:
    """|E w| after the last round, in floating point."""
    server = last = 1.0
    for _ in range(plan.rounds):
        server = float(plan.shrink) * ((1 + float(plan.relaxation)) * server - float(plan.relaxation) * last)
        last += plan.cohort / plan.clients * (server - last)
    return abs(server)
