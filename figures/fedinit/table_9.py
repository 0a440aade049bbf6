"""Table 9: the paper's hardware and software, and those of our runs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from empirics.experiments import Cell
from paper_checks.reported import table

from ..artefact import Artefact, Shown
from ..runs import Runs
from .grid import runs as grid_runs
from .settings import HOME

PRINTED = table("fedinit", "Table 9")
NOTHING = "not measured"


def cells(scale: str) -> list[Cell]:
    return grid_runs(scale, HOME, "FedAvg")


def data(runs: Runs, scale: str) -> Shown:
    cards = [kept.card for c in cells(scale) if (kept := runs.kept(c)) is not None]
    ours = {
        "GPU": _seen("none" if c["device"] == "cpu" else c["device"] for c in cards),
        "Processor": _seen(c["processor"] for c in cards),
        "Platform": _seen(f"PyTorch-{c['versions'].get('torch', '?')}, Python {c['python']}" for c in cards),
    }
    names = dict.fromkeys([*(row for row, _ in PRINTED), *ours])
    found: list[dict[str, Any]] = [
        {
            "row": name,
            "reported": PRINTED[name, "value"].value if (name, "value") in PRINTED else "",
            "ours": ours.get(name, ""),
        }
        for name in names
    ]
    caption = "Where the paper's experiments were made, and where our runs of FedAvg (10 % of 100 clients) were."
    return Shown(caption, found, [["", "reported", "ours"], *([str(v) for v in row.values()] for row in found)])


def _seen(values: Iterable[str]) -> str:
    return "; ".join(sorted({v for v in values if v})) or NOTHING


ARTEFACT = Artefact("fedinit.table_9", "hardware", cells, data)
