"""Its bounds within reach against exact worst cases; the smallest ratios as audited."""

from __future__ import annotations

from ..worst_case_claims import above

LEAST = {
    "fedinit.lemma_2": 36.468,
    "fedinit.theorem_1": 52.66,
    "fedinit.theorem_2": 1.3068,
    "fedinit.theorem_4_recursion": 127.06,
}

CLAIMS = above(LEAST)
