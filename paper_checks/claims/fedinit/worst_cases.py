"""Its bounds within reach against exact worst cases; the smallest ratios as audited."""

from ..worst_cases import above

LEAST = {
    "fedinit.lemma_2": 36.468,
    "fedinit.theorem_1": 52.66,
    "fedinit.theorem_2": 1.3068,
    "fedinit.theorem_4_recursion": 127.06,
    "fedinit.theorem_4": 9435.4,
    "fedinit.theorem_5": 1.4638e05,
    "fedinit.theorem_1_sharp": 3.7753,
    "fedinit.theorem_4_recursion_sharp": 13.04,
}

CLAIMS = above(LEAST)
