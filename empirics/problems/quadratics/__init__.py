"""Quadratic federations: every constant in closed form, trained by the engine like any other problem."""

from .gaussian import GaussianMean
from .problem import Quadratics, random_quadratics
from .training import QuadraticFederation, QuadraticModel

__all__ = ["GaussianMean", "QuadraticFederation", "QuadraticModel", "Quadratics", "random_quadratics"]
