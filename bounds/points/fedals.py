"""Generic points for FedALS: three clients of different weight, made-up measurements of one round."""

from typing import Any

EVERY: dict[str, Any] = {
    "clients": 3,
    "cohort": 2,
    "client_weight": [0.47, 0.31, 0.22],
    "client_value": [0.9, -1.7, 2.3],
    "client_gradient_variance": [0.61, 1.37, 0.89],
    "client_distance_sq": [0.37, 0.19, 0.53],
    "smoothness": 2.7,
    "strong_convexity": 0.6,
    "local_gap": [0.023, 0.041, 0.057],
    "non_iidness": [0.013, 0.029, 0.071],
    "local_suboptimality": [0.0031, 0.0053, 0.0019],
    "swap_gap": [0.031, -0.012, 0.047],
    "samples": 12,
    "samples_per_round": [340, 510, 275],
    "complexity": 17.3,
    "gradient_variance": 0.83,
    "local_steps": 7,
    "step_size": 0.29,
    "adaptation": 4,
    "iterations": 1800,
    "extractor_size": 2310,
    "head_size": 170,
}
_TRAFFIC = {"local_steps": 5}
SPECIAL: dict[str, dict[str, Any]] = {
    "fedals.optimization_rate": _TRAFFIC,
    "fedals.communicated_parameters": _TRAFFIC,
    "fedals.communicated_parameters_table_2": _TRAFFIC,
}
