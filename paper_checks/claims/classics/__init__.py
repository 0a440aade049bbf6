"""Classic theorems: their claims, by source; runs in rational numbers lie in ``runs``."""

from importlib import import_module

from bounds.core import declared

from ..claim import Claim

SECTIONS = ("field_guide", "li", "local_gd", "local_sgd", "one_machine", "stability", "methods")
CLAIMS = declared(Claim, *(import_module(f"{__name__}.{section}") for section in SECTIONS))
