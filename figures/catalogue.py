"""All figures and tables by name. The module that computes one is imported on first use."""

from __future__ import annotations

from dataclasses import replace

from bounds.errors import unknown

from . import decaying_k, fedals, fedcog, fedinit, ours
from .artefact import Artefact

BY_PAPER: dict[str, dict[str, Artefact]] = {
    "fedals": fedals.ENTRIES,
    "fedinit": fedinit.ENTRIES,
    "decaying_k": decaying_k.ENTRIES,
    "fedcog": fedcog.ENTRIES,
    "ours": ours.ENTRIES,
}
"""The figures and tables by paper, in order."""
NAMES = tuple(f"{paper}.{name}" for paper, entries in BY_PAPER.items() for name in entries)


def artefact(name: str) -> Artefact:
    """Return the figure or table of that name; raise if there is none."""
    if name not in NAMES:
        raise unknown("figure or table", name, NAMES)
    paper, _, own = name.partition(".")
    return replace(BY_PAPER[paper][own], name=name)


def select(names: tuple[str, ...] | list[str]) -> list[Artefact]:
    """Return the figures and tables of these names, each once; ``all`` and the keys of papers stand for several."""
    selected: dict[str, None] = {}
    for name in names:
        group = NAMES if name == "all" else tuple(n for n in NAMES if n.partition(".")[0] == name)
        selected.update(dict.fromkeys(group or (name,)))
    return [artefact(name) for name in selected]
