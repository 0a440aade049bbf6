"""Figures 2 and 3: the test metric over rounds, non-iid and iid, of pictures (SVHN) and of the language model."""

from __future__ import annotations

from empirics.experiments import Cell

from ..artefact import Artefact
from ..captions import caption as put_together
from ..comparing import Judged
from ..run_description import of
from ..runs import Runs
from ..specification import figure, Line, over_rounds
from .grid import seeds, word
from .reported_vs_ours import caption, label
from .settings import in_paper, TEXT
from .tables import of_methods

PANELS = {"non-iid": ("FedAvg", "FedALS", "SCAFFOLD"), "iid": ("FedAvg", "FedALS")}
"""Methods of each panel, as far as the text names them; SCAFFOLD is run for non-iid clients only."""


def _figure(number: int, wanted: str, metric: str) -> Artefact:
    """Test accuracy in percent, of the language model the test loss; other pictures stand in for those of SVHN."""
    quantity, times = ("test_loss", 1.0) if wanted == TEXT else ("test_accuracy", 100.0)

    def column(scale: str) -> str:
        return wanted if wanted == TEXT or word(scale, wanted) else "CIFAR-10"

    def missing(scale: str) -> str:
        return "" if column(scale) == wanted else f"{wanted}: data not available"

    def used(scale: str) -> dict[tuple[str, str], list[Cell]]:
        c = column(scale)
        return {(c, f"{m} {split}"): seeds(scale, c, m, split) for split, methods in PANELS.items() for m in methods}

    def lines(scale: str) -> list[Line]:
        found = []
        for (_, name), cells in used(scale).items():
            method, split = name.split(" ")
            if ran := of(cells, in_paper(wanted, split)):
                found.append(Line(f"{ran.data}, {split}", method, cells, quantity, ran, times))
        return found

    def said(runs: Runs, scale: str) -> str:
        instead = [missing(scale), f"the same curves on {column(scale)}"] if missing(scale) else ""
        return put_together(instead, caption(scale, [column(scale)], used(scale), tables=False))

    def findings(runs: Runs, scale: str) -> list[Judged]:
        return of_methods(runs, scale, column(scale), wanted, together=False)

    def unavailable(scale: str) -> str:
        return "" if word(scale, column(scale)) else missing(scale) or label(scale, column(scale))

    title, draw = f"{metric.removesuffix(' (%)')} over rounds, non-iid and iid", over_rounds(metric, shared=True)
    return figure(f"fedals.figure_{number}", title, lines, said, findings, draw, unavailable=unavailable)


ARTEFACTS = {"figure_2": _figure(2, "SVHN", "test accuracy (%)"), "figure_3": _figure(3, TEXT, "test loss")}
