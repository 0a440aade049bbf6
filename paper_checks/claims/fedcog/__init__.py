"""FedCOG (Ye, Du, Ni, Chen, Wang): its claims, by section."""

from bounds.core import declared

from ..claim import Claim
from . import (
    ablations,
    algorithm,
    corollary,
    costs,
    drift,
    generation,
    instances,
    labels,
    proofs,
    settings,
    tables,
    theorem,
    worst_cases,
)

SECTIONS = {
    "Section 4, (1) to (4)": generation,
    "Section 4.1, A.1.1, A.2.2": labels,
    "Section 4.3, Algorithm 1": algorithm,
    "A.6.2, (18) to (33)": proofs,
    "A.6.2, (33) to (57)": drift,
    "Theorem 5.6, (58) to (64)": theorem,
    "Corollary 5.7": corollary,
    "searches on (29) to (57)": instances,
    "exact worst cases": worst_cases,
    "Sections 6.2 and 6.3, Tables 1 to 3": tables,
    "Sections 6.4 and 6.5, Tables 4 to 10": ablations,
    "A.4.3, Tables 4 and 11": costs,
    "Sections 6.1 and A.2": settings,
}
"""Where in the paper what a file holds is claimed."""

CLAIMS = declared(Claim, *SECTIONS.values())

__all__ = ["CLAIMS", "SECTIONS"]
