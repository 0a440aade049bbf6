"""The styles: a dict of settings each, and colours and dashes by meaning."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

THEORY, MEASURED, REFERENCE, OTHER = "#1f5fa8", "#d1495b", "#2a8c6e", "#8a5aa6"
"""A bound; what was measured; what it is compared with (a slope, another paper's bound); everything else."""
GREY = "#6b6b6b"
"""Words that explain, and lines that mark a place: 5 to 1 on white."""
NAMED = re.compile(r'(?<= id=")[a-z]+[0-9a-f]{10}(?=")')
"""How matplotlib names what it draws again and again in an SVG."""
CYCLE = (THEORY, MEASURED, REFERENCE, OTHER)

WIDTH = 3.3
"""Inches of one column less its margins."""
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
BOUND, EXACT, DOTS = Line(THEORY, SOLID, "", 1.6), Line(REFERENCE, SOLID, "", 0.8), Line(MEASURED, "", "o")
"""A bound is a line, exact values are a thin line, what was measured is dots."""
PLACES = (
    Line(THEORY, SOLID, "o"), Line(MEASURED, DASHED, "s"), Line(REFERENCE, DOTTED, "D"), Line(OTHER, MIXED, "^"),
    Line(AMBER, LONG, "v"), Line(CYAN, TWICE, "P"), Line(BLACK, DASHED, "X"), Line(PINK, DOTTED, "<"),
    Line(OLIVE, MIXED, ">"),
)  # fmt: skip
"""The others, by their place in the picture."""


def line(label: str, place: int) -> Line:
    """The look of the curve ``label``, the ``place``-th of its picture."""
    return LINES.get(label.partition(" over ")[0], PLACES[place % len(PLACES)])


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
