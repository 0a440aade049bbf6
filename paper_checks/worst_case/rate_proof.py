"""A rate as a proof: quadratic and multipliers in fractions, and what is left as a sum of squares by integers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import log2
from typing import Any

import numpy as np

from empirics.exact.numbers import fraction

from . import verify
from .coordinates import Array
from .lyapunov import noise_cost, Sought
from .methods import named, named_round
from .program import WorstCaseError
from .rate_case import Case
from .sum_of_squares import factored

DIGITS = 55
"""Binary digits of a rounded number, relative to the largest of its kind."""
LEFT_OUT = 1e-6
"""A weight of the loss gap, times L, below which it is left out: it would count at the start, and nowhere else."""
AGREE = 1e-8
"""How far what is left in floats may be from that in fractions, relative to the largest number of a quadratic."""


def proved(case: Case, sought: Sought) -> dict[str, Any]:
    """The file that proves what ``sought`` says in floats; ``WorstCaseError`` where it does not become a proof.

    What is left of the inequalities is added up by the verifier, which plays its own listing of the method.
    """
    program, algorithm = case.program, case.played
    some, round_ = program.cohort, case.round
    rho = fraction(sought.rho)
    unit = sought.means[0, 0] if len(sought.means) == 1 else 1.0  # of the model alone V may be 1 |w - w*|^2 exactly
    quadratics = [_rounded(P / unit) for P in (sought.means, sought.apart)]
    multipliers: Array = np.maximum(_rounded(sought.multipliers / unit), np.array(Fraction(0), dtype=object))
    counts = program.ends and sought.potential * case.smoothness > LEFT_OUT
    potential = _rounded(np.array([sought.potential / unit]))[0] if counts else Fraction(0)
    gamma = max(_rounded(np.array([sought.gamma / unit]))[0], Fraction(0)) if program.floored else Fraction(0)
    noises: Array = np.maximum(_rounded(sought.noises / unit), np.array(Fraction(0), dtype=object))
    unheard = [_rounded(values / unit) for values in sought.unheard]
    # the unknown vectors of both blocks in the order of their columns, and the powers of two that they are in
    own = [f"v{j + 1}" for j in range(round_.gradients + program.ends)]
    heard = [f"n{j + 1}" for j in range(len(program.blocks[0].noise))]
    names = [*round_.means, *own, *heard], [*round_.apart, *own, *["*"] * program.floored, *heard]
    units = []
    for which, block in enumerate(program.blocks):
        state = program.units(which)
        units.append(_exact([*state, *[program.unit] * (block.width - len(state))]))
    raw = [P / u[: len(P), None] / u[None, : len(P)] for P, u in zip(quadratics, units, strict=True)]
    products = [
        [[own[i], own[j], str(x / u[i] / u[j])] for (i, j), x in zip(free, values, strict=True) if x]
        for own, u, free, values in zip(names, units, program.free, unheard, strict=True)
    ]
    name, parameter = named(algorithm) if round_.renewed else named_round(algorithm, round_.gradients)
    content: dict[str, Any] = {
        "kind": verify.RATE,
        "claim": {
            "method": name,
            "parameter": str(parameter),
            "local_steps": round_.gradients,
            "step_size": str(fraction(case.step_size)),
            "smoothness": str(fraction(case.smoothness)),
            "strong_convexity": str(fraction(case.strong_convexity)),
            "clients": some.clients if some else case.noise,
            "cohort": None if some is None else some.cohort,
            "contraction": str(rho),
            "start_distance": "0",
            "start_dissimilarity": "0",
            "floor": str(gamma / (1 - rho)),
            "noise_floor": None if case.noise is None else str(noise_cost(noises, case.noise) / (1 - rho)),
        },
        "change": str(Fraction(program.change)),
        "rest": not program.floored,
        "potential": str(potential),
        "means": [[str(x) for x in row] for row in raw[0]],
        "apart": [[str(x) for x in row] for row in raw[1]],
        "noises": [[str(x) for x in row] for row in noises],
        "unheard": products,
    }
    try:
        rate = verify.Rate(content)
        for a, b in program.pairs:
            if multipliers[a, b]:
                rate.add_smoothness(multipliers[a, b], a, b)
        _repair(rate, multipliers)
        forms, _ = rate.residuals(content)
        size = Fraction(program.unit) ** 2
        exact_ones = (*quadratics, np.array(gamma * size), multipliers, noises * size)
        means, apart, added, lam, costs = (x.astype(float) for x in exact_ones)
        free = unheard[0].astype(float), unheard[1].astype(float)
        seen = program.left(sought.rho, means, apart, added, lam, costs, free)
        largest = max(1.0, *(float(np.abs(left).max(initial=0)) for left in seen))
        for form, unit_of, order, left in zip(forms, units, names, seen, strict=True):
            exact = np.array([[float(form.get((a, b), 0)) for b in order] for a in order]).reshape(left.shape)
            scale = unit_of.astype(float)
            if np.abs(exact * scale * scale[:, None] - left).max(initial=0) > AGREE * largest:  # more, or less, is left
                raise WorstCaseError(f"{algorithm.name} makes other steps than the verifier's listing: no proof")
        distance, dissimilarity = rate.start()
        content["claim"] |= {"start_distance": str(distance), "start_dissimilarity": str(dissimilarity)}
        above = raw[0].copy()
        above[0, 0] -= 1
        content |= {
            "multipliers": [[a, b, str(multipliers[a, b])] for a, b in program.pairs if multipliers[a, b]],
            "above_distance": _factored(above, round_.means),
            "above_nothing": _factored(raw[1], round_.apart),
            "blocks": [factored(form, own) for form, own in zip(forms, names, strict=True)],
        }
        verify.check(content)
    except verify.Refused as error:
        raise WorstCaseError(f"the verifier refused the rate: {error}") from None
    return content


def _rounded(numbers: Array) -> Array:
    """Fractions of few binary digits, the nearest to these floats."""
    largest = float(np.abs(numbers).max(initial=0.0)) or 1.0
    unit = Fraction(2) ** (round(log2(largest)) - DIGITS)
    return _exact(unit * round(Fraction(float(x)) / unit) for x in numbers.ravel()).reshape(numbers.shape)


def _exact(numbers: Iterable[Any]) -> Array:
    return np.array([*map(Fraction, numbers), None], dtype=object)[:-1]


def _factored(matrix: Array, names: Sequence[str]) -> dict[str, Any]:
    return factored(
        {(a, b): x for a, row in zip(names, matrix, strict=True) for b, x in zip(names, row, strict=True)}, names
    )


def _repair(rate: verify.Rate, multipliers: Array) -> None:
    """Makes the function values cancel exactly: every value stands beside the minimiser's, which is 0."""
    for a, x in list(rate.values.items()):
        if a and x:
            pair = (a, 0) if x > 0 else (0, a)
            rate.add_smoothness(abs(x), *pair)
            multipliers[pair] += abs(x)
