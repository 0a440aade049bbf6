"""FedInit once more: Theorems 4 and 5 in their explicit form, and the weight of the divergence."""

import math

from .fedinit_optimization import kappa_1, kappa_2


def theorem_4_recursion(v):
    """Proof of Theorem 4, the recursion."""
    value = 96 * v.relaxation**2 * v.divergence
    value += 267 * v.step_size**2 * v.local_steps**2 * v.dissimilarity_factor * v.grad_norm_sq
    value += 69 * v.step_size**2 * v.local_steps * v.gradient_variance
    value += 267 * v.step_size**2 * v.local_steps**2 * v.dissimilarity_offset
    return value


def theorem_4_before(v):
    """Proof of Theorem 4: (1 - 96 b^2) D_t <= D_t - D_{t+1} + noise, averaged round by round."""
    noise = 69 * v.step_size**2 * v.local_steps * v.gradient_variance
    noise += (
        267
        * v.step_size**2
        * v.local_steps**2
        * (v.dissimilarity_offset + v.dissimilarity_factor * v.mean_grad_norm_sq)
    )
    total = v.initial_divergence - v.final_divergence
    for _ in range(v.rounds):
        total += noise
    return total / ((1 - 96 * v.relaxation**2) * v.rounds)


def theorem_4(v):
    """Proof of Theorem 4, last explicit display, its coefficients one by one as printed."""
    rest = 1 - 96 * v.relaxation**2
    b_2, s_2, g_2 = v.dissimilarity_factor, v.gradient_variance, v.dissimilarity_offset
    value = (v.initial_divergence - v.final_divergence) / (rest * v.rounds)
    value += 534 * v.step_size * v.local_steps * b_2 * v.initial_gap / (rest * v.contraction * v.rounds)
    cubic = v.step_size**3 * v.smoothness * b_2 / (rest * v.contraction * v.cohort)
    value += 267 * v.local_steps**2 * kappa_2(v) * cubic * s_2
    value += 801 * v.local_steps**3 * kappa_1(v) * cubic * g_2
    value += 69 * v.step_size**2 * v.local_steps / rest * s_2
    value += 267 * v.step_size**2 * v.local_steps**2 / rest * g_2
    return value


def theorem_5(v):
    """Proof of Theorem 5: recursion, descent and Theorem 2, the last sum added up round by round."""
    rest = 1 - 96 * v.relaxation**2
    first, second = kappa_1(v), kappa_2(v)
    eta, steps, s_2, g_2 = v.step_size, v.local_steps, v.gradient_variance, v.dissimilarity_offset
    value = (69 * eta**2 * steps * s_2 + 267 * eta**2 * steps**2 * g_2) / rest
    weight = 267 * v.dissimilarity_factor * v.smoothness / (rest * v.contraction * v.cohort)
    value += weight * (second * eta**3 * steps**2 * s_2 + 3 * first * eta**3 * steps**3 * g_2)
    weight /= v.contraction * v.pl_constant
    value += weight * (second * eta**2 * steps * s_2 + 3 * first * eta**2 * steps**2 * g_2)
    rate = v.contraction * v.pl_constant * eta * steps
    late = 0.0
    for t in range(v.rounds):  # (96 b^2)^{T-1-t} is replaced by its cap, Theorem 2 gives the rest
        late += math.exp(-rate * (v.rounds - 1 - t)) * math.exp(-rate * t)
    return value + 534 * eta * steps * v.dissimilarity_factor / v.contraction * v.initial_gap * late


def divergence_weight(v):
    """Section 4.3.4: (1 + b)^{1/(b c L)} over sqrt(1 - 96 b^2)."""
    growth = math.exp(math.log1p(v.relaxation) / (v.relaxation * v.step_size_scale * v.smoothness))
    return growth / math.sqrt(1 - 96 * v.relaxation**2)
