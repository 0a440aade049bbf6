"""Figures 2 and 3: the test metric over rounds, non-iid and iid, of pictures (SVHN) and of the language model."""

from __future__ import annotations

from empirics.experiments import Cell

from ..artefact import Artefact, Shown
from ..captions import caption as put_together
from ..comparing import judge, Judged, Pair
from ..drawing import Axis, panels
from ..ran import of
from ..regimes import drift, POINT
from ..runs import mean_rows, Runs
from .beside import caption, label, results
from .grid import seeds, word
from .settings import in_paper, TEXT

PANELS = {"non-iid": ("FedAvg", "FedALS", "SCAFFOLD"), "iid": ("FedAvg", "FedALS")}
"""Methods of each panel, as far as the text names them; SCAFFOLD is run for non-iid clients only."""


def column_of(scale: str, wanted: str) -> str:
    """Pictures other than SVHN's stand in for these; nothing does for texts."""
    return wanted if wanted == TEXT or word(scale, wanted) else "CIFAR-10"


def cells(scale: str, wanted: str) -> list[Cell]:
    """The runs of both panels."""
    column = column_of(scale, wanted)
    return [cell for split, methods in PANELS.items() for m in methods for cell in seeds(scale, column, m, split)]


def data(runs: Runs, scale: str, wanted: str) -> Shown:
    """Test accuracy in percent over rounds, of the language model the test loss; a run that diverged ends early."""
    column = column_of(scale, wanted)
    quantity, times = ("test_loss", 1.0) if column == TEXT else ("test_accuracy", 100.0)
    missing, there = "" if column == wanted else f"{wanted}: data not available", bool(word(scale, column))
    return Shown(
        put_together(missing and [missing, f"the same curves on {column}"], caption(scale, [column], tables=False)),
        [
            row
            for split, methods in PANELS.items()
            for m in methods
            for found in [seeds(scale, column, m, split)]
            if (ran := of(found, in_paper(wanted, split)))
            for row in mean_rows((runs.curve(c, quantity) for c in found), f"{ran.data}, {split}", m, ran, times)
        ],
        conclusions=conclusions(runs, scale, column) if there or missing else [],
        unavailable="" if there else missing or label(scale, column),
    )


def conclusions(runs: Runs, scale: str, column: str) -> list[Judged]:
    """What the paper sees in the figure: an advantage for non-iid clients, which is larger than for iid ones."""
    sign, delta = (-1.0, 0.0) if column == TEXT else (1.0, POINT)

    def last(method: str, split: str) -> list[float]:
        return [sign * value for value in results(runs, scale, column, seeds(scale, column, method, split))]

    def gain(split: str) -> list[float]:
        return [a - b for a, b in zip(last("FedALS", split), last("FedAvg", split), strict=True)]

    regimes = [drift(label(scale, column), last("FedAvg", "iid"), last("FedAvg", "non-iid"))]
    ahead = [Pair(f"FedALS over {m}", last("FedALS", "non-iid"), last(m, "non-iid")) for m in ("FedAvg", "SCAFFOLD")]
    apart = Pair("gain non-iid over gain iid", gain("non-iid"), gain("iid"))
    return [
        judge("for non-iid clients FedALS ends better than FedAvg and SCAFFOLD", ahead, delta, regimes),
        judge("FedALS gains more for non-iid clients than for iid ones", [apart], delta, regimes),
    ]


def _figure(number: int, wanted: str, metric: str) -> Artefact:
    return Artefact(
        f"fedals.figure_{number}",
        f"{metric.removesuffix(' (%)')} over rounds, non-iid and iid",
        lambda scale: cells(scale, wanted),
        lambda runs, scale: data(runs, scale, wanted),
        lambda shown: panels(shown.rows, Axis("round"), Axis(metric), shared=True),
    )


ARTEFACTS = {"figure_2": _figure(2, "SVHN", "test accuracy (%)"), "figure_3": _figure(3, TEXT, "test loss")}
