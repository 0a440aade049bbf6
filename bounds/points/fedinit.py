"""FedInit: small step sizes and relaxations, so that every cap and lambda's condition are met."""

from typing import Any

EVERY: dict[str, Any] = {
    "clients": 11, "step_size_budget": 0.8, "loss_cap": 3.1, "summed_grad_norm_sq": 87.0,
    "summed_divergence_root": 1.9, "untouched_steps": 19, "generalization_gap": 0.031, "grad_norm_sq": 0.52,
    "mean_grad_norm_sq": 0.47, "stability": 0.044, "cohort": 3, "separation": 0.23, "optimality_gap": 0.27,
    "local_steps": 5, "local_iteration": 57, "parameters": 7850, "rounds": 40, "step_size": 0.0007,
    "relaxation": 0.06, "step_size_scale": 0.16, "smoothness": 1.3, "lipschitz": 0.9, "dissimilarity_factor": 1.7,
    "dissimilarity_offset": 0.63, "gradient_variance": 0.41, "samples": 470, "initial_gap": 2.3, "contraction": 0.71,
    "initial_divergence": 0.029, "divergence": 0.083, "pl_constant": 0.37, "final_divergence": 0.017,
    "next_divergence": 0.059, "loss_decrease": 0.014,
}  # fmt: skip

POINTS: dict[str, dict[str, Any]] = {"fedinit.theorem_1_sharp": {"cohort": 11, "contraction": 0.83, "step_size": 0.007}}
