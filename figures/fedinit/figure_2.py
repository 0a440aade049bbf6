"""Figure 2: test loss of the seven methods over rounds on CIFAR-10."""

from __future__ import annotations

from .curves import figure

ARTEFACT = figure(2, "CIFAR-10", "test_loss")
