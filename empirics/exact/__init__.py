"""Exact moments of federated training on quadratics: expectations without sampling, over noise and cohorts alike."""

from .cohorts import Cohort, cohorts
from .engine import ENGINES, ExactEngine, Readings
from .maps import NotAffineError
from .moments import ExactRun, Trajectory

__all__ = ["ENGINES", "Cohort", "ExactEngine", "ExactRun", "NotAffineError", "Readings", "Trajectory", "cohorts"]
