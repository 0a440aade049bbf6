"""Figure 1: how far the clients' models are apart at the end of a round, layer by layer, over rounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from empirics.experiments import Cell

from ..artefact import Artefact, Shown
from ..captions import caption, trained
from ..comparing import guarded, judge, Judged, Pair, Reproduction
from ..drawing import Axis, panels
from ..regimes import horizon
from ..run_description import of, problem_words
from ..runs import mean_rows, Runs
from .grid import example, LAYERS, PLANS
from .reported_vs_ours import remarks
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
STEADY = 0.1
"""Of the logarithm of late over early distances, what may still be gained at the end."""


def data(runs: Runs, scale: str) -> Shown:
    used = example(scale)
    sizes = _sizes(str(used[0].arguments["problem"])) if used else {}
    plan = PLANS[scale]
    told = (
        f"{problem_words(used[0].arguments['problem'])}; {CLIENTS} clients of two classes each, FedAvg; "
        f"{trained({'FedAvg': used[0].arguments})}; {plan.seeds} seeds; distances before averaging, per parameter as "
        "the released code has them; bands: standard error over seeds."
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
    """The first third of the layers against the last; undecided where a single layer makes the difference."""
    how = ", per parameter" if by_size else ""
    words = f"clients differ less in the early layers than in the late ones{how}"
    distances = [
        {name: runs.curve(cell, DISTANCE, name)[1] / (sizes[name] if by_size else 1) for name in sizes} for cell in used
    ]
    ratios = [
        np.log10(late / early)
        for each in distances
        for late, early in [_thirds(each)]
        if len(late) and (late > 0).all() and (early > 0).all()
    ]
    regimes = [horizon(of(used, LIKE), [(np.arange(float(len(ratio))), ratio) for ratio in ratios], STEADY)]

    def judged(left_out: str = "") -> Judged:
        kept = [_thirds({name: curve for name, curve in each.items() if name != left_out}) for each in distances]
        late, early = (
            [float(np.log10(np.mean(third[i]))) if len(third[i]) else np.nan for third in kept] for i in (0, 1)
        )
        return judge(words, [Pair("log10 of the last third of the layers over the first third", late, early)])

    whole = judged()
    for place, name in enumerate(sizes, 1):
        if (other := judged(name)).verdict != whole.verdict:
            why = f"{whole.why}; without layer {place} of {len(sizes)}: {other.why.rpartition('third ')[2]}"
            whole = replace(whole, verdict=Reproduction.UNDECIDED, why=why)
            break
    return guarded(whole, regimes)


def _thirds(curves: Mapping[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Means over the last third of the layers and over the first, round by round."""
    third, each = max(len(curves) // 3, 1), list(curves.values())
    return np.mean(each[-third:], 0), np.mean(each[:third], 0)


def draw(shown: Shown) -> Any:
    """A few layers over rounds, from the first to the last."""
    layers = list(dict.fromkeys(r["curve"] for r in shown.rows))
    few = {layers[i] for i in np.linspace(0, len(layers) - 1, CURVES).round().astype(int)} if layers else set()
    y = Axis("consensus distance", log=bool(layers))
    return panels([r for r in shown.rows if r["curve"] in few], Axis("round"), y)


TITLE = "consensus distance by layer over rounds"
ARTEFACT = Artefact("fedals.figure_1", TITLE, example, data, draw)
