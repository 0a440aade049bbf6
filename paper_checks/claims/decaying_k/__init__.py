"""Decaying-K (Mills, Hu, Min): its claims, in the order of the report; each module's docstring names its part."""

from importlib import import_module

from bounds.core import declared

from ..claim import Claim

SECTIONS = ("setup", "theorem", "optima", "remarks", "schedules", "experiments", "lemmas", "proofs", "sharp")
CLAIMS = declared(Claim, *(import_module(f"{__name__}.{section}") for section in SECTIONS))
