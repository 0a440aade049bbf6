"""FedALS (Gholami, Seferoglu), versions 1 and 2: its claims, by section."""

from bounds.core import declared

from ..claim import Claim
from . import (
    algorithms,
    communication,
    definitions,
    discussion,
    inexact,
    local_steps,
    needed,
    noise,
    one_round,
    participation,
    rounds,
    searches,
    settings,
    tables,
)

SECTIONS = {
    "Section 1, Theorem 4.3, Remark 5.1": definitions,
    "Theorem 4.1, eq. (6), and Appendix B, (10) to (37)": one_round,
    "Section 4.1, discussion": discussion,
    "Theorem 4.1, what it needs": needed,
    "Appendix C, Theorem C.1, (38) to (53)": inexact,
    "Theorem 4.3, (9), and Appendix C, (54) to (58)": rounds,
    "Section 5 and (58)": local_steps,
    "Remark 4.2 and Appendix D, (59) to (74)": participation,
    "in place of Theorems 4.1 and 4.3 and of (73)": noise,
    "searches on all bounds": searches,
    "Algorithms 1 to 4, Appendix E.4": algorithms,
    "Section 6, Tables 4 and 5": settings,
    "Sections 6.3 to 6.5, parameters in Table 2": communication,
    "Tables 1 to 3, Sections 6.2 to 6.6": tables,
}
"""Where in the paper what a file holds is claimed."""

CLAIMS = declared(Claim, *SECTIONS.values())

__all__ = ["CLAIMS", "SECTIONS"]
