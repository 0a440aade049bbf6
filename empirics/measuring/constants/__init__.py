"""Constants of a problem, how each was obtained and how uncertain it is."""

from .closed import closed_forms
from .core import as_json, Constant, DECIDING, LOWER
from .estimate import constants, visited

__all__ = ["DECIDING", "LOWER", "Constant", "as_json", "closed_forms", "constants", "visited"]
