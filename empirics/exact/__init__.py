"""Exact moments of federated training on quadratics: expectations without sampling, over both noise and cohorts."""

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
    "DIGITS",
    "FLOATS",
    "FRACTIONS",
    "Averaging",
    "AveragingRun",
    "Clients",
    "Cohort",
    "Draw",
    "Group",
    "Moments",
    "NotAffineError",
    "Passes",
    "PlayedRound",
    "Player",
    "Readings",
    "Run",
    "Tracing",
    "cohorts",
    "draw",
    "exact_run",
    "expected",
    "play",
]
