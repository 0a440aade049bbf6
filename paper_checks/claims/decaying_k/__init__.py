"""Decaying-K (Mills, Hu, Min): its claims, by section."""

from bounds.core import declared

from ..claim import Claim
from . import (
    assumptions,
    derivatives,
    lemma_1,
    lemma_2,
    optima,
    practice,
    proofs,
    remarks,
    remarks_optima,
    runtime,
    settings,
    setup,
    sharp,
    step_size,
    table_3,
    table_4,
    tables,
    theorem,
    worst_cases,
)

SECTIONS = {
    "Sections 3.1 and 3.3, Algorithm 1": setup,
    "Section 3.2, (3) to (5), (7)": runtime,
    "Assumptions 1 to 3": assumptions,
    "Theorem 1, (6)": theorem,
    "Remarks 1.1 to 1.4": remarks,
    "Theorem 2, (8) to (10)": optima,
    "Corollary 2.1, (11), (12)": step_size,
    "Remarks 2.1 to 2.3": remarks_optima,
    "Section 3.5": practice,
    "Table 3": table_3,
    "Section 4.1, Tables 1, 2 and 4": tables,
    "Section 4.4, Table 4": table_4,
    "Section 4, settings": settings,
    "Appendix A.1, Lemma 1": lemma_1,
    "Appendix A.1, Lemma 2": lemma_2,
    "Appendices A.1 and A.2, proofs": proofs,
    "Appendices A.3 and A.4": derivatives,
    "sharper bounds": sharp,
    "exact worst cases": worst_cases,
}
"""Where in the paper what a file holds is claimed; arithmetic made by hand lies in ``by_hand``."""

CLAIMS = declared(Claim, *SECTIONS.values())

__all__ = ["CLAIMS", "SECTIONS"]
