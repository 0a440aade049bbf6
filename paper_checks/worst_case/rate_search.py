"""The smallest contraction that is certified, the least floor, and both as statements with proofs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import product
from math import ceil, floor, inf, log, log10
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar

from .coordinates import Array
from .lyapunov import NotCertified, Sought, Weights
from .methods import NoListing
from .one_round import OneRound
from .program import WorstCaseError
from .rate_case import Case
from .rate_proof import proved
from .verify import RATE_NUMBERS

NEAR = 1e-6
"""How near a contraction is to the smallest, at least, and relative to its distance from 1."""
SOUND = 1e-6
"""How far below 0 an eigenvalue of a solution may be while contractions are compared, relative to its entries."""
LARGEST = 1e5
"""What a start may count for: beyond, nothing is certified."""
SLOW = 1e-5
"""A contraction nearer to 1 is hardly distinguished from none."""
MARGINS = (1e-7, 1e-8, 1e-6)
"""How far what is proved stays from having no sum of squares: the first that suffices."""
SEARCHED, USUAL = 20, 0.885
"""Local steps up to which the least floor is searched; where it is, about, beyond them (in steps of eta = 1/(2K) the
least floor of 10 and 20 was there for FedAvg, FedProx and FedInit): one solution takes 15 s at 40 local steps."""
AWAY = (1.0, 0.99, 0.95)
"""Distances of a stated contraction from 1, relative to that of the smallest: the first at which it can be stated."""
CURVATURES = 9
"""Curvatures of a client that are tried, from mu to L, where two quadratics show what no certificate can beat."""
TINY = 1e-300
"""A number above 0 that is shown is at least this."""
DIGITS = 3
"""Digits of the distance of a stated contraction from 1, rounded to the safe side."""


@dataclass(frozen=True)
class Begun:
    """``rounds`` rounds from a start with ``|w_0 - w*|^2``, ``zeta^2`` and ``sigma^2`` at most these."""

    rounds: int
    distance: float
    dissimilarity: float = 0.0
    variance: float = 0.0


@dataclass(frozen=True, eq=False)
class Statement:
    """``E|w_T - w*|^2 <= contraction^T (start) + floor zeta^2 + noise_floor sigma^2`` for every T.

    ``proof`` is the file that proves it, or None; ``why`` says why there is none.
    """

    contraction: float
    start_distance: float
    start_dissimilarity: float
    floor: float
    noise_floor: float
    proof: dict[str, Any] | None = field(default=None, repr=False)
    why: str = ""

    @property
    def half(self) -> int:
        """Rounds that halve the squared distance, above its floor."""
        return ceil(log(2) / -log(self.contraction))


@dataclass(frozen=True, eq=False)
class Rate:
    """What is certified of one case.

    ``contraction`` is the smallest one found (in floats), ``slowest`` what two quadratics show that none can beat;
    ``fastest`` is the statement next to it, ``least`` the one of the least floor where there is a floor.
    """

    case: Case
    contraction: float
    slowest: float
    fastest: Statement
    least: Statement | None

    @property
    def statements(self) -> tuple[Statement, ...]:
        return (self.fastest,) if self.least is None else (self.fastest, self.least)

    def after(self, rounds: int, distance: float, dissimilarity: float = 0.0, variance: float = 0.0) -> float:
        """The least bound after a number of rounds by ``|w_0 - w*|^2``, ``zeta^2`` and ``sigma^2``, in floats.

        Every contraction that is certified gives one, ``rho^T V_0 + (1 - rho^T) (what is left)``: the least is sought.
        """
        return self.least_after(Begun(rounds, distance, dissimilarity, variance))[0]

    def least_after(self, begun: Begun) -> tuple[float, float, Weights]:
        """That bound, its contraction, and what start, floor and noise count for in it: the distance for something."""

        def counted(rho: float) -> Weights:
            past, zeta = rho**begun.rounds, begun.dissimilarity
            least = 1e-9 * max(begun.distance, zeta / self.case.smoothness**2)
            return max(past * begun.distance, least), past * zeta, (1 - past) * zeta, (1 - past) * begun.variance

        def bound(share: float) -> float:
            rho = 1 - share * (1 - self.contraction)
            found = _sound(self.case, rho, counted(rho))
            if found is None:
                return 1e300
            facts = (found.start_distance, found.start_dissimilarity, found.floor, found.noise_floor)
            weights = (rho**begun.rounds * begun.distance, *counted(rho)[1:])
            return sum(w * x for w, x in zip(weights, facts, strict=True))

        best = minimize_scalar(bound, bounds=(0.1, 1.0), method="bounded", options={"xatol": 1e-3})
        tried = [(float(best.fun), float(best.x)), *((bound(share), share) for share in (1 - 1e-5, 1 - 1e-3))]
        least, share = min(tried)
        rho = 1 - share * (1 - self.contraction)
        return least, rho, counted(rho)


def sharpest(rate: Rate, begun: Begun) -> Statement:
    """The strongest statement on a number of rounds, proved where a proof can be made."""
    _, rho, weights = rate.least_after(begun)
    return _stated(rate.case, rho, weights)


def certified(case: Case, step: Callable[[str], None] = lambda words: None) -> Rate:
    """The rate of a case; ``step`` hears what is being done. ``NotCertified`` where no contraction below 1 is found."""
    program = case.program
    low = slowest(case.round, case.smoothness, case.strong_convexity)
    if low >= 1:
        raise NotCertified(
            f"{case.algorithm} with step_size={case.step_size:g} does not contract: on quadratics a squared error "
            f"grows by {low:.4g} a round; take a smaller step size"
        )
    contraction = _smallest(case, low, step)
    step("proving")
    fastest = _stated(case, contraction, case.weights)
    least = None
    if program.floored or case.noisy:
        step("the least floor")
        rho = _least_floor(case, contraction)
        if rho > fastest.contraction:
            least = _stated(case, rho, (1e-6, *case.weights[1:]))
            less = least.floor + least.noise_floor < fastest.floor + fastest.noise_floor
            least = least if less else None
    return Rate(case, contraction, low, fastest, least)


def _sound(case: Case, rho: float, weights: Weights) -> Sought | None:
    """What the solver finds at a contraction; None where that is nothing, or breaks its constraints."""
    try:
        found = case.program.solve(rho, weights)
    except NotCertified:
        return None
    return found if found.spare > -SOUND * found.scale else None


def _smallest(case: Case, low: float, step: Callable[[str], None]) -> float:
    """By bisection between what quadratics show and 1, where it is not next to the former."""

    def certifies(rho: float) -> bool:
        found = _sound(case, rho, case.weights)
        return found is not None and found.start_distance < LARGEST

    near = NEAR * min(1.0, 100 * (1 - low))
    step("the contraction of quadratics")
    if certifies(low + near):
        return low + near
    high = 1 - 1e-3 * (1 - low)
    if not certifies(high):
        raise NotCertified(
            f"no contraction below 1 is certified for {case.algorithm} with local_steps={case.local_steps} "
            f"step_size={case.step_size:g}; take a {'smaller' if low < 1 - SLOW else 'larger'} step size"
        )
    while high - low > near:
        middle = (low + high) / 2
        step(f"contraction {middle:.6f}")
        if certifies(middle):
            high = middle
        else:
            low = middle
    return high


def _least_floor(case: Case, contraction: float) -> float:
    """The contraction at which what is left after many rounds is least; of large programs about the least."""
    if case.local_steps > SEARCHED:
        return 1 - USUAL * (1 - contraction)

    def left(share: float) -> float:
        found = _sound(case, 1 - share * (1 - contraction), (1e-6, *case.weights[1:]))
        if found is None:
            return 1e300
        return found.floor * case.weights[2] + found.noise_floor * case.weights[3]

    found = minimize_scalar(left, bounds=(0.2, 1.0), method="bounded", options={"xatol": 1e-2})
    return float(1 - found.x * (1 - contraction))


def _safe(rho: float) -> float:
    """The next contraction above of few digits, a little off the edge."""
    distance = (1 - rho) * (1 - 1e-4)
    places = DIGITS - 1 - floor(log10(distance))
    return round(1 - floor(distance * 10**places) / 10**places, places)


def _stated(case: Case, smallest: float, weights: Weights) -> Statement:
    """A statement next to the smallest contraction, proved where a proof can be made; never without a margin."""
    why = ""
    floats: Statement | None = None
    for away, margin in product(AWAY, MARGINS):
        rho = _safe(1 - away * (1 - smallest))
        try:
            found = case.program.solve(rho, weights, margin)
        except NotCertified as error:
            why = why or str(error)
            continue
        if found.spare <= 0:
            why = why or "the solver's answer breaks its constraints"
            continue
        if floats is None:
            more = found.start_dissimilarity if case.program.steady is not None else 0.0
            left = found.floor if case.program.floored else 0.0
            numbers = found.start_distance, more, left, found.noise_floor
            told: dict[str, Any] = dict(zip(RATE_NUMBERS[1:], map(above, numbers), strict=True))
            floats = Statement(rho, **told)
        try:
            proof = proved(case, found)
        except WorstCaseError as error:
            why = str(error)
            if isinstance(error, NoListing):
                break
            continue
        told = {word: above(Fraction(proof["claim"][word] or 0)) for word in RATE_NUMBERS[1:]}
        return Statement(rho, **told, proof=proof)
    if floats is None:
        raise NotCertified(f"nothing is certified for {case.algorithm} near contraction {smallest:.6g}: {why}")
    return replace(floats, why=why)


def above(x: Any, digits: int = 6) -> float:
    """A number >= 0 in a number of digits, rounded up: what is claimed stays true."""
    if x < TINY:
        return TINY if x else 0.0
    places = digits - 1 - floor(log10(x))
    unit = Fraction(10) ** places
    shown = float(ceil(Fraction(x) * unit) / unit)
    return round(shown, places)


def slowest(round_: OneRound, smoothness: float, strong_convexity: float) -> float:
    """The largest factor by which a squared error may shrink per round on two one-dimensional quadratics."""
    q = np.geomspace(max(strong_convexity, 1e-6 * smoothness), smoothness, CURVATURES)
    one, other = (x.ravel() for x in np.meshgrid(q, q))
    if round_.renewed is not None:  # over all draws: the mean of a squared error is at least the square of its mean
        moved = round_.renewed.share * round_.renewed.apart
        moved[:, : len(round_.apart)] += np.eye(len(round_.apart))
        round_ = replace(round_, apart_next=moved)
    with np.errstate(all="ignore"):
        maps = round_map(round_, (one + other) / 2, (one - other) / 2)
    if not np.isfinite(maps).all():  # steps so long that the models leave the floats
        return inf
    return float(np.abs(np.linalg.eigvals(maps)).max() ** 2)


def round_map(round_: OneRound, mean: Array, half: Array) -> Array:
    """The map of (means, deviations) on two quadratics of curvatures ``mean + half`` and ``mean - half``."""
    n, k, m = len(round_.means), len(round_.apart), round_.gradients
    state = np.broadcast_to(np.eye(n + k), (len(mean), n + k, n + k))
    forms = np.zeros((len(mean), m, 2, n + k))  # the gradients' means and deviations
    for j in range(m):
        at = [
            rows[j, :size] @ part + np.einsum("i,pic->pc", rows[j, size:], forms[:, :, b])
            for b, (rows, size, part) in enumerate(
                ((round_.mean_points, n, state[:, :n]), (round_.apart_points, k, state[:, n:]))
            )
        ]
        forms[:, j, 0] = mean[:, None] * at[0] + half[:, None] * at[1]
        forms[:, j, 1] = mean[:, None] * at[1] + half[:, None] * at[0]
    after = [
        rows[:, :size] @ part + np.einsum("ri,pic->prc", rows[:, size:], forms[:, :, b])
        for b, (rows, size, part) in enumerate(
            ((round_.mean_next, n, state[:, :n]), (round_.apart_next, k, state[:, n:]))
        )
    ]
    return np.concatenate(after, axis=1)
