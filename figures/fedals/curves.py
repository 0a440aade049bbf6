"""Curves of the test metric over rounds, non-iid and iid: what Figures 2 and 3 have in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from empirics.experiments import Cell

from ..comparing import judge, Judged, Pair
from ..drawing import Axis, canvas, finish, legend, one
from ..runs import mean_curve, Runs
from .beside import results, title
from .grid import seeds
from .settings import TEXT

PANELS = {"non-iid": ("FedAvg", "FedALS", "SCAFFOLD"), "iid": ("FedAvg", "FedALS")}
"""Methods of each panel, as far as the text names them; SCAFFOLD is run for non-iid clients only."""


def cells(scale: str, column: str) -> list[Cell]:
    """The runs of both panels."""
    return [cell for split, methods in PANELS.items() for m in methods for cell in seeds(scale, column, m, split)]


def rows(runs: Runs, scale: str, column: str) -> list[dict[str, Any]]:
    """Test accuracy in percent over rounds, of the language model the test loss; a run that diverged ends early."""
    quantity, times = ("test_loss", 1.0) if column == TEXT else ("test_accuracy", 100.0)
    return [
        {"panel": f"{title(scale, column)}, {split}", "curve": method, "x": x, "y": times * y, "error": times * e}
        for split, methods in PANELS.items()
        for method in methods
        for x, y, e in zip(
            *mean_curve(runs.curve(c, quantity) for c in seeds(scale, column, method, split)), strict=True
        )
    ]


def conclusions(runs: Runs, scale: str, column: str) -> list[Judged]:
    """What the paper sees in the figure: an advantage for non-iid clients, which is larger than for iid ones."""
    sign = -1.0 if column == TEXT else 1.0

    def last(method: str, split: str) -> list[float]:
        return [sign * value for value in results(runs, scale, column, seeds(scale, column, method, split))]

    def gain(split: str) -> list[float]:
        return [a - b for a, b in zip(last("FedALS", split), last("FedAvg", split), strict=True)]

    ahead = [Pair(f"FedALS over {m}", last("FedALS", "non-iid"), last(m, "non-iid")) for m in ("FedAvg", "SCAFFOLD")]
    apart = Pair("gain non-iid over gain iid", gain("non-iid"), gain("iid"))
    return [
        judge("for non-iid clients FedALS ends better than FedAvg and SCAFFOLD", ahead),
        judge("FedALS gains more for non-iid clients than for iid ones", [apart]),
    ]


def draw(shown: Sequence[Any], metric: str) -> Any:
    """Two panels side by side, each with rounds of its own."""
    names = list(dict.fromkeys(r["panel"] for r in shown))
    methods = list(dict.fromkeys(r["curve"] for r in shown))
    made, axes = canvas(1, max(len(names), 1), 1, sharey=True)
    x, y = Axis("round"), Axis(metric)
    for ax, name in zip(axes.flat, names, strict=False):
        for place, method in enumerate(methods):
            chosen = [r for r in shown if r["panel"] == name and r["curve"] == method]
            if chosen:
                one(ax, chosen, method, place)
        finish(ax, x, y, name)
        ax.set_xlabel(x.label)
    axes[0, 0].set_ylabel(y.label)
    legend(made, axes)
    return made
