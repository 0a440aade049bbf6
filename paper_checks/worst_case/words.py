"""What the verbs ``tightness`` and ``rate`` may be asked with, without the solvers: ``--help`` is there at once."""

PATIENCE = 600.0
"""Seconds that one worst case may take."""
GRID_POINT = ("clients", "rounds", "local_steps", "step_share", "fixed_step_size", "condition_number", "heterogeneity",
              "grad_cap_sq", "dissimilarity_factor", "relaxation", "divergence", "grad_norm_sq", "step_offset",
              "initial_distance_sq", "step_sizes", "cohort")  # fmt: skip
"""What may vary in a table of worst cases: the fields of a ``GridPoint``."""
RATE = ("local_steps", "step_size", "smoothness", "strong_convexity", "clients", "cohort", "gradient_variance",
        "rounds", "initial_distance_sq", "optimum_dissimilarity")  # fmt: skip
"""The quantities of a rate; the first four are needed."""
