"""Generic points of the classic theorems: made-up numbers, inside all conditions."""

from typing import Any

from bounds.classics.catalog import BOUNDS

_EVERY: dict[str, Any] = {
    "clients": 3,
    "cohort": 2,
    "client_weight": [0.52, 0.31, 0.17],
    "client_gradient_variance": [0.7, 1.8, 0.45],
    "local_steps": 6,
    "rounds": 43,
    "iterations": 247,
    "step_size": 0.009,
    "step_size_scale": 5.3,
    "step_offset": 19.7,
    "inverse_step": 17.3,
    "smoothness": 1.3,
    "strong_convexity": 0.4,
    "gradient_variance": 1.45,
    "grad_cap_sq": 1.7,
    "heterogeneity": 0.37,
    "uniform_dissimilarity": 0.62,
    "optimum_dissimilarity": 0.58,
    "initial_distance_sq": 2.6,
    "initial_gap": 1.15,
    "distance_sq": 3.1,
    "round_end_distance_sq": 2.9,
    "summed_consensus": 0.047,
    "consensus_distance": 0.013,
    "summed_gap": 0.33,
    "optimality_gap": 0.41,
    "alignment": 0.83,
    "gradient_norm_factor": 1.21,
    "variance_growth": 0.29,
    "samples": 59,
    "lipschitz": 1.9,
    "loss_cap": 2.7,
    "summed_step_sizes": 2.223,
    "proximal_weight": 71.0,
    "weak_convexity": 0.23,
    "inexactness": 0.019,
    "dissimilarity_factor": 1.37,
    "dissimilarity_offset": 0.49,
    "grad_norm_sq": 0.77,
    "server_step_size": 1.53,
    "control_error": 0.91,
    "chi_square": 0.031,
    "surrogate_grad_norm_sq": 0.27,
    "communication_probability": 0.137,
    "initial_lyapunov": 4.7,
}

_FEDPROX = {"cohort": 23, "inexactness": 0.019}
_SCAFFOLD = {"step_size": 0.0007}
_SPECIAL: dict[str, dict[str, Any]] = {
    "classics.fedprox_rho": _FEDPROX,
    "classics.fedprox_theorem_4": _FEDPROX,
    "classics.scaffold_convex": _SCAFFOLD,
    "classics.scaffold_strongly_convex": _SCAFFOLD,
    "classics.scaffold_nonconvex": _SCAFFOLD,
}

POINTS: dict[str, dict[str, Any]] = {
    b.name: {q.name: {**_EVERY, **_SPECIAL.get(b.name, {})}[q.name] for q in b.quantities} for b in BOUNDS
}
