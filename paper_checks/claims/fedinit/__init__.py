"""FedInit (Sun, Shen, Tao): its claims, by section."""

from bounds.core import declared

from ..claim import Claim
from . import (
    algorithm,
    assumptions,
    conditions,
    costs,
    divergence,
    excess,
    generalization,
    instances,
    lemmas,
    optimization,
    orders,
    remarks,
    samples_and_steps,
    separation,
    settings,
    sharp,
    stability,
    tables,
    theorem_2,
    theorem_5,
    times,
    worst_cases,
)

SECTIONS = {
    "Assumptions 1 to 5": assumptions,
    "conditions of all statements": conditions,
    "Algorithm 1, (15)": algorithm,
    "Lemmas 2 to 4": lemmas,
    "Section 4.3.1, Appendix A.2, Theorem 1": optimization,
    "Appendix A.2.4, Theorem 2": theorem_2,
    "Section 4.3.3, Appendix A.2.5, Theorem 4": divergence,
    "Appendix A.2.6, Theorem 5": theorem_5,
    "Section 4.3.2, Appendix A.3": stability,
    "Appendix A.3.2, last display": separation,
    "Appendix A.3.3, Theorem 3": generalization,
    "Discussion of Theorem 3": samples_and_steps,
    "(10), (12), (16), (28), (30), (31)": orders,
    "Section 4.3.4, Theorem 6": excess,
    "across the sections": remarks,
    "searches on all statements": instances,
    "sharper bounds, all clients in every round": sharp,
    "exact worst cases": worst_cases,
    "Tables 1, 2, 3, 10 and 11": tables,
    "Table 8": costs,
    "Tables 10 and 11": times,
    "Section 5, Appendix B.1": settings,
}
"""Where in the paper what a file holds is claimed."""

CLAIMS = declared(Claim, *SECTIONS.values())

__all__ = ["CLAIMS", "SECTIONS"]
