"""FedInit's repaired statements once more, in plain arithmetic."""

import math

from .fedinit_divergence import theorem_5
from .fedinit_optimization import contraction_cap
from .fedinit_stability import lemma_6, stability_step
from .values import but


def step_size_cap_contraction(v):
    """The step size at which what is left of the descent is lambda, by bisection."""

    def left(step_size: float) -> float:
        return contraction_cap(but(v, step_size=step_size))

    low, high = 0.0, 1.0
    while left(high) > v.contraction:
        high *= 2
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if left(middle) > v.contraction else (low, middle)
    return low


def theorem_2_potential(v):
    """What a round adds to the potential, by the lemmas' numbers, over its shrinkage."""
    shrink = v.contraction * v.pl_constant * v.step_size * v.local_steps
    pull = 10 * v.relaxation**2 * v.smoothness / (v.cohort * (1 - 72 * v.relaxation**2 - shrink))
    noise = 13 * v.smoothness / (2 * v.cohort) + 51 * pull
    unlike = 51 * v.smoothness / (2 * v.cohort) + 195 * pull
    a_round = (
        v.step_size**2 * v.local_steps * (noise * v.gradient_variance + unlike * v.local_steps * v.dissimilarity_offset)
    )
    return math.exp(-shrink * v.rounds) * v.initial_gap + a_round / shrink


def theorem_5_geometric(v):
    """Theorem 5 without D, and the endless sum of powers of 96 beta^2 exp(a) in its place."""
    a = v.contraction * v.pl_constant * v.step_size * v.local_steps
    powers = sum((96 * v.relaxation**2 * math.exp(a)) ** j for j in range(3000))
    start = 534 * v.step_size * v.local_steps * v.dissimilarity_factor / v.contraction * v.initial_gap
    return theorem_5(but(v, initial_gap=0.0)) + start * math.exp(-a * (v.rounds - 1)) * powers


def stability_step_clients(v):
    """The mean over clients: one holds the sample that differs."""
    one = stability_step(v)
    others = [lemma_6(v) for _ in range(v.clients - 1)]
    return math.fsum([one, *others]) / v.clients


def stability_start(v):
    """Server models as far apart as the mean, last local models too."""
    return v.separation + 2 * v.relaxation * v.separation


def theorem_4_recursion_sharp(v):
    """Twice the relaxed start and twice the walk, the drift put in, at eta K L = 1/sqrt(8)."""
    scale = v.step_size**2 * v.local_steps
    unlike = v.local_steps * (v.dissimilarity_offset + v.dissimilarity_factor * v.grad_norm_sq)
    drift = 3 * v.relaxation**2 * v.divergence + scale * (2 * v.gradient_variance + 8 * unlike)  # of one step
    return 2 * v.relaxation**2 * v.divergence + scale * (4 * v.gradient_variance + 8 * unlike) + drift


def theorem_1_sharp(v):
    """The descent of a round over eta K lambda / 2, the mean divergence solved from its recursion."""
    x = v.step_size * v.local_steps * v.smoothness
    noise = v.step_size**2 * v.local_steps * v.gradient_variance
    unlike = (v.step_size * v.local_steps) ** 2 * v.dissimilarity_offset
    divergence = (6 * noise + 16 * unlike) / (1 - 5 * v.relaxation**2)
    drift = 3 * v.relaxation**2 * divergence + 2 * noise + 8 * unlike
    server = 2 * v.step_size * v.smoothness * v.gradient_variance / v.cohort
    first = 2 * v.initial_gap * v.smoothness / (x * v.rounds)
    return (first + server + v.smoothness**2 * drift) / v.contraction
