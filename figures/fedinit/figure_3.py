"""Figure 3: test accuracy of the seven methods over rounds on CIFAR-10."""

from __future__ import annotations

from .curves import figure

ARTEFACT = figure(3, "CIFAR-10", "test_accuracy")
