"""``BOUNDS``: every classic theorem, by source, the federated ones first."""

from __future__ import annotations

from ..core import Bound, declared
from . import fedprox, field_guide, li, local_gd, local_sgd, one_machine, others, scaffold, stability

BOUNDS = declared(Bound, field_guide, li, local_gd, local_sgd, one_machine, stability, fedprox, scaffold, others)
