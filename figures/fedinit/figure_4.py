"""Figure 4: test loss of the seven methods over rounds on CIFAR-100."""

from __future__ import annotations

from .curves import figure

ARTEFACT = figure(4, "CIFAR-100", "test_loss")
