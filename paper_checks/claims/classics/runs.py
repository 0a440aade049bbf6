"""Local SGD on lines, in rational numbers: parabolas without noise, and one loss with fair coins for noise."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import partial
from typing import Any, TypeAlias

import sympy as sp

from bounds.operators import bind
from bounds.quantities import quantities_of

from ..checkers import short
from ..checkers.instances import needed_words
from ..claim import Book, ClaimError, Finding, judged
from ..parabolas import Scalars

Case: TypeAlias = tuple[Fraction, Mapping[str, Any]]
"""An exact value and the quantities of the bound there, by name."""

MIXED = Scalars.of((5, -2, 1), (2, 1, 3))
"""Three clients with different minima and curvatures 1 to 3, so that local steps move the average off its course."""
ONE_MINIMUM = Scalars.of((1, 1, 1), (2, 1, 3))
"""The same curvatures with one minimum, 1."""


Gradient: TypeAlias = Callable[[Any], Any]


def steps_of(
    gradients: Sequence[Gradient], start: Fraction, rounds: int, steps: int, step_size: Fraction
) -> list[list[Fraction]]:
    """All clients' models before every local step of every round, and after the last average; all take part."""
    from empirics.exact import play

    everyone = [tuple(range(len(gradients)))] * rounds
    *played, end = play("fedavg()", gradients, start, everyone, local_steps=steps, step_size=step_size)
    return [*(list(r.paths[:, k, 0]) for r in played for k in range(steps)), [end.model[0]] * len(gradients)]


def paths(problem: Scalars, start: Fraction, rounds: int, steps: int, step_size: Fraction) -> list[list[Fraction]]:
    """The same on parabolas."""
    gradients = [partial(problem.gradient, c) for c in range(problem.clients)]
    return steps_of(gradients, start, rounds, steps, step_size)


def mean(numbers: Sequence[Any]) -> Any:
    """Their plain mean, of fractions or of arrays of them."""
    return sum(numbers, Fraction(0)) / len(numbers)


def consensus(models: Sequence[Fraction]) -> Fraction:
    """The mean squared distance of the models to their mean."""
    centre = mean(models)
    return mean([(x - centre) ** 2 for x in models])


def gradients_at_optimum(problem: Scalars) -> Fraction:
    """The mean squared gradient of the clients at the global minimiser."""
    return mean([problem.gradient(c, problem.minimiser) ** 2 for c in range(problem.clients)])


def bent(curved: Fraction) -> Callable[[Fraction], Fraction]:
    """The derivative of a loss with its minimum at 0 and curvature ``curved`` below 0, half of that above."""
    return lambda x: curved * x if x < 0 else curved * x / 2


def bent_loss(curved: Fraction, x: Fraction) -> Fraction:
    """That loss, from 0 upwards."""
    return (curved if x < 0 else curved / 2) * x**2 / 2


def pushed_means(slope: Callable[[Fraction], Fraction], step_size: Fraction, steps: int) -> list[Fraction]:
    """The mean of two clients before each of their steps from 0, whose gradients are ``slope`` plus 1 and minus 1."""
    gradients = [lambda x, push=push: slope(x[0]) + push for push in (1, -1)]
    return [mean(models) for models in steps_of(gradients, Fraction(0), 1, steps, step_size)[:steps]]


def coin_means(slope: Callable[[Fraction], Fraction], step_size: Fraction, steps: int) -> list[Fraction]:
    """The expected model before each of the steps of SGD from 0, a fair coin of 1 or -1 added to every gradient."""
    chances, means = {Fraction(0): Fraction(1)}, []
    for _ in range(steps):
        means.append(sum((x * chance for x, chance in chances.items()), Fraction(0)))
        after: dict[Fraction, Fraction] = {}
        for x, chance in chances.items():
            for coin in (1, -1):
                moved = x - step_size * (slope(x) + coin)
                after[moved] = after.get(moved, Fraction(0)) + chance / 2
        chances = after
    return means


def distance_after(shrink: Fraction, added: Fraction, start: Fraction, steps: int) -> Fraction:
    """Where ``x -> shrink x + added`` leads from ``start``: second moments of SGD on a parabola."""
    for _ in range(steps):
        start = shrink * start + added
    return start


def compared(book: Book, name: str, cases: Callable[..., Iterable[Case]], *which: Any, **named: Any) -> Finding:
    """A bound against the exact values of cases: the largest ratio, and of every term the largest share a case needs.

    A case needs of a term what the exact value exceeds the sum of all others by; signed terms are left out. One that
    breaks a numeric condition of the bound is refused.
    """
    bound, ratios, slack = book[name], [], []
    shares = {term: 0.0 for term in bound.terms if term not in bound.signed}
    for exact, values in cases(*which, **named):
        given = {q: _exact(values[q.name]) for q in quantities_of([bound.expr, *bound.relations])}
        if broken := [r for r in bound.relations if bind(r, given) != sp.true]:
            raise ClaimError(f"{name}: a case breaks {broken[0]}")
        terms = {term: _number(bind(formula, given)) for term, formula in bound.spelled_terms.items()}
        total = sp.Add(*terms.values())
        slack.append(total - _exact(exact))
        ratios += [float(_exact(exact) / total)] if total > 0 else []
        for term in shares:
            if terms[term] > 0:
                shares[term] = max(shares[term], float(1 - slack[-1] / terms[term]))
    near = f"at most {short(max(ratios))} of the bound" if ratios else f"below the bound by {short(min(slack))} or more"
    said = f"the exact value is {near} in {len(slack)} cases"
    return judged(all(bool(left >= 0) for left in slack), "; ".join(filter(None, (said, needed_words(shares)))))


def _number(found: sp.Expr) -> sp.Expr:
    """A rational number as it is, a root in 40 digits."""
    return found if found.is_Rational else found.evalf(40)


def _exact(given: Any) -> Any:
    return tuple(map(sp.Rational, given)) if isinstance(given, Sequence) else sp.Rational(given)
