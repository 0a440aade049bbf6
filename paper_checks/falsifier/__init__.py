"""The falsifier: a search for counterexamples to a bound.

A counterexample is an instance (a federation and the plan of a run) that meets every assumption of a bound and still
violates it. ``falsify`` searches families of instances on which both sides of a bound can be computed exactly, in
floating point; it simplifies what it finds and confirms it in exact arithmetic. Start with ``falsify`` and ``Search``;
the families (``runs``, ``curves``, ``atoms``) implement the protocol ``Family``.
"""

from .core import Evaluation
from .definitions import defined, loaded
from .falsify import CannotServeError, falsify, replay, Search, serving
from .instances import Family
from .witness import load_witness, Replay, Witness, WitnessError

__all__ = [
    "CannotServeError", "Evaluation", "Family", "Replay", "Search", "Witness", "WitnessError", "defined", "falsify",
    "load_witness", "loaded", "replay", "serving",
]  # fmt: skip
