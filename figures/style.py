"""The house style: one dict of settings, four colours by meaning, curves labelled at their right end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes

THEORY, MEASURED, REFERENCE, OTHER = "#1f5fa8", "#d1495b", "#2a8c6e", "#8a5aa6"
"""A bound; what was measured; what it is compared with (a slope, another paper's bound); everything else."""
SILENT = "#8c8c8c"
CYCLE = (THEORY, MEASURED, REFERENCE, OTHER)

WIDTH = 3.4
"""Inches of one column; ``figure`` is this wide unless told otherwise, labels at the right come on top."""
GOLDEN = (5**0.5 - 1) / 2

STYLE: dict[str, Any] = {
    "font.size": 8,
    "axes.titlesize": 8,
    "axes.titlelocation": "left",
    "axes.labelsize": 8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "lines.linewidth": 1.4,
    "lines.markersize": 4,
    "legend.frameon": False,
    "savefig.bbox": "tight",
    "savefig.pad_inches": 0.05,
    "figure.dpi": 200,  # laid out as it is saved: words are not equally wide at another resolution
    "savefig.dpi": 200,
    "svg.hashsalt": "fedbounds",
    "pdf.fonttype": 42,
    "ps.fonttype": 42,
    "hatch.linewidth": 0.4,
}


@dataclass(frozen=True)
class Label:
    """Words for the end of a curve at ``(x, y)`` in data coordinates; ``fill`` is the colour of an area they name.

    ``y`` is NaN for a curve of which nothing is drawn: its words stand at the top, and no line leads to them.
    """

    text: str
    x: float
    y: float
    colour: str
    fill: str = ""


def figure(width: float = WIDTH, ratio: float = GOLDEN) -> tuple[Any, Axes]:
    """A figure with one axes of exactly ``width`` inches, made without pyplot: nothing global, no window."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    made = Figure(figsize=(width, width * ratio))
    FigureCanvasAgg(made)
    return made, made.add_axes((0.0, 0.0, 1.0, 1.0))


def settled(made: Any) -> Any:
    """Lay a figure out once for all formats; the box that holds all of it."""
    made.draw_without_rendering()
    made.set_layout_engine(None)
    return made.get_tightbbox().padded(STYLE["savefig.pad_inches"])


def save(made: Any, path: str | Path, box: Any = "tight") -> None:
    """Write a figure without the date, so that the same numbers give the same file; ``box`` as ``settled`` gave it."""
    dateless = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
    made.savefig(path, metadata=dateless.get(Path(path).suffix.lower()), bbox_inches=box)


def label_ends(ax: Axes, labels: Sequence[Label]) -> None:
    """Write the labels right of the axes at their curves' heights, moved apart where they would touch.

    Call it when limits and scales are final. A thin line leads from a curve that ends early, or from one whose label
    had to move.
    """
    import matplotlib

    size = ax.get_window_extent().height / ax.figure.dpi * 72
    line = float(matplotlib.rcParams["font.size"]) * 1.4 / size
    ordered = sorted(labels, key=lambda label: _fraction(ax, label)[1])
    heights = [line * (label.text.count("\n") + 1) for label in ordered]
    places = spread([_fraction(ax, label)[1] for label in ordered], heights)
    for label, place in zip(ordered, places, strict=True):
        across, up = _fraction(ax, label)
        if label.y == label.y and (across < 0.985 or abs(place - up) > 0.25 * line):
            ax.annotate(
                "", (across, up), (1.03, place), xycoords="axes fraction", textcoords="axes fraction",
                arrowprops={"arrowstyle": "-", "color": label.colour, "lw": 0.5, "ls": ":", "shrinkA": 0, "shrinkB": 1},
                annotation_clip=False,
            )  # fmt: skip
        box = {"facecolor": label.fill, "lw": 0, "pad": 1} if label.fill else None
        ax.text(1.04, place, label.text, color=label.colour, transform=ax.transAxes, va="center", ha="left", bbox=box,
                parse_math=False)  # fmt: skip


def _fraction(ax: Axes, label: Label) -> tuple[float, float]:
    """Where a label's curve ends, in fractions of the axes; what lies beyond them is drawn back to the edge."""
    y = label.y if label.y == label.y else ax.get_ylim()[1]
    across, up = ax.transAxes.inverted().transform(ax.transData.transform((label.x, y)))
    return min(max(float(across), 0.0), 1.0), min(max(float(up), 0.0), 1.0)


def spread(wanted: Sequence[float], heights: Sequence[float]) -> list[float]:
    """Centres for boxes of these heights, in the order given, as near as possible to ``wanted`` without touching.

    Boxes that touch move together around their common mean (``wanted`` must be sorted).
    """
    groups: list[tuple[float, float, int]] = []  # lowest edge, total height, boxes
    means: list[float] = []
    for centre, height in zip(wanted, heights, strict=True):
        groups.append((centre - height / 2, height, 1))
        means.append(centre)
        while len(groups) > 1 and groups[-2][0] + groups[-2][1] > groups[-1][0]:
            (_, low_height, low_count), (_, high_height, high_count) = groups[-2:]
            count = low_count + high_count
            mean = (means[-2] * low_count + means[-1] * high_count) / count
            groups[-2:] = [(mean - (low_height + high_height) / 2, low_height + high_height, count)]
            means[-2:] = [mean]
    places, remaining = [], list(heights)
    for edge, _, count in groups:
        for _ in range(count):
            height = remaining.pop(0)
            places.append(edge + height / 2)
            edge += height
    return places
