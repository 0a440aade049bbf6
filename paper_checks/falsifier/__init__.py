"""The falsifier: does an instance that meets every stated assumption violate a bound?"""

from .core import Evaluation
from .definitions import defined, loaded
from .falsify import CannotServeError, falsify, replay, Search, serving
from .instances import Family
from .witness import load_witness, Replay, Witness, WitnessError

__all__ = [
    "CannotServeError",
    "Evaluation",
    "Family",
    "Replay",
    "Search",
    "Witness",
    "WitnessError",
    "defined",
    "falsify",
    "load_witness",
    "loaded",
    "replay",
    "serving",
]
