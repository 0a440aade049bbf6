"""Our own exponential, since the last bits of a library's depend on which library a process has loaded."""

from __future__ import annotations

from functools import partial
from math import factorial, log

import numpy as np

from .cache import AS_WRITTEN, kernel
from .tiles import power_of_two

HIGH = log(2) - log(2) % 2**-12  # with so few digits that its products with integers are exact
SERIES = [1 / factorial(n) for n in range(14)]
EXPONENTIAL = {
    np.dtype(kind): np.array([1 / log(2), HIGH, log(2) - HIGH, smallest, *SERIES], kind)
    for kind, smallest in ((np.float32, -87.0), (np.float64, -708.0))
}
"""Constants of ``exponentials`` by type of number; smaller arguments than the fourth constant are replaced by it."""


@partial(kernel, flags=AS_WRITTEN)  # adding the two parts of log(2) first would lose digits
def exponentials(x, table):
    """Replace x <= 0 by ``exp(x)``, computed as a power of two times a power series; NaN is preserved."""
    scale, high, low, smallest = table[0], table[1], table[2], table[3]
    one, half, a3, a4, a5, a6, a7 = table[4], table[6], table[7], table[8], table[9], table[10], table[11]
    a8, a9, a10, a11, a12, a13 = table[12], table[13], table[14], table[15], table[16], table[17]
    for t in range(len(x)):
        a = smallest if x[t] < smallest else x[t]
        k = np.floor(a * scale + half)
        r = (a - k * high) - k * low
        s = ((((a13 * r + a12) * r + a11) * r + a10) * r + a9) * r + a8
        s = ((((((s * r + a7) * r + a6) * r + a5) * r + a4) * r + a3) * r + half) * r + one
        x[t] = (s * r + one) * power_of_two(k)
