"""FedALS (Gholami, Seferoglu), versions 1 and 2: its claims, by section."""

from bounds.core import declared

from ..claim import Claim
from . import (
    algorithms,
    communication,
    controls,
    definitions,
    discussion,
    inexact,
    local_steps,
    needed,
    noise,
    one_round,
    one_round_proof,
    participation,
    participation_bounds,
    rounds,
    rounds_proof,
    searches,
    settings,
    splits,
    tables,
)

SECTIONS = {
    "Section 1, Theorem 4.3, Remark 5.1": definitions,
    "Theorem 4.1": one_round,
    "Section 4.1, discussion": discussion,
    "Appendix B, (10) to (37)": one_round_proof,
    "Theorem 4.1, what it needs": needed,
    "Appendix C, Theorem C.1, (38) to (53)": inexact,
    "Theorem 4.3, (9)": rounds,
    "Appendix C, (54) to (58)": rounds_proof,
    "Section 5 and (58)": local_steps,
    "Appendix D, (59) to (74)": participation,
    "Remark 4.2": participation_bounds,
    "in place of Theorems 4.1 and 4.3 and of (73)": noise,
    "searches on all bounds": searches,
    "Algorithms 1 and 2": algorithms,
    "Algorithms 3 and 4, Appendix E.4": controls,
    "Section 6, Tables 4 and 5": settings,
    "Sections 6.3 to 6.5, Table 2": communication,
    "Table 1": tables,
    "Sections 6.5 and 6.6, Table 3": splits,
}
"""Where in the paper what a file holds is claimed; arithmetic made by hand lies in ``by_hand``."""

CLAIMS = declared(Claim, *SECTIONS.values())

__all__ = ["CLAIMS", "SECTIONS"]
