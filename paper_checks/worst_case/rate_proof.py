"""Proofs of rates: quadratic form and multipliers in fractions, and sums of squares in integers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import log2
from typing import Any

import numpy as np

from empirics.exact.numbers import fraction

from . import verify
from .lyapunov import LyapunovSolution, noise_cost
from .methods import method_and_parameter, round_method
from .packed import Array
from .program import WorstCaseError
from .rate_case import Case
from .sum_of_squares import square_factor

DIGITS = 55
"""Binary digits of a rounded number, relative to the largest of its kind."""
NEGLIGIBLE = 1e-6
"""Weight of the loss gap, times L, below which it is left out: it would only increase the start."""
AGREE = 1e-8
"""Tolerance between the residuals in floats and in fractions, relative to the largest entry."""


def prove_rate(case: Case, solution: LyapunovSolution) -> dict[str, Any]:
    """Return the content of a proof file, which the verifier has accepted, for a solution in floats. The residuals are
    those of the steps in ``verify.one_round``. Raises ``WorstCaseError`` if there is no proof."""
    program, algorithm = case.program, case.simplified
    cohort, round_ = program.cohort, case.round
    rho = fraction(solution.rho)
    # if the state has one mean only, the quadratic form can be exactly |w - w*|^2
    unit = solution.means[0, 0] if len(solution.means) == 1 else 1.0
    quadratics = [_rounded(P / unit) for P in (solution.means, solution.deviations)]
    zero: Array = np.array(Fraction(0), dtype=object)
    multipliers: Array = np.maximum(_rounded(solution.multipliers / unit), zero)
    with_loss = program.with_loss and solution.potential * case.smoothness > NEGLIGIBLE
    potential = _rounded(np.array([solution.potential / unit]))[0] if with_loss else Fraction(0)
    gamma = max(_rounded(np.array([solution.gamma / unit]))[0], Fraction(0)) if program.has_floor else Fraction(0)
    noise_weights: Array = np.maximum(_rounded(solution.noise_weights / unit), zero)
    noise_products = [_rounded(values / unit) for values in solution.noise_products]
    # names of the unknown vectors of both blocks in the order of their columns, and their units, powers of two
    gradients = [f"v{j + 1}" for j in range(round_.gradients + program.with_loss)]
    noise = [f"n{j + 1}" for j in range(len(program.blocks[0].noise))]
    names = ([*round_.means, *gradients, *noise], [*round_.deviations, *gradients, *["*"] * program.has_floor, *noise])
    units = []
    for which, block in enumerate(program.blocks):
        state = program.units(which)
        units.append(_exact([*state, *[program.unit] * (block.width - len(state))]))
    unscaled = [P / u[: len(P), None] / u[None, : len(P)] for P, u in zip(quadratics, units, strict=True)]
    unheard = [
        [[own[i], own[j], str(x / u[i] / u[j])] for (i, j), x in zip(entries, values, strict=True) if x]
        for own, u, entries, values in zip(names, units, program.noise_entries, noise_products, strict=True)
    ]
    if round_.memory_update:
        name, parameter = method_and_parameter(algorithm)
    else:
        name, parameter = round_method(algorithm, round_.gradients)
    noise_floor = None if program.noise is None else str(noise_cost(noise_weights, program.noise) / (1 - rho))
    content: dict[str, Any] = {
        "kind": verify.RATE,
        "claim": {
            "method": name,
            "parameter": str(parameter),
            "local_steps": round_.gradients,
            "step_size": str(fraction(case.step_size)),
            "smoothness": str(fraction(case.smoothness)),
            "strong_convexity": str(fraction(case.strong_convexity)),
            "clients": cohort.clients if cohort else program.noise,
            "cohort": None if cohort is None else cohort.cohort,
            "contraction": str(rho),
            "start_distance": "0",
            "start_dissimilarity": "0",
            "floor": str(gamma / (1 - rho)),
            "noise_floor": noise_floor,
        },
        "change": str(Fraction(program.change)),
        "rest": not program.has_floor,
        "potential": str(potential),
        "means": [[str(x) for x in row] for row in unscaled[0]],
        "apart": [[str(x) for x in row] for row in unscaled[1]],
        "noises": [[str(x) for x in row] for row in noise_weights],
        "unheard": unheard,
    }
    try:
        rate = verify.Rate(content)
        for a, b in program.pairs:
            if multipliers[a, b]:
                rate.add_smoothness(multipliers[a, b], a, b)
        _repair(rate, multipliers)
        forms, _ = rate.residuals(content)
        size = Fraction(program.unit) ** 2
        exact_numbers = (*quadratics, np.array(gamma * size), multipliers, noise_weights * size)
        means, deviations, added, lam, weights = (x.astype(float) for x in exact_numbers)
        products = noise_products[0].astype(float), noise_products[1].astype(float)
        expected = program.residuals(solution.rho, means, deviations, added, lam, weights, products)
        largest = max(1.0, *(float(np.abs(matrix).max(initial=0)) for matrix in expected))
        for form, unit_of, own, matrix in zip(forms, units, names, expected, strict=True):
            exact = np.array([[float(form.get((a, b), 0)) for b in own] for a in own]).reshape(matrix.shape)
            scale = unit_of.astype(float)
            if np.abs(exact * scale * scale[:, None] - matrix).max(initial=0) > AGREE * largest:
                raise WorstCaseError(f"{algorithm.name} makes other steps than verify.one_round: no proof")
        distance, dissimilarity = rate.start()
        content["claim"] |= {"start_distance": str(distance), "start_dissimilarity": str(dissimilarity)}
        above_distance = unscaled[0].copy()
        above_distance[0, 0] -= 1
        content |= {
            "multipliers": [[a, b, str(multipliers[a, b])] for a, b in program.pairs if multipliers[a, b]],
            "above_distance": _array_factor(above_distance, round_.means),
            "above_nothing": _array_factor(unscaled[1], round_.deviations),
            "blocks": [square_factor(form, own) for form, own in zip(forms, names, strict=True)],
        }
        verify.check(content)
    except verify.Refused as error:
        raise WorstCaseError(f"the verifier refused the rate: {error}") from None
    return content


def _rounded(numbers: Array) -> Array:
    """Return the closest fractions of few binary digits."""
    largest = float(np.abs(numbers).max(initial=0.0)) or 1.0
    unit = Fraction(2) ** (round(log2(largest)) - DIGITS)
    return _exact(unit * round(Fraction(float(x)) / unit) for x in numbers.ravel()).reshape(numbers.shape)


def _exact(numbers: Iterable[Any]) -> Array:
    return np.array([*map(Fraction, numbers), None], dtype=object)[:-1]


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
