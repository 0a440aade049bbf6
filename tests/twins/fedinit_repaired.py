"""FedInit's repaired statements once more, in plain arithmetic."""

import math
from collections.abc import Callable

from .fedinit_divergence import theorem_5
from .fedinit_optimization import contraction_cap
from .fedinit_stability import lemma_6, stability_step


def step_size_cap_contraction(
    relaxation: float,
    local_steps: int,
    smoothness: float,
    cohort: int,
    dissimilarity_factor: float,
    contraction: float,
) -> float:
    """The step size at which what is left of the descent is lambda, by bisection."""

    def left(step_size: float) -> float:
        return contraction_cap(relaxation, step_size, local_steps, smoothness, cohort, dissimilarity_factor)

    low, high = 0.0, 1.0
    while left(high) > contraction:
        high *= 2
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if left(middle) > contraction else (low, middle)
    return low


def theorem_2_potential(
    clients: int,
    cohort: int,
    local_steps: int,
    rounds: int,
    step_size: float,
    relaxation: float,
    smoothness: float,
    dissimilarity_factor: float,
    dissimilarity_offset: float,
    gradient_variance: float,
    initial_gap: float,
    contraction: float,
    pl_constant: float,
) -> float:
    """What a round adds to the potential, by the lemmas' numbers, over its shrinkage."""
    shrink = contraction * pl_constant * step_size * local_steps
    pull = 10 * relaxation**2 * smoothness / (cohort * (1 - 72 * relaxation**2 - shrink))
    noise = 13 * smoothness / (2 * cohort) + 51 * pull
    unlike = 51 * smoothness / (2 * cohort) + 195 * pull
    a_round = step_size**2 * local_steps * (noise * gradient_variance + unlike * local_steps * dissimilarity_offset)
    return math.exp(-shrink * rounds) * initial_gap + a_round / shrink


def theorem_5_geometric(
    rounds: int,
    local_steps: int,
    step_size: float,
    relaxation: float,
    dissimilarity_factor: float,
    initial_gap: float,
    contraction: float,
    pl_constant: float,
    **rest: float,
) -> float:
    """Theorem 5 without D, and the endless sum of powers of 96 beta^2 exp(a) in its place."""
    same = {
        "local_steps": local_steps, "step_size": step_size, "relaxation": relaxation, "contraction": contraction,
        "dissimilarity_factor": dissimilarity_factor, "pl_constant": pl_constant, "rounds": rounds,
    }  # fmt: skip
    lasting = theorem_5(**same, **rest, initial_gap=0.0)
    a = contraction * pl_constant * step_size * local_steps
    powers = sum((96 * relaxation**2 * math.exp(a)) ** j for j in range(3000))
    start = 534 * step_size * local_steps * dissimilarity_factor / contraction * initial_gap
    return lasting + start * math.exp(-a * (rounds - 1)) * powers


def stability_step_clients(
    clients: int,
    separation: float,
    step_size: float,
    smoothness: float,
    lipschitz: float,
    gradient_variance: float,
    samples: int,
) -> float:
    """The mean over clients: one holds the sample that differs."""
    one = stability_step(separation, step_size, smoothness, lipschitz, gradient_variance, samples)
    others = [lemma_6(separation, step_size, smoothness, gradient_variance) for _ in range(clients - 1)]
    return math.fsum([one, *others]) / clients


def stability_start(relaxation: float, separation: float) -> float:
    """Server models as far apart as the mean, last local models too."""
    return separation + 2 * relaxation * separation


TWINS: dict[str, Callable[..., float]] = {
    "fedinit.step_size_cap_contraction": step_size_cap_contraction,
    "fedinit.theorem_2_potential": theorem_2_potential,
    "fedinit.theorem_5_geometric": theorem_5_geometric,
    "fedinit.stability_step_clients": stability_step_clients,
    "fedinit.stability_start": stability_start,
}
