"""The other side of the interval: a federation in fractions that meets every inequality exactly and attains a value.

A solver's federation breaks its inequalities by a little, and fractions near it do too. So it is mixed with one that is
strictly inside: an early point of the path that the solver took. Inner products and values of a mixture of both meet
every inequality that the second meets strictly; the share of the second is the least that suffices. Where that costs
too
much, the solver is run again with a distance from the inequalities that it broke.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import floor, frexp, log2
from typing import Any

import numpy as np

from . import verify
from .coordinates import Array, pack, unpacked
from .program import Program, Solved, WorstCaseError

ROUNDING = 4e-15
"""What rounding may change in an inequality, relative to the sum of its terms' sizes."""
MORE = (1e-9, 1e-8, 1e-7)
"""Shares of the inner federation that are added where fractions still break something."""
DIGITS = 54
"""Binary digits of the coordinates of the shortest vector."""


def attained(
    program: Program,
    solved: Solved,
    content: Mapping[str, Any],
    names: tuple[list[str], ...],
    values: Mapping[str, int],
) -> dict[str, Any]:
    """The certificate's entry of a federation near a solution: names of every block's vectors, places of values."""
    rows, limits = (
        np.array([c.row for c in program.constraints]),
        np.array([float(c.limit) for c in program.constraints]),
    )

    def room(x: Array) -> Array:
        """How far every inequality is from being broken, rounding taken off."""
        found: Array = limits - rows @ x - ROUNDING * (np.abs(rows) @ np.abs(x))
        return found

    inner, mixture = _semidefinite(program, solved.inside), _semidefinite(program, solved.near)
    spare, short, said = room(inner), -room(mixture), ""
    at = short > 0
    if (spare[at] <= 0).any():
        raise WorstCaseError("no federation was found strictly inside of the class")
    share = float((short[at] / (short[at] + spare[at])).max(initial=0.0))
    for more in (share, *MORE):
        mixture = (1 - more) * mixture + more * inner
        entry = _written(program, names, values, mixture)
        try:
            reached = verify.attained_value({**content, "attained": entry})
        except verify.Refused as error:
            said = str(error)
            continue
        return entry | {"value": str(_below(reached))}
    raise WorstCaseError(f"no federation in fractions: {said}")


def _semidefinite(program: Program, x: Array) -> Array:
    """x with the inner products made those of vectors."""
    spectra = [np.linalg.eigh(gram) for gram in unpacked(x, program.blocks)]
    grams = [pack((axes * np.maximum(spectrum, 0.0)) @ axes.T) for spectrum, axes in spectra]
    return np.concatenate([*grams, x[program.packed :]])


def _written(program: Program, names: tuple[list[str], ...], values: Mapping[str, int], x: Array) -> dict[str, Any]:
    """Vectors in coordinates that are whole numbers of ``2^-bits``, by the mean and by the deviation."""
    spectra = [np.linalg.eigh(gram) for gram in unpacked(x, program.blocks)]
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
        "value": "0",
        "bits": bits,
        "dimensions": [len(own) for own in names],
        "vectors": vectors,
        "values": {name: str(Fraction(float(x[program.packed + place]))) for name, place in values.items()},
    }


def _below(x: Fraction) -> Fraction:
    """A short fraction that is not larger."""
    unit = Fraction(2) ** (frexp(float(x))[1] - 60) if x else Fraction(1)
    return unit * floor(x / unit)
