"""Figures 4 and 5: who holds what in NIID-1, which takes no training; and what a client generates for every class."""

from __future__ import annotations

from typing import Any

import numpy as np

from empirics.experiments import Cell

from ..artefact import Artefact, Shown
from ..drawing import Axis, canvas, each_panel, note, ran_words, Row
from ..run_description import problem_words
from ..runs import Runs
from ..style import CYCLE, enlarged, WIDTH
from ..substitutes import found
from . import grid
from .grid import BIG, chosen, CLIENTS, CNN, DATA, DIRICHLET, generation, PLANS, problem, Setup, unavailable, what_ran

# ---- Figure 4 ----

LARGEST = 60.0
"""Area of the bubble of all samples of a client with as many as others, in square points."""


def splits(scale: str) -> dict[str, list[Cell]]:
    """The split of the first seed, on the paper's data alone: nothing stands in for who holds what."""
    here = {
        data: (BIG if data == "CIFAR-100" else CNN).format(name) for data, name in DATA.items() if found(name) == name
    }
    if scale == "smoke":
        here = {data: problem(scale, data) for data in PLANS[scale].networks}
    more = {"partition": grid.setting(scale, Setup())["partition"], "clients": CLIENTS, "seed": 0}
    return {data: [PLANS[scale].cell("class_counts", problem=text, **more)] for data, text in here.items() if text}


def holdings(runs: Runs, scale: str) -> Shown:
    rows: list[dict[str, Any]] = []
    for name, each in splits(scale).items():
        told, ran = runs.columns(each[0]), what_ran(each, Setup(name))
        held = zip(*(told.get(column, ()) for column in ("client", "label", "samples")), strict=True)
        rows += [
            {"panel": ran.data if ran else name, "client": k, "label": y, "samples": n, "ran": ran} for k, y, n in held
        ]
    missing = [name for name in DATA if name not in splits(scale)]
    return Shown(
        f"Samples by client and class, NIID-1 (Dirichlet {DIRICHLET:g}), {CLIENTS} clients, one seed; a bubble's area "
        "is the number of samples, and no network is trained."
        + (f" {', '.join(missing)}: data not available." if missing else ""),
        rows,
        unavailable="" if splits(scale) else "data not available",
    )


def _draw_holdings(shown: Shown) -> Any:
    def panel(ax: Any, rows: list[Row]) -> None:
        share = LARGEST * CLIENTS / sum(r["samples"] for r in rows)
        held = [r for r in rows if r["samples"]]
        at = ([r[name] for r in held] for name in ("client", "label"))
        ax.scatter(*at, [share * r["samples"] for r in held], color=CYCLE[0], alpha=0.7, lw=0)
        ax.set(xlim=(-0.7, CLIENTS - 0.3), xticks=range(CLIENTS))

    return each_panel(shown.rows, panel, Axis("client"), Axis("class"))


# ---- Figure 5 ----

REAL = -1
"""In the place of the steps: a test sample."""


def images(runs: Runs, scale: str) -> Shown:
    cells = generation(scale, "generated_images", steps=chosen(scale, "shown", grid.SHOWN_STEPS))
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


ARTEFACTS = (
    Artefact("fedcog.figure_4", "who holds what", holdings, _draw_holdings),
    Artefact("fedcog.figure_5", "generated images", images, _draw_images),
)
