"""Its bounds within reach against exact worst cases; the smallest ratios as audited."""

from ..worst_cases import above

LEAST = {
    "decaying_k.lemma_1": 1.0107,
    "decaying_k.lemma_2_repaired": 221.82,
    "decaying_k.theorem_1": 463.97,
    "decaying_k.theorem_1_appendix": 86.231,
    "decaying_k.lemma_1_sharp": 1.0107,
    "decaying_k.theorem_1_sharp": 1.1,
}
ITS_G = (
    "G^2 = 4 bounds every squared gradient of a client along the run; it is not the L^2 ||x_1 - x^*||^2 of the text, "
    "with which Theorem 1 fails (decaying_k.theorem_1_with_its_g) and Lemma 1 too."
)
ALSO_REPAIRED = "As F* = 0, its repaired form is the same."

CLAIMS = tuple(
    made
    for name, least in LEAST.items()
    for made in above({name: least}, f"{ITS_G} {ALSO_REPAIRED}" if name == "decaying_k.theorem_1" else ITS_G)
)
