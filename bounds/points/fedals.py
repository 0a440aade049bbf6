"""FedALS: three clients of different weight, made-up measurements of one round."""

from typing import Any

EVERY: dict[str, Any] = {
    "client_value": [0.9, -1.7, 2.3], "client_distance_sq": [0.37, 0.19, 0.53], "adaptation": 4,
    "client_weight": [0.47, 0.31, 0.22], "swap_gap": [0.031, -0.012, 0.047], "smoothness": 2.7,
    "strong_convexity": 0.6, "client_gradient_variance": [0.61, 1.37, 0.89], "samples": 12,
    "local_gap": [0.023, 0.041, 0.057], "non_iidness": [0.013, 0.029, 0.071], "cohort": 2,
    "samples_per_round": [340, 510, 275], "local_suboptimality": [0.0031, 0.0053, 0.0019], "clients": 3,
    "complexity": 17.3, "gradient_variance": 0.83, "local_steps": 7, "iterations": 1800, "step_size": 0.29,
    "extractor_size": 2310, "head_size": 170,
}  # fmt: skip

POINTS: dict[str, dict[str, Any]] = {
    "fedals.optimization_rate": {"local_steps": 5},
    "fedals.communicated_parameters": {"local_steps": 5},
    "fedals.communicated_parameters_table_2": {"local_steps": 5},
}
