"""FedInit once more: constants, step-size caps, Lemmas 2 to 4, the descent inequality, Theorems 1 and 2."""

import math

from .values import but


def kappa_1(v):
    """Under eq. (9): 1300 b^2/(1 - 72 b^2) + 17."""
    return 1300 * v.relaxation**2 / (1 - 72 * v.relaxation**2) + 17


def kappa_2(v):
    """Under eq. (9): 1020 b^2/(1 - 72 b^2) + 13."""
    return 1020 * v.relaxation**2 / (1 - 72 * v.relaxation**2) + 13


def contraction_cap(v):
    """A.2.2: what lambda has to stay below."""
    x = v.step_size * v.local_steps * v.smoothness
    decay = 1 - 72 * v.relaxation**2
    room = 1.0
    room -= 39 * x * v.dissimilarity_factor / v.cohort
    room -= 3900 * v.relaxation**2 * x * v.dissimilarity_factor / (decay * v.cohort)
    room -= 12 * x**2 * v.dissimilarity_factor
    return room


# ---- caps ----


def step_size_cap_theorem_1(v):
    """Theorem 1: min{N/(2CKL), 1/(NKL)}."""
    return min(v.cohort / (2 * v.clients * v.local_steps * v.smoothness), 1 / (v.cohort * v.local_steps * v.smoothness))


def step_size_cap_theorem_2(v):
    """Theorems 2 and 5: the caps of Theorem 1 and 1/(lambda mu K)."""
    first = step_size_cap_theorem_1(v)
    return min(first, 1 / (v.contraction * v.pl_constant * v.local_steps))


step_size_cap_theorem_5 = step_size_cap_theorem_2


def step_size_cap_theorem_4(v):
    """Theorem 4: the caps of Theorem 1 and sqrt(N)/(sqrt(C) K L)."""
    first = step_size_cap_theorem_1(v)
    return min(first, math.sqrt(v.cohort) / (math.sqrt(v.clients) * v.local_steps * v.smoothness))


def step_size_cap_lemma_2(v):
    """Lemma 2: 1/(2 sqrt(2) K L), so that 8 (eta K L)^2 = 1."""
    return math.sqrt(1 / 8) / (v.local_steps * v.smoothness)


def step_size_cap_lemma_3(v):
    """Lemmas 3 and 4: 1/(KL)."""
    return 1 / (v.local_steps * v.smoothness)


def step_size_cap_descent(v):
    """A.2.2: a eta^2 - b eta <= 0 where eta <= b/a, with a and b read off the bracket."""
    a = 30 * v.relaxation**2 * v.smoothness / (v.clients * v.cohort**2 * (1 - 72 * v.relaxation**2))
    a += v.smoothness / (2 * v.clients * v.cohort)
    b = 1 / (2 * v.clients**2 * v.local_steps)
    return b / a


def relaxation_cap_theorem_1(v):
    """Theorem 1: sqrt(2)/12."""
    return math.sqrt(2) / 12


def relaxation_cap_theorem_4(v):
    """Theorem 4: sqrt(6)/24."""
    return math.sqrt(6) / 24


def relaxation_cap_theorem_5(v):
    """Proof of Theorem 5: 96 b^2 = exp(-lambda mu eta K), solved for b."""
    return math.sqrt(math.exp(-v.contraction * v.pl_constant * v.step_size * v.local_steps) / 96)


# ---- lemmas ----


def lemma_2(v):
    """Eq. (24); the smoothness enters through the cap only."""
    value = 4 * v.local_steps * v.relaxation**2 * v.divergence
    value += 3 * v.local_steps**2 * v.step_size**2 * (v.gradient_variance + 4 * v.local_steps * v.dissimilarity_offset)
    value += 12 * v.local_steps**3 * v.step_size**2 * v.dissimilarity_factor * v.grad_norm_sq
    return value


def lemma_3(v):
    """Eq. (25)."""
    value = 15 * v.relaxation**2 / v.cohort * v.divergence
    value += 10 * v.step_size**2 * v.local_steps / v.cohort * v.gradient_variance
    value += 39 * v.step_size**2 * v.local_steps**2 / v.cohort * v.dissimilarity_offset
    value += 39 * v.step_size**2 * v.local_steps**2 * v.dissimilarity_factor / v.cohort * v.grad_norm_sq
    value += v.step_size**2 / (v.clients * v.cohort) * v.summed_grad_norm_sq
    return value


def lemma_4_recursion(v):
    """Proof of Lemma 4, last recursion."""
    value = 72 * v.relaxation**2 * v.divergence
    value += 51 * v.step_size**2 * v.local_steps * v.gradient_variance
    value += 195 * v.step_size**2 * v.local_steps**2 * v.dissimilarity_offset
    value += 195 * v.step_size**2 * v.local_steps**2 * v.dissimilarity_factor * v.grad_norm_sq
    value += 3 * v.step_size**2 / (v.clients * v.cohort) * v.summed_grad_norm_sq
    return value


def lemma_4(v):
    """Eq. (26): from (1 - 72 b^2) D_t <= D_t - D_{t+1} + the noise of the recursion."""
    noise = lemma_4_recursion(but(v, divergence=0.0))
    return (v.divergence - v.next_divergence + noise) / (1 - 72 * v.relaxation**2)


# ---- descent, Theorems 1 and 2 ----


def descent(v):
    """A.2.2, last display: its right-hand side over lambda eta K/2."""
    right = v.loss_decrease
    weight = 10 * v.relaxation**2 * v.smoothness / ((1 - 72 * v.relaxation**2) * v.cohort)
    right += weight * (v.divergence - v.next_divergence)
    right += (
        3 * kappa_1(v) * (v.step_size * v.local_steps) ** 2 * v.smoothness / (2 * v.cohort) * v.dissimilarity_offset
    )
    right += kappa_2(v) * v.step_size**2 * v.local_steps * v.smoothness / (2 * v.cohort) * v.gradient_variance
    return right / (v.contraction * v.step_size * v.local_steps / 2)


def theorem_1(v):
    """Eq. (9)."""
    value = 2 * v.initial_gap / (v.contraction * v.step_size * v.local_steps * v.rounds)
    value += kappa_2(v) * v.step_size * v.smoothness / (v.contraction * v.cohort) * v.gradient_variance
    slope = 3 * kappa_1(v) * v.step_size * v.local_steps * v.smoothness
    return value + slope / (v.contraction * v.cohort) * v.dissimilarity_offset


def theorem_2(v):
    """Eq. (11), the exponential as a product over the rounds."""
    kept = 1.0
    for _ in range(v.rounds):
        kept *= math.exp(-v.contraction * v.pl_constant * v.step_size * v.local_steps)
    value = kept * v.initial_gap
    below = 2 * v.cohort * v.contraction * v.pl_constant
    value += 3 * kappa_1(v) * v.step_size * v.local_steps * v.smoothness / below * v.dissimilarity_offset
    value += kappa_2(v) * v.step_size * v.smoothness / below * v.gradient_variance
    return value
