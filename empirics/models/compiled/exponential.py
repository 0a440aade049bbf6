"""Exponentials of our own: a library's depend on which one a process happens to have loaded, in their last bits."""

from __future__ import annotations

from functools import partial
from math import factorial, log

import numpy as np

from .cache import AS_WRITTEN, kernel
from .tiles import power_of_two

HIGH = log(2) - log(2) % 2**-12  # of so few digits that a whole number times it is exact
SERIES = [1 / factorial(n) for n in range(14)]
EXPONENTIAL = {
    np.dtype(kind): np.array([1 / log(2), HIGH, log(2) - HIGH, least, *SERIES], kind)
    for kind, least in ((np.float32, -87.0), (np.float64, -708.0))
}
"""By the kind of number: what ``exponentials`` is computed with. Below the fourth number it is that of the fourth."""


@partial(kernel, flags=AS_WRITTEN)  # the parts of a logarithm must stay apart
def exponentials(x, table):
    """``exp(x)`` in place for x <= 0: two to a whole number times a power series; a NaN stays."""
    scale, high, low, least = table[0], table[1], table[2], table[3]
    one, half, a3, a4, a5, a6, a7 = table[4], table[6], table[7], table[8], table[9], table[10], table[11]
    a8, a9, a10, a11, a12, a13 = table[12], table[13], table[14], table[15], table[16], table[17]
    for t in range(len(x)):
        a = least if x[t] < least else x[t]
        k = np.floor(a * scale + half)
        r = (a - k * high) - k * low
        s = ((((a13 * r + a12) * r + a11) * r + a10) * r + a9) * r + a8
        s = ((((((s * r + a7) * r + a6) * r + a5) * r + a4) * r + a3) * r + half) * r + one
        x[t] = (s * r + one) * power_of_two(k)
