"""The operations of a network's passes, and the one compiled function that executes a list of them.

A list is made once per network and padded batch size, so that one compiled function, cached between runs, works for
every network. Python is left once per pass instead of once per layer, and other threads can run meanwhile.
"""

from __future__ import annotations

from .cache import cached_kernel
from .pooling import maxima, maxima_back
from .products import bias, convolution_weights, cut, dense_weights, product
from .transfer import copy_in, copy_out, entropy_gradient, relu, zeros

(COPY_IN, COPY_OUT, ENTROPY, ZEROS, RELU, MAXIMA, MAXIMA_BACK, PRODUCT, CONVOLUTION_WEIGHTS, DENSE_WEIGHTS, BIAS,
 CUT) = range(12)  # fmt: skip
LEARNING = (CONVOLUTION_WEIGHTS, DENSE_WEIGHTS, BIAS)
"""Operations that compute gradients of the row."""
LONGEST = 15
"""Largest number of arguments of an operation."""


@cached_kernel
def execute(program, taps, pixels, width, batch, memory, w, g, source, target, targets, weight):
    """Execute the operations ``program (n, 1 + LONGEST)`` on a batch padded to ``width`` samples.

    Arrays are flat and float32: working ``memory``, the row ``w`` and its gradient ``g``, the ``source`` and ``target``
    of copies in and out, and the ``weight`` of each sample; ``targets`` are int64. Returns whether all targets were
    valid class numbers.
    """
    for line in range(len(program)):
        p = program[line]
        name = p[0]
        if name == PRODUCT:
            product(memory, w, taps, pixels, width, p[1], p[2], p[3], p[4], p[5], p[6], p[7], p[8], p[9], p[10], p[11],
                    p[12], p[13], p[14], p[15])  # fmt: skip
        elif name == CONVOLUTION_WEIGHTS:
            convolution_weights(memory, g, taps, width, p[1], p[2], p[3], p[4], p[5], p[6], p[7], p[8])
        elif name == DENSE_WEIGHTS:
            dense_weights(memory, g, taps, width, batch, p[1], p[2], p[3], p[4], p[5], p[6], p[7], p[8], p[9])
        elif name == BIAS:
            bias(memory, g, p[1], p[2], p[3], p[4])
        elif name == CUT:
            cut(memory, p[1], p[2], p[3], p[4], p[5], p[6], p[7])
        elif name == MAXIMA:
            maxima(memory, width, p[1], p[2], p[3], p[4], p[5], p[6], p[7], p[8], p[9], p[10], p[11])
        elif name == MAXIMA_BACK:
            maxima_back(memory, width, p[1], p[2], p[3], p[4], p[5], p[6], p[7], p[8])
        elif name == COPY_IN:
            copy_in(memory, width, batch, source, p[1], p[2], p[3], p[4], p[5], p[6])
        elif name == COPY_OUT:
            copy_out(memory, width, batch, target, p[1], p[2], p[3], p[4], p[5], p[6])
        elif name == ENTROPY:
            if not entropy_gradient(memory, width, batch, targets, weight, p[1], p[2], p[3]):
                return False
        elif name == ZEROS:
            zeros(memory, p[1], p[2])
        elif name == RELU:
            relu(memory, p[1], p[2])
    return True
