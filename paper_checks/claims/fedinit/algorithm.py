"""Algorithm 1: the identity (15), the released code, and the effect of the relaxed start."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, TYPE_CHECKING

import sympy as sp

from ..claim import Book, fails, Finding, finding, Grade, holds

if TYPE_CHECKING:
    from empirics.exact import PlayedRound

CURVATURES = (Fraction(1, 2), Fraction(2), Fraction(5, 4))
MINIMA = (Fraction(3), Fraction(-1), Fraction(1, 3))
Cohorts = Sequence[tuple[int, ...]]


def _played(beta: Fraction, cohorts: Cohorts, reading: str = "intended") -> list[PlayedRound]:
    """Run Algorithm 1, or the released ``code``, on three parabolas without noise: three steps of 1/10 from 7/5."""
    from empirics.algorithms.relaxed import fedinit, RelaxedStart
    from empirics.exact import play

    start: Any = beta
    slopes = [lambda x, h=h, m=m: h * (x - m) for h, m in zip(CURVATURES, MINIMA, strict=True)]
    method = replace(fedinit(reading=reading), start=RelaxedStart(start))
    return play(method, slopes, Fraction(7, 5), cohorts, local_steps=3, step_size=Fraction(1, 10))


def identity(book: Book, participants: bool, reading: str = "intended") -> Finding:
    """(15) holds for every client, or for ``participants`` alone, in three rounds of three clients."""
    beta, cohorts = Fraction(1, 7), ((0, 1, 2), (1, 2), (0,))
    rounds = _played(beta, cohorts, reading)
    for cohort, before, after in zip(cohorts, rounds, rounds[1:], strict=False):
        w, last, next_w, ends = before.model[0], before.memory["last"][:, 0], after.model[0], after.memory["last"][:, 0]
        for i in cohort if participants else range(3):
            steps = w + beta * (w - last[i]) - ends[i] if i in cohort else Fraction(0)
            left, right = next_w - ends[i], beta * (last[i] - w) + (next_w - w) + steps
            if left != right:
                at = {"participants": cohort, "client": i, "left": left, "right": right}
                return fails(f"client {i} of cohort {cohort}: {left} against {right}", at, as_audited=i not in cohort)
    return holds(f"exact for every {'participant' if participants else 'client'} in three rounds")


def code(book: Book, cohorts: Cohorts) -> Finding:
    beta = Fraction(1, 10)
    both = zip(_played(beta, cohorts), _played(beta, cohorts, "code"), strict=True)
    for r, (listed, code) in enumerate(both):
        if (one := listed.model[0]) != (other := code.model[0]):
            evidence = f"after round {r} the model is {float(other):.6g} in the code, {float(one):.6g} as listed"
            return fails(evidence, {"cohorts": cohorts, "beta": beta}, as_audited=r == 2)
    return holds(f"equal in {len(cohorts)} rounds")


def closed_form(book: Book) -> Finding:
    """The divergence of Algorithm 1 on two clients of equal curvature tends to the closed form."""
    from empirics.exact import expected, FLOATS, Group
    from empirics.training.setting import Setting

    shrink, setting = 0.9**4, Setting(rounds=60, cohort=2, local_steps=4, step_size=0.1)
    for beta in (-0.3, 0.0, 0.1, 0.6):
        run = expected(f"fedinit(beta={beta})", [Group(1, 1), Group(1, -3)], 0.5, setting, FLOATS)
        limit = float(run.server["divergence"][-1])
        closed = (2 * (1 - shrink) / (1 + beta * shrink)) ** 2
        if abs(limit / closed - 1) > 1e-8:
            return fails(f"{limit:.8g} against {closed:.8g}", {"beta": beta})
    return holds("the limit is ((1-q) delta/(1 + beta q))^2 for beta = -0.3, 0, 0.1, 0.6", Grade.SEARCHED)


def noisy(book: Book, minima: int) -> Finding:
    """The divergence has a smaller limit at beta = 1/10 than at 0: clients (w -/+ m)^2/2, noise 1, K = 1, eta = 1/2."""

    def limit(beta: Fraction) -> Fraction:
        shrink = added = Fraction(1, 2)  # q = 1 - eta; noise of variance eta^2 in each of two clients
        return (minima * (1 - shrink) / (1 + beta * shrink)) ** 2 + added**2 / 2 / (1 - (beta * shrink) ** 2)

    plain, relaxed = limit(Fraction(0)), limit(Fraction(1, 10))
    at = {"f_i": f"(w -/+ {minima})^2/2", "C = N": 2, "K": 1, "eta": "1/2", "sigma_l^2": 1, "beta": "1/10"}
    return finding(relaxed < plain, f"the divergence converges to {relaxed}, at beta = 0 at {plain}", at)


def collapses(book: Book) -> Finding:
    """Jury's conditions on the map of E w and E last_i have the stated form, for the listing and the released code.

    The roots of x^2 - trace x + det are inside the unit circle if and only if 1 - det, 1 - trace + det and
    1 + trace + det are positive. p is N/C, a is the factor of K steps, both between 0 and 1; b is the relaxation.
    """
    p, a, b = sp.symbols("p a b", positive=True)
    end = a * (1 + b), -a * b  # a participant's last model, as multiples of E w and of E last_i
    stated_forms = {  # for b < 1 every summand is positive, except in the first form of all
        "listed": (end, (1 - a * (1 + b) * (1 - p), p * (1 - a), (2 - p) * (1 + a) + 2 * a * b * (1 - p))),
        "code": ((end[0] - b, end[1] + b), (
            p + (1 - p) * (1 - a) * (1 + b) + a * b * p, p * (1 - a) * (1 + b),
            4 * a * (1 - p) + (1 - b) * ((2 - p) * (1 - a) + 2 * a * p),
        )),
    }  # fmt: skip
    for variant, (server, stated) in stated_forms.items():
        both = sp.Matrix([server, (p * end[0], 1 - p + p * end[1])])
        conditions = 1 - both.det(), 1 - both.trace() + both.det(), 1 + both.trace() + both.det()
        if any(sp.expand(one - other) != 0 for one, other in zip(conditions, stated, strict=True)):
            return fails(f"{variant}: Jury's conditions are on {conditions}", as_audited=False)
    shrink = (1 - Fraction(1, 500)) ** 5
    edges = {f"{n} of {c}": c / (shrink * (c - n)) - 1 for c, n in ((100, 10), (200, 10))}
    cases = "; ".join(f"{cohort}: {float(edge):.4g} at eta K L = 1/100" for cohort, edge in edges.items())
    evidence = f"listed: stable if and only if a(1 + beta)(1 - N/C) < 1; code: for all beta < 1. {cases}"
    return holds(evidence, Grade.PROVED)
