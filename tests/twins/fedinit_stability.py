"""FedInit once more: Lemmas 1 and 5 to 7, the separation of two runs, Theorem 3."""

import math

from .values import but


def lemma_1(v):
    """Eq. (13): the generalisation error is at most the stability."""
    return v.stability


def lemma_5(v):
    """Eq. (33)."""
    return v.loss_cap * v.untouched_steps / v.samples + v.lipschitz * v.separation


def lemma_6(v):
    """Eq. (34)."""
    return (1 + v.step_size * v.smoothness) * v.separation + 2 * v.step_size * math.sqrt(v.gradient_variance)


def lemma_7(v):
    """Eq. (35)."""
    return v.separation + 2 * v.step_size * (math.sqrt(v.gradient_variance) + v.lipschitz)


def stability_step(v):
    """A.3.2, one local step: the mean of Lemma 6 over S - 1 samples and Lemma 7 over the one that differs."""
    total = lemma_7(v)
    for _ in range(v.samples - 1):
        total += lemma_6(v)
    return total / v.samples


def stability_round(v):
    """A.3.2, between two rounds."""
    return (1 + v.relaxation) * math.sqrt(v.divergence)


def _constant(v):
    """2 (L_G^2 + S L_G sigma), the constant inside the brackets of eq. (14)."""
    return 2 * (v.lipschitz**2 + v.samples * v.lipschitz * math.sqrt(v.gradient_variance))


def stability_separation(v):
    """A.3.2, last display."""
    c_l = v.step_size_scale * v.smoothness
    growth = (v.rounds * v.local_steps / v.untouched_steps) ** c_l
    own = 2 * (v.lipschitz + v.samples * math.sqrt(v.gradient_variance)) / ((v.samples - 1) * v.smoothness)
    drift = (1 + v.relaxation) ** (1 / (v.relaxation * c_l)) * v.summed_divergence_root
    return own * growth + drift * growth


def stability_before_t_0(v):
    """Proof of Theorem 3: the separation put into Lemma 5."""
    return lemma_5(but(v, separation=stability_separation(v)))


def t_0(v):
    """Proof of Theorem 3: [2 (L_G^2 + S L_G sigma)/(U L) (TK)^{cL}]^{1/(1+cL)}, by logarithms."""
    c_l = v.step_size_scale * v.smoothness
    logarithm = math.log(_constant(v) / (v.loss_cap * v.smoothness))
    return math.exp((logarithm + c_l * math.log(v.rounds * v.local_steps)) / (1 + c_l))


def theorem_3(v):
    """By hand: at t_0 the local terms are U t_0/S and U t_0/(S - 1), and (TK/t_0)^{cL} multiplies the drift."""
    c_l = v.step_size_scale * v.smoothness
    chosen = t_0(v)
    value = v.loss_cap * chosen / v.samples + v.loss_cap * chosen / (v.samples - 1)
    drift = (1 + v.relaxation) ** (1 / (v.relaxation * c_l)) * v.summed_divergence_root
    return value + v.lipschitz * drift * (v.rounds * v.local_steps / chosen) ** c_l


def theorem_3_printed(v):
    """Eq. (14), bracket by bracket."""
    c_l = v.step_size_scale * v.smoothness
    iterations = v.rounds * v.local_steps
    constant = _constant(v)
    first = (constant * (v.loss_cap * iterations) ** c_l / v.smoothness) ** (1 / (1 + c_l)) / (v.samples - 1)
    bracket = (v.loss_cap * v.smoothness * iterations / constant) ** (c_l / (1 + c_l))
    return first + (1 + v.relaxation) ** (1 / (v.relaxation * c_l)) * bracket * v.summed_divergence_root


def step_size_theorem_3(v):
    """Theorem 3: c/(tK + k) with c = mu_0/K."""
    return v.step_size_budget / v.local_steps / v.local_iteration
