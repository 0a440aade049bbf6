"""Figures 2 to 6: local models after one round, heterogeneity and weights, data of the clients, images, all rounds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from empirics.experiments import Cell

from ..artefact import Content, figure_content
from ..comparing import Finding, judge, Pair
from ..drawing import Axis, each_panel, new_figure, Row, run_text, set_figure_note
from ..guards import coefficient_effect, Guard, POINT
from ..run_description import problem_words
from ..runs import curve_rows, point_rows, Runs
from ..style import CYCLE, line_style as look_of, WIDTH, width_factor
from ..substitutes import available
from . import findings, grid
from .findings import accuracies, BARS, base_guards, caption, Compared, PLAIN, printed_value
from .grid import axis_values, FEDCOG, info_of, KINDS, PLANS, problem, Setup, unavailable

# ---- Figure 2 ----

THREE = ("FedAvg", "FedProx", FEDCOG)
DISTANCE, COMMON, OWN = "client_distance_sq", "local_accuracy_common", "local_accuracy_own"
MEASURES = {
    DISTANCE: "distance of local models",
    COMMON: "local accuracy, all classes (%)",
    OWN: "local accuracy, own classes (%)",
}
"""The quantities of the panels of Figure 2."""


def one_round_cells(scale: str, method: str) -> list[Cell]:
    """Return the runs of FedAvg followed by one round of the method (or more)."""
    if method in (FEDCOG, PLAIN):  # the longer runs are measured after this round too
        return grid.cells(scale, method)
    return grid.cells(scale, method, first=PLAIN, rounds=PLANS[scale].counts["first"] + 1)


def measured(runs: Runs, scale: str, method: str, quantity: str) -> list[float]:
    """Return the mean over clients after that round by seed: accuracies in percent, or the distance (not squared)."""
    at = PLANS[scale].counts["first"] + 1
    means = [findings.mean_over_clients(runs, cell, quantity, at) for cell in one_round_cells(scale, method)]
    return [mean**0.5 if quantity == DISTANCE else 100 * mean for mean in means]


def local_guards(runs: Runs, scale: str, methods: Sequence[str]) -> list[Guard]:
    """Return the guards of findings on local models and accuracy one round after the change of methods."""
    place = Compared({m: one_round_cells(scale, m) for m in methods}, printed_value("4", PLAIN, "Acc"))
    return base_guards(runs, scale, place, later=1)


def local_models(runs: Runs, scale: str) -> Content:
    here = [m for m in THREE if m in axis_values(scale, "compared", grid.COMPARED)]
    values = {(quantity, m): measured(runs, scale, m, quantity) for quantity in MEASURES for m in THREE}
    rows = [
        row
        for quantity, words in MEASURES.items()
        for m in here
        for row in point_rows(
            values[quantity, m], THREE.index(m), m, info_of(one_round_cells(scale, m), later=1), words
        )
    ]
    claims = {DISTANCE: "nearest to the global one", COMMON: "the most accurate on all classes"}
    claims[OWN] = "the most accurate on their own classes"
    guards, judged = local_guards(runs, scale, THREE), []
    for quantity, words in claims.items():
        far = quantity == DISTANCE
        sides = [(m, FEDCOG) if far else (FEDCOG, m) for m in THREE if m != FEDCOG]
        pairs = [Pair(f"{a} over {b}", values[quantity, a], values[quantity, b]) for a, b in sides]
        judged.append(judge(f"FedCOG's local models are {words}", pairs, 0.0 if far else POINT, guards))
    summary = caption(
        scale, "One round after FedAvg's, mean over clients (the paper shows each).",
        [(m, one_round_cells(scale, m)) for m in here], BARS,
    )  # fmt: skip
    return figure_content(summary, rows, judged, unavailable(scale))


def draw_local_models(content: Content) -> Any:
    figure, axes = new_figure(1, len(MEASURES), 0)
    set_figure_note(figure, run_text(content.rows))
    for ax, words in zip(axes[0], MEASURES.values(), strict=True):
        points = [r for r in content.rows if r["panel"] == words]
        for place, r in enumerate(points):
            look = look_of(r["curve"], place)
            ax.errorbar(r["x"], r["y"], r["error"], color=look.colour, marker=look.mark, ms=4, elinewidth=0.8)
        ax.set_xlim(-0.5, len(THREE) - 0.5)
        ax.set_xticks(range(len(THREE)), THREE, rotation=90)
        ax.set_ylabel(words.replace(", ", ",\n").replace("distance of ", "distance of\n"))
    return figure


# ---- Figure 3 ----

HETEROGENEITY, APART, DISTILLED = "(a) Dirichlet parameter", "(b) disagreement weight", "(c) distillation weight"
WEIGHTS = {
    APART: ("disagreement", "disagreements", grid.DISAGREEMENTS, grid.DISAGREEMENT),
    DISTILLED: ("distillation", "distillations", grid.DISTILLATIONS, grid.DISTILLATION),
}
"""By panel: the option of FedCOG, the axis of the plan, its values and the default."""
AXES = {HETEROGENEITY: ("dirichlets", grid.DIRICHLETS), **{panel: row[1:3] for panel, row in WEIGHTS.items()}}
Place = tuple[str, str, float]
"""Panel, curve and x."""


def weight_cells(scale: str) -> dict[Place, list[Cell]]:
    """Return the runs behind each point of Figure 3."""
    cells_at: dict[Place, list[Cell]] = {
        (HETEROGENEITY, method, beta): grid.cells(scale, method, Setup(dirichlet=beta))
        for beta in axis_values(scale, *AXES[HETEROGENEITY])
        for method in THREE
    }
    for panel, (option, axis, every, _) in WEIGHTS.items():
        for kind in KINDS:
            for value in axis_values(scale, axis, every):
                cells_at[panel, f"FedCOG, {kind}", value] = grid.cells(
                    scale, FEDCOG, Setup(kind=kind), **{option: value}
                )
    return cells_at


def weights(runs: Runs, scale: str) -> Content:
    cells_at = weight_cells(scale)
    final = {place: accuracies(runs, scale, cells) for place, cells in cells_at.items()}
    rows = [
        row
        for (panel, curve, x), cells in cells_at.items()
        for row in point_rows(final[panel, curve, x], x, curve, info_of(cells), panel)
    ]
    left = [f"{panel}: {words}" for panel, axis in AXES.items() if (words := grid.omission_note(scale, axis))]
    used = [(curve, cells) for (_, curve, _), cells in cells_at.items()]
    summary = caption(scale, "NIID-1 in (a).", used, *left, BARS)
    judged = [
        *_heterogeneity(runs, scale, cells_at, final),
        *(_default(runs, scale, cells_at, final, p) for p in WEIGHTS),
    ]
    return figure_content(summary, rows, judged, unavailable(scale))


def _heterogeneity(
    runs: Runs, scale: str, cells_at: dict[Place, list[Cell]], final: dict[Place, list[float]]
) -> list[Finding]:
    shown, a = axis_values(scale, *AXES[HETEROGENEITY]), HETEROGENEITY
    low, high = min(shown), max(shown)
    worse = [Pair(f"{m}, beta = {high:g} over {low:g}", final[a, m, high], final[a, m, low]) for m in THREE]
    best = [
        Pair(f"FedCOG over {m}, beta = {beta:g}", final[a, FEDCOG, beta], final[a, m, beta])
        for beta in shown
        for m in THREE
        if m != FEDCOG
    ]
    every = [
        Compared(
            {m: cells_at[a, m, beta] for m in THREE},
            printed_value("1", PLAIN, "CIFAR-10 NIID-1") if beta == grid.DIRICHLET else math.nan,
            Setup(dirichlet=beta),
        )
        for beta in shown
    ]
    words = "All methods are less accurate on the most heterogeneous split than on the least"
    return [
        judge(words, worse, POINT, base_guards(runs, scale, *every, remedy=False)),
        judge("FedCOG is the most accurate at every heterogeneity", best, POINT, base_guards(runs, scale, *every)),
    ]


def _default(
    runs: Runs, scale: str, cells_at: dict[Place, list[Cell]], final: dict[Place, list[float]], panel: str
) -> Finding:
    _, axis, every, default = WEIGHTS[panel]
    weights, what = axis_values(scale, axis, every), panel[4:]
    pairs = [
        Pair(f"{default:g} over {other:g}, {curve}", final[panel, curve, default], final[panel, curve, other])
        for curve in (f"FedCOG, {kind}" for kind in KINDS)
        for other in weights
        if other != default
    ]
    guards = [
        coefficient_effect(f"accuracy by the {what}, {kind}", [final[panel, f"FedCOG, {kind}", w] for w in weights])
        for kind in KINDS
    ]
    for kind in KINDS:
        cells, setup = cells_at.get((panel, f"FedCOG, {kind}", default), []), Setup(kind=kind)
        place = Compared({"its default": cells}, printed_value("1", PLAIN, f"CIFAR-10 {kind}"), setup)
        guards += [*base_guards(runs, scale, place), findings.paper_treatment(cells, setup)]
        if panel == APART:  # its runs distil with the weight of the plan
            guards += findings.distillation_guard(scale, cells)
    return judge(f"{default:g} is the best {what} in both splits", pairs, POINT, dict.fromkeys(guards))


# ---- Figure 4 ----

LARGEST = 60.0
"""Area of the bubble of all samples of an average client, in square points."""


def split_cells(scale: str) -> dict[str, list[Cell]]:
    """Return the run that counts the split of the first seed, by data set; there are no substitutes for this figure."""
    here = {
        data: (grid.BIG if data == "CIFAR-100" else grid.CNN).format(name)
        for data, name in grid.DATA.items()
        if available(name) == name
    }
    if scale == "smoke":
        here = {data: problem(scale, data) for data in PLANS[scale].networks}
    more = {"partition": grid.setup_arguments(scale, Setup())["partition"], "clients": grid.CLIENTS, "seed": 0}
    return {data: [PLANS[scale].cell("class_counts", problem=text, **more)] for data, text in here.items() if text}


def holdings(runs: Runs, scale: str) -> Content:
    rows: list[dict[str, Any]] = []
    for name, each in split_cells(scale).items():
        info = info_of(each, Setup(name))
        rows += [
            {"panel": info.data if info else name, "client": k, "label": y, "samples": n, "ran": info}
            for k, y, n in runs.rows(each[0], "client", "label", "samples")
        ]
    missing = [name for name in grid.DATA if name not in split_cells(scale)]
    return Content(
        f"Samples by client and class, NIID-1 (Dirichlet {grid.DIRICHLET:g}), {grid.CLIENTS} clients, one seed; a "
        "bubble's area is the number of samples, and no network is trained."
        + (f" {', '.join(missing)}: data not available." if missing else ""),
        rows,
        unavailable="" if split_cells(scale) else "data not available",
    )


def draw_holdings(content: Content) -> Any:
    def panel(ax: Any, rows: list[Row]) -> None:
        share = LARGEST * grid.CLIENTS / sum(r["samples"] for r in rows)
        filled = [r for r in rows if r["samples"]]
        at = ([r[name] for r in filled] for name in ("client", "label"))
        ax.scatter(*at, [share * r["samples"] for r in filled], color=CYCLE[0], alpha=0.7, lw=0)
        ax.set(xlim=(-0.7, grid.CLIENTS - 0.3), xticks=range(grid.CLIENTS))

    return each_panel(content.rows, panel, Axis("client"), Axis("class"))


# ---- Figure 5 ----

REAL = -1
"""Stands for a test sample in place of the number of steps."""


def images(runs: Runs, scale: str) -> Content:
    cells = grid.generation(scale, "generated_images", steps=axis_values(scale, "shown", grid.SHOWN_STEPS))
    rows = [row for cell in cells for row in _rows(runs, cell)]
    first, words = PLANS[scale].counts["first"], problem_words(problem(scale))
    return Content(
        f"One client of {words} ({grid.data_name(scale)}) after {first} rounds of FedAvg, NIID-1, one seed; an image "
        "for each class from one noise, each in the range of its own values.",
        rows,
        unavailable=unavailable(scale),
    )


def _rows(runs: Runs, cell: Cell) -> list[dict[str, Any]]:
    """Return a row for every image, with its pixels as hexadecimal bytes, channel after channel."""
    if not runs.result(cell):
        return []
    shape = runs.fact(cell, "shape")  # flat inputs are square and grey
    channels, side = (shape[0], shape[-1]) if len(shape) == 3 else (1, round(shape[0] ** 0.5))
    shape, info = {"channels": channels, "side": side}, info_of([cell], later=0)
    return [
        {"steps": steps, "label": label, **shape, "pixels": grey(pixels), "ran": info}
        for steps, label, pixels in runs.rows(cell, "steps", "label", "pixels")
    ]


def grey(pixels: list[float]) -> str:
    """Return numbers, scaled from their minimum to their maximum, as hexadecimal bytes."""
    x = np.asarray(pixels, dtype=float)
    spread = float(np.ptp(x)) or 1.0
    return np.round(255 * (x - x.min()) / spread).astype(np.uint8).tobytes().hex()


def image(row: Any) -> np.ndarray:
    """Return the picture of a row, ``(side, side)`` or ``(side, side, 3)``."""
    pixels = np.frombuffer(bytes.fromhex(row["pixels"]), np.uint8)
    channels = pixels.reshape(row["channels"], row["side"], row["side"])
    return channels[0] if len(channels) == 1 else np.moveaxis(channels, 0, -1)


def draw_images(content: Content) -> Any:
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    steps = list(dict.fromkeys(r["steps"] for r in content.rows)) or [REAL]
    classes = max((r["label"] for r in content.rows), default=0) + 1
    figure, axes = new_figure(len(steps), classes)
    set_figure_note(figure, run_text(content.rows))
    figure.set_layout_engine(ConstrainedLayoutEngine(w_pad=0.01, h_pad=0.01, wspace=0, hspace=0))
    figure.set_figheight((0.4 + WIDTH * len(steps) / (classes + 2.5)) * width_factor())
    for ax in axes.flat:
        ax.set(xticks=[], yticks=[])
        ax.spines[:].set_visible(False)
    for r in content.rows:
        axes[steps.index(r["steps"]), r["label"]].imshow(image(r), cmap="gray", interpolation="nearest")
    for ax, number in zip(axes[:, 0], steps, strict=True):
        words = "test sample" if number == REAL else f"{number} steps"
        ax.set_ylabel(words, rotation=0, ha="right", va="center")
    return figure


# ---- Figure 6 ----

TAIL = 7
"""The tail of a run is its last seventh: ten rounds of seventy."""


def over_rounds(runs: Runs, scale: str) -> Content:
    """Return Figure 6, from the runs of Table 1, with the five baselines that can be distinguished."""
    methods = (*(m for m in grid.PLUGGED if m in axis_values(scale, "methods", grid.PLUGGED)), FEDCOG)
    used = {method: grid.cells(scale, method) for method in methods}
    rows = [
        row
        for method, cells in used.items()
        for row in curve_rows(runs, cells, "test_accuracy", "", method, info_of(cells), 100.0)
    ]
    ends = {method: accuracies(runs, scale, cells) for method, cells in used.items()}
    best = [Pair(f"FedCOG over {m}", ends[FEDCOG], ends[m]) for m in used if m != FEDCOG]
    rounds = PLANS[scale].rounds[""]
    before = {m: runs.accuracies_at(cells, lambda _: rounds - max(1, rounds // TAIL)) for m, cells in used.items()}
    still = [
        Pair(f"{m}, a point over its last gain", [POINT + e for e in before[m]], runs.accuracies(cells))
        for m, cells in used.items()
    ]
    place = Compared(used, printed_value("1", PLAIN, "CIFAR-10 NIID-1"))
    plain = place._replace(methods={PLAIN: used[PLAIN]})
    saturated = "All methods are saturated: none gains more than a point in the last seventh of the rounds"
    judged = [
        judge("FedCOG is the most accurate in the end", best, POINT, base_guards(runs, scale, place)),
        judge(saturated, still, guards=base_guards(runs, scale, plain, remedy=False, ended=False)),
    ]
    left, bands = grid.omission_note(scale, ("methods", grid.PLUGGED)), "Band: one standard error over seeds."
    return figure_content(caption(scale, "", used.items(), left, bands), rows, judged, unavailable(scale))
