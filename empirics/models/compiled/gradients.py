"""Gradients of linear models: all clients of a step in one compiled call, samples read where they lie in the pool.

A client's samples are copied once, in rows and turned round, into memory that stays in the nearest cache. Outputs are
sums over features for a vector of samples, gradients sums over samples for a vector of features. A row's numbers depend
on its own samples alone. All in the precision of the model.
"""

from __future__ import annotations

import numpy as np

from .cache import kept_kernel, kernel
from .ends import turned
from .exponential import exponentials
from .products import along_rows, block
from .tiles import OUTPUTS, WIDTH

SOFTMAX, LOGISTIC, SQUARED_HINGE, RESIDUAL = range(4)
"""What a loss does with the outputs; ``RESIDUAL`` subtracts targets, and class numbers as their one-hot vectors."""


@kernel
def softmax(z, most, total, width, batch, outputs, table):
    """Shares ``(outputs, width)`` of every sample in the place of its outputs."""
    for t in range(batch):
        most[t] = z[t]
        total[t] = 0
    for c in range(1, outputs):
        own = z[c * width : c * width + batch]
        for t in range(batch):
            most[t] = own[t] if own[t] > most[t] or own[t] != own[t] else most[t]
    for c in range(outputs):
        own = z[c * width : c * width + batch]
        for t in range(batch):
            own[t] -= most[t]
        exponentials(own, table)
        for t in range(batch):
            total[t] += own[t]
    for c in range(outputs):
        own = z[c * width : c * width + batch]
        for t in range(batch):
            own[t] /= total[t]


@kernel
def pulled(z, spare, kind, targets, classes, places, shares, width, batch, outputs, table):
    """Outputs ``z (outputs, width)`` become weighted gradients of the losses; whether all class numbers were some."""
    one, most, total = table[4], spare[:batch], spare[width : width + batch]
    if kind == SOFTMAX:
        softmax(z, most, total, width, batch, outputs, table)
    elif kind != RESIDUAL:
        for t in range(batch):
            most[t] = z[t] * targets[places[t]]
            total[t] = -abs(most[t])
        if kind == LOGISTIC:
            exponentials(total, table)
        for t in range(batch):
            pull = most[t] - one if not most[t] >= one else one - one
            if kind == LOGISTIC:
                pull = -(total[t] if most[t] >= 0 else one) / (one + total[t])
            z[t] = pull * targets[places[t]]
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


@kept_kernel
def gradients(
    kind, models, found, pool, index, step, ends, sizes, targets, classes, weight, features, outputs, regularisation,
    table,
):  # fmt: skip
    """Gradients ``found`` of the losses of ``models``, both ``(rows, outputs * features)``, on one step's batches.

    ``pool (n, features)`` and ``targets`` (``(n,)``, class numbers where ``classes`` says so, or ``(n, outputs)``) lie
    flat. ``index (rows, steps, batch)`` says where samples are, ``weight (1 or rows, 1 or steps, batch)`` what they
    weigh. With ``sizes`` of steps, models walk in place from ``step`` on, each to its own end of ``ends``; ``found`` is
    space for one gradient then. Returns whether all class numbers were valid.
    """
    batch, dim, walking = index.shape[2], outputs * features, len(sizes) > 0
    w, g, penalty = models.reshape(-1), found.reshape(-1), models.dtype.type(regularisation)
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
            turned(across, 0, width, x, 0, pitch, batch, features)
            for lane in range(0, width, lanes):
                o = 0
                while o < outputs:
                    o += block(
                        outputs - o, z, o * width + lane, width, across, lane, width, w, w0 + o * features, features, 1,
                        0, taps, 0, 1, features, w, -1, 0,
                    )  # fmt: skip
            if not pulled(z, spare, kind, targets, classes, places, shares, width, batch, outputs, table):
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
