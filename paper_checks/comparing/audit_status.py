"""The audit's verdict on the inequality of each bound, and the claim that decides it.

Several claims may mention a bound, but only one of them (or its repair) states the inequality itself. Bounds without
such a claim are not listed. A test compares this table with the verdicts of the audit.
"""

from __future__ import annotations

from typing import NamedTuple

HOLDS, FAILS, REPAIR = "HOLDS", "FAILS", "repair"


class AuditStatus(NamedTuple):
    """The claim that decides a bound: the bound HOLDS, FAILS, or is the claim's ``repair``."""

    claim: str
    verdict: str

    @property
    def sound(self) -> bool:
        return self.verdict != FAILS

    def __str__(self) -> str:
        return HOLDS if self.sound else FAILS


_HOLDS = {
    "fedinit": ("theorem_1", "theorem_2", "theorem_4", "theorem_5", "lemma_1"),
    "classics": (
        "field_guide_lemma_1", "field_guide_lemma_2", "field_guide_theorem_1", "field_guide_theorem_1_tuned",
        "li_theorem_1", "li_theorem_2", "li_theorem_3", "local_gd_lemma_1", "local_gd_lemma_1_short_step",
        "local_gd_lemma_2", "local_gd_theorem_1", "local_gd_corollary_1", "local_sgd_lemma_1", "local_sgd_recursion",
        "local_sgd_theorem_1", "local_sgd_corollary_1", "bottou_4_6", "bottou_4_7", "bottou_4_8", "needell_2_1",
        "hardt_3_7", "hardt_3_8", "hardt_5_3", "hardt_5_4", "fedprox_theorem_4", "scaffold_convex",
        "scaffold_nonconvex", "fednova_theorem_2", "proxskip_3_6",
    ),
}  # fmt: skip
"""By paper: bounds that have a claim of the same name, which holds."""
AUDIT_STATUS: dict[str, AuditStatus] = {
    **{f"{paper}.{name}": AuditStatus(f"{paper}.{name}", HOLDS) for paper, names in _HOLDS.items() for name in names},
    "fedinit.theorem_1_sharp": AuditStatus("fedinit.theorem_1_sharp.worst_case", HOLDS),
    "fedinit.theorem_2_potential": AuditStatus("fedinit.theorem_2.weighted_decreases", REPAIR),
    "fedinit.theorem_5_geometric": AuditStatus("fedinit.theorem_5.initial_loss", REPAIR),
    "decaying_k.lemma_2": AuditStatus("decaying_k.lemma_2", FAILS),
    "decaying_k.lemma_2_repaired": AuditStatus("decaying_k.lemma_2", REPAIR),
    "decaying_k.theorem_1": AuditStatus("decaying_k.theorem_1", FAILS),
    "decaying_k.theorem_1_appendix": AuditStatus("decaying_k.a_2_last_display", FAILS),
    "decaying_k.theorem_1_repaired": AuditStatus("decaying_k.theorem_1", REPAIR),
    "decaying_k.theorem_1_sharp": AuditStatus("decaying_k.theorem_1_sharp.worst_case", HOLDS),
    "decaying_k.per_rounds": AuditStatus("decaying_k.theorem_1", FAILS),
    "decaying_k.per_second": AuditStatus("decaying_k.theorem_1", FAILS),
    "fedcog.theorem": AuditStatus("fedcog.theorem.fresh_batches", REPAIR),
    "fedcog.corollary": AuditStatus("fedcog.corollary.rounds", REPAIR),
    "fedcog.corollary_scaled": AuditStatus("fedcog.corollary.unit", REPAIR),
    "fedcog.corollary_printed": AuditStatus("fedcog.corollary.rounds", FAILS),
    "fedcog.corollary_appendix": AuditStatus("fedcog.eq_65", FAILS),
    "fedals.rounds_inexact": AuditStatus("fedals.eq_57.repaired.search", HOLDS),
    "fedals.gaussian_mean_bound": AuditStatus("fedals.discussion.one_over_k_squared", REPAIR),
    "classics.local_sgd_theorem_2": AuditStatus("classics.local_sgd_theorem_2", REPAIR),
    "classics.local_sgd_theorem_2_printed": AuditStatus("classics.local_sgd_theorem_2", FAILS),
    "classics.local_sgd_corollary_2": AuditStatus("classics.local_sgd_corollary_2", REPAIR),
    "classics.local_sgd_corollary_2_printed": AuditStatus("classics.local_sgd_corollary_2", FAILS),
}
