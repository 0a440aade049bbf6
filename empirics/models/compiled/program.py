"""A network's passes as a list of operations, and the one compiled function that carries such a list out.

The list is made once for a network and a padded batch; so a single compiled function, kept between runs, serves every
network. Python is entered once for a whole pass, not once for a layer, and other threads run meanwhile.
"""

from __future__ import annotations

from .cache import kept_kernel
from .ends import entropy, given_out, relu, taken_in, zeros
from .pooling import maxima, maxima_back
from .products import bias, convolution_weights, cut, dense_weights, product

(TAKE_IN, GIVE_OUT, ENTROPY, ZEROS, RELU, MAXIMA, MAXIMA_BACK, PRODUCT, CONVOLUTION_WEIGHTS, DENSE_WEIGHTS, BIAS,
 CUT) = range(12)  # fmt: skip
LEARNING = (CONVOLUTION_WEIGHTS, DENSE_WEIGHTS, BIAS)
"""What makes gradients of the row alone."""
LONGEST = 15
"""Numbers in an operation beside its name."""


@kept_kernel
def carry_out(program, taps, pixels, width, batch, memory, w, g, source, target, targets, weight):
    """Carry out the operations ``program (n, 1 + LONGEST)`` on a batch padded to ``width`` samples.

    Flat float32 arrays: ``memory`` for all between, the row ``w`` and its gradient ``g``, samples that come in from
    ``source`` and go out to ``target``, the loss's ``targets`` (int64) and ``weight`` per sample. Returns
    whether all targets were classes.
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
        elif name == TAKE_IN:
            taken_in(memory, width, batch, source, p[1], p[2], p[3], p[4], p[5], p[6])
        elif name == GIVE_OUT:
            given_out(memory, width, batch, target, p[1], p[2], p[3], p[4], p[5], p[6])
        elif name == ENTROPY:
            if not entropy(memory, width, batch, targets, weight, p[1], p[2], p[3]):
                return False
        elif name == ZEROS:
            zeros(memory, p[1], p[2])
        elif name == RELU:
            relu(memory, p[1], p[2])
    return True
