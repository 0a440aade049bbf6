"""Its bounds within reach against exact worst cases; the smallest ratios as audited."""

from ..worst_cases import above

LEAST = {"fedcog.theorem": 3.7468, "fedcog.mean_gradient_drift": 10.07}

CLAIMS = above(LEAST, "Two clients, beta^2 = 2, 1 to 8 local steps.")
