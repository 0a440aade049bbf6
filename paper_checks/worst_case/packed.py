"""Symmetric matrices as vectors: the upper triangle column by column, off-diagonal entries times sqrt(2).

This is the format of solvers: the dot product of two packed matrices is the trace inner product.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def pack(matrix: Array) -> Array:
    """Return the vector of a symmetric matrix."""
    i, j = triangle(len(matrix))
    return np.asarray(matrix[i, j] * np.where(i == j, 1.0, 2**0.5))


def unpack(packed: Array, size: int) -> Array:
    """Return the symmetric matrix of a vector."""
    i, j = triangle(size)
    matrix = np.zeros((size, size))
    matrix[i, j] = packed / np.where(i == j, 1.0, 2**0.5)
    matrix[j, i] = matrix[i, j]
    return matrix


def unpack_blocks(x: Array, blocks: Sequence[int]) -> list[Array]:
    """Return the symmetric matrices whose packed forms are the first entries of ``x``."""
    ends = np.cumsum([n * (n + 1) // 2 for n in blocks])
    return [unpack(piece, n) for piece, n in zip(np.split(x[: ends[-1]], ends[:-1]), blocks, strict=True)]


@cache
def triangle(size: int) -> tuple[Array, Array]:
    """Return rows and columns of the upper triangle's entries, column by column (cached: do not modify)."""
    j, i = np.tril_indices(size)
    return i, j
