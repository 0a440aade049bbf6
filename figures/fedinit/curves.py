"""Figures 2 to 5: loss or accuracy of the seven methods over rounds, one panel per setup of a data set."""

from __future__ import annotations

from typing import Any

from ..artefact import Artefact, Shown
from ..comparing import judge, Judged, Pair
from ..drawing import Axis, panels
from ..regimes import POINT
from ..runs import Runs
from .grid import column, missing, runs as grid_runs
from .reading import accuracies, caption, DIVERGED, each, guards, losses, PERCENT, RELAXED, rows, smoothed, unavailable
from .settings import METHODS, of, Setup

WORDS = {"test_loss": ("test loss", 1.0), "test_accuracy": ("test accuracy (%)", PERCENT)}


def _figure(number: int, data: str, quantity: str) -> Artefact:
    """One of the four figures."""
    words, scaled = WORDS[quantity]
    return Artefact(
        f"fedinit.figure_{number}",
        f"{words.removesuffix(' (%)')} of seven methods over rounds, {data}",
        lambda scale: each(of(data), lambda s: [c for m in METHODS for c in grid_runs(scale, s, m)]),
        lambda runs, scale: _shown(runs, scale, of(data), quantity, scaled),
        lambda shown: panels(shown.rows, Axis("round"), Axis(words)),
    )


def _shown(runs: Runs, scale: str, setups: tuple[Setup, ...], quantity: str, scaled: float) -> Shown:
    found: list[dict[str, Any]] = [
        row
        for setup in setups
        for method in reversed(METHODS)
        for row in rows(
            runs, scale, setup, grid_runs(scale, setup, method), quantity, column(scale, setup), method, scaled
        )
    ]
    more = f"Means over seeds; bars: one standard error, of every curve at rounds of its own. {smoothed(scale)}"
    judged = _conclusions(runs, scale, setups, quantity)
    return Shown(caption(scale, setups, more, RELAXED, DIVERGED), found, (), judged, (), unavailable(scale, setups))


def _conclusions(runs: Runs, scale: str, setups: tuple[Setup, ...], quantity: str) -> list[Judged]:
    """FedInit's end against FedAvg's, in every setup that is run."""
    seen = [s for s in setups if not missing(scale, s)]
    if not seen:
        return []
    loss = quantity == "test_loss"
    high, low = ("FedAvg", "FedInit") if loss else ("FedInit", "FedAvg")

    def ends(setup: Setup, method: str) -> list[float]:
        found = grid_runs(scale, setup, method)
        return losses(runs, scale, found) if loss else accuracies(runs, scale, found)

    pairs = [Pair(f"{high} over {low}, {column(scale, s)}", ends(s, high), ends(s, low)) for s in seen]
    better = "a lower test loss" if loss else "a higher accuracy"
    regimes = guards(runs, scale, seen, ("FedAvg", "FedInit"))
    return [judge(f"FedInit ends at {better} than FedAvg in every panel", pairs, 0.0 if loss else POINT, regimes)]


ARTEFACTS = {
    "figure_2": _figure(2, "CIFAR-10", "test_loss"),
    "figure_3": _figure(3, "CIFAR-10", "test_accuracy"),
    "figure_4": _figure(4, "CIFAR-100", "test_loss"),
    "figure_5": _figure(5, "CIFAR-100", "test_accuracy"),
}
