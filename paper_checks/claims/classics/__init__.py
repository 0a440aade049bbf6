"""Classic theorems: their claims, by source."""

from bounds.core import declared

from ..claim import Claim
from . import field_guide, li, local_gd, local_sgd, methods, one_machine, stability

SECTIONS = {
    "Field Guide": field_guide,
    "Li et al. 2020": li,
    "Local GD": local_gd,
    "Local SGD": local_sgd,
    "SGD on one machine": one_machine,
    "Hardt et al. 2016": stability,
    "FedProx, SCAFFOLD, FedNova, ProxSkip": methods,
}
"""By source what a file holds; runs in rational numbers lie in ``runs``."""

CLAIMS = declared(Claim, *SECTIONS.values())

__all__ = ["CLAIMS", "SECTIONS"]
