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
from fractions import Fraction
from operator import attrgetter
from types import SimpleNamespace as Values

from .values import but

# ---- pieces ----


def _communication(v: Values) -> float:
    return v.model_size / v.download_rate + v.model_size / v.upload_rate


def _excess(v: Values, loss: str) -> float:
    """``kappa F - F*``."""
    return v.smoothness / v.strong_convexity * getattr(v, loss) - v.optimal_loss


def _sampled_variance(v: Values) -> float:
    return sum(p * p * variance for p, variance in zip(v.client_weight, v.client_gradient_variance, strict=True))


def _base_noise(v: Values) -> float:
    return _sampled_variance(v) + 6 * v.smoothness * v.heterogeneity


def _growth(v: Values) -> float:
    """What multiplies the squared number of local steps: ``(8 + 4/N) G^2``."""
    return (8 + 4 / v.cohort) * v.grad_cap_sq


def _z(v: Values) -> float:
    return _base_noise(v) + _growth(v) * v.local_steps**2


def _kappa(v: Values) -> float:
    return v.smoothness / v.strong_convexity


def _step_time(v: Values) -> float:
    return _communication(v) + v.minibatch_time * v.local_steps


# ---- runtime ----


def client_round(v: Values) -> list[float]:
    columns = zip(v.client_download_rate, v.client_minibatch_time, v.client_upload_rate, strict=True)
    return [v.model_size / d + v.local_steps * beta + v.model_size / u for d, beta, u in columns]


def runtime(v: Values) -> float:
    return v.rounds * _communication(v) + v.minibatch_time * v.iterations


# ---- convergence ----


def _lemma_1(v: Values, out_of: str) -> float:
    """(16); ``out_of`` is what is counted in the denominator: the participants as printed, or all clients, which then
    weigh the same."""
    if out_of == "clients":
        v = but(v, client_weight=[1 / v.clients] * v.clients)
    steps, n = v.local_steps, v.cohort
    sampling = (v.clients - n) / (getattr(v, out_of) - 1) * 4 / n * steps**2 * v.grad_cap_sq
    noise = _base_noise(v) + 8 * (steps - 1) ** 2 * v.grad_cap_sq + sampling
    return (1 - v.step_size * v.strong_convexity) * v.distance_sq + v.step_size**2 * noise


def lemma_2(v: Values) -> float:
    steps = v.local_steps
    noise = _base_noise(v) + 8 * (steps - 1) ** 2 * v.grad_cap_sq + 4 / v.cohort * steps**2 * v.grad_cap_sq
    start = 2 * _kappa(v) * _excess(v, "initial_loss")
    return start + _kappa(v) * v.smoothness * noise * v.squared_step_sizes


def theorem_1(v: Values) -> float:
    optimisation = 2 * _kappa(v) * _excess(v, "initial_loss") / (v.step_size * v.iterations)
    drift = _growth(v) * v.steps_cubed_ratio
    return optimisation + v.step_size * _kappa(v) * v.smoothness * (_base_noise(v) + drift)


def theorem_1_appendix(v: Values) -> float:
    noise = 6 * v.smoothness * v.heterogeneity + 16 * v.grad_cap_sq * v.steps_cubed_ratio
    for p, variance, present in zip(v.client_weight, v.client_gradient_variance, v.takes_part, strict=True):
        if present:
            noise += p**2 * variance
    optimisation = 2 * _kappa(v) * (v.initial_loss - v.optimal_loss) / (v.step_size * v.iterations)
    return optimisation + v.step_size * _kappa(v) * v.smoothness * noise


def _repaired_noise(v: Values) -> float:
    """Equal weights, whatever the client weights are said to be."""
    clients = len(v.client_gradient_variance)
    return sum(v.client_gradient_variance) / clients**2 + 6 * v.smoothness * v.heterogeneity


def lemma_2_repaired(v: Values) -> float:
    steps = v.local_steps
    drift = (8 * (steps - 1) ** 2 + 4 / v.cohort * steps**2) * v.grad_cap_sq
    above = v.smoothness * (_repaired_noise(v) + drift) * v.squared_step_sizes
    return _kappa(v) * (2 * _kappa(v) * (v.initial_loss - v.optimal_loss) + above)


def theorem_1_repaired(v: Values) -> float:
    gap = v.initial_loss - v.optimal_loss
    noise = _repaired_noise(v) + _growth(v) * v.steps_cubed_ratio
    falling = 2 * _kappa(v) * gap / (v.step_size * v.iterations)
    return _kappa(v) * (falling + v.step_size * v.smoothness * noise)


def lemma_1_sharp(v: Values) -> float:
    steps, n = v.local_steps, v.cohort
    drawn = (v.clients - n) / (v.clients - 1) * steps**2 / n
    noise = _repaired_noise(v) + (2 * (steps - 1) ** 2 + drawn) * v.grad_cap_sq
    return (1 - v.step_size * v.strong_convexity) * v.distance_sq + v.step_size**2 * noise


def theorem_1_sharp(v: Values) -> float:
    speed, cubes = v.step_size * v.smoothness, v.steps_cubed_ratio
    falling = 2 * (v.initial_loss - v.optimal_loss) / (v.step_size * v.iterations)
    drawn = (v.clients - v.cohort) / (v.clients - 1) * math.sqrt(cubes) / v.cohort * v.grad_cap_sq
    noise = sum(v.client_gradient_variance) / v.clients**2
    return falling + speed * (noise + drawn) + speed**2 * v.grad_cap_sq * (cubes - 1) / 3


def per_second(v: Values) -> float:
    start = 2 * _kappa(v) * _excess(v, "current_loss") / (v.step_size * v.runtime * v.local_steps)
    return start * _step_time(v) + v.step_size * _kappa(v) * v.smoothness * _z(v)


def per_rounds(v: Values) -> float:
    start = 2 * _kappa(v) * _excess(v, "current_loss") / (v.step_size * v.local_steps * v.rounds)
    return start + v.step_size * _kappa(v) * v.smoothness * _z(v)


# ---- the best local steps and step size ----


def _printed_steps(v: Values, loss: str, rate: float) -> float:
    below = 8 * v.step_size**2 * v.smoothness * (1 + 1 / (2 * v.cohort))
    return math.cbrt(_excess(v, loss) / below * rate)


def _best_steps(v: Values, rate: float) -> float:
    """``K^3 = a tau / (2 b)`` with ``rate`` for ``tau / W``."""
    a = 2 * _kappa(v) * _excess(v, "current_loss") / v.step_size * rate
    b = v.step_size * _kappa(v) * v.smoothness * _growth(v)
    return math.cbrt(a / (2 * b))


def _printed_step_size(v: Values, loss: str, rate: float) -> float:
    return math.sqrt(2 * _excess(v, loss) / (v.smoothness * _z(v)) * rate)


def _best_step_size(v: Values, rate: float) -> float:
    """``sqrt(c / d)`` with ``rate`` for ``(tau + beta K) / W``."""
    c = 2 * _kappa(v) * _excess(v, "current_loss") * rate / v.local_steps
    return math.sqrt(c / (_kappa(v) * v.smoothness * _z(v)))


# ---- derivatives of (8) ----


def _in_steps(v: Values) -> tuple[float, float]:
    """``a`` and ``b`` of (8) in K."""
    a = 2 * _kappa(v) * _excess(v, "current_loss") / (v.step_size * v.runtime)
    return a, v.step_size * _kappa(v) * v.smoothness * _growth(v)


def _steps_slope(v: Values, time: float) -> float:
    a, b = _in_steps(v)
    return -a * time / v.local_steps**2 + 2 * b * v.local_steps


def _steps_curvature(v: Values, time: float) -> float:
    a, b = _in_steps(v)
    return 2 * a * time / v.local_steps**3 + 2 * b


def _in_step_size(v: Values) -> float:
    """``c`` of (8) in eta."""
    return 2 * _kappa(v) * _excess(v, "current_loss") * _step_time(v) / (v.runtime * v.local_steps)


def _step_size_slope(v: Values) -> float:
    return -_in_step_size(v) / v.step_size**2 + _kappa(v) * v.smoothness * _z(v)


def _step_size_curvature(v: Values) -> float:
    return 2 * _in_step_size(v) / v.step_size**3


# ---- schedules ----


def _loss_ratio(v: Values) -> float:
    return v.current_loss / v.initial_loss


def _time_ratio(v: Values) -> float:
    return v.initial_runtime / v.runtime


def _fewest_steps(v: Values, cube: Fraction, least: int = 1) -> float:
    """The ceiling of ``K_0 cbrt(cube)`` in whole numbers: the first ``m >= least`` with ``m^3 >= K_0^3 cube``."""
    steps = least
    while steps**3 < v.initial_local_steps**3 * cube:
        steps += 1
    return float(steps)


def _steps_by_error(v: Values, least: int = 1) -> float:
    return _fewest_steps(v, Fraction(v.current_loss) / Fraction(v.initial_loss), least)


def _steps_once_converged(v: Values) -> float:
    """Table 3 prints ``K_0 / 10``; a number of steps is whole, so the next whole number is taken."""
    return float(math.ceil(_once_converged(v, "initial_local_steps")))


def _once_converged(v: Values, start: str) -> float:
    return getattr(v, start) / 10 if v.plateau else getattr(v, start)


def _rolling(v: Values, rounds: int) -> float:
    """(15): ``i = r-s .. r`` are s + 1 rounds, divided by ``rounds`` of them."""
    return v.summed_client_loss / (rounds * v.cohort)


_kept_steps, _kept_size = attrgetter("initial_local_steps"), attrgetter("initial_step_size")
LINES = {
    "round_time": lambda v: max(client_round(v)),
    "runtime_fixed": lambda v: v.iterations / v.local_steps * _step_time(v),
    "gradient_cap": lambda v: v.smoothness**2 * v.initial_distance_sq,
    "lemma_1_printed": lambda v: _lemma_1(v, "cohort"),
    "lemma_1": lambda v: _lemma_1(v, "clients"),
    "k_star_printed": lambda v: _printed_steps(v, "current_loss", _communication(v) / v.runtime),
    "k_star_rounds_printed": lambda v: _printed_steps(v, "current_loss", 1 / v.rounds),
    "k_star_rounds_cap_printed": lambda v: _printed_steps(v, "initial_loss", 1 / v.rounds),
    "eta_star_printed": lambda v: _printed_step_size(v, "current_loss", _step_time(v) / v.runtime),
    "eta_star_rounds_printed": lambda v: _printed_step_size(v, "current_loss", 1 / v.rounds),
    "eta_star_rounds_cap_printed": lambda v: _printed_step_size(v, "initial_loss", 1 / v.rounds),
    "k_star": lambda v: _best_steps(v, _communication(v) / v.runtime),
    "k_star_rounds": lambda v: _best_steps(v, 1 / v.rounds),
    "eta_star": lambda v: _best_step_size(v, _step_time(v) / v.runtime),
    "eta_star_rounds": lambda v: _best_step_size(v, 1 / v.rounds),
    "eta_star_capped": lambda v: min(_best_step_size(v, _step_time(v) / v.runtime), 1 / (4 * v.smoothness)),
    "steps_slope_printed": lambda v: _steps_slope(v, _step_time(v)),
    "steps_slope": lambda v: _steps_slope(v, _communication(v)),
    "steps_curvature_printed": lambda v: _steps_curvature(v, _step_time(v)),
    "steps_curvature": lambda v: _steps_curvature(v, _communication(v)),
    "step_size_slope_printed": _step_size_slope,
    "step_size_slope": _step_size_slope,
    "step_size_curvature_printed": _step_size_curvature,
    "step_size_curvature": _step_size_curvature,
    "k_error_with_time": lambda v: math.cbrt(_loss_ratio(v) * _time_ratio(v)) * v.initial_local_steps,
    "eta_error_with_time": lambda v: math.sqrt(_loss_ratio(v) * _time_ratio(v)) * v.initial_step_size,
    "rolling_loss_printed": lambda v: _rolling(v, v.rolling_window),
    "rolling_loss": lambda v: _rolling(v, v.rolling_window + 1),
    **{f"schedule_{key}_step_size": _kept_size for key in ("dsgd", "k_eta_fixed", "k_rounds", "k_error", "k_step")},
    **{f"schedule_{key}_steps": _kept_steps for key in ("k_eta_fixed", "eta_rounds", "eta_error", "eta_step")},
    "schedule_dsgd_steps": lambda v: 1.0,
    "schedule_k_rounds_steps": lambda v: _fewest_steps(v, Fraction(1, v.round_index)),
    "schedule_k_error_steps": _steps_by_error,
    "schedule_k_error_steps_printed": lambda v: _steps_by_error(v, 0),
    "schedule_k_step_steps": _steps_once_converged,
    "schedule_eta_rounds_step_size": lambda v: v.round_index**-0.5 * v.initial_step_size,
    "schedule_eta_error_step_size": lambda v: math.sqrt(_loss_ratio(v)) * v.initial_step_size,
    "schedule_eta_step_step_size": lambda v: _once_converged(v, "initial_step_size"),
}
