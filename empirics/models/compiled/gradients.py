"""Gradients of linear models for all clients of a step in one compiled call, which reads samples from the common pool.

A client's samples are copied once, as rows and transposed, into memory that stays in the L1 cache. Outputs are sums
over features for a vector of samples; gradients are sums over samples for a vector of features. A row's numbers depend
only on its own samples. All computations are in the precision of the model.
"""

from __future__ import annotations

import numpy as np

from .cache import cached_kernel, kernel
from .exponential import exponentials
from .products import along_rows, block
from .tiles import OUTPUTS, WIDTH
from .transfer import transpose

SOFTMAX, LOGISTIC, SQUARED_HINGE, RESIDUAL = range(4)
"""Kinds of losses; ``RESIDUAL`` (least squares) subtracts targets, or the one-hot vectors of class numbers."""


@kernel
def softmax(z, largest, total, width, batch, outputs, table):
    """Replace outputs ``z (outputs, width)`` by their softmax, sample by sample."""
    for t in range(batch):
        largest[t] = z[t]
        total[t] = 0
    for c in range(1, outputs):
        own = z[c * width : c * width + batch]
        for t in range(batch):
            largest[t] = own[t] if own[t] > largest[t] or own[t] != own[t] else largest[t]
    for c in range(outputs):
        own = z[c * width : c * width + batch]
        for t in range(batch):
            own[t] -= largest[t]
        exponentials(own, table)
        for t in range(batch):
            total[t] += own[t]
    for c in range(outputs):
        own = z[c * width : c * width + batch]
        for t in range(batch):
            own[t] /= total[t]


@kernel
def output_gradients(z, spare, kind, targets, classes, places, shares, width, batch, outputs, table):
    """Replace outputs ``z (outputs, width)`` by weighted gradients of the losses; return whether targets are valid."""
    one, first, second = table[4], spare[:batch], spare[width : width + batch]
    if kind == SOFTMAX:
        softmax(z, first, second, width, batch, outputs, table)
    elif kind != RESIDUAL:
        margin, decay = first, second
        for t in range(batch):
            margin[t] = z[t] * targets[places[t]]
            decay[t] = -abs(margin[t])
        if kind == LOGISTIC:
            exponentials(decay, table)
        for t in range(batch):
            slope = margin[t] - one if not margin[t] >= one else one - one
            if kind == LOGISTIC:
                slope = -(decay[t] if margin[t] >= 0 else one) / (one + decay[t])
            z[t] = slope * targets[places[t]]
    elif not classes:
        for o in range(outputs):
            for t in range(batch):
                z[o * width + t] -= targets[places[t] * outputs + o]
    if classes:
        for t in range(batch):
            c = int(targets[places[t]])
            if c < 0 or c >= outputs:
                return False
            z[c * width + t] -= one
    for o in range(outputs):
        own = z[o * width : o * width + batch]
        for t in range(batch):
            own[t] *= shares[t]
    return True


@cached_kernel
def gradients(
    kind, models, slopes, pool, index, step, ends, sizes, targets, classes, weight, features, outputs, regularisation,
    table,
):  # fmt: skip
    """Write the gradients of the losses of ``models (rows, outputs * features)`` on one step's batches to ``slopes``.

    ``pool (n, features)`` and ``targets`` (``(n,)``, class numbers if ``classes``, or ``(n, outputs)``) are flat.
    ``index (rows, steps, batch)`` are the numbers of the samples, ``weight (1 or rows, 1 or steps, batch)`` their
    weights. If step ``sizes`` are given, models take SGD steps in place instead, from ``step`` to their entry of
    ``ends``, and ``slopes`` is working memory for one gradient. Returns whether all class numbers were valid.
    """
    batch, dim, walking = index.shape[2], outputs * features, len(sizes) > 0
    w, g, penalty = models.reshape(-1), slopes.reshape(-1), models.dtype.type(regularisation)
    lanes = WIDTH * 4 // models.itemsize
    width, pitch = -(-batch // lanes) * lanes, -(-features // lanes) * lanes
    x, across = np.zeros(batch * pitch, models.dtype), np.zeros(features * width, models.dtype)
    z, spare = np.zeros(outputs * width, models.dtype), np.zeros(max(OUTPUTS * lanes, 2 * width), models.dtype)
    taps, samples = np.zeros(2, np.int64), np.empty(2 * batch, np.int64)
    for t in range(batch):
        samples[2 * t], samples[2 * t + 1] = t * pitch, t
    for row in range(len(models)):
        w0, g0 = row * dim, 0 if walking else row * dim
        for now in range(step, ends[row] if walking else step + 1):
            shares = weight[row if len(weight) > 1 else 0, now if weight.shape[1] > 1 else 0]
            places = index[row, now]
            for t in range(batch):
                sample, copy = pool[places[t] * features : (places[t] + 1) * features], x[t * pitch : (t + 1) * pitch]
                for f in range(features):
                    copy[f] = sample[f]
            transpose(across, 0, width, x, 0, pitch, batch, features)
            for lane in range(0, width, lanes):
                o = 0
                while o < outputs:
                    o += block(
                        outputs - o, z, o * width + lane, width, across, lane, width, w, w0 + o * features, features, 1,
                        0, taps, 0, 1, features, w, -1, 0,
                    )  # fmt: skip
            if not output_gradients(z, spare, kind, targets, classes, places, shares, width, batch, outputs, table):
                return False
            along_rows(g, g0, outputs, features, z, 0, width, x, 0, samples, 0, batch, spare, 0)
            own, slope = w[w0 : w0 + dim], g[g0 : g0 + dim]
            if regularisation != 0:
                for place in range(dim):
                    slope[place] += penalty * own[place]
            if walking:
                size = models.dtype.type(sizes[now])
                for place in range(dim):
                    own[place] -= size * slope[place]
    return True
