"""Exact moments of federated training on quadratics: expectations without sampling, over noise and cohorts alike."""

from .cohorts import Cohort, cohorts
from .engine import Engine, ENGINES, Readings
from .maps import NotAffineError
from .moments import ExactRun, Trajectory

__all__ = ["ENGINES", "Cohort", "Engine", "ExactRun", "NotAffineError", "Readings", "Trajectory", "cohorts"]
