"""Figures 2 and 3: the test metric over rounds, non-iid and iid, of pictures (SVHN) and of the language model."""

from __future__ import annotations

from empirics.experiments import Cell

from ..artefact import Artefact, Shown
from ..captions import caption as put_together
from ..drawing import Axis, panels
from ..ran import of
from ..runs import mean_rows, Runs
from .beside import caption, label
from .grid import seeds, word
from .settings import in_paper, TEXT
from .table_1 import conclusions

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
    used = {
        (column, f"{m} {split}"): seeds(scale, column, m, split) for split, methods in PANELS.items() for m in methods
    }
    words = caption(scale, [column], used, tables=False)
    return Shown(
        put_together(missing and [missing, f"the same curves on {column}"], words),
        [
            row
            for (_, name), found in used.items()
            for method, split in [name.split(" ")]
            if (ran := of(found, in_paper(wanted, split)))
            for row in mean_rows((runs.curve(c, quantity) for c in found), f"{ran.data}, {split}", method, ran, times)
        ],
        conclusions=conclusions(runs, scale, column, wanted, beside=False) if there or missing else [],
        unavailable="" if there else missing or label(scale, column),
    )


def _figure(number: int, wanted: str, metric: str) -> Artefact:
    return Artefact(
        f"fedals.figure_{number}",
        f"{metric.removesuffix(' (%)')} over rounds, non-iid and iid",
        lambda scale: cells(scale, wanted),
        lambda runs, scale: data(runs, scale, wanted),
        lambda shown: panels(shown.rows, Axis("round"), Axis(metric), shared=True),
    )


ARTEFACTS = {"figure_2": _figure(2, "SVHN", "test accuracy (%)"), "figure_3": _figure(3, TEXT, "test loss")}
