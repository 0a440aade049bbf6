"""The falsifier: a search for counterexamples to a bound.

A counterexample is an instance (a federation and the plan of a run) that meets every assumption of a bound and still
violates it. Read the modules in this order:

1. ``core`` and ``exact``: an instance, and both sides of a bound there in floating point and in exact arithmetic;
   ``deciding`` decides the conditions, ``client_groups`` writes sums over many clients as sums over few groups.
2. ``family``: what a family of instances defines. The families are ``quadratics`` (with ``quadratic_tables``),
   ``curves`` and ``atoms``; ``numbers`` checks that a table of numbers is an instance of one.
3. ``box`` and ``search``: the ranges of an instance's parameters, and the search for a violation among them; ``cells``
   counts what was visited.
4. ``falsify``: the search in all families; ``simplify`` simplifies a violation, which ``exact`` then confirms.
5. ``witness``: files of counterexamples, and what recomputing one gives; ``command`` is ``fedbounds falsify``.

``detection_rate`` is the share of planted violations that searches find. ``weakened_assumptions`` has instances that
break one assumption, which show where a proof needs it.
"""

from .core import Evaluation
from .falsify import CannotServeError, falsify, replay, Search, serving
from .family import Family
from .witness import defined, load_witness, loaded, Replay, Witness, WitnessError

__all__ = [
    "CannotServeError", "Evaluation", "Family", "Replay", "Search", "Witness", "WitnessError", "defined", "falsify",
    "load_witness", "loaded", "replay", "serving",
]  # fmt: skip
