"""Figures 2 to 6: local models after one round, heterogeneity and weights, who holds what, images, and all rounds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from empirics.experiments import Cell

from ..artefact import Artefact, figure, Shown
from ..comparing import judge, Judged, Pair
from ..drawing import Axis, canvas, curves, each_panel, note, one, ran_words, Row
from ..regimes import moved, POINT, Regime
from ..run_description import problem_words
from ..runs import line, point, Runs
from ..style import CYCLE, enlarged, line as look_of, WIDTH
from ..substitutes import found
from . import grid
from .findings import as_in_paper, BARS, caption, Compared, final, mean_over_clients, PLAIN, printed, usual, weight
from .grid import chosen, FEDCOG, KINDS, PLANS, problem, Setup, unavailable, what_ran

# ---- Figure 2 ----

THREE = ("FedAvg", "FedProx", FEDCOG)
DISTANCE, COMMON, OWN = "client_distance_sq", "local_accuracy_common", "local_accuracy_own"
MEASURES = {
    DISTANCE: "distance of local models",
    COMMON: "local accuracy, all classes (%)",
    OWN: "local accuracy, own classes (%)",
}
"""What the panels show."""


def runs_of(scale: str, method: str) -> list[Cell]:
    """Rounds of FedAvg, then at least one of the method."""
    if method in (FEDCOG, PLAIN):  # longer runs that were measured here too
        return grid.runs(scale, method)
    return grid.runs(scale, method, first=PLAIN, rounds=PLANS[scale].counts["first"] + 1)


def measured(runs: Runs, scale: str, method: str, quantity: str) -> list[float]:
    """A number per seed: the mean over clients after that round, accuracies in percent; the distance is not squared."""
    at = PLANS[scale].counts["first"] + 1
    means = [mean_over_clients(runs, cell, quantity, at) for cell in runs_of(scale, method)]
    return [mean**0.5 if quantity == DISTANCE else 100 * mean for mean in means]


def local_guards(runs: Runs, scale: str, methods: Sequence[str]) -> list[Regime]:
    """Those of a finding on local models and accuracy one round after the change."""
    place = Compared({m: runs_of(scale, m) for m in methods}, printed("4", PLAIN, "Acc"))
    return usual(runs, scale, place, later=1)


def local_models(runs: Runs, scale: str) -> Shown:
    here = [m for m in THREE if m in chosen(scale, "compared", grid.COMPARED)]
    found = {(quantity, m): measured(runs, scale, m, quantity) for quantity in MEASURES for m in THREE}
    rows = [
        row
        for quantity, words in MEASURES.items()
        for m in here
        for row in point(found[quantity, m], THREE.index(m), m, what_ran(runs_of(scale, m), later=1), words)
    ]
    findings = {DISTANCE: "nearest to the global one", COMMON: "the most accurate on all classes"}
    findings[OWN] = "the most accurate on their own classes"
    regimes, judged = local_guards(runs, scale, THREE), []
    for quantity, words in findings.items():
        far = quantity == DISTANCE
        sides = [(m, FEDCOG) if far else (FEDCOG, m) for m in THREE if m != FEDCOG]
        pairs = [Pair(f"{a} over {b}", found[quantity, a], found[quantity, b]) for a, b in sides]
        judged.append(judge(f"FedCOG's local models are {words}", pairs, 0.0 if far else POINT, regimes))
    said = caption(
        scale, "One round after FedAvg's, mean over clients (the paper shows each).",
        [(m, runs_of(scale, m)) for m in here], BARS,
    )  # fmt: skip
    return figure(said, rows, judged, unavailable(scale))


def _draw_local_models(shown: Shown) -> Any:
    made, axes = canvas(1, len(MEASURES), 0)
    note(made, ran_words(shown.rows))
    for ax, words in zip(axes[0], MEASURES.values(), strict=True):
        points = [r for r in shown.rows if r["panel"] == words]
        for place, r in enumerate(points):
            look = look_of(r["curve"], place)
            ax.errorbar(r["x"], r["y"], r["error"], color=look.colour, marker=look.mark, ms=4, elinewidth=0.8)
        ax.set_xlim(-0.5, len(THREE) - 0.5)
        ax.set_xticks(range(len(THREE)), THREE, rotation=90)
        ax.set_ylabel(words.replace(", ", ",\n").replace("distance of ", "distance of\n"))
    return made


# ---- Figure 3 ----

HETEROGENEITY, APART, DISTILLED = "(a) Dirichlet parameter", "(b) disagreement weight", "(c) distillation weight"
WEIGHTS = {
    APART: ("disagreement", "disagreements", grid.DISAGREEMENTS, grid.DISAGREEMENT),
    DISTILLED: ("distillation", "distillations", grid.DISTILLATIONS, grid.DISTILLATION),
}
"""By panel: the option, the axis of the plan, its values and the default among them."""
AXES = {HETEROGENEITY: ("dirichlets", grid.DIRICHLETS), **{panel: row[1:3] for panel, row in WEIGHTS.items()}}
Place = tuple[str, str, float]
"""Panel, curve and x."""


def points(scale: str) -> dict[Place, list[Cell]]:
    found: dict[Place, list[Cell]] = {
        (HETEROGENEITY, method, beta): grid.runs(scale, method, Setup(dirichlet=beta))
        for beta in chosen(scale, *AXES[HETEROGENEITY])
        for method in THREE
    }
    for panel, (option, axis, every, _) in WEIGHTS.items():
        for kind in KINDS:
            for value in chosen(scale, axis, every):
                found[panel, f"FedCOG, {kind}", value] = grid.runs(scale, FEDCOG, Setup(kind=kind), **{option: value})
    return found


def weights(runs: Runs, scale: str) -> Shown:
    found = points(scale)
    told = {place: final(runs, scale, cells) for place, cells in found.items()}
    rows = [
        row
        for (panel, curve, x), cells in found.items()
        for row in point(told[panel, curve, x], x, curve, what_ran(cells), panel)
    ]
    left = [f"{panel}: {words}" for panel, axis in AXES.items() if (words := grid.left_out(scale, axis))]
    used = [(curve, cells) for (_, curve, _), cells in found.items()]
    said = caption(scale, "NIID-1 in (a).", used, *left, BARS)
    judged = [*_heterogeneity(runs, scale, found, told), *(_default(runs, scale, found, told, p) for p in WEIGHTS)]
    return figure(said, rows, judged, unavailable(scale))


def _heterogeneity(
    runs: Runs, scale: str, found: dict[Place, list[Cell]], told: dict[Place, list[float]]
) -> list[Judged]:
    shown, a = chosen(scale, *AXES[HETEROGENEITY]), HETEROGENEITY
    low, high = min(shown), max(shown)
    worse = [Pair(f"{m}, beta = {high:g} over {low:g}", told[a, m, high], told[a, m, low]) for m in THREE]
    best = [
        Pair(f"FedCOG over {m}, beta = {beta:g}", told[a, FEDCOG, beta], told[a, m, beta])
        for beta in shown
        for m in THREE
        if m != FEDCOG
    ]
    every = [
        Compared(
            {m: found[a, m, beta] for m in THREE},
            printed("1", PLAIN, "CIFAR-10 NIID-1") if beta == grid.DIRICHLET else math.nan,
            Setup(dirichlet=beta),
        )
        for beta in shown
    ]
    words = "All methods are less accurate on the most heterogeneous split than on the least"
    return [
        judge(words, worse, POINT, usual(runs, scale, *every, remedy=False)),
        judge("FedCOG is the most accurate at every heterogeneity", best, POINT, usual(runs, scale, *every)),
    ]


def _default(
    runs: Runs, scale: str, found: dict[Place, list[Cell]], told: dict[Place, list[float]], panel: str
) -> Judged:
    _, axis, every, default = WEIGHTS[panel]
    weights, what = chosen(scale, axis, every), panel[4:]
    pairs = [
        Pair(f"{default:g} over {other:g}, {curve}", told[panel, curve, default], told[panel, curve, other])
        for curve in (f"FedCOG, {kind}" for kind in KINDS)
        for other in weights
        if other != default
    ]
    regimes = [
        moved(f"accuracy by the {what}, {kind}", [told[panel, f"FedCOG, {kind}", w] for w in weights]) for kind in KINDS
    ]
    for kind in KINDS:
        cells, setup = found.get((panel, f"FedCOG, {kind}", default), []), Setup(kind=kind)
        place = Compared({"its default": cells}, printed("1", PLAIN, f"CIFAR-10 {kind}"), setup)
        regimes += [*usual(runs, scale, place), as_in_paper(cells, setup)]
        if panel == APART:  # its runs distil with the weight of the plan
            regimes += weight(scale, cells)
    return judge(f"{default:g} is the best {what} in both splits", pairs, POINT, dict.fromkeys(regimes))


def _draw_weights(shown: Shown) -> Any:
    names = list(dict.fromkeys(r["curve"] for r in shown.rows))

    def panel(ax: Any, rows: list[Row]) -> None:
        for place, curve in enumerate(names):
            if mine := [r for r in rows if r["curve"] == curve]:
                one(ax, mine, curve, place, points=True)
        ax.set_xlabel(rows[0]["panel"])

    x, y = Axis("", log=True), Axis("test accuracy (%)")
    return each_panel(shown.rows, panel, x, y, legend_lines=2, titled=False)


# ---- Figure 4 ----

LARGEST = 60.0
"""Area of the bubble of all samples of a client with as many as others, in square points."""


def splits(scale: str) -> dict[str, list[Cell]]:
    """The split of the first seed, on the paper's data alone: nothing stands in for who holds what."""
    here = {
        data: (grid.BIG if data == "CIFAR-100" else grid.CNN).format(name)
        for data, name in grid.DATA.items()
        if found(name) == name
    }
    if scale == "smoke":
        here = {data: problem(scale, data) for data in PLANS[scale].networks}
    more = {"partition": grid.setting(scale, Setup())["partition"], "clients": grid.CLIENTS, "seed": 0}
    return {data: [PLANS[scale].cell("class_counts", problem=text, **more)] for data, text in here.items() if text}


def holdings(runs: Runs, scale: str) -> Shown:
    rows: list[dict[str, Any]] = []
    for name, each in splits(scale).items():
        told, ran = runs.columns(each[0]), what_ran(each, Setup(name))
        held = zip(*(told.get(column, ()) for column in ("client", "label", "samples")), strict=True)
        rows += [
            {"panel": ran.data if ran else name, "client": k, "label": y, "samples": n, "ran": ran} for k, y, n in held
        ]
    missing = [name for name in grid.DATA if name not in splits(scale)]
    return Shown(
        f"Samples by client and class, NIID-1 (Dirichlet {grid.DIRICHLET:g}), {grid.CLIENTS} clients, one seed; a "
        "bubble's area is the number of samples, and no network is trained."
        + (f" {', '.join(missing)}: data not available." if missing else ""),
        rows,
        unavailable="" if splits(scale) else "data not available",
    )


def _draw_holdings(shown: Shown) -> Any:
    def panel(ax: Any, rows: list[Row]) -> None:
        share = LARGEST * grid.CLIENTS / sum(r["samples"] for r in rows)
        held = [r for r in rows if r["samples"]]
        at = ([r[name] for r in held] for name in ("client", "label"))
        ax.scatter(*at, [share * r["samples"] for r in held], color=CYCLE[0], alpha=0.7, lw=0)
        ax.set(xlim=(-0.7, grid.CLIENTS - 0.3), xticks=range(grid.CLIENTS))

    return each_panel(shown.rows, panel, Axis("client"), Axis("class"))


# ---- Figure 5 ----

REAL = -1
"""In the place of the steps: a test sample."""


def images(runs: Runs, scale: str) -> Shown:
    cells = grid.generation(scale, "generated_images", steps=chosen(scale, "shown", grid.SHOWN_STEPS))
    rows = [row for cell in cells for row in _rows(runs, cell)]
    first, words = PLANS[scale].counts["first"], problem_words(problem(scale))
    return Shown(
        f"One client of {words} ({grid.named(scale)}) after {first} rounds of FedAvg, NIID-1, one seed; an image for "
        "each class from one noise, each in the range of its own values.",
        rows,
        unavailable=unavailable(scale),
    )


def _rows(runs: Runs, cell: Cell) -> list[dict[str, Any]]:
    """A row for every image: its pixels as bytes in hexadecimal, channel after channel."""
    columns = runs.columns(cell)
    if not columns:
        return []
    shape = runs.fact(cell, "shape")  # flat inputs are square and grey
    channels, side = (shape[0], shape[-1]) if len(shape) == 3 else (1, round(shape[0] ** 0.5))
    told = zip(*(columns[name] for name in ("steps", "label", "pixels")), strict=True)
    shape, ran = {"channels": channels, "side": side}, what_ran([cell], later=0)
    return [
        {"steps": steps, "label": label, **shape, "pixels": grey(pixels), "ran": ran} for steps, label, pixels in told
    ]


def grey(pixels: list[float]) -> str:
    """Numbers as bytes from their smallest to their largest."""
    x = np.asarray(pixels, dtype=float)
    spread = float(np.ptp(x)) or 1.0
    return np.round(255 * (x - x.min()) / spread).astype(np.uint8).tobytes().hex()


def image(row: Any) -> np.ndarray:
    """The picture of a row ``(side, side)`` or ``(side, side, 3)``."""
    flat = np.frombuffer(bytes.fromhex(row["pixels"]), np.uint8)
    found = flat.reshape(row["channels"], row["side"], row["side"])
    return found[0] if len(found) == 1 else np.moveaxis(found, 0, -1)


def _draw_images(shown: Shown) -> Any:
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    steps = list(dict.fromkeys(r["steps"] for r in shown.rows)) or [REAL]
    classes = max((r["label"] for r in shown.rows), default=0) + 1
    made, axes = canvas(len(steps), classes)
    note(made, ran_words(shown.rows))
    made.set_layout_engine(ConstrainedLayoutEngine(w_pad=0.01, h_pad=0.01, wspace=0, hspace=0))
    made.set_figheight((0.4 + WIDTH * len(steps) / (classes + 2.5)) * enlarged())
    for ax in axes.flat:
        ax.set(xticks=[], yticks=[])
        ax.spines[:].set_visible(False)
    for r in shown.rows:
        axes[steps.index(r["steps"]), r["label"]].imshow(image(r), cmap="gray", interpolation="nearest")
    for ax, number in zip(axes[:, 0], steps, strict=True):
        words = "test sample" if number == REAL else f"{number} steps"
        ax.set_ylabel(words, rotation=0, ha="right", va="center")
    return made


# ---- Figure 6 ----

TAIL = 7
"""The rounds after which a run counts as over are its last seventh: ten of seventy."""


def over_rounds(runs: Runs, scale: str) -> Shown:
    """The same runs as in Table 1; five baselines, which is what can be distinguished."""
    methods = (*(m for m in grid.PLUGGED if m in chosen(scale, "methods", grid.PLUGGED)), FEDCOG)
    found = {method: grid.runs(scale, method) for method in methods}
    rows = [
        row
        for method, cells in found.items()
        for row in line(runs, cells, "test_accuracy", "", method, what_ran(cells), 100.0)
    ]
    ends = {method: final(runs, scale, cells) for method, cells in found.items()}
    best = [Pair(f"FedCOG over {m}", ends[FEDCOG], ends[m]) for m in found if m != FEDCOG]
    still = [
        Pair(
            f"{m}, a point over its last gain",
            [POINT + e for e in earlier(runs, scale, cells)],
            runs.accuracies(cells),
        )
        for m, cells in found.items()
    ]
    place = Compared(found, printed("1", PLAIN, "CIFAR-10 NIID-1"))
    plain = place._replace(methods={PLAIN: found[PLAIN]})
    saturated = "All methods are saturated: none gains more than a point in the last seventh of the rounds"
    judged = [
        judge("FedCOG is the most accurate in the end", best, POINT, usual(runs, scale, place)),
        judge(saturated, still, regimes=usual(runs, scale, plain, remedy=False, ended=False)),
    ]
    left, bands = grid.left_out(scale, ("methods", grid.PLUGGED)), "Band: one standard error over seeds."
    return figure(caption(scale, "", found.items(), left, bands), rows, judged, unavailable(scale))


def earlier(runs: Runs, scale: str, cells: list[Cell]) -> list[float]:
    """Accuracy in percent a seventh of the rounds before the end; 0 for a run that diverged."""
    rounds = PLANS[scale].rounds[""]
    before = rounds - max(1, rounds // TAIL)
    told = [dict(zip(*curve, strict=True)).get(before, math.nan) for curve in runs.percent(cells)]
    return [0.0 if runs.diverged(cell) else float(value) for cell, value in zip(cells, told, strict=True)]


ARTEFACTS = (
    Artefact("fedcog.figure_2", "local models after one round", local_models, _draw_local_models),
    Artefact("fedcog.figure_3", "heterogeneity and weights", weights, _draw_weights),
    Artefact("fedcog.figure_4", "who holds what", holdings, _draw_holdings),
    Artefact("fedcog.figure_5", "generated images", images, _draw_images),
    Artefact(
        "fedcog.figure_6", "accuracy over rounds", over_rounds, curves(Axis("round"), Axis("test accuracy (%)"))
    ),
)  # fmt: skip
