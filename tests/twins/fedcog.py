"""FedCOG once more, read off the paper in plain loops: nothing here comes from ``bounds``."""

import math
from collections.abc import Sequence

from .values import but

# ---- generation and labels ----


def _disagreement(p: Sequence[float], q: Sequence[float]) -> float:
    """Eq. (2) for two output distributions, natural logarithm."""
    divergence = 0.0
    for a, b in zip(p, q, strict=True):
        middle = (a + b) / 2
        for share in (a, b):
            if share > 0:
                divergence += share * math.log(share / middle) / 2
    return 1 - divergence


def complementary_count(v):
    """Section 4.1: what every class lacks to the largest."""
    return [max(v.class_count) - count for count in v.class_count]


def complementary_allocation(v):
    """A.1.1: the generated samples in proportion to what the classes lack."""
    lacking = complementary_count(v)
    return [v.generated_samples * lack / sum(lacking) for lack in lacking]


def balanced_samples(v):
    """A.2.2: N_real + N_gen."""
    return sum(v.class_count) + sum(complementary_count(v))


# ---- local training and its cost ----


def sample_passes(v):
    """Algorithm 1, counted step by step: forward and backward, in generation through two networks."""
    passes = 0
    for _ in range(v.generation_steps):
        for _network in ("global", "local"):
            for _direction in ("forward", "backward"):
                passes += v.generated_samples
    for _ in range(v.local_steps):
        for _direction in ("forward", "backward"):
            passes += v.real_batch + v.generated_batch
    return passes


# ---- Theorem 5.6 and Corollary 5.7 ----


def _squares(v) -> float:
    return sum(p**2 for p in v.client_weight)


def theorem(v):
    """Theorem 5.6, eq. (5); the dissimilarity factor enters its condition alone, which is checked here."""
    tau, eta, big_l = v.local_steps, v.step_size, v.smoothness
    assert eta * big_l <= 1 / (2 * tau)
    assert (eta * big_l) ** 2 * 2 * tau * (tau - 1) * (2 * v.dissimilarity_factor + 1) <= 1
    total = 4 * v.initial_gap / (tau * eta * v.rounds)
    total += 4 * eta * big_l * v.gradient_variance * _squares(v)
    total += 3 * (tau - 1) * eta**2 * v.gradient_variance * big_l**2
    total += 6 * tau * (tau - 1) * eta**2 * big_l**2 * v.dissimilarity_offset
    return total


def theorem_sharp(v):
    """The descent of a round, (20), (23) and (53), with the weights of (25) that let the path gradients cancel."""
    tau, eta, big_l = v.local_steps, v.step_size, v.smoothness
    loop = 2 * tau * (tau - 1) * (eta * big_l) ** 2
    ahead = tau * eta * big_l
    spread = ahead / (1 - ahead)  # 1 + 1/spread = 1/ahead
    noise = (1 + spread) * v.gradient_variance / tau * _squares(v)
    drift = (tau - 1) * eta**2 * v.gradient_variance * big_l**2 + loop * v.dissimilarity_offset
    lost = v.initial_gap / v.rounds + big_l * (tau * eta) ** 2 / 2 * noise + tau * eta / 2 * drift / (1 - loop)
    return lost / (tau * eta / 2 * (1 - loop * v.dissimilarity_factor / (1 - loop)))


def corollary_scaled(v):
    """Theorem 5.6 at eta = c / sqrt(tau T)."""
    return theorem(but(v, step_size=v.step_scale / math.sqrt(v.local_steps * v.rounds)))


def _corollary(v, noise_power: int) -> float:
    tau, big_t = v.local_steps, v.rounds
    noise = v.smoothness**noise_power * v.gradient_variance * _squares(v)
    total = (4 * v.initial_gap + 4 * noise) / math.sqrt(tau * big_t)
    total += 3 * (tau - 1) * v.gradient_variance * v.smoothness**2 / (tau * big_t)
    return total + 6 * (tau - 1) * v.smoothness**2 * v.dissimilarity_offset / big_t


# ---- the steps of the proof ----


def mean_update(v):
    return 2 * v.gradient_variance / v.local_steps * _squares(v) + 2 * v.mean_path_gradient_sq


def descent(v):
    """Eq. (30), from (20), (23) and (29): -tau eta T_1 + L tau^2 eta^2 / 2 T_2."""
    inner = v.grad_norm_sq / 2 + v.mean_path_gradient_sq / 2 - v.mean_gradient_drift / 2
    update = mean_update(v)
    return -v.local_steps * v.step_size * inner + v.smoothness * v.local_steps**2 * v.step_size**2 / 2 * update


def _feedback(v) -> float:
    return 2 * v.local_steps * (v.local_steps - 1) * v.step_size**2 * v.smoothness**2


def gradient_drift(v):
    """Eq. (51), client by client."""
    a = _feedback(v)
    noise = (v.local_steps - 1) * v.step_size**2 * v.gradient_variance * v.smoothness**2 / (1 - a)
    return [noise + a / (1 - a) * gradient for gradient in v.client_grad_norm_sq]


def mean_gradient_drift(v):
    """Eq. (53) over tau eta / 2."""
    a = _feedback(v)
    scale = v.local_steps * v.step_size
    right = v.local_steps * (v.local_steps - 1) * v.gradient_variance * v.smoothness**2 * v.step_size**3 / (2 * (1 - a))
    right += a * scale * v.dissimilarity_factor / (2 * (1 - a)) * v.grad_norm_sq
    right += a * scale * v.dissimilarity_offset / (2 * (1 - a))
    return right / (scale / 2)


def descent_with_drift(v):
    a = _feedback(v)
    scale = v.local_steps * v.step_size
    total = -scale / 2 * (1 - a * v.dissimilarity_factor / (1 - a)) * v.grad_norm_sq
    total += v.smoothness * v.local_steps * v.step_size**2 * v.gradient_variance * _squares(v)
    total += (
        v.local_steps * (v.local_steps - 1) * v.gradient_variance * v.smoothness**2 * v.step_size**3 / (2 * (1 - a))
    )
    total += a * scale * v.dissimilarity_offset / (2 * (1 - a))
    return total


def descent_one_round(v):
    """Eq. (57); the dissimilarity factor enters its condition alone, which is checked here."""
    a = _feedback(v)
    assert a < 1
    assert a * v.dissimilarity_factor / (1 - a) <= 1 / 2
    scale = v.local_steps * v.step_size
    total = -scale / 4 * v.grad_norm_sq
    total += v.smoothness * v.local_steps * v.step_size**2 * v.gradient_variance * _squares(v)
    total += 3 / 4 * v.local_steps * (v.local_steps - 1) * v.gradient_variance * v.smoothness**2 * v.step_size**3
    total += 3 / 4 * a * scale * v.dissimilarity_offset
    return total


LINES = {
    "generation_loss": lambda v: v.task_loss + v.disagreement_weight * v.disagreement_loss,
    "disagreement_loss": lambda v: 1 - v.jensen_shannon,
    "disagreement_upper": lambda v: _disagreement([0.3, 0.5, 0.2], [0.3, 0.5, 0.2]),
    "disagreement_lower": lambda v: _disagreement([0.3, 0.7, 0.0, 0.0], [0.0, 0.0, 0.6, 0.4]),
    "uniform_labels": lambda v: len([label for label in range(v.classes) for _ in range(v.samples_per_class)]),
    "task_weight": lambda v: sum(v.class_count) / balanced_samples(v),
    "distillation_weight": lambda v: sum(complementary_count(v)) / balanced_samples(v),
    "local_objective": lambda v: v.local_task_loss + v.distillation_weight * v.distillation_loss,
    "corollary": lambda v: corollary_scaled(but(v, step_scale=1.0)),
    "corollary_printed": lambda v: _corollary(v, noise_power=1),
    "corollary_appendix": lambda v: _corollary(v, noise_power=2),
    "corollary_order": lambda v: 1 / math.sqrt(v.local_steps * v.rounds) + 1 / v.rounds + v.local_steps / v.rounds,
    "lemma_5_5": lambda v: v.next_task_loss + v.next_distillation,
    "dissimilarity": lambda v: v.dissimilarity_factor * v.grad_norm_sq + v.dissimilarity_offset,
    "smoothness_step_printed": lambda v: v.step_alignment - v.smoothness / 2 * v.global_step,
    "smoothness_step": lambda v: v.step_alignment + v.smoothness / 2 * v.global_step,
}
