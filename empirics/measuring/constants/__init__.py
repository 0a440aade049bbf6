"""Constants of a problem (smoothness, gradient noise, heterogeneity, ...), with their origin and uncertainty.

``constants`` returns them by name, in closed form where one exists and otherwise as estimates along a path of models.
"""

from .closed import closed_forms
from .core import as_json, Constant, DECIDING
from .estimate import constants, path_of_run

__all__ = ["DECIDING", "Constant", "as_json", "closed_forms", "constants", "path_of_run"]
