"""Set symbols in the texts of a picture as mathematics: ``K_r-rounds``, ``beta = 0.1``, ``1/K^2``, ``L / mu``.

Rows, tables and captions keep plain text; only drawn text is changed.
"""

from __future__ import annotations

import re
from typing import Any

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
