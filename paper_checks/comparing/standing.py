"""How the audit stands on the inequality that a bound itself is, by the claim that decides it.

Many claims mention a bound; one of them, or the repair that it names, is the bound's own sentence. A bound that is not
listed has none. Nothing is run here: the words are those of the audit, which a test holds against its claims.
"""

from __future__ import annotations

from typing import NamedTuple

HOLDS, FAILS, REPAIR = "HOLDS", "FAILS", "repair"


class Standing(NamedTuple):
    """The claim, and what it says of the bound: it HOLDS, it FAILS, or the bound is the claim's ``repair``."""

    claim: str
    word: str

    @property
    def sound(self) -> bool:
        return self.word != FAILS

    def __str__(self) -> str:
        return HOLDS if self.sound else FAILS


STANDING: dict[str, Standing] = {
    "fedinit.theorem_1": Standing("fedinit.theorem_1", HOLDS),
    "fedinit.theorem_1_sharp": Standing("fedinit.theorem_1_sharp.worst_case", HOLDS),
    "fedinit.theorem_2": Standing("fedinit.theorem_2", HOLDS),
    "fedinit.theorem_2_potential": Standing("fedinit.theorem_2.weighted_decreases", REPAIR),
    "fedinit.theorem_4": Standing("fedinit.theorem_4", HOLDS),
    "fedinit.theorem_5": Standing("fedinit.theorem_5", HOLDS),
    "fedinit.theorem_5_geometric": Standing("fedinit.theorem_5.initial_loss", REPAIR),
    "fedinit.lemma_1": Standing("fedinit.lemma_1", HOLDS),
    "decaying_k.lemma_2": Standing("decaying_k.lemma_2", FAILS),
    "decaying_k.lemma_2_repaired": Standing("decaying_k.lemma_2", REPAIR),
    "decaying_k.theorem_1": Standing("decaying_k.theorem_1", FAILS),
    "decaying_k.theorem_1_appendix": Standing("decaying_k.a_2_last_display", FAILS),
    "decaying_k.theorem_1_repaired": Standing("decaying_k.theorem_1", REPAIR),
    "decaying_k.theorem_1_sharp": Standing("decaying_k.theorem_1_sharp.worst_case", HOLDS),
    "decaying_k.per_rounds": Standing("decaying_k.theorem_1", FAILS),
    "decaying_k.per_second": Standing("decaying_k.theorem_1", FAILS),
    "fedcog.theorem": Standing("fedcog.theorem.fresh_batches", REPAIR),
    "fedcog.corollary": Standing("fedcog.corollary.rounds", REPAIR),
    "fedcog.corollary_scaled": Standing("fedcog.corollary.unit", REPAIR),
    "fedcog.corollary_printed": Standing("fedcog.corollary.rounds", FAILS),
    "fedcog.corollary_appendix": Standing("fedcog.eq_65", FAILS),
    "fedals.rounds_inexact": Standing("fedals.eq_57.repaired.search", HOLDS),
    "fedals.gaussian_mean_bound": Standing("fedals.discussion.one_over_k_squared", REPAIR),
    "classics.field_guide_lemma_1": Standing("classics.field_guide_lemma_1", HOLDS),
    "classics.field_guide_lemma_2": Standing("classics.field_guide_lemma_2", HOLDS),
    "classics.field_guide_theorem_1": Standing("classics.field_guide_theorem_1", HOLDS),
    "classics.field_guide_theorem_1_tuned": Standing("classics.field_guide_theorem_1_tuned", HOLDS),
    "classics.li_theorem_1": Standing("classics.li_theorem_1", HOLDS),
    "classics.li_theorem_2": Standing("classics.li_theorem_2", HOLDS),
    "classics.li_theorem_3": Standing("classics.li_theorem_3", HOLDS),
    "classics.local_gd_lemma_1": Standing("classics.local_gd_lemma_1", HOLDS),
    "classics.local_gd_lemma_1_short_step": Standing("classics.local_gd_lemma_1_short_step", HOLDS),
    "classics.local_gd_lemma_2": Standing("classics.local_gd_lemma_2", HOLDS),
    "classics.local_gd_theorem_1": Standing("classics.local_gd_theorem_1", HOLDS),
    "classics.local_gd_corollary_1": Standing("classics.local_gd_corollary_1", HOLDS),
    "classics.local_sgd_lemma_1": Standing("classics.local_sgd_lemma_1", HOLDS),
    "classics.local_sgd_recursion": Standing("classics.local_sgd_recursion", HOLDS),
    "classics.local_sgd_theorem_1": Standing("classics.local_sgd_theorem_1", HOLDS),
    "classics.local_sgd_corollary_1": Standing("classics.local_sgd_corollary_1", HOLDS),
    "classics.bottou_4_6": Standing("classics.bottou_4_6", HOLDS),
    "classics.bottou_4_7": Standing("classics.bottou_4_7", HOLDS),
    "classics.bottou_4_8": Standing("classics.bottou_4_8", HOLDS),
    "classics.needell_2_1": Standing("classics.needell_2_1", HOLDS),
    "classics.hardt_3_7": Standing("classics.hardt_3_7", HOLDS),
    "classics.hardt_3_8": Standing("classics.hardt_3_8", HOLDS),
    "classics.hardt_5_3": Standing("classics.hardt_5_3", HOLDS),
    "classics.hardt_5_4": Standing("classics.hardt_5_4", HOLDS),
    "classics.fedprox_theorem_4": Standing("classics.fedprox_theorem_4", HOLDS),
    "classics.scaffold_convex": Standing("classics.scaffold_convex", HOLDS),
    "classics.scaffold_nonconvex": Standing("classics.scaffold_nonconvex", HOLDS),
    "classics.fednova_theorem_2": Standing("classics.fednova_theorem_2", HOLDS),
    "classics.proxskip_3_6": Standing("classics.proxskip_3_6", HOLDS),
    "classics.local_sgd_theorem_2": Standing("classics.local_sgd_theorem_2", REPAIR),
    "classics.local_sgd_theorem_2_printed": Standing("classics.local_sgd_theorem_2", FAILS),
    "classics.local_sgd_corollary_2": Standing("classics.local_sgd_corollary_2", REPAIR),
    "classics.local_sgd_corollary_2_printed": Standing("classics.local_sgd_corollary_2", FAILS),
}
