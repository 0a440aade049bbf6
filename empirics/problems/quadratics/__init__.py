"""Quadratic federations, with every constant in closed form, which the engine trains like other problems."""

from .gaussian import GaussianMean
from .problem import Quadratics, random_quadratics
from .training import QuadraticFederation, QuadraticModel

__all__ = ["GaussianMean", "QuadraticFederation", "QuadraticModel", "Quadratics", "random_quadratics"]
