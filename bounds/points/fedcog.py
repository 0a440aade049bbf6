"""Generic points for FedCOG: a small class count, and made-up numbers of the theorem and the steps of its proof."""

from typing import Any

EVERY: dict[str, Any] = {
    "grad_norm_sq": 0.57,
    "local_steps": 5,
    "step_size": 0.031,
    "smoothness": 1.7,
    "gradient_variance": 1.9,
    "client_weight": [0.2, 0.35, 0.45],
    "dissimilarity_offset": 0.83,
    "dissimilarity_factor": 2.3,
    "rounds": 240,
    "initial_gap": 3.7,
    "step_scale": 0.87,
    "class_count": [7, 2, 9, 5],
    "task_loss": 1.43,
    "disagreement_weight": 0.13,
    "disagreement_loss": 0.71,
    "jensen_shannon": 0.37,
    "samples_per_class": 26,
    "classes": 10,
    "local_task_loss": 0.92,
    "distillation_weight": 0.017,
    "distillation_loss": 0.38,
    "generation_steps": 113,
    "generated_samples": 256,
    "real_batch": 64,
    "generated_batch": 48,
    "next_task_loss": 1.27,
    "next_distillation": 0.23,
    "step_alignment": -0.41,
    "global_step": 0.29,
    "mean_path_gradient_sq": 0.64,
    "mean_gradient_drift": 0.19,
    "client_grad_norm_sq": [0.53, 1.12, 0.88],
}
SPECIAL: dict[str, dict[str, Any]] = {"fedcog.sample_passes": {"local_steps": 390}}
