"""Slow twins of the classic theorems: the formulas read again, in plain loops over Python floats.

Theorems whose terms are sums over a run are added up one step at a time, so that a slip in a closed form would show.
"""

import math

from .values import but

# ---- Field Guide ----


def field_guide_lemma_1(v):
    nearer = v.distance_sq - v.round_end_distance_sq
    per_step = nearer / v.local_steps / v.step_size / 2
    return per_step + v.step_size * v.gradient_variance / v.clients + v.smoothness * v.summed_consensus / v.local_steps


def field_guide_lemma_2(v):
    travelled = v.local_steps * v.step_size
    return 18 * travelled**2 * v.uniform_dissimilarity + 4 * travelled * v.step_size * v.gradient_variance


def field_guide_theorem_1(v):
    """Lemma 1 of every round, with Lemma 2 for every client and step, added up."""
    total = 0.0
    for r in range(v.rounds):
        start = v.initial_distance_sq if r == 0 else 0.0  # what is left of a sum that telescopes
        drift = sum(field_guide_lemma_2(v) for _ in range(v.local_steps))
        noise = v.step_size * v.gradient_variance / v.clients
        total += start / (2 * v.step_size * v.local_steps) + noise + v.smoothness / v.local_steps * drift
    return total / v.rounds


def field_guide_step_size(v):
    distance, sigma, zeta = (
        math.sqrt(x) for x in (v.initial_distance_sq, v.gradient_variance, v.uniform_dissimilarity)
    )
    m, tau, t, smooth = v.clients, v.local_steps, v.rounds, v.smoothness
    return min(
        0.25 / smooth,
        math.sqrt(m / (tau * t)) * distance / sigma,
        math.cbrt(distance**2 / (tau**2 * t * smooth * sigma**2)),
        math.cbrt(distance**2 / (t * smooth * zeta**2)) / tau,
    )


def field_guide_theorem_1_tuned(v):
    distance, sigma, zeta = (
        math.sqrt(x) for x in (v.initial_distance_sq, v.gradient_variance, v.uniform_dissimilarity)
    )
    m, tau, t, smooth = v.clients, v.local_steps, v.rounds, v.smoothness
    far = distance * math.cbrt(distance) * math.cbrt(smooth) / math.cbrt(t) ** 2
    return (
        2 * smooth * distance**2 / tau / t
        + 2 * sigma * distance / math.sqrt(m * tau * t)
        + far * (5 * math.cbrt(sigma) ** 2 / math.cbrt(tau) + 19 * math.cbrt(zeta) ** 2)
    )


# ---- Li et al. ----


def _li(v, sampling=0.0):
    ratio = v.smoothness / v.strong_convexity
    gamma = 8 * ratio if 8 * ratio > v.local_steps else v.local_steps
    noise = 6 * v.smoothness * v.heterogeneity + 8 * (v.local_steps - 1) ** 2 * v.grad_cap_sq
    noise += sampling * v.local_steps**2 * v.grad_cap_sq
    for p, variance in zip(v.client_weight, v.client_gradient_variance, strict=True):
        noise += (p * math.sqrt(variance)) ** 2
    inside = 2 * noise / v.strong_convexity + v.strong_convexity * gamma * v.initial_distance_sq / 2
    return ratio * inside / (gamma + v.iterations - 1)


# ---- local gradient descent ----


def local_gd_lemma_1(v):
    speed = v.step_size * v.smoothness
    return (
        v.distance_sq
        + speed * (1 + 2 * speed) * v.consensus_distance
        - 2 * v.step_size * v.optimality_gap * (1 - 2 * speed)
    )


def local_gd_lemma_1_short_step(v):
    return v.distance_sq + v.step_size * (1.5 * v.smoothness * v.consensus_distance - v.optimality_gap)


def local_gd_lemma_2(v):
    """The gaps of an epoch together, and over its steps the clients' gradients at the minimiser, one at a time."""
    reach = (v.step_size * v.local_steps) ** 2
    total = 5 * v.smoothness * reach * v.summed_gap
    for _ in range(v.local_steps):
        total += 8 * reach * v.optimum_dissimilarity
    return total


def local_gd_theorem_1(v):
    reach = v.step_size * v.local_steps
    return (
        2 * v.initial_distance_sq / v.step_size / v.iterations + 24 * v.smoothness * reach**2 * v.optimum_dissimilarity
    )


def local_gd_corollary_1(v):
    size = math.sqrt(v.clients / v.iterations) / (4 * v.smoothness)
    reach = size * v.local_steps
    return 2 * v.initial_distance_sq / size / v.iterations + 24 * v.smoothness * reach**2 * v.optimum_dissimilarity


# ---- local SGD on one loss ----


def local_sgd_recursion(v):
    nearer = v.distance_sq * (1 - v.step_size * v.strong_convexity) - v.step_size * v.optimality_gap / 2
    return (
        nearer
        + v.step_size**2 * v.gradient_variance / v.clients
        + 2 * v.step_size * v.smoothness * v.consensus_distance
    )


def local_sgd_theorem_1(v):
    start = v.initial_distance_sq
    for _ in range(v.iterations):
        start -= v.step_size * v.strong_convexity * start
    each = v.step_size * v.gradient_variance / v.strong_convexity
    return start + each / v.clients + 2 * v.smoothness * v.step_size * v.local_steps * each


def local_sgd_corollary_1(v):
    """Theorem 1 at 1/(mu a), where exp(-T/a) = 1/a^2 stands for the power."""
    size = 1 / (v.strong_convexity * v.inverse_step)
    each = size * v.gradient_variance / v.strong_convexity
    start = v.initial_distance_sq / v.inverse_step**2
    return start + each / v.clients + 2 * v.smoothness * size * v.local_steps * each


def _convex(v, size, power):
    noise = size * v.gradient_variance
    drift = 4 * size * v.local_steps * noise * v.smoothness**power
    return 2 * v.initial_distance_sq / (size * v.iterations) + 2 * noise / v.clients + drift


def local_sgd_corollary_2_printed(v):
    root = math.sqrt(v.clients * v.iterations)
    noise = v.gradient_variance / (2 * v.smoothness * root)
    return (
        8 * math.sqrt(v.initial_distance_sq) / root
        + noise
        + v.gradient_variance * v.clients * v.local_steps / v.iterations
    )


# ---- one machine ----


def bottou_4_6(v):
    """The recursion behind it, one step at a time."""
    gap = v.initial_gap
    for _ in range(v.iterations):
        added = v.step_size**2 * v.smoothness * v.gradient_variance / 2
        gap += added - v.step_size * v.strong_convexity * v.alignment * gap
    return gap


def bottou_4_7(v):
    after = v.step_size_scale * v.strong_convexity * v.alignment - 1
    noise = v.step_size_scale**2 * v.smoothness * v.gradient_variance / after / 2
    start = v.step_offset * v.initial_gap
    return (noise if noise > start else start) / (v.step_offset + v.iterations)


def bottou_4_8(v):
    """The decrease that is promised in every step, added up."""
    total = 2 * v.initial_gap / (v.alignment * v.step_size)
    for _ in range(v.iterations):
        total += v.step_size * v.smoothness * v.gradient_variance / v.alignment
    return total / v.iterations


def needell_2_1(v):
    left = 1 - v.step_size * v.smoothness
    start = v.initial_distance_sq
    for _ in range(v.iterations):
        start -= 2 * v.step_size * v.strong_convexity * left * start
    return start + v.step_size * v.optimum_dissimilarity / v.strong_convexity / left


# ---- stability ----


def hardt_3_7(v):
    apart = 2 * v.lipschitz * v.summed_step_sizes / v.samples
    return v.lipschitz * apart


def hardt_3_8(v):
    """Identical up to t_0, and from there apart by what steps of c/t make of one sample."""
    speed = v.smoothness * v.step_size_scale
    same = (2 * v.step_size_scale * v.lipschitz**2 / v.loss_cap * v.iterations**speed) ** (1 / (1 + speed))
    later = 2 * v.lipschitz**2 / v.smoothness * (v.iterations / same) ** speed
    return (v.loss_cap * same + later) / (v.samples - 1)


def hardt_5_2(v):
    return (v.initial_distance_sq / v.step_size / v.iterations + v.step_size * v.lipschitz**2) / 2


def hardt_5_4(v):
    """Optimisation and stability of the average at the stated step size."""
    step = math.sqrt(v.initial_distance_sq * v.samples / v.iterations / (v.samples + 2 * v.iterations)) / v.lipschitz
    return hardt_5_2(but(v, step_size=step)) + v.lipschitz**2 * step * v.iterations / v.samples


# ---- FedProx, SCAFFOLD, FedNova, ProxSkip ----


def fedprox_rho(v):
    unlike, mu, strong = math.sqrt(v.dissimilarity_factor), v.proximal_weight, v.proximal_weight - v.weak_convexity
    further = unlike * (1 + v.inexactness) / strong  # how far a participant goes, per gradient
    gained = (1 - v.inexactness * unlike) / mu - further * math.sqrt(2 / v.cohort)
    bent = further / mu + further**2 / 2 + further**2 / v.cohort * (2 * math.sqrt(2 * v.cohort) + 2)
    return gained - v.smoothness * bent


def _scaffold(v, weights):
    step = v.local_steps * v.step_size * v.server_step_size
    potential = v.initial_distance_sq + 9 * v.clients * step**2 / v.cohort * v.control_error
    noise = v.gradient_variance / v.local_steps * (1 / v.cohort + v.server_step_size**-2)
    return potential / (step * sum(weights)) + 12 * step * noise


def scaffold_strongly_convex(v):
    left = 1 - v.strong_convexity * v.local_steps * v.step_size * v.server_step_size / 2
    return _scaffold(v, [left ** -(r + 1) for r in range(v.rounds)])


def scaffold_nonconvex(v):
    step = v.local_steps * v.step_size * v.server_step_size
    noise = v.gradient_variance / v.local_steps * (1 / v.cohort + v.server_step_size**-2)
    return 14 * v.initial_gap / (step * v.rounds) + 70 * v.smoothness * step * noise


def fednova_theorem_2(v):
    spread = (v.dissimilarity_factor - 1) * v.surrogate_grad_norm_sq + v.dissimilarity_offset
    return 2 * v.surrogate_grad_norm_sq + 2 * v.chi_square * spread


def proxskip_3_6(v):
    here, rate = v.initial_lyapunov, min(v.step_size * v.strong_convexity, v.communication_probability**2)
    for _ in range(v.iterations):
        here -= rate * here
    return here


def proxskip_5_5(v):
    rate = min(v.step_size * v.strong_convexity, v.communication_probability**2)
    return proxskip_3_6(v) + v.step_size**2 * v.gradient_variance / rate


LINES = {
    "li_theorem_1": lambda v: _li(v),
    "li_theorem_2": lambda v: _li(v, 4 / v.cohort),
    "li_theorem_3": lambda v: _li(v, 4 / v.cohort * (v.clients - v.cohort) / (v.clients - 1)),
    "local_sgd_lemma_1": lambda v: sum(v.step_size**2 * v.gradient_variance for _ in range(v.local_steps)),
    "local_sgd_theorem_2_printed": lambda v: _convex(v, v.step_size, 2),
    "local_sgd_theorem_2": lambda v: _convex(v, v.step_size, 1),
    "local_sgd_corollary_2": lambda v: _convex(v, math.sqrt(v.clients / v.iterations) / (4 * v.smoothness), 1),
    "hardt_5_3": lambda v: v.lipschitz * math.sqrt(v.initial_distance_sq / v.samples),
    "fedprox_theorem_4": lambda v: -fedprox_rho(v) * v.grad_norm_sq,
    "scaffold_convex": lambda v: _scaffold(v, [1.0] * v.rounds),
}
