"""Styles of figures: matplotlib settings by name, and the colours, dashes and marks of curves by their meaning."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

THEORY, MEASURED, REFERENCE, OTHER = "#1f5fa8", "#d1495b", "#2a8c6e", "#8a5aa6"
"""Colours of a bound; of measurements; of references (a slope, another paper's bound); of everything else."""
GREY = "#6b6b6b"
"""Colour of notes and guide lines, with a contrast of 5 to 1 on white."""
GENERATED_IDS = re.compile(r'(?<= id=")[a-z]+[0-9a-f]{10}(?=")')
"""Identifiers that matplotlib generates for repeated elements of an SVG."""
CYCLE = (THEORY, MEASURED, REFERENCE, OTHER)

WIDTH = 3.3
"""Width of a column in inches, without margins."""
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
"""Both fonts come with matplotlib; the second has the glyphs that the first lacks."""
STYLES: dict[str, dict[str, Any]] = {
    HOUSE: STYLE,
    "neurips": {**STYLE, **SERIF, "font.size": 9, "figure.figsize": (5.5, 5.5 * GOLDEN)},
    "icml": {**STYLE, **SERIF, "font.size": 8, "figure.figsize": (3.25, 3.25 * GOLDEN)},
    "slides": {
        **STYLE, "font.size": 16, "figure.figsize": (9.0, 9.0 * GOLDEN), "axes.linewidth": 1.2,
    },
}  # fmt: skip
"""Each style has the text or column width of its venue, and its font size."""


def width_factor() -> float:
    """Return the width of the current style relative to the house style; the size of panels scales with it."""
    import matplotlib

    return float(matplotlib.rcParams["figure.figsize"][0]) / WIDTH


def font_factor() -> float:
    """Return the font size relative to the house style; lines and marks scale with it."""
    import matplotlib

    return float(matplotlib.rcParams["font.size"] / STYLE["font.size"])


def scale_line_widths(figure: Any) -> None:
    """Scale lines and marks of a figure with the font size of the current style."""
    from matplotlib.collections import LineCollection
    from matplotlib.lines import Line2D

    times = font_factor()
    for line in figure.findobj(Line2D) if times != 1 else ():
        line.set(linewidth=line.get_linewidth() * times, markersize=line.get_markersize() * times)
    for bars in figure.findobj(LineCollection) if times != 1 else ():
        bars.set_linewidth([width * times for width in bars.get_linewidth()])


# ---- lines ----

Dash = str | tuple[float, tuple[float, ...]]
SOLID, DASHED, DOTTED, MIXED = "-", (0, (4, 1.5)), (0, (1.2, 1.2)), (0, (5, 1.5, 1.2, 1.5))
LONG, TWICE = (0, (8, 2)), (0, (5, 1.2, 1.2, 1.2, 1.2, 1.2))


@dataclass(frozen=True)
class LineStyle:
    """Colour, dashes, mark and width of a curve; dashes and marks distinguish curves in grey prints."""

    colour: str
    dash: Dash = SOLID
    mark: str = "o"
    width: float = 1.1


BLACK, AMBER, CYAN, PINK, OLIVE = "#1a1a1a", "#c98b2b", "#3aa6b9", "#b0568a", "#6b8e23"
OWN = LineStyle(THEORY, SOLID, "o", 1.9)
"""A paper's own method: the widest line, solid."""
LINES: dict[str, LineStyle] = {
    **dict.fromkeys(("FedALS", "FedInit", "FedCOG"), OWN),
    "FedAvg": LineStyle(BLACK, DASHED, "s"),
    "SCAFFOLD": LineStyle(MEASURED, DOTTED, "D"),
    "FedProx": LineStyle(REFERENCE, MIXED, "^"),
    "MOON": LineStyle(OTHER, LONG, "v"),
    "FedAvgM": LineStyle(AMBER, TWICE, "P"),
    "FedAdam": LineStyle(AMBER, MIXED, "^"),
    "FedSAM": LineStyle(CYAN, LONG, "v"),
    "FedDyn": LineStyle(REFERENCE, TWICE, "P"),
    "FedCM": LineStyle(OTHER, MIXED, "X"),
    # Decaying-K: what decays by its dashes, when it does by its colour
    "Kη-fixed": LineStyle(BLACK, SOLID, "s", 1.9),
    "dSGD": LineStyle(GREY, SOLID, "o", 1.9),
    **{f"K_r-{when}": LineStyle(colour, DASHED, "^")
       for when, colour in (("rounds", THEORY), ("error", OTHER), ("step", REFERENCE))},
    **{f"η_r-{when}": LineStyle(colour, DOTTED, "v")
       for when, colour in (("rounds", THEORY), ("error", OTHER), ("step", REFERENCE))},
}  # fmt: skip
"""Curves that look the same in every picture."""
BOUND, EXACT, DOTS = (
    LineStyle(THEORY, SOLID, "", 1.6),
    LineStyle(REFERENCE, SOLID, "", 0.8),
    LineStyle(MEASURED, "", "o"),
)
"""Bounds are lines, exact values thin lines, measurements dots."""
PLACES = (
    LineStyle(THEORY, SOLID, "o"), LineStyle(MEASURED, DASHED, "s"), LineStyle(REFERENCE, DOTTED, "D"),
    LineStyle(OTHER, MIXED, "^"), LineStyle(AMBER, LONG, "v"), LineStyle(CYAN, TWICE, "P"),
    LineStyle(BLACK, DASHED, "X"), LineStyle(PINK, DOTTED, "<"), LineStyle(OLIVE, MIXED, ">"),
)  # fmt: skip
"""Styles of all other curves, by their position in the picture."""


def line_style(label: str, place: int) -> LineStyle:
    """Return the style of the curve ``label``, the ``place``-th of its picture."""
    return LINES.get(label.partition(" over ")[0], PLACES[place % len(PLACES)])


def fix_layout(figure: Any) -> Any:
    """Fix the layout of a figure, so that all formats share it; return the bounding box to save."""
    figure.draw_without_rendering()
    figure.set_layout_engine(None)
    return figure.get_tightbbox().padded(STYLE["savefig.pad_inches"])


def save(figure: Any, path: str | Path, box: Any = "tight") -> None:
    """Write a figure without a date, so that the same numbers give the same file; ``box`` comes from ``fix_layout``."""
    dateless, kind = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}, Path(path).suffix.lower()
    figure.savefig(path, metadata=dateless.get(kind), bbox_inches=box)
    if kind == ".svg":
        Path(path).write_text(with_stable_ids(Path(path).read_text(encoding="utf-8")), encoding="utf-8")


def with_stable_ids(svg: str) -> str:
    """Return the SVG with identifiers numbered in order: matplotlib's depend on the last bits of coordinates."""
    names = dict.fromkeys(GENERATED_IDS.findall(svg))
    short = {name: f"{name[:-10]}{i}" for i, name in enumerate(names)}
    return re.sub("|".join(names), lambda match: short[match.group()], svg) if names else svg


# ---- symbols ----


ETA = r"\eta"
GREEK = ("alpha", "beta", "eta", "kappa", "lambda", "mu", "sigma", "zeta")
SYMBOLS = re.compile(
    rf"(?P<power>\b(1/)?[A-Z]\^\d\b)|\b(?P<short>[Kη])_(?P<below>[a-z])\b|\bKη\b|\b(?P<greek>{'|'.join(GREEK)})(?P<raised>\^\d)?\b"
    r"|(?P<letter>\bK\*|\b1/[A-Z]\b|\bL / (?=mu)|(?<=clients )K\b|(?<=steps )K\b|(?<=times )L\b)"
)


def with_mathtext(words: str) -> str:
    """Return a text with its symbols as matplotlib mathtext; a text that contains ``$`` is returned unchanged."""
    return words if "$" in words else SYMBOLS.sub(_as_mathtext, words)


def _as_mathtext(match: re.Match[str]) -> str:
    if plain := match["power"] or match["letter"]:
        return f"${plain.replace('K*', 'K^*')}$"
    if match["below"]:
        return f"${match['short'].replace('η', ETA)}_{match['below']}$"
    if match["greek"]:
        return rf"$\{match['greek']}{match['raised'] or ''}$"
    return r"$K\eta$"


def typeset(figure: Any) -> None:
    """Set the symbols in all texts of a matplotlib figure: titles, legends, notes, and tick labels that are names."""
    from matplotlib.text import Text
    from matplotlib.ticker import FixedLocator

    for text in figure.findobj(Text):
        plain = text.get_text()
        if (typeset_text := with_mathtext(plain)) != plain:
            text.set(text=typeset_text, parse_math=True)
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            if isinstance(axis.get_major_locator(), FixedLocator):
                names = [text.get_text() for text in axis.get_ticklabels()]
                if (typeset_names := [with_mathtext(name) for name in names]) != names:
                    axis.set_ticklabels(typeset_names)
