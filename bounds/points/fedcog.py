"""FedCOG: made-up numbers of a small federation, its generated data and the steps of the proof."""

from typing import Any

EVERY: dict[str, Any] = {
    "samples_per_class": 26, "local_task_loss": 0.92, "step_alignment": -0.41, "task_loss": 1.43,
    "disagreement_weight": 0.13, "generation_steps": 113, "class_count": [7, 2, 9, 5], "next_task_loss": 1.27,
    "client_weight": [0.2, 0.35, 0.45], "jensen_shannon": 0.37, "distillation_weight": 0.017, "classes": 10,
    "distillation_loss": 0.38, "disagreement_loss": 0.71, "generated_samples": 256, "next_distillation": 0.23,
    "local_steps": 5, "real_batch": 64, "step_size": 0.031, "generated_batch": 48, "smoothness": 1.7,
    "global_step": 0.29, "gradient_variance": 1.9, "dissimilarity_factor": 2.3,
    "client_grad_norm_sq": [0.53, 1.12, 0.88], "dissimilarity_offset": 0.83, "rounds": 240, "grad_norm_sq": 0.57,
    "initial_gap": 3.7, "mean_path_gradient_sq": 0.64, "step_scale": 0.87, "mean_gradient_drift": 0.19,
}  # fmt: skip

POINTS: dict[str, dict[str, Any]] = {"fedcog.sample_passes": {"local_steps": 390}}
