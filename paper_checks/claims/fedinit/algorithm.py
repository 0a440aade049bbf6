"""Algorithm 1: its lines in plain loops, the identity (15), the released code, and what the relaxed start does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, TYPE_CHECKING

import sympy as sp

from ..claim import Book, fails, Finding, Grade, holds, judged

if TYPE_CHECKING:
    from empirics.exact import PlayedRound

CURVATURES = (Fraction(1, 2), Fraction(2), Fraction(5, 4))
MINIMA = (Fraction(3), Fraction(-1), Fraction(1, 3))
Cohorts = Sequence[tuple[int, ...]]


def _played(beta: Fraction, cohorts: Cohorts, reading: str = "intended") -> list[PlayedRound]:
    """Algorithm 1, or the released ``code``, on three parabolas without noise: three steps of 1/10 a round from 7/5."""
    from empirics.algorithms.relaxed import fedinit, RelaxedStart
    from empirics.exact import play

    start: Any = beta
    slopes = [lambda x, h=h, m=m: h * (x - m) for h, m in zip(CURVATURES, MINIMA, strict=True)]
    method = replace(fedinit(reading=reading), start=RelaxedStart(start))
    return play(method, slopes, Fraction(7, 5), cohorts, local_steps=3, step_size=Fraction(1, 10))


def identity(book: Book, participants: bool, reading: str = "intended") -> Finding:
    """w^{t+1} - w_{i,K}^t against beta (w_{i,K}^{t-1} - w^t) + (w^{t+1} - w^t) + what the gradients added."""
    beta, cohorts = Fraction(1, 7), ((0, 1, 2), (1, 2), (0,))
    rounds = _played(beta, cohorts, reading)
    for cohort, before, after in zip(cohorts, rounds, rounds[1:], strict=False):
        w, last, then, ends = before.model[0], before.memory["last"][:, 0], after.model[0], after.memory["last"][:, 0]
        for i in cohort if participants else range(3):
            steps = w + beta * (w - last[i]) - ends[i] if i in cohort else Fraction(0)
            left, right = then - ends[i], beta * (last[i] - w) + (then - w) + steps
            if left != right:
                at = {"participants": cohort, "client": i, "left": left, "right": right}
                return fails(f"client {i} of cohort {cohort}: {left} against {right}", at, i not in cohort)
    return holds(f"exact for every {'participant' if participants else 'client'} in three rounds")


def code(book: Book, cohorts: Cohorts) -> Finding:
    beta = Fraction(1, 10)
    both = zip(_played(beta, cohorts), _played(beta, cohorts, "code"), strict=True)
    for r, (listed, code) in enumerate(both):
        if (one := listed.model[0]) != (other := code.model[0]):
            said = f"after round {r} the model is {float(other):.6g} in the code, {float(one):.6g} as listed"
            return fails(said, {"cohorts": cohorts, "beta": beta}, r == 2)
    return holds(f"equal in {len(cohorts)} rounds")


def closed_form(book: Book) -> Finding:
    """Two clients of equal curvature: the limit of Algorithm 1's divergence against the closed form."""
    from empirics.exact import expected, FLOATS, Group
    from empirics.training.setting import Setting

    shrink, setting = 0.9**4, Setting(rounds=60, cohort=2, local_steps=4, step_size=0.1)
    for beta in (-0.3, 0.0, 0.1, 0.6):
        run = expected(f"fedinit(beta={beta})", [Group(1, 1), Group(1, -3)], 0.5, setting, FLOATS)
        found = float(run.server["divergence"][-1])
        wanted = (2 * (1 - shrink) / (1 + beta * shrink)) ** 2
        if abs(found / wanted - 1) > 1e-8:
            return fails(f"{found:.8g} against {wanted:.8g}", {"beta": beta})
    return holds("the limit is ((1-q) delta/(1 + beta q))^2 for beta = -0.3, 0, 0.1, 0.6", Grade.SEARCHED)


def noisy(book: Book, minima: int) -> Finding:
    """Clients (w -/+ m)^2/2 in every round, K = 1, eta = 1/2, noise 1: the limit of the divergence at beta = 0 and
    1/10."""

    def settled(beta: Fraction) -> Fraction:
        shrink = added = Fraction(1, 2)  # q = 1 - eta; noise of variance eta^2 in each of two clients
        return (minima * (1 - shrink) / (1 + beta * shrink)) ** 2 + added**2 / 2 / (1 - (beta * shrink) ** 2)

    plain, relaxed = settled(Fraction(0)), settled(Fraction(1, 10))
    at = {"f_i": f"(w -/+ {minima})^2/2", "C = N": 2, "K": 1, "eta": "1/2", "sigma_l^2": 1, "beta": "1/10"}
    return judged(relaxed < plain, f"the divergence converges to {relaxed}, at beta = 0 at {plain}", at)


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
    shrink = (1 - Fraction(1, 500)) ** 5
    edges = {f"{n} of {c}": c / (shrink * (c - n)) - 1 for c, n in ((100, 10), (200, 10))}
    told = "; ".join(f"{who}: {float(edge):.4g} at eta K L = 1/100" for who, edge in edges.items())
    return holds(f"listed: stable exactly while a(1 + beta)(1 - N/C) < 1; code: for all beta < 1. {told}", Grade.PROVED)
