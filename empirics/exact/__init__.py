"""Exact moments of federated training on quadratics: expectations without sampling, over noise and cohorts alike."""

from .alike import after, AlikeRound, listed, Work
from .cohorts import Cohort, cohorts
from .draws import Draw, draw
from .engine import ENGINES, ExactEngine, Readings
from .maps import NotAffineError
from .moments import ExactRun, Trajectory

__all__ = [
    "ENGINES", "AlikeRound", "Cohort", "Draw", "ExactEngine", "ExactRun", "NotAffineError", "Readings", "Trajectory",
    "Work", "after", "cohorts", "draw", "listed",
]  # fmt: skip
