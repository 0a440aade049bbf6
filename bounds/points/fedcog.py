"""A generic point for every bound of FedCOG: inside its domain and conditions, no 0, no 1, no equal inputs."""

from typing import Any

GLOBAL_GRADIENT = {"grad_norm_sq": 0.57}
STEPS = {"local_steps": 5, "step_size": 0.031, "smoothness": 1.7}
NOISE = {"gradient_variance": 1.9}
WEIGHTS = {"client_weight": [0.2, 0.35, 0.45]}
OFFSET = {"dissimilarity_offset": 0.83}
DISSIMILARITY = {"dissimilarity_factor": 2.3, **OFFSET}
COUNTS = {"class_count": [7, 2, 9, 5]}
THEOREM = {**STEPS, **NOISE, **WEIGHTS, **DISSIMILARITY, "rounds": 240, "initial_gap": 3.7}
COROLLARY = {name: value for name, value in THEOREM.items() if name != "step_size"}
PRINTED = {name: value for name, value in COROLLARY.items() if name != "dissimilarity_factor"}

POINTS: dict[str, dict[str, Any]] = {
    "fedcog.generation_loss": {"task_loss": 1.43, "disagreement_weight": 0.13, "disagreement_loss": 0.71},
    "fedcog.disagreement_loss": {"jensen_shannon": 0.37},
    "fedcog.disagreement_upper": {},
    "fedcog.disagreement_lower": {},
    "fedcog.uniform_labels": {"samples_per_class": 26, "classes": 10},
    "fedcog.complementary_count": COUNTS,
    "fedcog.complementary_allocation": {**COUNTS, "generated_samples": 256},
    "fedcog.balanced_samples": COUNTS,
    "fedcog.task_weight": COUNTS,
    "fedcog.distillation_weight": COUNTS,
    "fedcog.local_objective": {"local_task_loss": 0.92, "distillation_weight": 0.017, "distillation_loss": 0.38},
    "fedcog.sample_passes": {
        "generation_steps": 113,
        "generated_samples": 256,
        "local_steps": 390,
        "real_batch": 64,
        "generated_batch": 48,
    },
    "fedcog.theorem": THEOREM,
    "fedcog.theorem_sharp": THEOREM,
    "fedcog.corollary_scaled": {**COROLLARY, "step_scale": 0.87},
    "fedcog.corollary": COROLLARY,
    "fedcog.corollary_printed": PRINTED,
    "fedcog.corollary_appendix": PRINTED,
    "fedcog.corollary_order": {"local_steps": 5, "rounds": 240},
    "fedcog.lemma_5_5": {"next_task_loss": 1.27, "next_distillation": 0.23},
    "fedcog.dissimilarity": {**DISSIMILARITY, **GLOBAL_GRADIENT},
    "fedcog.smoothness_step_printed": {"step_alignment": -0.41, "smoothness": 1.7, "global_step": 0.29},
    "fedcog.smoothness_step": {"step_alignment": -0.41, "smoothness": 1.7, "global_step": 0.29},
    "fedcog.mean_update": {**NOISE, **WEIGHTS, "local_steps": 5, "mean_path_gradient_sq": 0.64},
    "fedcog.descent": {
        **STEPS,
        **NOISE,
        **WEIGHTS,
        **GLOBAL_GRADIENT,
        "mean_path_gradient_sq": 0.64,
        "mean_gradient_drift": 0.19,
    },
    "fedcog.gradient_drift": {**STEPS, **NOISE, "client_grad_norm_sq": [0.53, 1.12, 0.88]},
    "fedcog.mean_gradient_drift": {**STEPS, **NOISE, **DISSIMILARITY, **GLOBAL_GRADIENT},
    "fedcog.descent_with_drift": {**STEPS, **NOISE, **WEIGHTS, **DISSIMILARITY, **GLOBAL_GRADIENT},
    "fedcog.descent_one_round": {**STEPS, **NOISE, **WEIGHTS, **DISSIMILARITY, **GLOBAL_GRADIENT},
}
