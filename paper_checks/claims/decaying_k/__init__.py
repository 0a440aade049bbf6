"""Decaying-K (Mills, Hu, Min): its claims, by section."""

from bounds.core import declared

from ..claim import Claim
from . import (
    assumptions,
    derivatives,
    lemmas,
    optima,
    practice,
    proofs,
    remarks,
    settings,
    setup,
    sharp,
    table_3,
    tables,
    theorem,
)

SECTIONS = {
    "Sections 3.1 to 3.3, Algorithm 1, (1) to (5), (7)": setup,
    "Assumptions 1 to 3": assumptions,
    "Theorem 1, (6)": theorem,
    "Theorem 2 and Corollary 2.1, (8) to (12)": optima,
    "Remarks 1.1 to 2.3": remarks,
    "Section 3.5": practice,
    "Table 3": table_3,
    "Section 4.1, Tables 1, 2 and 4": tables,
    "Section 4, settings": settings,
    "Appendix A.1, Lemmas 1 and 2": lemmas,
    "Appendices A.1 and A.2, proofs": proofs,
    "Appendices A.3 and A.4": derivatives,
    "improved bounds and exact worst cases": sharp,
}
"""Where in the paper what a file holds is claimed."""

CLAIMS = declared(Claim, *SECTIONS.values())

__all__ = ["CLAIMS", "SECTIONS"]
