"""Generic points of the Decaying-K bounds; bandwidths of the size of the paper's, other numbers made up."""

from typing import Any

from bounds.decaying_k.catalog import BOUNDS

_EVERY: dict[str, Any] = {
    "clients": 3,
    "cohort": 2,
    "client_weight": [0.52, 0.31, 0.17],
    "client_gradient_variance": [0.7, 1.8, 0.45],
    "takes_part": [1, 0, 1],
    "local_steps": 6,
    "rounds": 43,
    "iterations": 247,
    "step_size": 0.009,
    "squared_step_sizes": 0.0213,
    "steps_cubed_ratio": 27.5,
    "smoothness": 1.3,
    "strong_convexity": 0.4,
    "heterogeneity": 0.37,
    "grad_cap_sq": 1.7,
    "initial_loss": 2.3,
    "current_loss": 1.9,
    "optimal_loss": 0.2,
    "distance_sq": 3.1,
    "initial_distance_sq": 2.6,
    "model_size": 6.71,
    "download_rate": 21.3,
    "upload_rate": 4.9,
    "minibatch_time": 0.017,
    "client_download_rate": [21.3, 17.7, 30.1],
    "client_upload_rate": [4.9, 6.3, 3.7],
    "client_minibatch_time": [0.017, 0.29, 0.11],
    "runtime": 311.0,
    "initial_runtime": 49.0,
    "initial_local_steps": 47,
    "initial_step_size": 0.31,
    "rolling_window": 97,
    "summed_client_loss": 413.7,
    "round_index": 11,
    "plateau": 1,
}

_SEVEN_CLIENTS = {
    "clients": 7,
    "cohort": 3,
    "client_weight": [0.21, 0.08, 0.13, 0.17, 0.05, 0.11, 0.25],
    "client_gradient_variance": [0.7, 1.9, 0.45, 2.3, 1.1, 0.6, 1.4],
}
# Near a loss of zero, where kappa F - F^* can be of either sign: what a term that is signed must show.
_SMALL_LOSS = {"current_loss": 0.34, "optimal_loss": -0.27}

_SPECIAL: dict[str, dict[str, Any]] = {
    "decaying_k.lemma_1_printed": _SEVEN_CLIENTS,
    "decaying_k.lemma_1": _SEVEN_CLIENTS,
    "decaying_k.steps_curvature_printed": _SMALL_LOSS,
    "decaying_k.steps_curvature": _SMALL_LOSS,
}

POINTS: dict[str, dict[str, Any]] = {
    b.name: {q.name: {**_EVERY, **_SPECIAL.get(b.name, {})}[q.name] for q in b.quantities} for b in BOUNDS
}
