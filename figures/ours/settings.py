"""The bounds that our figures compare with runs, and the titles of bounds and quantities."""

from __future__ import annotations

from bounds.papers import PAPERS

FEDINIT = ("lemma_2", "theorem_4_recursion", "theorem_1", "theorem_2", "theorem_4", "theorem_5")

COMPARED: dict[str, tuple[str, ...]] = {
    "fedinit": (*(f"fedinit.{name}" for name in FEDINIT), "fedinit.theorem_2_potential", "fedinit.theorem_5_geometric"),
    "decaying_k": ("decaying_k.theorem_1", "decaying_k.theorem_1_repaired"),
    "fedcog": ("fedcog.theorem",),
}
"""Bounds with exact values on quadratics by paper; they are compared with training too."""

ROUNDS = ("fedals.rounds_inexact_printed", "fedals.rounds_inexact")
"""Bounds on many rounds of FedALS, which cannot be measured on quadratics with fresh noise."""

TITLES = {
    "fedals.one_round": "one round",
    "fedals.rounds_inexact": "rounds, (57) repaired",
    "fedals.rounds_inexact_printed": "rounds, (57) printed",
    "fedinit.lemma_2": "lemma 2",
    "fedinit.theorem_1": "theorem 1",
    "fedinit.theorem_2": "theorem 2",
    "fedinit.theorem_2_potential": "thm 2 repaired",
    "fedinit.theorem_4_recursion": "thm 4, one round",
    "fedinit.theorem_4": "theorem 4",
    "fedinit.theorem_5": "theorem 5",
    "fedinit.theorem_5_geometric": "thm 5 repaired",
    "decaying_k.theorem_1": "theorem 1",
    "decaying_k.theorem_1_repaired": "thm 1 repaired",
    "fedinit.theorem_1_sharp": "thm 1 improved",
    "fedinit.theorem_4_recursion_sharp": "thm 4, one round, improved",
    "decaying_k.lemma_1_printed": "lemma 1 printed",
    "decaying_k.lemma_1_sharp": "lemma 1 improved",
    "decaying_k.per_rounds": "thm 1 over rounds",
    "decaying_k.theorem_1_appendix": "thm 1, appendix",
    "decaying_k.theorem_1_sharp": "thm 1 improved",
    "fedcog.theorem": "theorem 5.6",
    "fedcog.theorem_sharp": "thm 5.6 improved",
}

QUANTITIES = {
    "generalization_gap": "gap of the loss",
    "local_drift": "local drift",
    "mean_grad_norm_sq": "squared gradient",
    "grad_norm_sq": "squared gradient",
    "optimality_gap": "loss above least",
    "next_divergence": "divergence",
    "mean_divergence": "divergence",
    "final_divergence": "divergence",
}
"""Axis labels of the targets of these bounds."""

REPAIRED = {
    "decaying_k.theorem_1_repaired": "decaying_k.theorem_1",
    "fedals.rounds_inexact": "fedals.rounds_inexact_printed",
    "fedinit.theorem_2_potential": "fedinit.theorem_2",
    "fedinit.theorem_5_geometric": "fedinit.theorem_5",
}
"""The printed bound that each repaired bound replaces."""

BETAS = (0.0, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.12, 0.15)
RELAXED = ("fedinit.theorem_4", "fedinit.theorem_5")


def title(bound: str) -> str:
    """Return the title of a bound: ``FedInit, theorem 1``."""
    paper, _, rest = bound.partition(".")
    return f"{PAPERS[paper].short}, {TITLES.get(bound, rest.replace('_', ' '))}"
