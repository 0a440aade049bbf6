"""The styles: a dict of settings each, colours and dashes by meaning, curves labelled at their right end."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes

THEORY, MEASURED, REFERENCE, OTHER = "#1f5fa8", "#d1495b", "#2a8c6e", "#8a5aa6"
"""A bound; what was measured; what it is compared with (a slope, another paper's bound); everything else."""
GREY = "#6b6b6b"
"""Words that explain, and lines that mark a place: 5 to 1 on white."""
NAMED = re.compile(r'(?<= id=")[a-z]+[0-9a-f]{10}(?=")')
"""How matplotlib names what it draws again and again in an SVG."""
CYCLE = (THEORY, MEASURED, REFERENCE, OTHER)

WIDTH = 3.3
"""Inches of one column less its margins; ``figure`` is this wide by default."""
GOLDEN = (5**0.5 - 1) / 2

STYLE: dict[str, Any] = {
    "font.size": 8.4,  # small letters, the smallest of a picture, have 7 points
    "figure.figsize": (WIDTH, WIDTH * GOLDEN),
    "axes.titlesize": "small",
    "axes.titlelocation": "left",
    "axes.labelsize": "medium",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "xtick.labelsize": "small",
    "ytick.labelsize": "small",
    "legend.fontsize": "small",
    "lines.linewidth": 1.4,
    "lines.markersize": 4,
    "legend.frameon": False,
    "savefig.bbox": "tight",
    "savefig.pad_inches": 0.05,
    "figure.dpi": 300,  # laid out as it is saved: words are not equally wide at another resolution
    "savefig.dpi": 300,
    "svg.hashsalt": "fedbounds",
    "svg.fonttype": "none",  # words stay words, which can be found and copied
    "pdf.fonttype": 42,
    "ps.fonttype": 42,
    "hatch.linewidth": 0.4,
}


HOUSE = "house"
SERIF = {"font.family": ["STIXGeneral", "DejaVu Serif"], "mathtext.fontset": "stix"}
"""Both come with matplotlib; the second has the letters that the first lacks."""
STYLES: dict[str, dict[str, Any]] = {
    HOUSE: STYLE,
    "neurips": {**STYLE, **SERIF, "font.size": 9, "figure.figsize": (5.5, 5.5 * GOLDEN)},
    "icml": {**STYLE, **SERIF, "font.size": 8, "figure.figsize": (3.25, 3.25 * GOLDEN)},
    "slides": {
        **STYLE, "font.size": 16, "figure.figsize": (9.0, 9.0 * GOLDEN), "axes.linewidth": 1.2,
    },
}  # fmt: skip
"""As wide as the text or the column of a venue, in letters of its size; curves follow the width."""


def enlarged() -> float:
    """How many times as wide as the house style the current one is: panels follow it."""
    import matplotlib

    return float(matplotlib.rcParams["figure.figsize"][0]) / WIDTH


def heavier() -> float:
    """How many times as large as in the house style letters are, and lines and marks with them."""
    import matplotlib

    return float(matplotlib.rcParams["font.size"] / STYLE["font.size"])


def weighted(made: Any) -> None:
    """Make lines and marks as heavy as the letters of the current style."""
    from matplotlib.collections import LineCollection
    from matplotlib.lines import Line2D

    times = heavier()
    for line in made.findobj(Line2D) if times != 1 else ():
        line.set(linewidth=line.get_linewidth() * times, markersize=line.get_markersize() * times)
    for bars in made.findobj(LineCollection) if times != 1 else ():
        bars.set_linewidth([width * times for width in bars.get_linewidth()])


# ---- lines ----

Dash = str | tuple[float, tuple[float, ...]]
SOLID, DASHED, DOTTED, MIXED = "-", (0, (4, 1.5)), (0, (1.2, 1.2)), (0, (5, 1.5, 1.2, 1.5))
LONG, TWICE = (0, (8, 2)), (0, (5, 1.2, 1.2, 1.2, 1.2, 1.2))


@dataclass(frozen=True)
class Line:
    """The look of a curve: by colour, by dashes and by marks, so that grey prints tell curves apart too."""

    colour: str
    dash: Dash = SOLID
    mark: str = "o"
    width: float = 1.1


BLACK, AMBER, CYAN, PINK, OLIVE = "#1a1a1a", "#c98b2b", "#3aa6b9", "#b0568a", "#6b8e23"
OWN = Line(THEORY, SOLID, "o", 1.9)
"""A paper's own method: the widest line, without a gap."""
LINES: dict[str, Line] = {
    **dict.fromkeys(("FedALS", "FedInit", "FedCOG"), OWN),
    "FedAvg": Line(BLACK, DASHED, "s"),
    "SCAFFOLD": Line(MEASURED, DOTTED, "D"),
    "FedProx": Line(REFERENCE, MIXED, "^"),
    "MOON": Line(OTHER, LONG, "v"),
    "FedAvgM": Line(AMBER, TWICE, "P"),
    "FedAdam": Line(AMBER, MIXED, "^"),
    "FedSAM": Line(CYAN, LONG, "v"),
    "FedDyn": Line(REFERENCE, TWICE, "P"),
    "FedCM": Line(OTHER, MIXED, "X"),
    # Decaying-K: what decays by its dashes, when it does by its colour
    "Kη-fixed": Line(BLACK, SOLID, "s", 1.9),
    "dSGD": Line(GREY, SOLID, "o", 1.9),
    **{f"K_r-{when}": Line(colour, DASHED, "^")
       for when, colour in (("rounds", THEORY), ("error", OTHER), ("step", REFERENCE))},
    **{f"η_r-{when}": Line(colour, DOTTED, "v")
       for when, colour in (("rounds", THEORY), ("error", OTHER), ("step", REFERENCE))},
}  # fmt: skip
"""The curves that have a meaning of their own in whichever picture they are."""
PLACES = (
    Line(THEORY, SOLID, "o"), Line(MEASURED, DASHED, "s"), Line(REFERENCE, DOTTED, "D"), Line(OTHER, MIXED, "^"),
    Line(AMBER, LONG, "v"), Line(CYAN, TWICE, "P"), Line(BLACK, DASHED, "X"), Line(PINK, DOTTED, "<"),
    Line(OLIVE, MIXED, ">"),
)  # fmt: skip
"""The others, by their place in the picture."""


def line(label: str, place: int) -> Line:
    """The look of the curve ``label``, the ``place``-th of its picture."""
    return LINES.get(label.partition(" over ")[0], PLACES[place % len(PLACES)])


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
    dateless, kind = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}, Path(path).suffix.lower()
    made.savefig(path, metadata=dateless.get(kind), bbox_inches=box)
    if kind == ".svg":
        Path(path).write_text(renamed(Path(path).read_text(encoding="utf-8")), encoding="utf-8")


def renamed(svg: str) -> str:
    """The same with names by their order: matplotlib's are digests of places whose last bits differ by processor."""
    names = dict.fromkeys(NAMED.findall(svg))
    short = {name: f"{name[:-10]}{i}" for i, name in enumerate(names)}
    return re.sub("|".join(names), lambda found: short[found.group()], svg) if names else svg


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
