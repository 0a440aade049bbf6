"""Figure 1: how far the clients' models are apart at the end of a round, layer by layer, over rounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from empirics.experiments import Cell

from ..artefact import Artefact, Shown
from ..captions import caption
from ..comparing import judge, Judged, Pair
from ..drawing import Axis, panels
from ..ran import of, problem_words
from ..runs import mean_rows, Runs
from .beside import remarks
from .grid import example, LAYERS, PLANS, STEPS
from .settings import CLIENTS, in_paper

DISTANCE = "consensus_distance"
SHAPES: dict[str, dict[str, int]] = {
    "digits": {"pixels": 64},
    "mnist": {"channels": 1, "side": 28},
    "fashion_mnist": {"channels": 1, "side": 28},
}
"""Samples that are not as the network expects by itself."""
LIKE = replace(in_paper("CIFAR-10"), rounds=str(PLANS["paper"].rounds[LAYERS]))
"""What the paper has there; it takes other local steps than elsewhere."""
DEFINED, BY_SIZE = "of the layer", "per parameter (10⁻⁶)"
CURVES = 6
"""Layers that are drawn over rounds."""


def data(runs: Runs, scale: str) -> Shown:
    used = example(scale)
    sizes = _sizes(str(used[0].arguments["problem"])) if used else {}
    plan = PLANS[scale]
    told = (
        f"{problem_words(used[0].arguments['problem'])}; {CLIENTS} clients of two classes each, FedAvg with {STEPS} "
        f"local steps, "
        f"batch {used[0].arguments['batch']}, {plan.rounds[LAYERS]} rounds, {plan.seeds} seeds; distances before "
        "averaging, per parameter as the released code has them; bands: standard error over seeds."
        if used
        else ""
    )
    norm = [] if scale == "smoke" else ["group norm for batch norm"]
    return Shown(
        caption(
            "Mean squared distance of the clients' models to their average.",
            told,
            [*remarks(scale, ["CIFAR-10"]), *norm],
        ),
        [row for place, name in enumerate(sizes, 1) for row in _layer(runs, used, place, name, sizes[name])],
        conclusions=[_early(runs, used, sizes, by_size) for by_size in (False, True)],
        unavailable="" if used else "CIFAR-10: data not available",
    )


def _sizes(problem: str) -> dict[str, int]:
    """Parameters of every layer of the network that was trained, in its order."""
    from empirics.models.networks import network

    name, _, inside = problem.partition("(")
    shape = next((shape for word, shape in SHAPES.items() if f"({word}" in f"({inside}"), {})
    return {layer: c.stop - c.start for layer, c in network(name, classes=10, **shape).weight_layers.items()}


def _layer(runs: Runs, used: Sequence[Cell], place: int, name: str, size: int) -> list[dict[str, Any]]:
    return [
        row
        for panel, by in ((DEFINED, 1.0), (BY_SIZE, size / 1e6))
        for row in mean_rows(
            (runs.curve(c, DISTANCE, name) for c in used),
            panel,
            f"layer {place}",
            of(used, LIKE),
            1 / by,
            parameters=size,
        )
    ]


def _early(runs: Runs, used: Sequence[Cell], sizes: dict[str, int], by_size: bool) -> Judged:
    """The first third of the layers against the last, as logarithms of means over rounds."""
    third = max(len(sizes) // 3, 1)
    names = list(sizes)

    def level(chosen: Sequence[str], cell: Cell) -> float:
        curves = [runs.curve(cell, DISTANCE, name)[1] / (sizes[name] if by_size else 1) for name in chosen]
        return float(np.log10(np.mean(curves))) if curves and len(curves[0]) else float("nan")

    late, early = ([level(chosen, cell) for cell in used] for chosen in (names[-third:], names[:third]))
    how = ", per parameter" if by_size else ""
    return judge(
        f"clients differ less in the early layers than in the late ones{how}",
        [Pair("log10 of the last third of the layers over the first third", late, early)],
    )


def draw(shown: Shown) -> Any:
    """A few layers over rounds, from the first to the last."""
    layers = list(dict.fromkeys(r["curve"] for r in shown.rows))
    few = {layers[i] for i in np.linspace(0, len(layers) - 1, CURVES).round().astype(int)} if layers else set()
    y = Axis("consensus distance", log=bool(layers))
    return panels([r for r in shown.rows if r["curve"] in few], Axis("round"), y)


TITLE = "consensus distance by layer over rounds"
ARTEFACT = Artefact("fedals.figure_1", TITLE, example, data, draw)
