"""One round of three clients whose gradient noise is a coin: expectations over all tosses, in fractions.

Client k minimises a quartic with gradient a_k x + b_k x^3 / 100 + c_k. A stochastic gradient adds s or -s, so that the
variance is s^2 at every model. Later gradients depend on earlier tosses, as in training.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from itertools import product
from typing import Any

import sympy as sp

from bounds.vocabulary import client_weight, gradient_variance, local_steps, mean_path_gradient_sq

from ..checkers.numbers import value
from ..claim import Book, fails, Finding, finding, Grade, holds

START, STEP, SIZE, STEPS = Fraction(7, 5), Fraction(1, 6), Fraction(3, 4), 3
WEIGHTS = (Fraction(2, 11), Fraction(5, 11), Fraction(4, 11))
CURVES = (
    (Fraction(3, 2), Fraction(2), Fraction(-1)),
    (Fraction(1, 3), Fraction(5), Fraction(4, 5)),
    (Fraction(1), Fraction(-1), Fraction(1, 6)),
)
CLIENTS = range(len(WEIGHTS))
TOSSES = tuple(product((-1, 1), repeat=STEPS))


@dataclass(frozen=True)
class Path:
    """One client's round: its last model, and its stochastic and true gradients in each step."""

    end: Fraction
    stochastic: tuple[Fraction, ...]
    true: tuple[Fraction, ...]

    @property
    def d(self) -> Fraction:
        return sum(self.stochastic, Fraction(0)) / len(self.stochastic)

    @property
    def h(self) -> Fraction:
        return sum(self.true, Fraction(0)) / len(self.true)


@cache
def path(k: int, tosses: tuple[int, ...]) -> Path:
    """Run lines 6 to 8 of Algorithm 1 for client k with these coins."""
    from empirics.exact import play

    a, b, c = CURVES[k]

    def gradient(x: Any) -> Any:
        return a * x + b * x**3 / 100 + c

    moved, _ = play(
        "fedavg()", [gradient], START, [(0,)], local_steps=STEPS, step_size=STEP,
        noise=lambda _, client, step: tosses[step] * SIZE,
    )  # fmt: skip
    *models, end = moved.paths[0, :, 0]
    true = tuple(gradient(x) for x in models)
    return Path(end, tuple(g + toss * SIZE for g, toss in zip(true, tosses, strict=True)), true)


Outcome = tuple[Path, ...]


def outcomes(shared: bool = False) -> Iterator[Outcome]:
    """Yield all equally likely outcomes of the clients' coins; ``shared``: one coin for all clients."""
    for tosses in ((t,) * len(WEIGHTS) for t in TOSSES) if shared else product(TOSSES, repeat=len(WEIGHTS)):
        yield tuple(path(k, t) for k, t in zip(CLIENTS, tosses, strict=True))


def expected(of: Callable[[Outcome], Fraction], shared: bool = False) -> Fraction:
    """Return the expectation of a function of the outcome."""
    values = [of(run) for run in outcomes(shared)]
    return sum(values, Fraction(0)) / len(values)


def averaged(of: Callable[[Path], Fraction], run: Outcome) -> Fraction:
    """Return the weighted mean over the clients of a function of the path."""
    return sum((w * of(one) for w, one in zip(WEIGHTS, run, strict=True)), Fraction(0))


def noise(k: int, i: int, power: int = 1, shared: bool = False) -> Fraction:
    """Return the mean of a power of d_k - h_i."""
    return expected(lambda run: (run[k].d - run[i].h) ** power, shared)


def _same(pairs: dict[str, tuple[Fraction, Fraction]]) -> Finding:
    differing = {name: f"{float(a):.6g} against {float(b):.6g}" for name, (a, b) in pairs.items() if a != b}
    if differing:
        return fails("; ".join(f"{k}: {v}" for k, v in differing.items()), differing)
    return holds(f"equal in rational arithmetic: {', '.join(pairs)}", Grade.SEARCHED)


def server_move(book: Book) -> Finding:
    """(18) holds in every outcome: averaged models move by -tau eta times the averaged gradients."""
    wrong = sum(
        averaged(lambda one: one.end, run) - START != -STEPS * STEP * averaged(lambda one: one.d, run)
        for run in outcomes()
    )
    return finding(not wrong, f"{wrong} of {2 ** (STEPS * len(WEIGHTS))} outcomes disagree", grade=Grade.SEARCHED)


def noise_part_vanishes(book: Book) -> Finding:
    slope = averaged(lambda one: one.true[0], next(outcomes()))
    mean = expected(lambda run: slope * averaged(lambda one: one.d - one.h, run))
    return _same({"mean of <gradient, noise>": (mean, Fraction(0))})


def indices(book: Book, mixed: bool) -> Finding:
    """E[d_k - h_i] is zero for all clients k and i, or for k = i alone."""
    pairs = product(CLIENTS, repeat=2) if mixed else zip(CLIENTS, CLIENTS, strict=True)
    return _same({f"E[d_{k} - h_{i}]": (noise(k, i), Fraction(0)) for k, i in pairs})


def clients_uncorrelated(book: Book, shared: bool) -> Finding:
    """The mean square of the weighted noise is the sum of the clients' mean squares with squared weights."""
    together = expected(lambda run: averaged(lambda one: one.d - one.h, run) ** 2, shared)
    apart = sum((WEIGHTS[k] ** 2 * noise(k, k, 2, shared) for k in CLIENTS), Fraction(0))
    return _same({f"squared noise of the average{', one coin for all clients' * shared}": (together, apart)})


def steps_uncorrelated(book: Book) -> Finding:
    return _same({f"client {k}": (noise(k, k, 2), SIZE**2 / STEPS) for k in CLIENTS})


def one_coin_a_round(book: Book) -> Finding:
    """The variance of d_k is sigma^2 / tau if each client tosses once per round; it is sigma^2."""
    squares = {k: [(p.d - p.h) ** 2 for toss in (-1, 1) for p in [path(k, (toss,) * STEPS)]] for k in CLIENTS}
    equal = _same({f"client {k}": (sum(pair, Fraction(0)) / 2, SIZE**2 / STEPS) for k, pair in squares.items()})
    return replace(equal, as_audited=all(square == SIZE**2 for pair in squares.values() for square in pair))


def update_bounded(book: Book) -> Finding:
    """(29), with the run's own variance, weights and path gradients, bounds T_2."""
    t_2 = expected(lambda run: averaged(lambda one: one.d, run) ** 2)
    at = {
        local_steps: sp.Integer(STEPS),
        gradient_variance: sp.Rational(SIZE) ** 2,
        client_weight: tuple(map(sp.Rational, WEIGHTS)),
        mean_path_gradient_sq: sp.Rational(expected(lambda run: averaged(lambda one: one.h, run) ** 2)),
    }
    bound = value(book["fedcog.mean_update"].expr, at)
    evidence = f"T_2 = {float(t_2):.6g}, bound {float(bound):.6g}"
    return finding(sp.Rational(t_2) <= bound, evidence, grade=Grade.SEARCHED)


def distance_bounded(book: Book) -> Finding:
    """(43) holds for every client and every number of steps."""
    pairs = {}
    for k in CLIENTS:
        paths = [path(k, tosses) for tosses in TOSSES]
        gradients = sum((g**2 for p in paths for g in p.true), Fraction(0)) / len(paths)
        for r in range(1, STEPS):
            moved = sum((STEP**2 * sum(p.stochastic[:r], Fraction(0)) ** 2 for p in paths), Fraction(0)) / len(paths)
            pairs[f"client {k} after {r}"] = (moved, 2 * r * STEP**2 * (SIZE**2 + gradients))
    violated = {name: f"{float(a):.6g} > {float(b):.6g}" for name, (a, b) in pairs.items() if a > b}
    least = min(float(b / a) for a, b in pairs.values())
    evidence = "; ".join(f"{k}: {v}" for k, v in violated.items())
    evidence = evidence or f"bound / exact value >= {least:.4g} in {len(pairs)} cases"
    return finding(not violated, evidence, violated, grade=Grade.SEARCHED)
