"""Slow twins of the Decaying-K bounds: the formulas read from the paper again, in plain loops over Python floats.

Derived forms are worked out by hand, without the bounds:

* (8) in K is ``a (tau + beta K) / K + b K^2 + rest`` with ``a = 2 kappa (kappa F - F*) / (eta W)`` and
  ``b = eta kappa L (8 + 4/N) G^2``. Only ``a tau / K`` and ``b K^2`` vary, so the slope is ``-a tau / K^2 + 2 b K`` and
  the minimiser ``K^3 = a tau / (2 b)``.
* (8) in eta is ``c / eta + d eta`` with ``c = 2 kappa (kappa F - F*) (tau + beta K) / (W K)`` and ``d = kappa L Z``,
  smallest at ``sqrt(c / d)``.
* With ``T = K R`` in place of a runtime, ``tau / W`` becomes ``1 / R`` and ``beta`` disappears.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from operator import attrgetter
from types import SimpleNamespace as Values
from typing import Any

from .values import but

# ---- pieces ----


def communication(v: Values) -> float:
    return v.model_size / v.download_rate + v.model_size / v.upload_rate


def excess(v: Values, loss: str) -> float:
    """``kappa F - F*``."""
    return v.smoothness / v.strong_convexity * getattr(v, loss) - v.optimal_loss


def sampled_variance(v: Values) -> float:
    return sum(p * p * variance for p, variance in zip(v.client_weight, v.client_gradient_variance, strict=True))


def base_noise(v: Values) -> float:
    return sampled_variance(v) + 6 * v.smoothness * v.heterogeneity


def growth(v: Values) -> float:
    """What multiplies the squared number of local steps: ``(8 + 4/N) G^2``."""
    return (8 + 4 / v.cohort) * v.grad_cap_sq


def z(v: Values) -> float:
    return base_noise(v) + growth(v) * v.local_steps**2


def kappa(v: Values) -> float:
    return v.smoothness / v.strong_convexity


def step_time(v: Values) -> float:
    return communication(v) + v.minibatch_time * v.local_steps


# ---- runtime ----


def client_times(v: Values) -> list[float]:
    columns = zip(v.client_download_rate, v.client_minibatch_time, v.client_upload_rate, strict=True)
    return [v.model_size / d + v.local_steps * beta + v.model_size / u for d, beta, u in columns]


def slowest_client(v: Values) -> float:
    return max(client_times(v))


def runtime(v: Values) -> float:
    return v.rounds * communication(v) + v.minibatch_time * v.iterations


def runtime_fixed(v: Values) -> float:
    return v.iterations / v.local_steps * step_time(v)


# ---- convergence ----


def lemma_1(v: Values, out_of: str) -> float:
    """(16); ``out_of`` is what is counted in the denominator: the participants as printed, or all clients, which then
    weigh the same."""
    if out_of == "clients":
        v = but(v, client_weight=[1 / v.clients] * v.clients)
    steps, n = v.local_steps, v.cohort
    sampling = (v.clients - n) / (getattr(v, out_of) - 1) * 4 / n * steps**2 * v.grad_cap_sq
    noise = base_noise(v) + 8 * (steps - 1) ** 2 * v.grad_cap_sq + sampling
    return (1 - v.step_size * v.strong_convexity) * v.distance_sq + v.step_size**2 * noise


def lemma_2(v: Values) -> float:
    steps = v.local_steps
    noise = base_noise(v) + 8 * (steps - 1) ** 2 * v.grad_cap_sq + 4 / v.cohort * steps**2 * v.grad_cap_sq
    start = 2 * kappa(v) * excess(v, "initial_loss")
    return start + kappa(v) * v.smoothness * noise * v.squared_step_sizes


def theorem_1(v: Values) -> float:
    optimisation = 2 * kappa(v) * excess(v, "initial_loss") / (v.step_size * v.iterations)
    drift = growth(v) * v.steps_cubed_ratio
    return optimisation + v.step_size * kappa(v) * v.smoothness * (base_noise(v) + drift)


def theorem_1_appendix(v: Values) -> float:
    noise = 6 * v.smoothness * v.heterogeneity + 16 * v.grad_cap_sq * v.steps_cubed_ratio
    for p, variance, present in zip(v.client_weight, v.client_gradient_variance, v.takes_part, strict=True):
        if present:
            noise += p**2 * variance
    optimisation = 2 * kappa(v) * (v.initial_loss - v.optimal_loss) / (v.step_size * v.iterations)
    return optimisation + v.step_size * kappa(v) * v.smoothness * noise


def repaired_noise(v: Values) -> float:
    """Equal weights, whatever the client weights are said to be."""
    clients = len(v.client_gradient_variance)
    return sum(v.client_gradient_variance) / clients**2 + 6 * v.smoothness * v.heterogeneity


def lemma_2_repaired(v: Values) -> float:
    steps = v.local_steps
    drift = (8 * (steps - 1) ** 2 + 4 / v.cohort * steps**2) * v.grad_cap_sq
    above = v.smoothness * (repaired_noise(v) + drift) * v.squared_step_sizes
    return kappa(v) * (2 * kappa(v) * (v.initial_loss - v.optimal_loss) + above)


def theorem_1_repaired(v: Values) -> float:
    gap = v.initial_loss - v.optimal_loss
    noise = repaired_noise(v) + growth(v) * v.steps_cubed_ratio
    falling = 2 * kappa(v) * gap / (v.step_size * v.iterations)
    return kappa(v) * (falling + v.step_size * v.smoothness * noise)


def lemma_1_sharp(v: Values) -> float:
    steps, n = v.local_steps, v.cohort
    drawn = (v.clients - n) / (v.clients - 1) * steps**2 / n
    noise = repaired_noise(v) + (2 * (steps - 1) ** 2 + drawn) * v.grad_cap_sq
    return (1 - v.step_size * v.strong_convexity) * v.distance_sq + v.step_size**2 * noise


def theorem_1_sharp(v: Values) -> float:
    speed, cubes = v.step_size * v.smoothness, v.steps_cubed_ratio
    falling = 2 * (v.initial_loss - v.optimal_loss) / (v.step_size * v.iterations)
    drawn = (v.clients - v.cohort) / (v.clients - 1) * math.sqrt(cubes) / v.cohort * v.grad_cap_sq
    noise = sum(v.client_gradient_variance) / v.clients**2
    return falling + speed * (noise + drawn) + speed**2 * v.grad_cap_sq * (cubes - 1) / 3


def per_second(v: Values) -> float:
    start = 2 * kappa(v) * excess(v, "current_loss") / (v.step_size * v.runtime * v.local_steps)
    return start * step_time(v) + v.step_size * kappa(v) * v.smoothness * z(v)


def per_rounds(v: Values) -> float:
    start = 2 * kappa(v) * excess(v, "current_loss") / (v.step_size * v.local_steps * v.rounds)
    return start + v.step_size * kappa(v) * v.smoothness * z(v)


# ---- the best local steps and step size ----


def printed_steps(v: Values, loss: str, rate: float) -> float:
    below = 8 * v.step_size**2 * v.smoothness * (1 + 1 / (2 * v.cohort))
    return math.cbrt(excess(v, loss) / below * rate)


def best_steps(v: Values, rate: float) -> float:
    """``K^3 = a tau / (2 b)`` with ``rate`` for ``tau / W``."""
    a = 2 * kappa(v) * excess(v, "current_loss") / v.step_size * rate
    b = v.step_size * kappa(v) * v.smoothness * growth(v)
    return math.cbrt(a / (2 * b))


def printed_step_size(v: Values, loss: str, rate: float) -> float:
    return math.sqrt(2 * excess(v, loss) / (v.smoothness * z(v)) * rate)


def best_step_size(v: Values, rate: float) -> float:
    """``sqrt(c / d)`` with ``rate`` for ``(tau + beta K) / W``."""
    c = 2 * kappa(v) * excess(v, "current_loss") * rate / v.local_steps
    return math.sqrt(c / (kappa(v) * v.smoothness * z(v)))


# ---- derivatives of (8) ----


def in_steps(v: Values) -> tuple[float, float]:
    """``a`` and ``b`` of (8) in K."""
    a = 2 * kappa(v) * excess(v, "current_loss") / (v.step_size * v.runtime)
    return a, v.step_size * kappa(v) * v.smoothness * growth(v)


def steps_slope(v: Values, time: float) -> float:
    a, b = in_steps(v)
    return -a * time / v.local_steps**2 + 2 * b * v.local_steps


def steps_curvature(v: Values, time: float) -> float:
    a, b = in_steps(v)
    return 2 * a * time / v.local_steps**3 + 2 * b


def in_step_size(v: Values) -> float:
    """``c`` of (8) in eta."""
    return 2 * kappa(v) * excess(v, "current_loss") * step_time(v) / (v.runtime * v.local_steps)


def step_size_slope(v: Values) -> float:
    return -in_step_size(v) / v.step_size**2 + kappa(v) * v.smoothness * z(v)


def step_size_curvature(v: Values) -> float:
    return 2 * in_step_size(v) / v.step_size**3


# ---- schedules ----


def loss_ratio(v: Values) -> float:
    return v.current_loss / v.initial_loss


def time_ratio(v: Values) -> float:
    return v.initial_runtime / v.runtime


def fewest_steps(v: Values, cube: Fraction, least: int = 1) -> float:
    """The ceiling of ``K_0 cbrt(cube)`` in whole numbers: the first ``m >= least`` with ``m^3 >= K_0^3 cube``."""
    steps = least
    while steps**3 < v.initial_local_steps**3 * cube:
        steps += 1
    return float(steps)


def steps_by_error(v: Values, least: int = 1) -> float:
    return fewest_steps(v, Fraction(v.current_loss) / Fraction(v.initial_loss), least)


def steps_once_converged(v: Values) -> float:
    """Table 3 prints ``K_0 / 10``; a number of steps is whole, so the next whole number is taken."""
    return float(math.ceil(once_converged(v, "initial_local_steps")))


def once_converged(v: Values, start: str) -> float:
    return getattr(v, start) / 10 if v.plateau else getattr(v, start)


def rolling(v: Values, rounds: int) -> float:
    """(15): ``i = r-s .. r`` are s + 1 rounds, divided by ``rounds`` of them."""
    return v.summed_client_loss / (rounds * v.cohort)


_kept_steps, _kept_size = attrgetter("initial_local_steps"), attrgetter("initial_step_size")
_READ: dict[str, Callable[[Values], Any]] = {
    "client_round": client_times,
    "round_time": slowest_client,
    "runtime": runtime,
    "runtime_fixed": runtime_fixed,
    "gradient_cap": lambda v: v.smoothness**2 * v.initial_distance_sq,
    "lemma_1_printed": lambda v: lemma_1(v, "cohort"),
    "lemma_1": lambda v: lemma_1(v, "clients"),
    "lemma_2": lemma_2,
    "theorem_1": theorem_1,
    "theorem_1_appendix": theorem_1_appendix,
    "lemma_2_repaired": lemma_2_repaired,
    "theorem_1_repaired": theorem_1_repaired,
    "lemma_1_sharp": lemma_1_sharp,
    "theorem_1_sharp": theorem_1_sharp,
    "per_second": per_second,
    "per_rounds": per_rounds,
    "k_star_printed": lambda v: printed_steps(v, "current_loss", communication(v) / v.runtime),
    "k_star_rounds_printed": lambda v: printed_steps(v, "current_loss", 1 / v.rounds),
    "k_star_rounds_cap_printed": lambda v: printed_steps(v, "initial_loss", 1 / v.rounds),
    "eta_star_printed": lambda v: printed_step_size(v, "current_loss", step_time(v) / v.runtime),
    "eta_star_rounds_printed": lambda v: printed_step_size(v, "current_loss", 1 / v.rounds),
    "eta_star_rounds_cap_printed": lambda v: printed_step_size(v, "initial_loss", 1 / v.rounds),
    "k_star": lambda v: best_steps(v, communication(v) / v.runtime),
    "k_star_rounds": lambda v: best_steps(v, 1 / v.rounds),
    "eta_star": lambda v: best_step_size(v, step_time(v) / v.runtime),
    "eta_star_rounds": lambda v: best_step_size(v, 1 / v.rounds),
    "eta_star_capped": lambda v: min(best_step_size(v, step_time(v) / v.runtime), 1 / (4 * v.smoothness)),
    "steps_slope_printed": lambda v: steps_slope(v, step_time(v)),
    "steps_slope": lambda v: steps_slope(v, communication(v)),
    "steps_curvature_printed": lambda v: steps_curvature(v, step_time(v)),
    "steps_curvature": lambda v: steps_curvature(v, communication(v)),
    "step_size_slope_printed": step_size_slope,
    "step_size_slope": step_size_slope,
    "step_size_curvature_printed": step_size_curvature,
    "step_size_curvature": step_size_curvature,
    "k_error_with_time": lambda v: math.cbrt(loss_ratio(v) * time_ratio(v)) * v.initial_local_steps,
    "eta_error_with_time": lambda v: math.sqrt(loss_ratio(v) * time_ratio(v)) * v.initial_step_size,
    "rolling_loss_printed": lambda v: rolling(v, v.rolling_window),
    "rolling_loss": lambda v: rolling(v, v.rolling_window + 1),
    **{f"schedule_{key}_step_size": _kept_size for key in ("dsgd", "k_eta_fixed", "k_rounds", "k_error", "k_step")},
    **{f"schedule_{key}_steps": _kept_steps for key in ("k_eta_fixed", "eta_rounds", "eta_error", "eta_step")},
    "schedule_dsgd_steps": lambda v: 1.0,
    "schedule_k_rounds_steps": lambda v: fewest_steps(v, Fraction(1, v.round_index)),
    "schedule_k_error_steps": steps_by_error,
    "schedule_k_error_steps_printed": lambda v: steps_by_error(v, 0),
    "schedule_k_step_steps": steps_once_converged,
    "schedule_eta_rounds_step_size": lambda v: v.round_index**-0.5 * v.initial_step_size,
    "schedule_eta_error_step_size": lambda v: math.sqrt(loss_ratio(v)) * v.initial_step_size,
    "schedule_eta_step_step_size": lambda v: once_converged(v, "initial_step_size"),
}

TWINS = {f"decaying_k.{name}": twin for name, twin in _READ.items()}
