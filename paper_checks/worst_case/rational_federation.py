"""The lower end of a proved interval: a federation in exact fractions that meets every inequality and attains a value.

A solver's solution slightly violates its inequalities, and so do fractions close to it. It is therefore mixed with a
point strictly inside the class, an early one of the solver's path, in the smallest share that satisfies them all.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import floor, frexp, log2
from typing import Any

import numpy as np

from . import verify
from .packed import Array, pack, unpack_blocks
from .program import Program, Solution, WorstCaseError

ROUNDING = 4e-15
"""Allowance for rounding errors in an inequality, relative to the sum of its terms' absolute values."""
MORE = (1e-9, 1e-8, 1e-7)
"""Shares of the inner point that are added in turn while the fractions still violate an inequality."""
DIGITS = 54
"""Binary digits of the coordinates of the shortest vector."""


def attained_entry(
    program: Program,
    solution: Solution,
    content: Mapping[str, Any],
    names: tuple[list[str], ...],
    values: Mapping[str, int],
) -> dict[str, Any]:
    """Return the entry ``attained`` of a worst-case proof, for a federation close to a solution.

    Args:
        program: The program in floats, and ``solution`` its solution.
        content: The proof without the entry.
        names: The names of the unknown vectors of every block.
        values: The indices of function values by point.

    Raises:
        WorstCaseError: If no federation in fractions is accepted by the verifier.
    """
    rows = np.array([c.row for c in program.constraints])
    limits = np.array([float(c.limit) for c in program.constraints])

    def slack(x: Array) -> Array:
        """Return the slack of every inequality, less the allowance for rounding."""
        slacks: Array = limits - rows @ x - ROUNDING * (np.abs(rows) @ np.abs(x))
        return slacks

    inner, mixture = _semidefinite(program, solution.inside), _semidefinite(program, solution.near)
    inner_slack, violation, reason = slack(inner), -slack(mixture), ""
    violated = violation > 0
    if (inner_slack[violated] <= 0).any():
        raise WorstCaseError("no federation was found strictly inside the class")
    shares = violation[violated] / (violation[violated] + inner_slack[violated])
    for share in (float(shares.max(initial=0.0)), *MORE):
        mixture = (1 - share) * mixture + share * inner
        entry = _in_fractions(program, names, values, mixture)
        try:
            value = verify.attained_value({**content, "attained": entry})
        except verify.Refused as error:
            reason = str(error)
            continue
        return entry | {"value": str(_round_down(value))}
    raise WorstCaseError(f"no federation in fractions: {reason}")


def _semidefinite(program: Program, x: Array) -> Array:
    """Return x with its matrices projected to positive semidefinite ones."""
    spectra = [np.linalg.eigh(gram) for gram in unpack_blocks(x, program.blocks)]
    grams = [pack((axes * np.maximum(spectrum, 0.0)) @ axes.T) for spectrum, axes in spectra]
    return np.concatenate([*grams, x[program.packed :]])


def _in_fractions(
    program: Program, names: tuple[list[str], ...], values: Mapping[str, int], x: Array
) -> dict[str, Any]:
    """Return the entry of a point, whose vectors have coordinates that are integer multiples of ``2^-bits``."""
    spectra = [np.linalg.eigh(gram) for gram in unpack_blocks(x, program.blocks)]
    roots = [np.linalg.qr((axes * np.sqrt(np.maximum(spectrum, 0.0))).T)[1].T for spectrum, axes in spectra]
    lengths = [float(np.linalg.norm(row)) for root in roots for row in root]
    largest = max([*lengths, 0.0])
    shortest = min((x for x in lengths if x > 1e-9 * largest), default=1.0)
    bits = max(0, DIGITS - floor(log2(shortest)))
    vectors: dict[str, list[list[int]]] = {name: [[], []] for own in names for name in own}
    parts = [part for part, own in enumerate(names) if own]
    for part, root in zip(parts, roots, strict=True):
        for i, (name, row) in enumerate(zip(names[part], root, strict=True)):
            vectors[name][part] = [round(Fraction(float(y)) * 2**bits) for y in row[: i + 1]]
    return {
        "value": "0", "bits": bits, "dimensions": [len(own) for own in names], "vectors": vectors,
        "values": {name: str(Fraction(float(x[program.packed + index]))) for name, index in values.items()},
    }  # fmt: skip


def _round_down(x: Fraction) -> Fraction:
    """Return a short fraction that is at most x."""
    unit = Fraction(2) ** (frexp(float(x))[1] - 60) if x else Fraction(1)
    return unit * floor(x / unit)
