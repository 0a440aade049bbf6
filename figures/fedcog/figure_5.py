"""Figure 5: what a client generates for every class after several numbers of steps, below real samples."""

from __future__ import annotations

from typing import Any

import numpy as np

from empirics.experiments import Cell

from ..artefact import Artefact, Shown
from ..drawing import canvas, note, ran_words
from ..run_description import problem_words
from ..runs import Runs
from ..style import enlarged, WIDTH
from .grid import chosen, generation, named, PLANS, problem, what_ran
from .settings import SHOWN_STEPS

REAL = -1
"""In the place of the steps: a test sample."""


def cells(scale: str) -> list[Cell]:
    return generation(scale, "generated_images", steps=chosen(scale, "shown", SHOWN_STEPS))


def data(runs: Runs, scale: str) -> Shown:
    rows = [row for cell in cells(scale) for row in _rows(runs, cell)]
    first, words = PLANS[scale].counts["first"], problem_words(problem(scale))
    return Shown(
        f"One client of {words} ({named(scale)}) after {first} rounds of FedAvg, NIID-1, one seed; an image for each "
        "class from one noise, each in the range of its own values.",
        rows,
        unavailable="" if problem(scale) else "data not available",
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


def draw(shown: Shown) -> Any:
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


ARTEFACT = Artefact("fedcog.figure_5", "generated images", cells, data, draw)
