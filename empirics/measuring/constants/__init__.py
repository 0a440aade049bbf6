"""Constants of a problem, how each was obtained and how uncertain it is."""

from .closed import closed_forms
from .core import as_json, between, Constant, DECIDING, known, LOWER, PROVENANCE
from .curvature import Eigenvalues, eigenvalues, functional_product, hessian_product, roughly
from .estimate import constants, visited
from .noise import Gradients, gradients_along, Noise, of_batches, offset_along, sample_noise

__all__ = [
    "DECIDING",
    "LOWER",
    "PROVENANCE",
    "Constant",
    "Eigenvalues",
    "Gradients",
    "Noise",
    "as_json",
    "between",
    "closed_forms",
    "constants",
    "eigenvalues",
    "functional_product",
    "gradients_along",
    "hessian_product",
    "known",
    "of_batches",
    "offset_along",
    "roughly",
    "sample_noise",
    "visited",
]
