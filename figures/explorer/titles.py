"""Titles of bounds as readers of the papers know them: ``Decaying-K, Theorem 1, improved``."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from bounds.core import Bound

EQUATION = re.compile(r", eqs?\. \([^)]*\)(?:,? (?:to |= |and )?\([^)]*\))*")
ASIDE = re.compile(r" \(appendix: (?:[^()]|\([^)]*\))*\)| = A\.\d+")
WITHIN = re.compile(r"^(?:Appendix|Section) [\w.]+, (?=[A-Z])")
"""The section in front of the number of a lemma or theorem."""
VARIANTS = {"sharpened": "improved", "with the best constants": "improved", "with smaller constants": "improved"}
ENDINGS = {
    "_printed": "as printed",
    "_appendix": "appendix",
    "_order": "in O(.)",
    "_v1": "version 1",
    "_v2": "version 2",
}


def titles(bounds: Iterable[Bound]) -> dict[str, str]:
    """Return unique titles by name: paper, statement and variant, with equation or name where these coincide."""
    bounds = list(bounds)
    short = {bound.name: title(bound) for bound in bounds}
    often = Counter(short.values())
    longer = {
        bound.name: one if often[one] == 1 else f"{one.partition(',')[0]}, {ASIDE.sub('', bound.source.place)}"
        for bound, one in zip(bounds, short.values(), strict=True)
    }
    often = Counter(longer.values())
    return {name: one if often[one] == 1 else f"{one} ({name})" for name, one in longer.items()}


def title(bound: Bound) -> str:
    """Return paper, statement and variant of one bound."""
    source = str(bound.source)
    head, place = source.removeprefix("Classics ")[: -len(bound.source.place)].rstrip(", "), bound.source.place
    short = WITHIN.sub("", EQUATION.sub("", ASIDE.sub("", place))) or place
    for printed, plain in VARIANTS.items():
        short = short.replace(printed, plain)
    fitting = (words for end, words in ENDINGS.items() if bound.name.endswith(end))
    ending = next((words for words in fitting if words not in short.lower()), "")
    return ", ".join(part for part in (head.removesuffix(" v1").removesuffix(" v2"), short, ending) if part)
