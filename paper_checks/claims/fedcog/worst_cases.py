"""Its bounds within reach against exact worst cases; the smallest ratios as audited."""

from ..worst_cases import above

LEAST = {"fedcog.theorem": 3.7468, "fedcog.mean_gradient_drift": 10.07}

CLAIMS = above(LEAST)
