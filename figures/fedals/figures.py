"""Figures 1 to 3: consensus distance of the models by layer over rounds; test accuracy and loss, non-iid and iid."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from empirics.experiments import Cell

from ..artefact import Content, figure_content
from ..comparing import Finding, judge, Pair, Reproduction
from ..drawing import Axis, draw_panels
from ..guards import horizon
from ..run_description import describe, run_caption
from ..runs import curve_rows, mean_rows, Runs
from .findings import caption, label, method_findings
from .grid import cells_of, data_set_for, figure_1_cells, LAYERS, paper_setting, PLANS, TEXT

# ---- Figure 1 ----

DISTANCE = "consensus_distance"
SHAPES: dict[str, dict[str, int]] = {
    "digits": {"pixels": 64},
    "mnist": {"channels": 1, "side": 28},
    "fashion_mnist": {"channels": 1, "side": 28},
}
"""Options of the network for data whose shape is not its default."""
PAPER_SETTING = replace(paper_setting("CIFAR-10"), rounds=str(PLANS["paper"].rounds[LAYERS]))
"""The paper's setting of Figure 1, with other numbers of local steps and rounds than elsewhere."""
DEFINED, BY_SIZE = "of the layer", "per parameter (10⁻⁶)"
CURVES = 6
"""Number of layers that are drawn."""
STEADY = 0.1
"""Change of the logarithm of late over early distances at the end that counts as levelled off."""


def layers(runs: Runs, scale: str) -> Content:
    used = figure_1_cells(scale)
    sizes = _sizes(str(used[0].arguments["problem"])) if used else {}
    rows = [
        row
        for place, (name, size) in enumerate(sizes.items(), 1)
        for panel, by in ((DEFINED, 1.0), (BY_SIZE, size / 1e6))
        for row in mean_rows(
            (runs.curve(c, DISTANCE, name) for c in used), panel, f"layer {place}", describe(used, PAPER_SETTING),
            1 / by, parameters=size,
        )
    ]  # fmt: skip
    summary = run_caption(
        "Mean squared distance of the clients' models to their average.", [("FedAvg", used)], {},
        "Distances before averaging, per parameter as the released code has them; bands: standard error over seeds.",
        "" if scale == "smoke" else "Group norm for batch norm.",
    )  # fmt: skip
    findings = [_early_layers_finding(runs, used, sizes, by_size) for by_size in (False, True)]
    return Content(summary, rows, findings=findings, unavailable="" if used else "CIFAR-10: data not available")


def _sizes(problem: str) -> dict[str, int]:
    """Return the number of parameters of every layer of the network of a problem, in order."""
    from empirics.models.networks import network

    name, _, inside = problem.partition("(")
    shape = next((shape for word, shape in SHAPES.items() if f"({word}" in f"({inside}"), {})
    return {layer: c.stop - c.start for layer, c in network(name, classes=10, **shape).weight_layers.items()}


def _early_layers_finding(runs: Runs, used: Sequence[Cell], sizes: dict[str, int], by_size: bool) -> Finding:
    """Compare the first third of the layers with the last; undecided if leaving out one layer changes the verdict."""
    words = f"clients differ less in the early layers than in the late ones{', per parameter' if by_size else ''}"
    distances = [
        {name: runs.curve(cell, DISTANCE, name)[1] / (sizes[name] if by_size else 1) for name in sizes} for cell in used
    ]
    ratios = [
        np.log10(late / early)
        for late, early in map(_thirds, distances)
        if len(late) and (late > 0).all() and (early > 0).all()
    ]

    def finding(left_out: str = "") -> Finding:
        thirds = [_thirds({name: curve for name, curve in each.items() if name != left_out}) for each in distances]
        late, early = (
            [float(np.log10(np.mean(third[i]))) if len(third[i]) else np.nan for third in thirds] for i in (0, 1)
        )
        return judge(words, [Pair("log10 of the last third of the layers over the first third", late, early)])

    whole = finding()
    for place, name in enumerate(sizes, 1):
        if (other := finding(name)).result != whole.result:
            shown = other.least.numbers if other.least else other.counts
            more = f"; without layer {place} of {len(sizes)}: {shown}"
            whole = replace(whole, result=Reproduction.UNDECIDED, more=more)
            break
    curves = [(np.arange(float(len(ratio))), ratio) for ratio in ratios]
    return replace(whole, guards=(horizon(describe(used, PAPER_SETTING), curves, STEADY),))


def _thirds(curves: Mapping[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Return the means over the last third of the layers and over the first, round by round."""
    third, each = max(len(curves) // 3, 1), list(curves.values())
    return np.mean(each[-third:], 0), np.mean(each[:third], 0)


def draw_layers(content: Content) -> Any:
    """Draw a few layers over rounds, from the first to the last."""
    names = list(dict.fromkeys(r["curve"] for r in content.rows))
    few = {names[i] for i in np.linspace(0, len(names) - 1, CURVES).round().astype(int)} if names else set()
    y = Axis("consensus distance", log=bool(names))
    return draw_panels([r for r in content.rows if r["curve"] in few], Axis("round"), y)


# ---- Figures 2 and 3: of pictures (SVHN), and of the language model ----

PANELS = {"non-iid": ("FedAvg", "FedALS", "SCAFFOLD"), "iid": ("FedAvg", "FedALS")}
"""Methods of each panel that the text names; SCAFFOLD is run for non-iid clients only."""


def over_rounds(wanted: str, runs: Runs, scale: str) -> Content:
    """Return Figure 2 or 3: test accuracy in percent, or test loss of the language model; CIFAR-10 may replace SVHN."""
    quantity, times = ("test_loss", 1.0) if wanted == TEXT else ("test_accuracy", 100.0)
    column = wanted if wanted == TEXT or data_set_for(scale, wanted) else "CIFAR-10"
    missing = "" if column == wanted else f"{wanted}: data not available"
    used = {(m, split): cells_of(scale, column, m, split) for split, methods in PANELS.items() for m in methods}
    rows = [
        row
        for (method, split), cells in used.items()
        if (info := describe(cells, paper_setting(wanted, split)))
        for row in curve_rows(runs, cells, quantity, f"{info.data}, {split}", method, info, times)
    ]
    shown = f"{missing}; the same curves on {column}." if missing else ""
    summary = caption(scale, shown, {(column, " ".join(name)): cells for name, cells in used.items()}, tables=False)
    findings = method_findings(runs, scale, column, wanted, together=False)
    unavailable = "" if data_set_for(scale, column) else missing or label(scale, column)
    return figure_content(summary, rows, findings, unavailable)
