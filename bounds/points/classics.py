"""The classic theorems: made-up numbers, inside all conditions."""

from typing import Any

EVERY: dict[str, Any] = {
    "alignment": 0.83, "chi_square": 0.031, "client_gradient_variance": [0.7, 1.8, 0.45],
    "client_weight": [0.52, 0.31, 0.17], "clients": 3, "cohort": 2, "communication_probability": 0.137,
    "consensus_distance": 0.013, "control_error": 0.91, "dissimilarity_factor": 1.37, "dissimilarity_offset": 0.49,
    "distance_sq": 3.1, "grad_cap_sq": 1.7, "grad_norm_sq": 0.77, "gradient_norm_factor": 1.21,
    "gradient_variance": 1.45, "heterogeneity": 0.37, "inexactness": 0.019, "initial_distance_sq": 2.6,
    "initial_gap": 1.15, "initial_lyapunov": 4.7, "inverse_step": 17.3, "iterations": 247, "lipschitz": 1.9,
    "local_steps": 6, "loss_cap": 2.7, "optimality_gap": 0.41, "optimum_dissimilarity": 0.58, "proximal_weight": 71.0,
    "round_end_distance_sq": 2.9, "rounds": 43, "samples": 59, "server_step_size": 1.53, "smoothness": 1.3,
    "step_offset": 19.7, "step_size": 0.009, "step_size_scale": 5.3, "strong_convexity": 0.4,
    "summed_consensus": 0.047, "summed_gap": 0.33, "summed_step_sizes": 2.223, "surrogate_grad_norm_sq": 0.27,
    "uniform_dissimilarity": 0.62, "variance_growth": 0.29, "weak_convexity": 0.23,
}  # fmt: skip

POINTS: dict[str, dict[str, Any]] = {
    "classics.fedprox_rho": {"cohort": 23},
    "classics.fedprox_theorem_4": {"cohort": 23},
    "classics.scaffold_convex": {"step_size": 0.0007},
    "classics.scaffold_strongly_convex": {"step_size": 0.0007},
    "classics.scaffold_nonconvex": {"step_size": 0.0007},
}
