"""Exact one-dimensional runs of local SGD, and ``compared``, which checks a bound against the values of such runs.

Cases are parabolas without noise, and a loss of two curvatures with fair coins as noise, in fractions.
"""

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
from ..claim import Book, ClaimError, Finding, finding
from ..parabolas import Parabolas

Case: TypeAlias = tuple[Fraction, Mapping[str, Any]]
"""An exact value and the quantities of the bound there, by name."""

MIXED = Parabolas.of((5, -2, 1), (2, 1, 3))
"""Three clients with different minima and curvatures 1 to 3, so that local steps make the average drift."""
ONE_MINIMUM = Parabolas.of((1, 1, 1), (2, 1, 3))
"""The same curvatures with the common minimum 1."""

Gradient: TypeAlias = Callable[[Any], Any]


def steps_of(
    gradients: Sequence[Gradient], start: Fraction, rounds: int, steps: int, step_size: Fraction
) -> list[list[Fraction]]:
    """Return all clients' models before every local step of every round and after the last average; all take part."""
    from empirics.exact import play

    everyone = [tuple(range(len(gradients)))] * rounds
    *played, end = play("fedavg()", gradients, start, everyone, local_steps=steps, step_size=step_size)
    return [*(list(r.paths[:, k, 0]) for r in played for k in range(steps)), [end.model[0]] * len(gradients)]


def paths(problem: Parabolas, start: Fraction, rounds: int, steps: int, step_size: Fraction) -> list[list[Fraction]]:
    """Return the models of ``steps_of`` on the parabolas of ``problem``."""
    gradients = [partial(problem.gradient, c) for c in range(problem.clients)]
    return steps_of(gradients, start, rounds, steps, step_size)


def mean(numbers: Sequence[Any]) -> Any:
    """Return the unweighted mean of fractions or of arrays of fractions."""
    return sum(numbers, Fraction(0)) / len(numbers)


def consensus(models: Sequence[Fraction]) -> Fraction:
    """Return the mean squared distance of the models to their mean."""
    centre = mean(models)
    return mean([(x - centre) ** 2 for x in models])


def gradients_at_optimum(problem: Parabolas) -> Fraction:
    """Return the mean squared gradient of the clients at the global minimiser."""
    return mean([problem.gradient(c, problem.minimiser) ** 2 for c in range(problem.clients)])


def bent(curvature: Fraction) -> Callable[[Fraction], Fraction]:
    """Return the derivative of the loss with minimum 0 at 0 and this curvature below 0, half of it above."""
    return lambda x: curvature * x if x < 0 else curvature * x / 2


def bent_loss(curvature: Fraction, x: Fraction) -> Fraction:
    """Return the value of the loss whose derivative is ``bent(curvature)``."""
    return (curvature if x < 0 else curvature / 2) * x**2 / 2


def pushed_means(slope: Callable[[Fraction], Fraction], step_size: Fraction, steps: int) -> list[Fraction]:
    """Return the mean of two clients with gradients ``slope`` + 1 and ``slope`` - 1 before each step from 0."""
    gradients = [lambda x, push=push: slope(x[0]) + push for push in (1, -1)]
    return [mean(models) for models in steps_of(gradients, Fraction(0), 1, steps, step_size)[:steps]]


def coin_means(slope: Callable[[Fraction], Fraction], step_size: Fraction, steps: int) -> list[Fraction]:
    """Return the expected model before each step of SGD from 0 with a fair coin of 1 or -1 added to every gradient."""
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
    """Iterate ``x -> shrink x + added`` from ``start``, as second moments of SGD on a parabola evolve."""
    for _ in range(steps):
        start = shrink * start + added
    return start


def compared(book: Book, name: str, cases: Callable[..., Iterable[Case]], *which: Any, **named: Any) -> Finding:
    """The bound ``name`` is at least the exact value of every case of ``cases(*which, **named)``.

    The evidence has the largest ratio and, for every term that is not signed, the largest share of it that a case
    needs: the excess of the exact value over the sum of all other terms. Raises if a case breaks a condition.
    """
    bound, ratios, slack = book[name], [], []
    shares = {term: 0.0 for term in bound.terms if term not in bound.signed}
    for exact, values in cases(*which, **named):
        at = {q: _exact(values[q.name]) for q in quantities_of([bound.expr, *bound.relations])}
        if failing := [r for r in bound.relations if bind(r, at) != sp.true]:
            raise ClaimError(f"{name}: a case breaks {failing[0]}")
        terms = {term: _number(bind(formula, at)) for term, formula in bound.spelled_terms.items()}
        total = sp.Add(*terms.values())
        slack.append(total - _exact(exact))
        ratios += [float(_exact(exact) / total)] if total > 0 else []
        for term in shares:
            if terms[term] > 0:
                shares[term] = max(shares[term], float(1 - slack[-1] / terms[term]))
    near = f"at most {short(max(ratios))} of the bound" if ratios else f"below the bound by {short(min(slack))} or more"
    evidence = f"the exact value is {near} in {len(slack)} cases"
    return finding(all(bool(x >= 0) for x in slack), "; ".join(filter(None, (evidence, needed_words(shares)))))


def _number(number: sp.Expr) -> sp.Expr:
    """Return a rational number unchanged, others (roots) in 40 digits."""
    return number if number.is_Rational else number.evalf(40)


def _exact(numbers: Any) -> Any:
    return tuple(map(sp.Rational, numbers)) if isinstance(numbers, Sequence) else sp.Rational(numbers)
