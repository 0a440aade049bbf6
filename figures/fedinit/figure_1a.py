"""Figure 1a: accuracy of FedInit against the local interval K."""

from __future__ import annotations

from .sensitivity import interval

ARTEFACT = interval()
