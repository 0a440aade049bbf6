"""Generic points for FedInit: small step sizes and relaxations, so that every cap and lambda's condition are met."""

from typing import Any

EVERY: dict[str, Any] = {
    "clients": 11,
    "cohort": 3,
    "local_steps": 5,
    "rounds": 40,
    "step_size": 0.0007,
    "relaxation": 0.06,
    "smoothness": 1.3,
    "dissimilarity_factor": 1.7,
    "dissimilarity_offset": 0.63,
    "gradient_variance": 0.41,
    "initial_gap": 2.3,
    "contraction": 0.71,
    "pl_constant": 0.37,
    "divergence": 0.083,
    "next_divergence": 0.059,
    "grad_norm_sq": 0.52,
    "summed_grad_norm_sq": 87.0,
    "loss_decrease": 0.014,
    "mean_grad_norm_sq": 0.47,
    "initial_divergence": 0.029,
    "final_divergence": 0.017,
    "samples": 470,
    "loss_cap": 3.1,
    "lipschitz": 0.9,
    "separation": 0.23,
    "untouched_steps": 19,
    "step_size_scale": 0.16,
    "summed_divergence_root": 1.9,
    "stability": 0.044,
    "generalization_gap": 0.031,
    "optimality_gap": 0.27,
    "step_size_budget": 0.8,
    "local_iteration": 57,
    "parameters": 7850,
}
SPECIAL: dict[str, dict[str, Any]] = {
    "fedinit.theorem_1_sharp": {"cohort": 11, "contraction": 0.83, "step_size": 0.007},
}
