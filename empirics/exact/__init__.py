"""Exact expectations of federated training on quadratic losses, over gradient noise and cohorts, without sampling.

For checking theorems and simulations. ``exact_run`` takes a problem, a method and a setting; ``expected`` the same from
plain numbers, in fractions if wanted. Both return a ``Run`` with the expected quantities before and after every round.
``play`` follows a single run whose cohorts and noise are given. ``Averaging`` is a fast way for plain averaged SGD with
clients that all differ. The files from the bottom up: ``numbers``, ``draws`` (moments of a random cohort),
``coefficients`` (a method as linear maps), ``paths`` (local models), ``rounds`` (one round), ``moments`` (a run).
"""

from .averaging import Averaging, AveragingRun, Passes
from .coefficients import NotAffineError
from .cohorts import Cohort, cohorts
from .draws import Draw, draw
from .engine import exact_run, Moments, Readings
from .moments import Run
from .numbers import DIGITS, FLOATS, FRACTIONS
from .paths import Clients
from .play import expected, Group, play, PlayedRound, Player
from .sampled import Tracing

__all__ = [
    "DIGITS", "FLOATS", "FRACTIONS", "Averaging", "AveragingRun", "Clients", "Cohort", "Draw", "Group", "Moments",
    "NotAffineError", "Passes", "PlayedRound", "Player", "Readings", "Run", "Tracing", "cohorts", "draw", "exact_run",
    "expected", "play",
]  # fmt: skip
