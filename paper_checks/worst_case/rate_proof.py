"""Proofs of rates: quadratic form and multipliers in fractions, and sums of squares in integers."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import log2
from typing import Any

import numpy as np

from empirics.exact.numbers import fraction
from empirics.training.setting import Setting

from . import verify
from .lyapunov import LyapunovSolution, noise_cost
from .methods import check_steps, method_and_parameter, round_method
from .packed import Array
from .program import WorstCaseError
from .rate_case import Case
from .sum_of_squares import square_factor
from .symbolic_run import record_run

DIGITS = 55
"""Binary digits of a rounded number, relative to the largest of its kind."""
NEGLIGIBLE = 1e-6
"""Weight of the loss gap, times L, below which it is left out: it would only increase the start."""
ROUNDS = 3
"""Rounds in which the steps are compared with those of the verifier: every memory has then had an effect."""


def prove_rate(case: Case, solution: LyapunovSolution) -> dict[str, Any]:
    """Return the content of a proof file, which the verifier has accepted, for a solution in floats.

    Raises ``WorstCaseError`` if there is no proof.
    """
    program, round_ = case.program, case.round
    claim = _claim(case) | {"contraction": str(fraction(solution.rho))}
    plan = Setting(ROUNDS, cohort=2, local_steps=case.local_steps, step_size=case.step_size)
    check_steps(record_run(case.simplified, plan), claim)
    rho = fraction(solution.rho)
    # if the state has one mean only, the quadratic form can be exactly |w - w*|^2
    one = solution.means[0, 0] if len(solution.means) == 1 else 1.0
    means, deviations = _rounded(solution.means / one), _rounded(solution.deviations / one)
    multipliers = _rounded(solution.multipliers / one, positive=True)
    noise_weights = _rounded(solution.noise_weights / one, positive=True)
    with_loss = program.with_loss and solution.potential * case.smoothness > NEGLIGIBLE
    potential = _rounded(np.array([solution.potential / one * with_loss]))[0]
    gamma = _rounded(np.array([solution.gamma / one * program.has_floor]), positive=True)[0]
    claim["floor"] = str(gamma / (1 - rho))
    if program.noise is not None:
        claim["noise_floor"] = str(noise_cost(noise_weights, program.noise) / (1 - rho))
    # names of the unknown vectors of both blocks in the order of their columns, and their units, powers of two
    gradients = [f"v{j + 1}" for j in range(round_.gradients + program.with_loss)]
    noise = [f"n{j + 1}" for j in range(len(program.blocks[0].noise))]
    names = ([*round_.means, *gradients, *noise], [*round_.deviations, *gradients, *["*"] * program.has_floor, *noise])
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
            "means_factor": _array_factor(means_factor, round_.means),
            "deviations_factor": _array_factor(deviations, round_.deviations),
            "blocks": [square_factor(form, own) for form, own in zip(residuals, names, strict=True)],
        }
        verify.check(content)
    except verify.Refused as error:
        raise WorstCaseError(f"the verifier refused the rate: {error}") from None
    return content


def _claim(case: Case) -> dict[str, Any]:
    """Return what a proof claims about a case; the numbers of the rate are still 0."""
    cohort, algorithm = case.partial_cohort, case.simplified
    listed = method_and_parameter(algorithm) if case.round.memory_update else round_method(algorithm, case.local_steps)
    return {
        "method": listed[0],
        "parameter": str(listed[1]),
        "local_steps": case.local_steps,
        "step_size": str(fraction(case.step_size)),
        "smoothness": str(fraction(case.smoothness)),
        "strong_convexity": str(fraction(case.strong_convexity)),
        "clients": cohort.clients if cohort else case.program.noise,
        "cohort": cohort.cohort if cohort else None,
        **dict.fromkeys(verify.RATE_NUMBERS, "0"),
        "noise_floor": None if case.program.noise is None else "0",
    }


def _rounded(numbers: Array, positive: bool = False) -> Array:
    """Return the closest fractions of few binary digits, with ``positive`` at least 0."""
    largest = float(np.abs(numbers).max(initial=0.0)) or 1.0
    unit = Fraction(2) ** (round(log2(largest)) - DIGITS)
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
