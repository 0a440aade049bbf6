"""FedInit (Sun, Shen, Tao): its claims, in the order of the report; each module's docstring names its part."""

from importlib import import_module

from bounds.core import declared

from ..claim import Claim

SECTIONS = (
    "assumptions", "algorithm", "lemmas", "optimization", "divergence", "stability", "theorem_3", "orders", "excess",
    "instances", "sharp", "tables", "costs", "times", "settings",
)  # fmt: skip
CLAIMS = declared(Claim, *(import_module(f"{__name__}.{section}") for section in SECTIONS))
