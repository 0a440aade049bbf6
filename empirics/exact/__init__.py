"""Exact moments of federated training on quadratics: expectations without sampling, over noise and cohorts alike."""

from .alike import after, AlikeRound, listed, Work
from .averaging import Averaging, AveragingRun, Passes
from .cohorts import Cohort, cohorts
from .draws import Draw, draw
from .engine import ENGINES, ExactEngine, Moments, Readings
from .maps import NotAffineError
from .moments import ExactRun, Trajectory

__all__ = [
    "ENGINES",
    "AlikeRound",
    "Averaging",
    "AveragingRun",
    "Cohort",
    "Draw",
    "ExactEngine",
    "ExactRun",
    "Moments",
    "NotAffineError",
    "Passes",
    "Readings",
    "Trajectory",
    "Work",
    "after",
    "cohorts",
    "draw",
    "listed",
]  # fmt: skip
