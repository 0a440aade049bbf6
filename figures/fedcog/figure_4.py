"""Figure 4: who holds what in NIID-1, which takes no training."""

from __future__ import annotations

from typing import Any

from empirics.experiments import Cell

from ..artefact import Artefact, Shown
from ..drawing import Axis, each_panel, Row
from ..runs import Runs
from ..style import CYCLE
from ..substitutes import found
from .grid import BIG, CNN, PLANS, problem, setting, Setup, what_ran
from .settings import CLIENTS, DATA, DIRICHLET

LARGEST = 60.0
"""Area of the bubble of all samples of a client with as many as others, in square points."""


def cells(scale: str) -> dict[str, list[Cell]]:
    """The split of the first seed, on the paper's data alone: nothing stands in for who holds what."""
    here = {
        data: (BIG if data == "CIFAR-100" else CNN).format(name) for data, name in DATA.items() if found(name) == name
    }
    if scale == "smoke":
        here = {data: problem(scale, data) for data in PLANS[scale].networks}
    return {data: [_cell(scale, Setup(data), text)] for data, text in here.items() if text}


def _cell(scale: str, setup: Setup, text: str) -> Cell:
    partition = setting(scale, setup)["partition"]
    return PLANS[scale].cell("class_counts", problem=text, partition=partition, clients=setup.clients, seed=0)


def data(runs: Runs, scale: str) -> Shown:
    rows: list[dict[str, Any]] = []
    for name, each in cells(scale).items():
        told, ran = runs.columns(each[0]), what_ran(each, Setup(name))
        held = zip(*(told.get(column, ()) for column in ("client", "label", "samples")), strict=True)
        rows += [
            {"panel": ran.data if ran else name, "client": k, "label": y, "samples": n, "ran": ran} for k, y, n in held
        ]
    missing = [name for name in DATA if name not in cells(scale)]
    return Shown(
        f"Samples by client and class, NIID-1 (Dirichlet {DIRICHLET:g}), {CLIENTS} clients, one seed; a bubble's area "
        "is the number of samples, and no network is trained."
        + (f" {', '.join(missing)}: data not available." if missing else ""),
        rows,
        unavailable="" if cells(scale) else "data not available",
    )


def draw(shown: Shown) -> Any:
    def panel(ax: Any, rows: list[Row]) -> None:
        share = LARGEST * CLIENTS / sum(r["samples"] for r in rows)
        held = [r for r in rows if r["samples"]]
        at = ([r[name] for r in held] for name in ("client", "label"))
        ax.scatter(*at, [share * r["samples"] for r in held], color=CYCLE[0], alpha=0.7, lw=0)
        ax.set(xlim=(-0.7, CLIENTS - 0.3), xticks=range(CLIENTS))

    return each_panel(shown.rows, panel, Axis("client"), Axis("class"))


ARTEFACT = Artefact(
    "fedcog.figure_4", "who holds what", lambda scale: [c for each in cells(scale).values() for c in each], data, draw
)
