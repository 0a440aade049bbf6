"""Figure 5: test accuracy of the seven methods over rounds on CIFAR-100."""

from __future__ import annotations

from .curves import figure

ARTEFACT = figure(5, "CIFAR-100", "test_accuracy")
