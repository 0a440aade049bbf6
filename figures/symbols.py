"""Symbols in the words of a picture, set as mathematics: ``K_r-rounds``, ``beta = 0.1``, ``1/K^2``, ``L / mu``.

Rows, tables and captions keep plain words; only what is drawn is set.
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


def symbols(words: str) -> str:
    """The words with their symbols as mathtext; what has mathematics already stays as it is."""
    return words if "$" in words else SYMBOLS.sub(_set, words)


def _set(found: re.Match[str]) -> str:
    if plain := found["power"] or found["letter"]:
        return f"${plain.replace('K*', 'K^*')}$"
    if found["below"]:
        return f"${found['short'].replace('η', ETA)}_{found['below']}$"
    if found["greek"]:
        return rf"$\{found['greek']}{found['raised'] or ''}$"
    return r"$K\eta$"


def typeset(made: Any) -> None:
    """Set the symbols of all words of a figure: of titles, legends and notes, and of ticks that are names."""
    from matplotlib.text import Text
    from matplotlib.ticker import FixedLocator

    for text in made.findobj(Text):
        words = text.get_text()
        if (done := symbols(words)) != words:
            text.set(text=done, parse_math=True)
    for axes in made.axes:
        for axis in (axes.xaxis, axes.yaxis):
            if isinstance(axis.get_major_locator(), FixedLocator):
                names = [text.get_text() for text in axis.get_ticklabels()]
                if (set_ := [symbols(words) for words in names]) != names:
                    axis.set_ticklabels(set_)
