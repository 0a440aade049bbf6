"""Decaying-K: bandwidths of the size of the paper's, other numbers made up."""

from typing import Any

EVERY: dict[str, Any] = {
    "client_download_rate": [21.3, 17.7, 30.1], "client_gradient_variance": [0.7, 1.8, 0.45],
    "client_minibatch_time": [0.017, 0.29, 0.11], "client_upload_rate": [4.9, 6.3, 3.7],
    "client_weight": [0.52, 0.31, 0.17], "clients": 3, "cohort": 2, "current_loss": 1.9, "distance_sq": 3.1,
    "download_rate": 21.3, "grad_cap_sq": 1.7, "heterogeneity": 0.37, "initial_distance_sq": 2.6,
    "initial_local_steps": 47, "initial_loss": 2.3, "initial_runtime": 49.0, "initial_step_size": 0.31,
    "iterations": 247, "local_steps": 6, "minibatch_time": 0.017, "model_size": 6.71, "optimal_loss": 0.2,
    "plateau": 1, "rolling_window": 97, "round_index": 11, "rounds": 43, "runtime": 311.0, "smoothness": 1.3,
    "squared_step_sizes": 0.0213, "step_size": 0.009, "steps_cubed_ratio": 27.5, "strong_convexity": 0.4,
    "summed_client_loss": 413.7, "takes_part": [1, 0, 1], "upload_rate": 4.9,
}  # fmt: skip

_SEVEN_CLIENTS: dict[str, Any] = {
    "client_gradient_variance": [0.7, 1.9, 0.45, 2.3, 1.1, 0.6, 1.4],
    "client_weight": [0.21, 0.08, 0.13, 0.17, 0.05, 0.11, 0.25],
    "clients": 7,
    "cohort": 3,
}
# Near a loss of zero, where kappa F - F^* can be of either sign: what a term that is signed must show.
_SMALL_LOSS = {"current_loss": 0.34, "optimal_loss": -0.27}
POINTS: dict[str, dict[str, Any]] = {
    "decaying_k.lemma_1_printed": _SEVEN_CLIENTS,
    "decaying_k.lemma_1": _SEVEN_CLIENTS,
    "decaying_k.steps_curvature_printed": _SMALL_LOSS,
    "decaying_k.steps_curvature": _SMALL_LOSS,
}
