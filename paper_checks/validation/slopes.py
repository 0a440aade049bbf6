"""Does the gap fall like 1/K or like 1/K^2? Fits over the number of clients K, with errors over seeds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from empirics.measuring.estimates import Estimate, jackknife, power_law, two_powers
from empirics.problems.pool import Pool

from .comparison import Line, Row, Verdict
from .gaussian_mean import sentence


class BoundOfMeans(NamedTuple):
    """The bound at every number of clients (last axis) as a function of the means over seeds of ``samples``."""

    values: Callable[..., np.ndarray]
    samples: tuple[np.ndarray, ...]


class Slopes(NamedTuple):
    """How measured gap and bound fall with K in one federation.

    ``exponent`` is b in gap ~ K^b. ``powers`` are (a, b) in gap = a/K + b/K^2. For identical clients and a loss
    that is quadratic in the model (ridge) that form is exact: write client k's population minus sample risk as
    ``c_k + <g_k, w> + <w, D_k w>/2`` with c_k, g_k, D_k of mean zero and independent of the other clients' models;
    in its expectation at the average model only terms with client k's own model remain, once (1/K) or twice (1/K^2).
    """

    problem: str
    partition: str
    identical: bool
    exponent: Estimate
    powers: Estimate
    bound_exponent: Estimate
    bound_exponent_last: Estimate


def slopes(problem: Pool, gaps: np.ndarray, bound: BoundOfMeans, lines: Sequence[Line]) -> Iterator[Slopes]:
    """The fits of one federation from ``gaps`` (seeds, numbers of clients); none with fewer than three numbers.

    The numbers of clients share their draws (the first K clients), so each fit as a whole is jackknifed over seeds. The
    gap's weights are those of independent errors, fixed beforehand; the bound, which is no power of K, is fitted with
    equal weights, over all numbers of clients and over the last two. ``lines`` are this federation's.
    """
    if gaps.shape[1] < 3:
        return
    x = np.array([float(c.place[2]) for c in lines])
    value, error = (np.array([float(c.measured[i]) for c in lines]) for i in (0, 1))

    def bound_exponent(first: int) -> Estimate:
        even = np.ones(len(x[first:]))
        return jackknife(lambda *means: power_law(x[first:], bound.values(*means)[:, first:], even), *bound.samples)

    yield Slopes(
        problem=str(problem.task),
        partition=str(problem.partition),
        identical=problem.partition.identical,
        exponent=jackknife(lambda y: power_law(x, y, (value / error) ** 2), gaps),
        powers=jackknife(lambda y: two_powers(x, y, error), gaps),
        bound_exponent=bound_exponent(0),
        bound_exponent_last=bound_exponent(-2),
    )


def slope_rows(fit: Slopes) -> Iterator[Row]:
    """The fitted numbers as rows of the tidy table."""
    where = (fit.problem, fit.partition, None)
    for name, estimate in (
        ("exponent of the gap in clients", fit.exponent),
        ("exponent of the bound in clients", fit.bound_exponent),
        ("exponent of the bound between the two largest numbers of clients", fit.bound_exponent_last),
    ):
        yield Row(*where, name, float(estimate.value), float(estimate.error))
    for name, value, error in zip(("1/clients", "1/clients^2"), *fit.powers, strict=True):
        yield Row(*where, f"coefficient of {name} in the gap", float(value), float(error))


def answer(fits: Sequence[Slopes], lines: Sequence[Line]) -> tuple[str, ...]:
    """The answer in sentences with numbers, measured and exact."""
    said = [_measured(fit) for fit in fits if fit.identical]
    said += [_terms(fit, lines) for fit in fits if fit.identical]
    return (*said, sentence())


def _measured(fit: Slopes) -> str:
    exponent, error = float(fit.exponent.value), float(fit.exponent.error)
    (a, b), (a_error, b_error) = fit.powers
    away = {rate: abs(exponent - rate) / error for rate in (-1, -2)}
    verdict = "1/K" if away[-1] < away[-2] else "1/K^2"
    return (
        f"{fit.problem}, iid: the measured gap falls like K^({power(fit.exponent)}), so like {verdict} "
        f"({away[-1]:.1f} s.e. from -1, {away[-2]:.0f} s.e. from -2); as a/K + b/K^2 it has "
        f"a = {a:.4f}±{a_error:.4f}, b = {b:.4f}±{b_error:.4f}."
    )


def _terms(fit: Slopes, lines: Sequence[Line]) -> str:
    last = [c for c in lines if c.place[:2] == (fit.problem, fit.partition)][-1]
    share = {name: float(part.value / last.bound) for name, part in last.parts.items()}
    largest = max(share, key=lambda name: share[name])
    excess = last.extras["non_iidness (mean over clients)"]
    return (
        f"{fit.problem}, iid: the bound falls like K^({power(fit.bound_exponent)}) over all K and like "
        f"K^({power(fit.bound_exponent_last)}) between the two largest; at K = {last.place[2]} its term '{largest}' is "
        f"{share[largest]:.0%} of it, for delta_k = {float(excess.value):.4f}±{float(excess.error):.4f} does not "
        "vanish when clients are alike."
    )


def power(exponent: Estimate) -> str:
    return f"{float(exponent.value):.3f}±{float(exponent.error):.3f}"


def claimed_rows(claimed: Sequence[Line]) -> Iterator[Row]:
    """The value of the bound as the discussion reads it, for the tidy table."""
    for c in claimed:
        name = f"first term alone ({c.verdict})"
        yield Row._make((*c.place, name, c.bound, c.error))


def claim_sentences(claimed: Sequence[Line]) -> Iterator[str]:
    """Whether the discussion's reading of (6) for iid clients, its first term alone, survives the measurement."""
    for problem in dict.fromkeys(c.place[0] for c in claimed):
        broken = [str(c.place[2]) for c in claimed if c.place[0] == problem and c.verdict is Verdict.VIOLATED]
        where = f"is violated at K = {', '.join(broken)}" if broken else "is not violated here"
        yield (
            f"{problem}, iid: the inequality with the first term alone, as the discussion of Theorem 4.1 reads it for "
            f"iid clients (a factor 1/K^2), {where}."
        )
