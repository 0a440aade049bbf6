"""The steps of FedCOG's proof once more, read off the paper in plain loops: nothing here comes from ``bounds``."""

from collections.abc import Sequence

PerClient = Sequence[float]


def _squares(v) -> float:
    return sum(p**2 for p in v.client_weight)


def lemma_5_5(v):
    """Lemma 5.5, eq. (9): the objective on the old data, eq. (11)."""
    return v.next_task_loss + v.next_distillation


def dissimilarity(v):
    """Assumption 5.4."""
    return v.dissimilarity_factor * v.grad_norm_sq + v.dissimilarity_offset


def smoothness_step_printed(v):
    """Eq. (19), minus as printed."""
    return v.step_alignment - v.smoothness / 2 * v.global_step


def smoothness_step(v):
    """Descent lemma, the sign that eq. (20) goes on with."""
    return v.step_alignment + v.smoothness / 2 * v.global_step


def mean_update(v):
    """Eq. (29)."""
    return 2 * v.gradient_variance / v.local_steps * _squares(v) + 2 * v.mean_path_gradient_sq


def descent(v):
    """Eq. (30), from (20), (23) and (29): -tau eta T_1 + L tau^2 eta^2 / 2 T_2."""
    inner = v.grad_norm_sq / 2 + v.mean_path_gradient_sq / 2 - v.mean_gradient_drift / 2
    update = mean_update(v)
    return -v.local_steps * v.step_size * inner + v.smoothness * v.local_steps**2 * v.step_size**2 / 2 * update


def _feedback(v) -> float:
    """A of the paper."""
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
    """Eq. (55)."""
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
