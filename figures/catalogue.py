"""All figures and tables by name. The module that defines one is imported on first use."""

from __future__ import annotations

from importlib import import_module

from bounds.errors import unknown

from .artefact import Artefact

MODULES = {
    "fedals": {"figures": "figure_1 figure_2 figure_3", "tables": "table_1 table_2 table_3 table_4 table_5"},
    "fedinit": {
        "figures": "figure_1a figure_1b figure_2 figure_3 figure_4 figure_5 figure_6 figure_7",
        "tables": "table_1 table_2 table_3",
        "listing": "table_6 table_7 table_8 table_9",
        "times": "table_10 table_11",
    },
    "decaying_k": {"figures": "figure_1 figure_2", "tables": "table_1 table_2 table_3 table_4"},
    "fedcog": {
        "figures": "figure_2 figure_3 figure_4 figure_5 figure_6",
        "tables": "table_1 table_2 table_3 table_4 table_5 table_6 table_7 table_8 table_9 table_10 table_11",
    },
    "ours": {
        "theorems": "theorems_fedals theorems_fedinit theorems_fedinit_data theorems_decaying_k theorems_fedcog",
        "local_steps": "local_steps",
        "gap_slopes": "gap_slopes",
        "relaxation": "relaxation",
        "vacuity": "vacuity",
        "ratios": "tightness worst_cases",
        "rates": "rates",
    },
}
"""The figures and tables in the ``ARTEFACTS`` of every module, by paper and module, in order."""

NAMES_BY_PAPER = {paper: tuple(" ".join(files.values()).split()) for paper, files in MODULES.items()}
NAMES = tuple(f"{paper}.{name}" for paper, names in NAMES_BY_PAPER.items() for name in names)


def artefact(name: str) -> Artefact:
    """Return the figure or table of that name; raise if there is none."""
    if name not in NAMES:
        raise unknown("figure or table", name, NAMES)
    paper, _, own = name.partition(".")
    file = next(file for file, names in MODULES[paper].items() if own in names.split())
    defined: tuple[Artefact, ...] = import_module(f"figures.{paper}.{file}").ARTEFACTS
    return next(one for one in defined if one.name == name)


def select(names: tuple[str, ...] | list[str]) -> list[Artefact]:
    """Return the figures and tables of these names, each once; ``all`` and the keys of papers stand for several."""
    selected: dict[str, None] = {}
    for name in names:
        group = NAMES if name == "all" else tuple(n for n in NAMES if n.partition(".")[0] == name)
        selected.update(dict.fromkeys(group or (name,)))
    return [artefact(name) for name in selected]
