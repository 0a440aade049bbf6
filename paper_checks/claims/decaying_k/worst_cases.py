"""Its bounds within reach against exact worst cases; the smallest ratios as audited."""

from ..worst_cases import above

LEAST = {
    "decaying_k.lemma_1_printed": 1.1565,
    "decaying_k.lemma_1": 1.0107,
    "decaying_k.lemma_2": 149.81,
    "decaying_k.theorem_1": 463.97,
    "decaying_k.theorem_1_appendix": 86.231,
    "decaying_k.per_rounds": 463.97,
    "decaying_k.lemma_2_repaired": 221.82,
    "decaying_k.theorem_1_repaired": 463.97,
}

CLAIMS = above(LEAST)
