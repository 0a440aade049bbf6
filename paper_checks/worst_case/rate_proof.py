"""A rate as a proof: quadratic and multipliers in fractions, and what is left as a sum of squares by integers."""

from __future__ import annotations

from fractions import Fraction
from math import log2
from typing import Any

import numpy as np

from empirics.exact.numbers import fraction

from . import verify
from .coordinates import Array
from .lyapunov import Lyapunov, noise_cost, Sought
from .methods import named, named_round
from .one_round import rational_round
from .program import WorstCaseError
from .rate_case import Case
from .sum_of_squares import factored

DIGITS = 55
"""Binary digits of a rounded number, relative to the largest of its kind."""

LEFT_OUT = 1e-6
"""A weight of the loss gap, times L, below which it is left out: it would count at the start, and nowhere else."""


def proved(case: Case, sought: Sought) -> dict[str, Any]:
    """The file that proves what ``sought`` says in floats; ``WorstCaseError`` where it does not become a proof.

    What comes back has been accepted by the verifier, which shares no code with what makes it.
    """
    kept, algorithm = case.round.renewed is not None, case.played
    round_ = rational_round(algorithm, case.round, case.step_size, case.drawn if kept else None)
    exact = Lyapunov(round_, fraction(case.smoothness), fraction(case.strong_convexity), case.noise, case.drawn)
    some = exact.cohort
    rho = fraction(sought.rho)
    unit = sought.means[0, 0] if len(sought.means) == 1 else 1.0  # of the model alone V may be 1 |w - w*|^2 exactly
    means, apart = _rounded(sought.means / unit), _rounded(sought.apart / unit)
    multipliers: Array = np.maximum(_rounded(sought.multipliers / unit), np.array(Fraction(0), dtype=object))
    counts = exact.ends and sought.potential * case.smoothness > LEFT_OUT
    potential = _rounded(np.array([sought.potential / unit]))[0] if counts else Fraction(0)
    gamma = max(_rounded(np.array([sought.gamma / unit]))[0], Fraction(0)) if exact.floored else Fraction(0)
    _repair(multipliers, exact.flow(rho, potential, multipliers))
    noises: Array = np.maximum(_rounded(sought.noises / unit), np.array(Fraction(0), dtype=object))
    unheard = _rounded(sought.unheard[0] / unit), _rounded(sought.unheard[1] / unit)
    left = exact.left(rho, means, apart, gamma * exact.unit**2, multipliers, noises * exact.unit**2, unheard)
    units = [_column_units(exact, which) for which in (0, 1)]
    parts = zip(left, units, _names(exact), strict=True)
    blocks = [factored(S / u[:, None] / u[None, :]).entry(names) for S, u, names in parts]
    raw = [exact.unscaled(P, which) for which, P in enumerate((means, apart))]
    products = [
        [[own[i], own[j], str(x / u[i] / u[j])] for (i, j), x in zip(free, values, strict=True) if x]
        for own, u, free, values in zip(_names(exact), units, exact.free, unheard, strict=True)
    ]
    above = raw[0].copy()
    above[0, 0] -= 1
    distance, dissimilarity = exact.start(means, apart, potential)
    name, parameter = named(algorithm) if kept else named_round(algorithm, round_.gradients)
    content = {
        "kind": verify.RATE,
        "claim": {
            "method": name,
            "parameter": str(parameter),
            "local_steps": round_.gradients,
            "step_size": str(fraction(case.step_size)),
            "smoothness": str(exact.smoothness),
            "strong_convexity": str(exact.strong_convexity),
            "clients": some.clients if some else case.noise,
            "cohort": None if some is None else some.cohort,
            "contraction": str(rho),
            "start_distance": str(distance),
            "start_dissimilarity": str(dissimilarity),
            "floor": str(gamma / (1 - rho)),
            "noise_floor": None if case.noise is None else str(noise_cost(noises, case.noise) / (1 - rho)),
        },
        "change": str(exact.change),
        "rest": not exact.floored,
        "potential": str(potential),
        "means": [[str(x) for x in row] for row in raw[0]],
        "apart": [[str(x) for x in row] for row in raw[1]],
        "multipliers": [[a, b, str(multipliers[a, b])] for a, b in exact.pairs if multipliers[a, b]],
        "noises": [[str(x) for x in row] for row in noises],
        "unheard": products,
        "above_distance": factored(above).entry(round_.means),
        "above_nothing": factored(raw[1]).entry(round_.apart),
        "blocks": blocks,
    }
    try:
        verify.check(content)
    except verify.Refused as error:
        raise WorstCaseError(f"the verifier refused the rate: {error}") from None
    return content


def _rounded(numbers: Array) -> Array:
    """Fractions of few binary digits, the nearest to these floats."""
    largest = float(np.abs(numbers).max(initial=0.0)) or 1.0
    unit = Fraction(2) ** (round(log2(largest)) - DIGITS)
    flat = [unit * round(Fraction(float(x)) / unit) for x in numbers.ravel()]
    return np.array([*flat, None], dtype=object)[:-1].reshape(numbers.shape)


def _repair(multipliers: Array, left: Array) -> None:
    """Makes the function values cancel exactly: every value stands beside the minimiser's, which is 0."""
    for a in range(1, len(left)):
        if left[a] > 0:
            multipliers[a, 0] += left[a]
        else:
            multipliers[0, a] -= left[a]


def _names(exact: Lyapunov) -> tuple[list[str], list[str]]:
    """The unknown vectors of both blocks, in the order of their columns."""
    own = [f"v{j + 1}" for j in range(exact.round.gradients + exact.ends)]
    heard = [f"n{j + 1}" for j in range(len(exact.blocks[0].noise))]
    rest = ["*"] if exact.floored else []
    return [*exact.round.means, *own, *heard], [*exact.round.apart, *own, *rest, *heard]


def _column_units(exact: Lyapunov, which: int) -> Array:
    rest = exact.blocks[which].width - len(exact.units(which))
    return np.concatenate([exact.units(which), np.full(rest, exact.unit, dtype=object)])
