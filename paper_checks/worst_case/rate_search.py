"""The smallest certified contraction and the smallest floor of a rate, both with proofs.

A proof has the quadratic form and the multipliers in fractions, and sums of squares in integers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import product
from math import ceil, floor, inf, log, log2, log10
from typing import Any

import numpy as np
from scipy.linalg import block_diag
from scipy.optimize import minimize_scalar

from empirics.exact.numbers import fraction
from empirics.training.setting import Setting

from . import verify
from .exact import round_up, square_factor
from .linear_run import record_run
from .lyapunov import CostWeights, LyapunovSolution, noise_cost, NotCertified
from .methods import check_steps, method_and_parameter, NoListing, round_method
from .one_round import OneRound
from .program import Array, WorstCaseError
from .rate_problem import RateProblem
from .verify import RATE_NUMBERS

NEAR = 1e-6
"""Accuracy of the smallest contraction."""
SOUND = 1e-6
"""Limit on negative eigenvalues of a solution while contractions are compared, relative to its entries."""
LARGEST = 1e5
"""Limit on the factor of the initial distance."""
SLOW = 1e-5
"""Contractions closer to 1 are hardly distinguishable from 1."""
MARGINS = (1e-7, 1e-8, 1e-6)
"""Lower limits on eigenvalues that are tried in turn for a proof."""
SEARCHED, USUAL = 20, 0.885
"""Local steps up to which the smallest floor is searched, and where it is assumed beyond, as a share of the distance of
the contraction from 1 (it was there at 10 and 20 steps of eta = 1/(2K) of FedAvg, FedProx and FedInit). A solution
takes 15 s at 40 local steps."""
AWAY = (1.0, 0.99, 0.95)
"""Distances of a stated contraction from 1, relative to that of the smallest, that are tried in turn."""
CURVATURES = 9
"""Number of curvatures from mu to L that the clients' quadratics have."""
DIGITS = 3
"""Digits of the distance of a stated contraction from 1, which is rounded down."""
BINARY_DIGITS = 55
"""Binary digits of a rounded number, relative to the largest of its kind."""
NEGLIGIBLE = 1e-6
"""Weight of the loss gap, times L, below which it is left out: it would only increase the start."""
ROUNDS = 3
"""Rounds in which the steps are compared with those of the verifier: every memory has then had an effect."""


@dataclass(frozen=True, eq=False)
class RateBound:
    """``E|w_T - w*|^2 <= contraction^T (start) + floor zeta^2 + noise_floor sigma^2`` for every T.

    The start is ``start_distance |w_0 - w*|^2 + start_dissimilarity zeta^2``. ``proof`` is the content of a proof file,
    or None for the reason ``why``.
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
        """The number of rounds that halve the bound above its floor."""
        return ceil(log(2) / -log(self.contraction))


@dataclass(frozen=True, eq=False)
class Rate:
    """The certified rates of a problem.

    ``contraction`` is the smallest one certified in floats; no certificate can be below ``quadratics``, the contraction
    of two quadratics. ``fastest`` is the bound with a contraction close to the smallest, ``least`` the one with the
    smallest floor, if that is another.
    """

    problem: RateProblem
    contraction: float
    quadratics: float
    fastest: RateBound
    least: RateBound | None

    @property
    def bounds(self) -> tuple[RateBound, ...]:
        return (self.fastest,) if self.least is None else (self.fastest, self.least)


def certify_rate(problem: RateProblem, report: Callable[[str], None] = lambda text: None) -> Rate:
    """Return the certified rates of a problem; ``report`` is called with a text at every step of the search.

    Raises ``NotCertified`` if no contraction below 1 is found.
    """
    program = problem.program
    low = quadratic_contraction(problem.round, problem.smoothness, problem.strong_convexity)
    if low >= 1:
        raise NotCertified(
            f"{problem.algorithm} with step_size={problem.step_size:g} does not contract: on quadratics a squared "
            f"error grows by {low:.4g} a round; take a smaller step size"
        )
    contraction = _smallest_contraction(problem, low, report)
    report("proving")
    fastest = make_bound(problem, contraction, problem.weights)
    least = None
    if program.has_floor or problem.noisy:
        report("the smallest floor")
        weights = problem.weights._replace(start_distance=1e-6)
        rho = _smallest_floor(problem, contraction, weights)
        if rho > fastest.contraction:
            least = make_bound(problem, rho, weights)
            if least.floor + least.noise_floor >= fastest.floor + fastest.noise_floor:
                least = None
    return Rate(problem, contraction, low, fastest, least)


def sound_solution(problem: RateProblem, rho: float, weights: CostWeights) -> LyapunovSolution | None:
    """Return the solution at a contraction; None if there is none, or if it violates its constraints."""
    try:
        solution = problem.program.solve(rho, weights)
    except NotCertified:
        return None
    return solution if solution.eigenvalue > -SOUND * solution.largest else None


def _smallest_contraction(problem: RateProblem, low: float, report: Callable[[str], None]) -> float:
    """Return the smallest certified contraction: that of quadratics, or by bisection between it and 1."""

    def certifies(rho: float) -> bool:
        solution = sound_solution(problem, rho, problem.weights)
        return solution is not None and solution.start_distance < LARGEST

    near = NEAR * min(1.0, 100 * (1 - low))
    report("the contraction of quadratics")
    if certifies(low + near):
        return low + near
    high = 1 - 1e-3 * (1 - low)
    if not certifies(high):
        raise NotCertified(
            f"no contraction below 1 is certified for {problem.algorithm} with local_steps={problem.local_steps} "
            f"step_size={problem.step_size:g}; take a {'smaller' if low < 1 - SLOW else 'larger'} step size"
        )
    while high - low > near:
        middle = (low + high) / 2
        report(f"contraction {middle:.6f}")
        if certifies(middle):
            high = middle
        else:
            low = middle
    return high


def _smallest_floor(problem: RateProblem, contraction: float, weights: CostWeights) -> float:
    """Return the contraction with about the smallest floor."""
    if problem.local_steps > SEARCHED:
        return 1 - USUAL * (1 - contraction)

    def floors(share: float) -> float:
        solution = sound_solution(problem, 1 - share * (1 - contraction), weights)
        if solution is None:
            return 1e300
        return solution.floor * weights.floor + solution.noise_floor * weights.noise_floor

    best = minimize_scalar(floors, bounds=(0.2, 1.0), method="bounded", options={"xatol": 1e-2})
    return float(1 - best.x * (1 - contraction))


def _few_digits(rho: float) -> float:
    """Return a slightly larger contraction that has few digits."""
    distance = (1 - rho) * (1 - 1e-4)
    places = DIGITS - 1 - floor(log10(distance))
    return round(1 - floor(distance * 10**places) / 10**places, places)


def make_bound(problem: RateProblem, smallest: float, weights: CostWeights) -> RateBound:
    """Return a bound with a contraction close to the smallest, with a proof if one can be made."""
    why = ""
    floats: RateBound | None = None
    for away, margin in product(AWAY, MARGINS):
        rho = _few_digits(1 - away * (1 - smallest))
        try:
            solution = problem.program.solve(rho, weights, margin)
            if solution.eigenvalue <= 0:
                raise NotCertified("the solver's answer violates its constraints")
        except NotCertified as error:
            why = why or str(error)
            continue
        numbers = {name: getattr(solution, name) for name in RATE_NUMBERS[1:]}
        numbers["floor"] *= problem.program.has_floor
        rounded: dict[str, Any] = {name: round_up(x) for name, x in numbers.items()}
        floats = floats or RateBound(rho, **rounded)
        try:
            proof = prove_rate(problem, solution)
        except WorstCaseError as error:
            why = str(error)
            if isinstance(error, NoListing):
                break
            continue
        exact: dict[str, Any] = {name: round_up(Fraction(proof["claim"][name] or 0)) for name in RATE_NUMBERS[1:]}
        return RateBound(rho, **exact, proof=proof)
    if floats is None:
        raise NotCertified(f"nothing is certified for {problem.algorithm} near contraction {smallest:.6g}: {why}")
    return replace(floats, why=why)


def quadratic_contraction(round_: OneRound, smoothness: float, strong_convexity: float) -> float:
    """Return the largest contraction per round of the squared error on two one-dimensional quadratics."""
    q = np.geomspace(max(strong_convexity, 1e-6 * smoothness), smoothness, CURVATURES)
    one, other = (x.ravel() for x in np.meshgrid(q, q))
    if update := round_.memory_update:  # follow the mean over all draws: its square is at most the mean square
        expected = update.share * update.deviations
        expected[:, : len(round_.deviations)] += np.eye(len(round_.deviations))
        round_ = replace(round_, deviations=replace(round_.deviations, after=expected))
    with np.errstate(all="ignore"):
        maps = round_map(round_, (one + other) / 2, (one - other) / 2)
    if not np.isfinite(maps).all():  # the models overflow
        return inf
    return float(np.abs(np.linalg.eigvals(maps)).max() ** 2)


def round_map(round_: OneRound, mean: Array, half: Array) -> Array:
    """Return the matrices of a round on two quadratics with curvatures ``mean + half`` and ``mean - half``.

    They act on the means and the deviations of the state; there is one for every entry of ``mean``.
    """
    n, k, m = len(round_.means), len(round_.deviations), round_.gradients
    means, deviations = round_.means, round_.deviations
    after, points = block_diag(means.after, deviations.after), block_diag(means.points, deviations.points)
    # columns of the state, and of the gradients of means and of deviations
    state, gradients = [*range(n), *range(n + m, n + m + k)], [*range(n, n + m), *range(n + m + k, n + k + 2 * m)]
    curvature, slopes = np.moveaxis(np.array([[mean, half], [half, mean]]), 2, 0), np.zeros((len(mean), 2 * m, n + k))
    for j in range(m):  # a point depends on earlier gradients alone
        slopes[:, [j, m + j]] = curvature @ (points[[j, m + j]][:, state] + points[[j, m + j]][:, gradients] @ slopes)
    return np.asarray(after[:, state] + after[:, gradients] @ slopes)


# ---- proofs ----


def prove_rate(problem: RateProblem, solution: LyapunovSolution) -> dict[str, Any]:
    """Return the content of a proof file, which the verifier has accepted, for a solution in floats.

    Raises ``WorstCaseError`` if there is no proof.
    """
    program, round_ = problem.program, problem.round
    claim = _claim(problem) | {"contraction": str(fraction(solution.rho))}
    plan = Setting(ROUNDS, cohort=2, local_steps=problem.local_steps, step_size=problem.step_size)
    rho = fraction(solution.rho)
    # if the state has one mean only, the quadratic form can be exactly |w - w*|^2
    one = solution.means[0, 0] if len(solution.means) == 1 else 1.0
    means, deviations = _rounded(solution.means / one), _rounded(solution.deviations / one)
    multipliers = _rounded(solution.multipliers / one, positive=True)
    noise_weights = _rounded(solution.noise_weights / one, positive=True)
    with_loss = program.with_loss and solution.potential * problem.smoothness > NEGLIGIBLE
    potential = _rounded(np.array([solution.potential / one * with_loss]))[0]
    gamma = _rounded(np.array([solution.gamma / one * program.has_floor]), positive=True)[0]
    claim["floor"] = str(gamma / (1 - rho))
    if program.noise_clients is not None:
        claim["noise_floor"] = str(noise_cost(noise_weights, program.noise_clients) / (1 - rho))
    # names of the unknown vectors of both blocks in the order of their columns, and their units, powers of two
    gradients = [f"v{j + 1}" for j in range(round_.gradients + program.with_loss)]
    noise = [f"n{j + 1}" for j in range(len(program.blocks[0].noise))]
    names = (
        [*round_.means.names, *gradients, *noise],
        [*round_.deviations.names, *gradients, *["*"] * program.has_floor, *noise],
    )
    units = []
    for which, own in enumerate(names):
        state = [*map(Fraction, program.units(which))]
        units.append(np.array([*state, *[Fraction(program.unit)] * (len(own) - len(state))], dtype=object))
    means, deviations = (
        P / u[: len(P), None] / u[None, : len(P)] for P, u in zip((means, deviations), units, strict=True)
    )
    products = [
        [[own[i], own[j], str(x / u[i] / u[j])] for (i, j), x in zip(entries, _rounded(values / one), strict=True) if x]
        for own, u, entries, values in zip(names, units, program.noise_entries, solution.noise_products, strict=True)
    ]
    content: dict[str, Any] = {
        "kind": verify.RATE,
        "claim": claim,
        "change": str(Fraction(program.change)),
        "relative": not program.has_floor,
        "potential": str(potential),
        "means": [[str(x) for x in row] for row in means],
        "deviations": [[str(x) for x in row] for row in deviations],
        "noise_weights": [[str(x) for x in row] for row in noise_weights],
        "noise_products": products,
    }
    try:
        check_steps(record_run(problem.simplified, plan), claim)
        rate = verify.Rate(content)
        for a, b in program.pairs:
            if multipliers[a, b]:
                rate.add_smoothness(multipliers[a, b], a, b)
        _repair(rate, multipliers)
        residuals, _ = rate.residuals(content)
        claim["start_distance"], claim["start_dissimilarity"] = map(str, rate.start())
        means_factor = means.copy()
        means_factor[0, 0] -= 1
        content |= {
            "multipliers": [[a, b, str(multipliers[a, b])] for a, b in program.pairs if multipliers[a, b]],
            "means_factor": _array_factor(means_factor, round_.means.names),
            "deviations_factor": _array_factor(deviations, round_.deviations.names),
            "blocks": [square_factor(form, own) for form, own in zip(residuals, names, strict=True)],
        }
        verify.check(content)
    except verify.Refused as error:
        raise WorstCaseError(f"the verifier refused the rate: {error}") from None
    return content


def _claim(problem: RateProblem) -> dict[str, Any]:
    """Return what a proof claims about a problem; the numbers of the rate are still 0."""
    cohort, algorithm = problem.partial_cohort, problem.simplified
    updated, steps = problem.round.memory_update, problem.local_steps
    method, parameter = method_and_parameter(algorithm) if updated else round_method(algorithm, steps)
    return {
        "method": method,
        "parameter": str(parameter),
        "local_steps": steps,
        **{name: str(fraction(getattr(problem, name))) for name in ("step_size", "smoothness", "strong_convexity")},
        "clients": cohort.clients if cohort else problem.program.noise_clients,
        "cohort": cohort.cohort if cohort else None,
        **dict.fromkeys(verify.RATE_NUMBERS, "0"),
        "noise_floor": None if problem.program.noise_clients is None else "0",
    }


def _rounded(numbers: Array, positive: bool = False) -> Array:
    """Return the closest fractions of few binary digits, with ``positive`` at least 0."""
    largest = float(np.abs(numbers).max(initial=0.0)) or 1.0
    unit = Fraction(2) ** (round(log2(largest)) - BINARY_DIGITS)
    fractions = [unit * round(Fraction(float(x)) / unit) for x in numbers.ravel()]
    rounded = np.empty(numbers.shape, dtype=object)
    rounded.ravel()[:] = [max(x, Fraction(0)) for x in fractions] if positive else fractions
    return rounded


def _array_factor(matrix: Array, names: Sequence[str]) -> dict[str, Any]:
    return square_factor(
        {(a, b): x for a, row in zip(names, matrix, strict=True) for b, x in zip(names, row, strict=True)}, names
    )


def _repair(rate: verify.Rate, multipliers: Array) -> None:
    """Change multipliers so that function values cancel, by inequalities with the minimiser (value 0)."""
    for a, x in list(rate.values.items()):
        if a and x:
            pair = (a, 0) if x > 0 else (0, a)
            rate.add_smoothness(abs(x), *pair)
            multipliers[pair] += abs(x)
