"""Attempts to break FedCOG's convergence statements where no exact engine goes: distillation, in plain loops.

No attempt succeeded.
"""

import numpy as np
from loops import cases

from bounds.catalog import get

ROUNDING = 1e-9
JUST_BELOW = 1 - 1e-12
"""A step at its limit, but for the rounding of the limit itself."""


def stated(name, words):
    bound = get(f"fedcog.{name}")
    return float(np.squeeze(bound(**{q.name: words[q.name] for q in bound.quantities})))


def longest(steps, factor, smooth):
    """The longest step that Theorem 5.6 admits."""
    drift = 2 * steps * (steps - 1)
    return min(1 / (2 * steps), (drift * (2 * factor + 1)) ** -0.5 if drift else np.inf) / smooth * JUST_BELOW


DISTILLED = {  # curvatures, curvatures of the distillation losses, beta^2 over the least that is possible
    "distillation steeper than the task": ((1.0, 1.0), (9.0, 9.0), 1.0),
    "generated data of each client's own": ((1.0, 1.0), (0.0, 9.0), 1.0),
    "a client that curves down": ((1.0, -0.9), (0.0, 0.0), 2.0),
}


@cases("attempt", DISTILLED)
def test_theorem_5_6_is_not_broken_by_distillation(attempt):
    """Clients a_k/2 (x - c_k)^2 of weights 0.6 and 0.4, seven steps a round, no noise."""
    bends, pulls, spare = map(np.array, DISTILLED[attempt])
    shares, centres, steps = np.array([0.6, 0.4]), np.array([0.0, 3.0]), 7
    mean = bends @ shares
    best = (bends * centres) @ shares / mean
    away = best - centres
    squares, cross, offset = (bends**2 * away**power @ shares for power in (0, 1, 2))
    factor = max(1.0, squares / mean**2) * spare
    room = factor * mean**2 - squares
    kappa_sq = offset + (cross**2 / room if abs(cross) > 1e-12 else 0.0)
    smooth = float(np.abs(bends + pulls).max())
    size, x, seen = longest(steps, factor, smooth), best + 1.0, []
    for _ in range(400):
        seen.append((mean * (x - best)) ** 2)
        models = np.full(2, x)
        for _ in range(steps):
            models = models - size * (bends * (models - centres) + pulls * (models - x))
        x = models @ shares
    words = {
        "initial_gap": mean / 2, "client_weight": shares, "smoothness": smooth, "step_size": size, "local_steps": steps,
        "rounds": 400, "gradient_variance": 0.0, "dissimilarity_factor": factor, "dissimilarity_offset": kappa_sq,
    }  # fmt: skip
    assert stated("theorem", words) >= min(seen) * (1 - ROUNDING)


ONE = {"client_weight": [1.0], "smoothness": 1.0, "dissimilarity_factor": 1.0, "dissimilarity_offset": 0.0}


def test_batches_of_a_shuffled_pass_do_not_break_theorem_5_6():
    """x^2/2, two steps a round, the second coin the first one's opposite, as when a pass deals out all of them."""
    eta = 1 / 4  # below 1/sqrt(12), the other limit
    keep, shaken = (1 - eta) ** 2, eta - eta * (1 - eta)
    rest = shaken**2 / (1 - keep**2)
    plan = {"step_size": eta, "local_steps": 2, "rounds": 10**6, "gradient_variance": 1.0, "initial_gap": rest / 2}
    assert stated("theorem", ONE | plan) >= rest
