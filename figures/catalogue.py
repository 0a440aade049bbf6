"""Every figure and table by name; the file of each is imported when it is asked for."""

from __future__ import annotations

from importlib import import_module

from bounds.errors import unknown

from .artefact import Artefact

THEOREMS = tuple(f"theorems_{p}" for p in ("fedals", "fedinit", "fedinit_data", "decaying_k", "fedcog"))
FILES: dict[str, tuple[str, ...]] = {
    "fedals": (*(f"figure_{i}" for i in (1, 2, 3)), *(f"table_{i}" for i in range(1, 6))),
    "fedinit": (
        *(f"figure_{i}" for i in ("1a", "1b", *range(2, 8))),
        *(f"table_{i}" for i in (1, 2, 3, *range(6, 12))),
    ),
    "decaying_k": ("figure_1", "figure_2", *(f"table_{i}" for i in range(1, 5))),
    "fedcog": (*(f"figure_{i}" for i in range(2, 7)), *(f"table_{i}" for i in range(1, 12))),
    "ours": (
        *THEOREMS,
        "local_steps",
        "gap_slopes",
        "relaxation",
        "vacuity",
        "tightness",
        "worst_cases",
        "rates",
    ),
}
"""The figures and tables of each paper, figures first; a file each, if it is not one of ``MODULES``."""

MODULES = {
    "fedals": {
        **dict.fromkeys(("figure_2", "figure_3"), "curves"),
        **dict.fromkeys(("table_1", "table_2", "table_3"), "tables"),
        **dict.fromkeys(("table_4", "table_5"), "listing"),
    },
    "fedinit": {
        **dict.fromkeys((name for name in FILES["fedinit"] if name.startswith("figure")), "curves"),
        **dict.fromkeys(("table_1", "table_2", "table_3"), "tables"),
        **dict.fromkeys(("table_6", "table_7", "table_9"), "listing"),
        **dict.fromkeys(("table_10", "table_11"), "times"),
    },
    "decaying_k": {
        **dict.fromkeys(("figure_1", "figure_2"), "curves"),
        **dict.fromkeys(("table_1", "table_2", "table_4"), "tables"),
    },
    "fedcog": {
        **dict.fromkeys(("figure_2", "table_4", "table_11"), "one_round"),
        **dict.fromkeys((f"table_{i}" for i in (2, 3, *range(5, 11))), "accuracies"),
    },
    "ours": {**dict.fromkeys(THEOREMS, "theorems"), **dict.fromkeys(("tightness", "worst_cases"), "ratios")},
}
"""Where one file has several, as its ``ARTEFACTS`` by name."""

NAMES = tuple(f"{paper}.{file}" for paper, files in FILES.items() for file in files)


def artefact(name: str) -> Artefact:
    """The figure or table of that name."""
    if name not in NAMES:
        raise unknown("figure or table", name, NAMES)
    paper, _, file = name.partition(".")
    module = import_module(f"figures.{paper}.{MODULES[paper].get(file, file)}")
    made: Artefact = module.ARTEFACTS[file] if hasattr(module, "ARTEFACTS") else module.ARTEFACT
    return made


def chosen(names: tuple[str, ...] | list[str]) -> list[Artefact]:
    """The artefacts of these names; ``all`` is every one, a paper's short name all of its own."""
    wanted: dict[str, None] = {}
    for name in names:
        group = NAMES if name == "all" else tuple(n for n in NAMES if n.partition(".")[0] == name)
        wanted.update(dict.fromkeys(group or (name,)))
    return [artefact(name) for name in wanted]
