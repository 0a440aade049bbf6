"""Figure 1b: accuracy of FedInit against the relaxation beta."""

from __future__ import annotations

from .sensitivity import relaxation

ARTEFACT = relaxation()
