"""Figure 6: divergence and accuracy of FedAvg over rounds, relaxed with several beta."""

from __future__ import annotations

from .beta import figure

ARTEFACT = figure("figure_6", "FedAvg", 2.0)
