"""FedCOG (Ye, Du, Ni, Chen, Wang): its claims, in the order of the report; each module's docstring names its part."""

from importlib import import_module

from bounds.core import declared

from ..claim import Claim

SECTIONS = (
    "generation", "labels", "algorithm", "proofs", "theorem", "corollary", "tables", "costs",
    "settings",
)  # fmt: skip
CLAIMS = declared(Claim, *(import_module(f"{__name__}.{section}") for section in SECTIONS))
