"""Generic points for FedALS: three clients of different weight, made-up measurements of one round."""

from typing import Any

FEDERATION: dict[str, Any] = {"client_weight": [0.47, 0.31, 0.22]}
LOSS: dict[str, Any] = {"smoothness": 2.7, "strong_convexity": 0.6}
GAPS: dict[str, Any] = {"local_gap": [0.023, 0.041, 0.057], "non_iidness": [0.013, 0.029, 0.071]}
INEXACT: dict[str, Any] = {"local_suboptimality": [0.0031, 0.0053, 0.0019]}
ROUND: dict[str, Any] = {
    "non_iidness": [0.013, 0.029, 0.071],
    "samples_per_round": [340, 510, 275],
    "complexity": 17.3,
    "gradient_variance": 0.83,
    "local_steps": 7,
}
DRAW: dict[str, Any] = {**FEDERATION, "client_value": [0.9, -1.7, 2.3], "cohort": 2}
TRAFFIC: dict[str, Any] = {
    "adaptation": 4,
    "local_steps": 5,
    "iterations": 1800,
    "extractor_size": 2310,
    "head_size": 170,
}

ONE = {**FEDERATION, **LOSS, **GAPS}
NOISY = {**FEDERATION, **LOSS, "client_gradient_variance": [0.61, 1.37, 0.89]}
DISTANCES: dict[str, Any] = {"client_distance_sq": [0.37, 0.19, 0.53]}

POINTS: dict[str, dict[str, Any]] = {
    "fedals.one_round": ONE,
    "fedals.one_round_iid_claimed": {**FEDERATION, **LOSS, "local_gap": GAPS["local_gap"]},
    "fedals.one_round_inexact": {**ONE, **INEXACT},
    "fedals.one_round_inexact_joined": {**ONE, **INEXACT},
    "fedals.rounds_inexact": {**ONE, **INEXACT},
    "fedals.one_round_sharp": ONE,
    "fedals.one_round_inexact_sharp": {**ONE, **INEXACT},
    "fedals.one_round_noise_sharp": {**NOISY, "samples": 12, "local_gap": GAPS["local_gap"]},
    "fedals.one_round_constants_sharp": {**NOISY, "samples": 12},
    "fedals.rounds_noise_sharp": {**NOISY, "samples_per_round": [340, 510, 275], "local_steps": 7, "step_size": 0.29},
    "fedals.participation_case1_noise_sharp": {**NOISY, "samples": 12, "local_gap": GAPS["local_gap"], "cohort": 2},
    "fedals.lemma_b1": {**FEDERATION, "swap_gap": [0.031, -0.012, 0.047]},
    "fedals.lemma_d1_mean": {k: v for k, v in DRAW.items() if k != "cohort"},
    "fedals.lemma_d1_weight_printed": DRAW,
    "fedals.lemma_d1_weight_sq_printed": DRAW,
    "fedals.lemma_d1_weight": DRAW,
    "fedals.lemma_d1_weight_sq": DRAW,
    "fedals.lemma_d2_mean": {k: v for k, v in DRAW.items() if k != "cohort"},
    "fedals.lemma_d2_weight": {**DRAW, "clients": 3},
    "fedals.lemma_d2_weight_sq": {**DRAW, "clients": 3},
    "fedals.participation_case1": {**ONE, "cohort": 2},
    "fedals.participation_case2": {**ONE, "cohort": 2, "clients": 3},
    "fedals.participation_case1_counted": {**ONE, "cohort": 2},
    "fedals.participation_gap": {},
    "fedals.participation_gap_quadratic": {**FEDERATION, **DISTANCES, "smoothness": 2.7, "cohort": 2},
    "fedals.rounds_v1": {**FEDERATION, **LOSS, **ROUND},
    "fedals.rounds_v2": {**FEDERATION, **LOSS, **ROUND},
    "fedals.rounds_inexact_printed": {**ONE, **INEXACT},
    "fedals.optimization_rate": {"local_steps": 5, "iterations": 1800},
    "fedals.consensus_distance": {**DISTANCES, "clients": 3},
    "fedals.communicated_parameters": TRAFFIC,
    "fedals.communicated_parameters_table_2": TRAFFIC,
    "fedals.gaussian_mean_local_gap": {
        "client_gradient_variance": [0.61, 1.37, 0.89],
        "smoothness": 2.7,
        "samples": 12,
    },
    "fedals.gaussian_mean_non_iidness": {**FEDERATION, **DISTANCES, "smoothness": 2.7, "local_gap": GAPS["local_gap"]},
    "fedals.gaussian_mean_gap": {**FEDERATION, "local_gap": GAPS["local_gap"]},
    "fedals.gaussian_mean_bound": {**FEDERATION, **DISTANCES, "smoothness": 2.7, "local_gap": GAPS["local_gap"]},
}
