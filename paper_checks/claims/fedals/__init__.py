"""FedALS (Gholami, Seferoglu), v1 and v2: its claims, in the order of the report; docstrings name the parts."""

from importlib import import_module

from bounds.core import declared

from ..claim import Claim

SECTIONS = ("one_round", "discussion", "inexact", "rounds", "participation", "noise", "algorithms", "experiments")
CLAIMS = declared(Claim, *(import_module(f"{__name__}.{section}") for section in SECTIONS))
