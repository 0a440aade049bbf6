"""Figure 7: divergence and accuracy of SCAFFOLD over rounds, relaxed with several beta."""

from __future__ import annotations

from .beta import figure

ARTEFACT = figure("figure_7", "SCAFFOLD", 2.0)
