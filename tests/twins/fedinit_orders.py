"""FedInit once more: what stands inside the O(.) of the theorems, constants taken as 1."""

import math

from .values import but


def step_size_theorem_1_order(v):
    """Above eq. (10): sqrt(N/(KT))."""
    return math.sqrt(v.cohort / (v.local_steps * v.rounds))


def step_size_theorem_2_order(v):
    """Above eq. (12): log(lambda mu N K T)/(lambda mu K T)."""
    inverse = v.contraction * v.pl_constant * v.local_steps * v.rounds
    return math.log(inverse * v.cohort) / inverse


def local_steps_order(v):
    """Under eq. (10): sigma_l^2/G^2."""
    return v.gradient_variance / v.dissimilarity_offset


def _loss(v):
    """D + L (sigma_l^2 + K G^2), the numerator of eqs. (10), (12), (16), (18)."""
    return v.initial_gap + v.smoothness * (v.gradient_variance + v.local_steps * v.dissimilarity_offset)


def theorem_1_order(v):
    """Eq. (10)."""
    return _loss(v) / math.sqrt(v.cohort * v.local_steps * v.rounds)


def theorem_1_order_appendix(v):
    """Eq. (28): 3 K G^2 for K G^2."""
    return theorem_1_order(but(v, dissimilarity_offset=3 * v.dissimilarity_offset))


def theorem_2_order(v):
    """Eq. (12)."""
    return _loss(v) / (v.cohort * v.local_steps * v.rounds)


def theorem_3_order(v):
    """Discussion of Theorem 3: (TK)^{cL/(1+cL)}/S."""
    c_l = v.step_size_scale * v.smoothness
    return (v.rounds * v.local_steps) ** (c_l / (1 + c_l)) / v.samples


def theorem_4_order(v):
    """Eq. (16)."""
    value = v.cohort * (v.gradient_variance + v.local_steps * v.dissimilarity_offset) / v.rounds
    return value + math.sqrt(v.cohort * v.local_steps) * v.dissimilarity_factor * _loss(v) / v.rounds**1.5


def theorem_5_order(v):
    """Eq. (17)."""
    value = (v.initial_gap + v.dissimilarity_offset) / v.rounds**2
    mixed = v.cohort * v.gradient_variance + v.local_steps * v.dissimilarity_offset
    value += mixed / (v.cohort * v.local_steps * v.rounds**2)
    return value + 1 / (v.cohort * v.local_steps * v.rounds**3)


def theorem_6(v):
    """Eq. (18): optimisation, stability, divergence."""
    c_l = v.step_size_scale * v.smoothness
    value = _loss(v) / (v.cohort * v.local_steps * v.rounds)
    noise = math.sqrt(v.gradient_variance)
    value += (noise * (v.rounds * v.local_steps) ** c_l) ** (1 / (1 + c_l)) / v.samples
    drift = math.sqrt(v.initial_gap + v.dissimilarity_offset) * v.local_steps ** (c_l / (1 + c_l))
    return value + drift / v.rounds ** (1 / (1 + c_l))
